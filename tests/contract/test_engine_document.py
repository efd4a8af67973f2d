"""The example of docs/engine.md, run as it stands, prints what it shows."""

import subprocess
import sys

from tests.contract.test_readme import ROOT, blocks

DOCUMENT = (ROOT / "docs" / "engine.md").read_text("utf-8")


def test_the_example_prints_what_it_shows() -> None:
    example, shown = blocks(DOCUMENT)[:2]
    assert (example.kind, shown.kind) == ("python", "text")
    assert len(example.text.splitlines()) <= 12
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.text], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == shown.text.strip()


def test_the_engine_loads_nothing_of_the_service() -> None:
    program = (
        "import sys, core.facade\n"
        "found = {name.partition('.')[0] for name in sys.modules}"
        " & {'service', 'fastapi', 'sqlalchemy', 'pydantic', 'pyarrow', 'numba'}\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
