import sys
from pathlib import Path

import pytest

from service.jobs.kernel_cache import is_compiled, kernel_cache, mark_compiled


def test_a_cache_is_marked_once_its_kernels_were_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "core.growth.grow_kernels", raising=False)
    cache = kernel_cache(tmp_path)
    assert cache is not None
    assert cache == kernel_cache(tmp_path)
    mark_compiled(cache)
    assert not is_compiled(cache)
    monkeypatch.setitem(sys.modules, "core.growth.grow_kernels", sys)
    mark_compiled(cache)
    monkeypatch.delitem(sys.modules, "core.growth.grow_kernels")
    assert is_compiled(cache)


def test_without_a_folder_to_write_to_there_is_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "core.growth.grow_kernels", raising=False)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert kernel_cache(in_the_way) is None
    assert not is_compiled(None)
    mark_compiled(None)
