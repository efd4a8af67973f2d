import json
import logging
from collections.abc import Iterator

import pytest

from service.logs import configure_logs, log_event


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("niwaki")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    root.handlers = []
    yield
    root.handlers = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def test_one_event_is_one_line_of_json(capsys):
    configure_logs("info")
    log_event("training_claimed", training="trn_1", name="西瓜\n🍉")
    log_event("details", level="debug")
    [line] = capsys.readouterr().err.splitlines()
    event = json.loads(line)
    assert event.pop("time").endswith("+00:00")
    assert event == {"level": "info", "event": "training_claimed", "training": "trn_1", "name": "西瓜\n🍉"}


def test_an_error_brings_its_traceback(capsys):
    configure_logs("info")
    try:
        raise RuntimeError("what happened")
    except RuntimeError as error:
        log_event("unexpected_error", level="error", error=error)
    event = json.loads(capsys.readouterr().err)
    assert event["level"] == "error"
    assert "RuntimeError: what happened" in event["traceback"]


def test_lines_of_libraries_are_json_too(capsys):
    configure_logs("info")
    logging.getLogger("uvicorn.error").warning("careful")
    logging.getLogger("uvicorn.error").info("chatter")
    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line)["logger"] == "uvicorn.error"
