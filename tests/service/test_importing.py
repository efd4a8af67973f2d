"""What is imported is never looked through for garbage, and what comes later is."""

import subprocess
import sys

PROGRAM = """
import gc, weakref
from service.importing import importing

with importing():
    assert not gc.isenabled()
    import json.tool, logging.config
n_frozen = gc.get_freeze_count()
assert gc.isenabled()
assert n_frozen > 1_000, n_frozen

class Ring:
    def __init__(self):
        self.own = self

gone = weakref.ref(Ring())
gc.collect()
assert gone() is None
assert gc.get_freeze_count() == n_frozen
"""

SERVER = """
import gc
from service.server import created
from service.settings import Settings

assert created(Settings()).routes
assert gc.get_freeze_count() > 50_000, gc.get_freeze_count()
assert len(gc.get_objects()) < 10_000, len(gc.get_objects())
"""


def test_nothing_that_was_imported_is_looked_through_for_garbage() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_a_server_does_not_look_for_garbage_in_its_own_code() -> None:
    subprocess.run([sys.executable, "-c", SERVER], check=True)
