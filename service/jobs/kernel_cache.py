"""Where compiled kernels are kept between processes."""

import hashlib
import tempfile
from importlib.metadata import version
from pathlib import Path

import core


def kernel_cache(data_dir: Path) -> Path | None:
    """A folder for this version of all kernels together; None when nothing can be written there.

    The compiler notices a change of a kernel's own file only, not of the kernels it calls, and tells processors apart
    by itself.
    """
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted(Path(core.__file__).parent.rglob("*_kernels.py")):
        digest.update(source.read_bytes())
    folder = data_dir / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder.resolve()
    except OSError:
        return None
