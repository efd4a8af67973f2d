"""Answering HTTP requests with uvicorn until somebody ends it."""

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

# How long a thread that computes for a large request may keep small ones waiting for the interpreter.
TURN_SECONDS = 0.0005


# What glibc's allocator is told, by the numbers of its options (`man mallopt`): memory below 4 MiB comes from heaps, of
# which there are two; a heap hands back what is free at its end once that is 32 MiB.
MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_ARENAS = -3, -1, -8
KEPT_MEMORY = {MMAP_THRESHOLD: 4 * MIB, TRIM_THRESHOLD: 32 * MIB, MOST_ARENAS: 2}


class CannotListen(Exception):
    """The address is taken, or is not one of this machine's."""


def run_server(settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM, both of which are a good end; the exit code."""
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
    # After its shutdown uvicorn sends itself the signal again; by default that one would kill.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    return 0 if server.started else FAILED_START


def keep_memory() -> None:
    """Have memory that a request gives back kept for the next: what is got anew is cleared page by page.

    For a body of a megabyte that takes longer than to read it. Other allocators than glibc's do as they like.
    """
    with suppress(AttributeError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in KEPT_MEMORY.items():
            set_option(option, value)


def created(settings: Settings) -> FastAPI:
    """The application, in which nobody looks for garbage: a request would wait for a tenth of a second meanwhile."""
    with importing():
        return create_app(settings)


def _listen(settings: Settings) -> socket.socket:
    """Take the address before anything is started, so that a second service on it ends at once and plainly."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {settings.host} port {settings.port}: {reason}") from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
