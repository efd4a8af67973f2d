"""How kernels are compiled: without the interpreter's lock, and kept on disk where a folder for that is given.

Numba notices a change of a kernel's own file only, not of the kernels it calls; so whoever sets NUMBA_CACHE_DIR names a
folder for each version of all of them. Without such a folder every process compiles for itself.
"""

from typing import Any

from numba import config, njit

has_cache = bool(getattr(config, "CACHE_DIR", ""))
compiled: Any = njit(cache=has_cache, nogil=True, error_model="numpy")
