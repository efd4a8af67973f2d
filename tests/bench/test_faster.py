"""Two checkouts in turn: what the report says of their times."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.faster import ENVIRONMENTS, answer, provide_environments, report
from tests.checkouts import HERE


def test_a_ratio_above_one_means_that_this_checkout_is_faster() -> None:
    (line,) = report([({"Niwaki": 2.0}, {"Niwaki": 1.0}), ({"Niwaki": 3.0}, {"Niwaki": 1.0})])
    assert line.split() == ["2.500", "±", "0.500", "2.5", "s", "->", "1", "s", "Niwaki"]


def test_only_what_both_checkouts_measure_is_compared() -> None:
    lines = list(report([({"a": 1.0, "gone": 1.0}, {"new": 1.0, "a": 1.0})]))
    assert [line.split()[-1] for line in lines] == ["a"]
    assert list(report([({"gone": 1.0}, {"new": 1.0})])) == ["nothing that takes time is measured"]


def test_environments_are_lent_where_the_same_packages_are_wanted(tmp_path: Path) -> None:
    for made_from in ENVIRONMENTS.values():
        (tmp_path / made_from).parent.mkdir(exist_ok=True)
        (tmp_path / made_from).write_bytes((HERE / made_from).read_bytes())
    provide_environments(tmp_path)
    assert all((tmp_path / folder).readlink() == HERE / folder for folder in ENVIRONMENTS)


def measuring_process(program: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_process_answers_each_seed_with_times() -> None:
    program = "import json\nwhile True: print(json.dumps({'Niwaki': float(input())}), flush=True)"
    with measuring_process(program) as process:
        assert [answer(process, seed) for seed in (3, 4)] == [{"Niwaki": 3.0}, {"Niwaki": 4.0}]
        process.kill()


def test_a_process_that_ends_is_an_error() -> None:
    with measuring_process("input()") as process, pytest.raises(ChildProcessError):
        answer(process, 0)


def test_the_script_in_a_checkout_imports_that_checkouts_bench(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "bench" / "timing.py").write_text("def limit_threads(): print('[\"this one\"]'); raise SystemExit\n")
    command = [sys.executable, HERE / "bench" / "own_times.py"]
    ran = subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert json.loads(ran.stdout) == ["this one"]
