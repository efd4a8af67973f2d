"""Structured logs on standard error: one JSON object per line, with the name of an event and ids."""

import json
import logging
import sys
import time
import traceback
from functools import lru_cache
from typing import Any, Literal

import msgspec

Level = Literal["debug", "info", "warning", "error"]

LOGGER = logging.getLogger("niwaki")
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def log_event(event: str, *, level: Level = "info", error: BaseException | None = None, **fields: Any) -> None:
    """Write one event with its ids; `error` adds the traceback."""
    LOGGER.log(LEVELS[level], event, exc_info=error, extra={"fields": fields})


def configure_logs(level: Level) -> None:
    """Write all log records of this process, including those of libraries, to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    LOGGER.setLevel(LEVELS[level])
    # No line contains its position in the code, its thread or its process, so logging need not determine them.
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON: time, level, event, then the event's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": f"{second_text(int(record.created))}.{int(record.msecs):03}+00:00",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.name != LOGGER.name:
            line["logger"] = record.name
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        try:
            return msgspec.json.encode(line, enc_hook=str).decode()
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
            return json.dumps(line, default=str)


@lru_cache(maxsize=2)
def second_text(seconds: int) -> str:
    """Seconds since 1970 as a UTC date and time; cached, since most lines are written in the second of the last one."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
