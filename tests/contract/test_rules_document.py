"""The commands of docs/rules.md, run after those of the README that train its model, give the answers that it shows."""

import json
import re
from itertools import pairwise

from tests.contract.test_readme import ROOT, blocks, commands, matches, printed_by
from tests.journeys.running import Service


def test_the_commands_answer_as_shown(live: Service) -> None:
    found = blocks((ROOT / "docs" / "rules.md").read_text("utf-8"))
    shown = [(block.text, after) for block, after in pairwise(found) if block.kind == "bash"]
    training = [command for command, _ in commands() if re.search("datasets|trainings", command)]
    answers = printed_by([*training, *(command for command, _ in shown)], live)[len(training) :]
    assert len(shown) == 5
    for answer, (_, expected) in zip(answers, shown, strict=True):
        if expected.kind == "json":
            assert matches(json.loads(expected.text), json.loads(answer)) == []
        else:
            assert answer == expected.text.strip("\n")
