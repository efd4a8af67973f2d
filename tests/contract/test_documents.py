"""The commands of documents, run after those of the README that train its model, give the answers that they show."""

import re
import sys
from itertools import pairwise

import pytest

from tests.contract.test_readme import ROOT, Block, assert_as_shown, blocks, commands, printed_by
from tests.journeys.running import Service


def command(block: Block) -> str:
    return block.text if block.kind == "bash" else f"{sys.executable} - <<'PROGRAM'\n{block.text}PROGRAM\n"


@pytest.mark.parametrize(("document", "n_commands"), [("rules.md", 5), ("predicting.md", 5)])
def test_the_commands_answer_as_shown(live: Service, document: str, n_commands: int) -> None:
    found = blocks((ROOT / "docs" / document).read_text("utf-8"))
    shown = [(command(block), after) for block, after in pairwise(found) if block.kind in ("bash", "python")]
    training = [ordered for ordered, _ in commands() if re.search("datasets|trainings", ordered)]
    answers = printed_by([*training, *(ordered for ordered, _ in shown)], live)[len(training) :]
    assert len(shown) == n_commands
    for answer, (_, expected) in zip(answers, shown, strict=True):
        assert_as_shown(answer, expected)
