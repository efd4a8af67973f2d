"""The commands of the README and of the page on explaining, run as they stand, give the answers shown after them.

Links of all documents lead somewhere.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from service.settings import Settings
from tests.journeys.running import Service

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
EXPLAINING = ROOT / "docs" / "explaining.md"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN_ADDRESS = "http://127.0.0.1:8000"
MARK = "---- end of block ----"
MORE = "…"


@dataclass(frozen=True)
class Block:
    """A fenced block: what kind of text it is, and the text."""

    kind: str
    text: str


def blocks(markdown: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL)]


def commands() -> list[tuple[str, Block | None]]:
    """Every command of the example, with the answer shown right after it; the second page goes on with its model."""
    found = [block for page in (README, EXPLAINING) for block in blocks(page.read_text("utf-8"))]
    following = [*found[1:], None]
    return [
        (block.text, after if after is not None and after.kind in ("json", "text") else None)
        for block, after in zip(found, following, strict=True)
        if block.kind == "bash" and not block.text.startswith("make ")
    ]


def matches(expected: Any, found: Any, place: str = "$") -> list[str]:
    """Where an answer is not as shown.

    A text that ends in … matches every text with that beginning. The pair "…": "…" in an object allows further keys,
    and … as the last element of a list further elements.
    """
    if isinstance(expected, str) and isinstance(found, str) and expected.endswith(MORE):
        return [] if found.startswith(expected.removesuffix(MORE)) else [f"{place}: {found!r}, not {expected!r}"]
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = expected.keys() - {MORE}
        wrong = [f"{place}: no key {key!r}" for key in keys - found.keys()]
        if MORE not in expected:
            wrong += [f"{place}: a key that is not shown, {key!r}" for key in found.keys() - keys]
        return wrong + [w for key in keys & found.keys() for w in matches(expected[key], found[key], f"{place}.{key}")]
    if isinstance(expected, list) and isinstance(found, list):
        is_open = expected[-1:] == [MORE]
        shown = expected[:-1] if is_open else expected
        if len(found) < len(shown) or (len(found) > len(shown) and not is_open):
            return [f"{place}: {len(found)} elements, not {len(shown)}"]
        return [w for i, (e, f) in enumerate(zip(shown, found, strict=False)) for w in matches(e, f, f"{place}[{i}]")]
    return [] if type(expected) is type(found) and expected == found else [f"{place}: {found!r}, not {expected!r}"]


@pytest.fixture(scope="module")
def answers(live: Service) -> list[str]:
    """What each command printed, all of them run in one shell."""
    return printed_by([command for command, _ in commands()], live)


def printed_by(lines: list[str], live: Service) -> list[str]:
    """What each command prints at the service, all of them run in one shell."""
    script = "".join(f"{command}\necho; echo '{MARK}'\n" for command in lines)
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eu", "-o", "pipefail"],
        input=script.replace(SHOWN_ADDRESS, live.address),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    return [printed.strip("\n") for printed in ran.stdout.split(MARK)[:-1]]


@pytest.mark.parametrize("number", range(len(commands())))
def test_a_command_answers_as_shown(answers: list[str], number: int) -> None:
    command, shown = commands()[number]
    assert shown is not None, f"nothing is shown after: {command}"
    assert_as_shown(answers[number], shown)


def assert_as_shown(answer: str, shown: Block) -> None:
    if shown.kind == "json":
        assert matches(json.loads(shown.text), json.loads(answer)) == []
    else:
        assert answer == shown.text.strip("\n")


def test_the_example_is_complete() -> None:
    everything = "\n".join(command for command, _ in commands())
    for call in ("/v1/datasets", "/v1/trainings", "?wait=", "/predict", "/rules", "/pruning", '"纹理": null'):
        assert call in everything
    assert len(commands()) >= 6


@pytest.mark.parametrize(
    ("expected", "found", "fits"),
    [
        ("ds_…", "ds_1", True),
        ("ds_…", "mdl_1", False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "…": "…"}, {"a": 1, "b": 2}, True),
        ({"a": 1, "…": "…"}, {"b": 2}, False),
        ([1, "…"], [1, 2, 3], True),
        ([1, "…"], [2], False),
        ([1], [1, 2], False),
        (1.0, 1, False),
        (True, 1, False),
        ({"a": [{"b": "x…"}]}, {"a": [{"b": "xyz"}]}, True),
    ],
)
def test_the_comparison_itself(expected: Any, found: Any, fits: bool) -> None:
    assert (matches(expected, found) == []) == fits


def test_two_commands_set_it_up() -> None:
    shown = [block.text.strip() for block in blocks(README.read_text("utf-8")) if block.kind == "bash"]
    assert [command for command in shown if command.startswith("make")] == ["make serve", "make test"]
    assert shown[0] == "make serve"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_every_setting_is_documented_with_its_default() -> None:
    rows = re.findall(
        r"^\| `(NIWAKI_\w+)` \| (.+?) \|", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.MULTILINE
    )
    assert dict(rows) == {
        f"NIWAKI_{name.upper()}": said(name, field.default) for name, field in Settings.model_fields.items()
    }


def said(name: str, default: object) -> str:
    """A default as the table shows it."""
    if default is None:
        return {"database_url": "a SQLite file in the data folder"}.get(name, "none")
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
