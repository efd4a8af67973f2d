"""The command line: `niwaki serve`, `worker`, `migrate`, `warm-up`, `openapi`, `health`.

Each command imports only what it needs, when it needs it. So a worker's supervisor stays light, and it starts the
process that runs jobs before it imports anything itself.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from service.importing import importing
from service.jobs.starting import start_child
from service.version import VERSION

if TYPE_CHECKING:
    from pydantic import ValidationError

    from service.settings import Settings

HEALTH_SECONDS = 3.0
LOWEST_PRIORITY = 19


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, which is 0 on success."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except KeyboardInterrupt:
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="niwaki",
        description="Trains, prunes, stores and serves decision trees. Settings come from variables NIWAKI_….",
    )
    parser.add_argument("--version", action="version", version=f"niwaki {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="command")
    serve = commands.add_parser("serve", help="bring the database up to date, then answer HTTP requests")
    serve.set_defaults(run=_with_settings(_serve))
    worker = commands.add_parser("worker", help="run trainings from the queue")
    worker.add_argument("--slots", type=_slots, help="how many trainings at a time")
    worker.add_argument("--watch-stdin", action="store_true", help="end when standard input ends")
    worker.add_argument("--work", metavar="MODULE:FUNCTION", help="what runs a job; for tests")
    worker.set_defaults(run=_worker)
    migrate = commands.add_parser("migrate", help="bring the database up to date")
    migrate.set_defaults(run=_with_settings(_migrate))
    warm_up = commands.add_parser("warm-up", help="compile what makes training and prediction fast, and keep it")
    warm_up.add_argument("--background", action="store_true", help="at low priority, until standard input ends")
    warm_up.set_defaults(run=_with_settings(_warm_up))
    openapi = commands.add_parser("openapi", help="print the OpenAPI document")
    openapi.set_defaults(run=_with_settings(_openapi))
    health = commands.add_parser("health", help="ask a running service whether it is ready: exit code 0 or 1")
    health.set_defaults(run=_with_settings(_health))
    return parser


def _slots(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number from 1")
    return int(text)


def _with_settings(run: Callable[["Settings", argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A command that reads the settings first, and fails if one of them is invalid."""

    def run_with_settings(arguments: argparse.Namespace) -> int:
        with importing():
            from pydantic import ValidationError

            from service.logs import configure_logs
            from service.settings import Settings
        try:
            settings = Settings()
        except ValidationError as error:
            return _refuse(error)
        configure_logs(settings.log_level)
        return run(settings, arguments)

    return run_with_settings


def _serve(settings: "Settings", arguments: argparse.Namespace) -> int:
    with importing():
        from service.server import CannotListen, run_server

    code = _migrate(settings, arguments)
    if code != 0:
        return code
    try:
        return run_server(settings)
    except CannotListen as error:
        return _fail(error)


def _worker(arguments: argparse.Namespace) -> int:
    """Start a process that runs jobs before importing anything here, so that both import at the same time."""
    child_arguments = ["--work", arguments.work] if arguments.work else []
    child = start_child(child_arguments)
    try:
        return _with_settings(lambda settings, _: _supervise(settings, arguments, child, child_arguments))(arguments)
    finally:
        child.kill()
        child.wait()


def _supervise(
    settings: "Settings",
    arguments: argparse.Namespace,
    first_child: "subprocess.Popen[bytes]",
    child_arguments: Sequence[str],
) -> int:
    with importing():
        from service.jobs.worker import run_worker
        from service.store.transactions import InvalidDatabaseUrl

    try:
        run_worker(
            settings,
            slots=arguments.slots or settings.worker_slots,
            first_child=first_child,
            child_arguments=child_arguments,
            watch_stdin=arguments.watch_stdin,
        )
    except (InvalidDatabaseUrl, OSError) as error:
        return _fail(error)
    return 0


def _migrate(settings: "Settings", _: argparse.Namespace) -> int:
    from service.errors import StoreUnavailable
    from service.logs import log_event
    from service.store.migrate import head_revision, upgrade
    from service.store.transactions import InvalidDatabaseUrl

    try:
        upgrade(settings)
    except (InvalidDatabaseUrl, OSError) as error:
        return _fail(error)
    except StoreUnavailable as error:
        return _fail(f"the database does not answer: {getattr(error.__cause__, 'orig', error)}")
    log_event("migrated", revision=head_revision())
    return 0


def _warm_up(settings: "Settings", arguments: argparse.Namespace) -> int:
    from service.jobs.priority import step_back
    from service.kernel_cache import warm_up
    from service.logs import log_event

    if arguments.background:
        step_back(LOWEST_PRIORITY)
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    started = time.monotonic()
    folder = warm_up(settings)
    if folder is None:
        return _fail("compiled code cannot be kept in any of " + ", ".join(map(str, settings.kernel_dirs)))
    log_event("warmed_up", folder=str(folder), seconds=round(time.monotonic() - started, 1))
    return 0


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _openapi(settings: "Settings", _: argparse.Namespace) -> int:
    from service.app import create_app

    print(json.dumps(create_app(settings).openapi(), ensure_ascii=False, indent=2))
    return 0


def _health(settings: "Settings", _: argparse.Namespace) -> int:
    from http import HTTPStatus
    from http.client import HTTPConnection, HTTPException

    # A service that listens on all addresses is asked at the loopback address.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    connection = HTTPConnection(host, settings.port, timeout=HEALTH_SECONDS)
    try:
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return _fail(f"{host} port {settings.port} does not answer: {error}")
    finally:
        connection.close()
    return 0 if status == HTTPStatus.OK else _fail(f"{host} port {settings.port} is not ready: status {status}")


def _refuse(error: "ValidationError") -> int:
    for fault in error.errors():
        if fault["loc"]:
            name = "NIWAKI_" + "_".join(str(part) for part in fault["loc"]).upper()
            _fail(f"{name}: {fault['msg']}; it is {fault['input']!r}")
        else:  # a fault of several settings together, which the message names
            _fail(fault["msg"].removeprefix("Value error, "))
    return 2


def _fail(reason: object) -> int:
    print(f"niwaki: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
