"""The first examples of some documents, run as they stand, print what they show."""

import subprocess
import sys
from typing import get_args

import pytest

from core.config.committee_presets import COMMITTEES
from core.config.options import Imbalance
from core.ensembles.voting import VotingKind
from tests.contract.test_readme import ROOT, blocks


@pytest.mark.parametrize(
    ("document", "most_lines"), [("engine.md", 12), ("forests.md", 14), ("pruning.md", 16), ("methods.md", 16)]
)
def test_the_example_prints_what_it_shows(document: str, most_lines: int) -> None:
    example, shown = blocks((ROOT / "docs" / document).read_text("utf-8"))[:2]
    assert (example.kind, shown.kind) == ("python", "text")
    assert len(example.text.splitlines()) <= most_lines
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.text], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == shown.text.strip()


def test_the_engine_loads_nothing_of_the_service() -> None:
    program = (
        "import sys, core.library.train\n"
        "found = {name.partition('.')[0] for name in sys.modules}"
        " & {'service', 'fastapi', 'sqlalchemy', 'pydantic', 'pyarrow', 'numba'}\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    "kinds", [tuple(VotingKind), tuple(one.kind for one in get_args(Imbalance)), tuple(COMMITTEES)]
)
def test_every_way_to_draw_to_vote_and_to_balance_is_explained(kinds: tuple[str, ...]) -> None:
    explained = (ROOT / "docs" / "forests.md").read_text("utf-8")
    for kind in kinds:
        assert f"\n| `{kind}` | " in explained, kind
