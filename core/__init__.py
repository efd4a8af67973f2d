"""Decision trees as definitions and data: no HTTP, no SQL, no files, no clock, no environment.

The public library is what `__all__` names; docs/engine.md describes it.

    from core import table, train

Importing `core` imports nothing else: each name is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.library.stored import dump, load
    from core.library.tables import named_columns, records_for, table
    from core.library.train import train
    from core.library.trained_forest import TrainedForest, TrainedIsolation
    from core.library.trained_tree import Trained
    from core.tables.errors import CoreError

__all__ = [
    "CoreError",
    "Trained",
    "TrainedForest",
    "TrainedIsolation",
    "dump",
    "load",
    "named_columns",
    "records_for",
    "table",
    "train",
]

_MODULES = {
    "CoreError": "core.tables.errors",
    "Trained": "core.library.trained_tree",
    "TrainedForest": "core.library.trained_forest",
    "TrainedIsolation": "core.library.trained_forest",
    "dump": "core.library.stored",
    "load": "core.library.stored",
    "named_columns": "core.library.tables",
    "records_for": "core.library.tables",
    "table": "core.library.tables",
    "train": "core.library.train",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'core' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
