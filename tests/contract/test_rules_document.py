"""The commands of docs/rules.md, run after those of the README that train its model, give the answers that it shows."""

import json
import re
import subprocess
from itertools import pairwise

from tests.contract.test_readme import MARK, ROOT, SHOWN_ADDRESS, blocks, commands, matches
from tests.journeys.running import Service


def test_the_commands_answer_as_shown(live: Service) -> None:
    found = blocks((ROOT / "docs" / "rules.md").read_text("utf-8"))
    shown = [(block.text, after) for block, after in pairwise(found) if block.kind == "bash"]
    training = "".join(f"{command}\n" for command, _ in commands() if re.search("datasets|trainings", command))
    script = training + "".join(f"echo '{MARK}'\n{command}\n" for command, _ in shown)
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eu", "-o", "pipefail"],
        input=script.replace(SHOWN_ADDRESS, live.address),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    _, *answers = ran.stdout.split(MARK)
    assert len(answers) == len(shown) == 5
    for answer, (_, expected) in zip(answers, shown, strict=True):
        if expected.kind == "json":
            assert matches(json.loads(expected.text), json.loads(answer)) == []
        else:
            assert answer.strip("\n") == expected.text.strip("\n")
