"""Serving HTTP requests with uvicorn until the process is told to stop."""

import ctypes
import signal
import socket
import sys
from contextlib import suppress

import uvicorn
from fastapi import FastAPI

from core.compiler.permission import forbid_compilation
from service.app import create_app
from service.importing import importing
from service.logs import log_event
from service.settings import MIB, Settings

GRACE_SECONDS = 5  # for requests under way when the service is told to stop
FAILED_START = 3

# How long a thread that computes for a large request may hold the interpreter lock while small requests wait.
TURN_SECONDS = 0.0005


# Options of glibc's allocator by number (`man mallopt`): blocks below 4 MiB come from heaps, of which there are at most
# two; a heap returns the free memory at its end to the system once that is 32 MiB.
MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_ARENAS = -3, -1, -8
KEPT_MEMORY = {MMAP_THRESHOLD: 4 * MIB, TRIM_THRESHOLD: 32 * MIB, MOST_ARENAS: 2}


class CannotListen(Exception):
    """The address is in use, or is not one of this machine's."""


def run_server(settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM, both of which count as success; return the exit code."""
    keep_memory()
    forbid_compilation()
    sys.setswitchinterval(TURN_SECONDS)
    listener = _listen(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            lambda: created(settings),
            factory=True,
            loop="uvloop",
            http="httptools",
            access_log=False,
            log_config=None,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    log_event("serving", address=_address(listener))
    # After shutting down, uvicorn sends itself the signal again, which by default would kill the process.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    return 0 if server.started else FAILED_START


def keep_memory() -> None:
    """Keep memory that a request frees for the next one, instead of returning it to the system.

    New memory is cleared page by page, which for a body of a megabyte takes longer than reading it. Allocators other
    than glibc's are left as they are.
    """
    with suppress(AttributeError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in KEPT_MEMORY.items():
            set_option(option, value)


def created(settings: Settings) -> FastAPI:
    """The application, exempt from garbage collection, which would delay a request by a tenth of a second."""
    with importing():
        return create_app(settings)


def _listen(settings: Settings) -> socket.socket:
    """Bind the address before anything is started, so that a second service on it fails at once and clearly."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {settings.host} port {settings.port}: {reason}") from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
