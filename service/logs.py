"""Structured logs: one JSON object a line on standard error, one event word plus ids."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]

LOGGER = logging.getLogger("niwaki")
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def log_event(event: str, *, level: Level = "info", error: BaseException | None = None, **fields: Any) -> None:
    """Write one event with its ids; `error` adds the traceback."""
    LOGGER.log(LEVELS[level], event, exc_info=error, extra={"fields": fields})


def configure_logs(level: Level) -> None:
    """Send every log line of this process, also the libraries', to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOGGER.setLevel(LEVELS[level])


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, event, then the event's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.name != LOGGER.name:
            line["logger"] = record.name
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)
