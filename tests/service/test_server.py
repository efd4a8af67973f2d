"""A server is ready to answer small requests at any time."""

import subprocess
import sys

NO_GARBAGE = """
import gc
from service.server import created
from service.settings import Settings

assert created(Settings()).routes
assert gc.get_freeze_count() > 50_000, gc.get_freeze_count()
assert len(gc.get_objects()) < 10_000, len(gc.get_objects())
"""

SHORT_TURNS = """
import socket, sys
from service.server import CannotListen, run_server
from service.settings import Settings

usual = sys.getswitchinterval()
with socket.create_server(("127.0.0.1", 0)) as taken:
    try:
        run_server(Settings(port=taken.getsockname()[1]))
    except CannotListen:
        assert sys.getswitchinterval() <= usual / 5
    else:
        raise AssertionError("it served")
"""


def test_it_does_not_look_for_garbage_in_its_own_code() -> None:
    subprocess.run([sys.executable, "-c", NO_GARBAGE], check=True)


def test_threads_that_compute_take_short_turns() -> None:
    subprocess.run([sys.executable, "-c", SHORT_TURNS], check=True)
