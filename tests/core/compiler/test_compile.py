"""Kernels are compiled as wholes for Python, and as parts of wholes for each other."""

import gc
import sys

import numpy as np
import pytest
from llvmlite.binding import parse_bitcode
from numba import njit
from numba.core.runtime import _nrt_python
from numba.core.runtime.nrt import rtsys

from core.compiler import compile as compile_kernels
from core.compiler.compile import compiled, making_arrays, numbers_at, prefetch
from core.warm_up.every_kernel import run_every_kernel

pytestmark = pytest.mark.bounds


@pytest.fixture(params=[True, False])
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With a compiler whose parts we know, and with any other."""
    assert compile_kernels.IS_KNOWN
    monkeypatch.setattr(compile_kernels, "IS_KNOWN", request.param)
    # Each keeps other things on disk; outside of tests they have different folders.
    monkeypatch.setattr(compile_kernels.config, "CACHE_DIR", "")
    return bool(request.param)


def test_kernels_call_each_other_and_are_called(parts: bool) -> None:
    @compiled
    def half(n):
        return n // 2

    @compiled
    def halvings(n):
        count = 0
        while n > 1:
            n = half(n)
            count += 1
        return count

    assert halvings(1000) == 9
    assert halvings.signatures
    assert half.signatures
    assert half(9) == 4
    if parts:
        assert not halvings.overloads  # nobody calls it from a kernel
        assert len(half.whole.overloads) == 1


def test_a_kernel_may_call_itself(parts: bool) -> None:
    @compiled
    def power_of_two(n):
        return 1 if n == 0 else 2 * power_of_two(n - 1)

    assert power_of_two(10) == 1024


def test_a_part_of_a_part_is_part_of_the_whole(parts: bool) -> None:
    @compiled
    def innermost(values, at):
        values[at] += 1.0

    @compiled
    def inner(values, at):
        innermost(values, at)
        innermost(values, at + 1)

    @compiled
    def outer(values):
        inner(values, 0)
        innermost(values, 2)
        return np.sort(values)

    assert outer(np.zeros(4)).tolist() == [0.0, 1.0, 1.0, 1.0]


def test_a_kernel_reads_any_number_of_columns_by_their_addresses() -> None:
    numbers = making_arrays(numbers_at.py_func)

    @compiled
    def sums(addresses, n, totals):
        for column in range(len(addresses)):
            totals[column] = numbers(addresses[column], n).sum()

    for n_columns in (1, 3):
        columns = [np.arange(5.0) * (column + 1) for column in range(n_columns)]
        totals = np.empty(n_columns)
        sums(np.array([column.ctypes.data for column in columns], dtype=np.uint64), 5, totals)
        assert totals.tolist() == [10.0 * (column + 1) for column in range(n_columns)]


def test_memory_may_be_asked_for_that_is_nobodys(parts: bool) -> None:
    numbers = making_arrays(numbers_at.py_func)

    @compiled
    def sum_ahead(address, n):
        cells, total = numbers(address, n), 0.0
        for i in range(n):
            prefetch(address + np.uint64(1 << 46) + np.uint64(8 * i))
            prefetch(np.uint64(i))
            total += cells[i]
        return total

    values = np.arange(100.0)
    assert sum_ahead(np.uint64(values.__array_interface__["data"][0]), len(values)) == 4950.0


def test_memory_is_asked_for() -> None:
    @njit  # not kept on disk: code that comes from there cannot be read
    def ask(address):
        prefetch(address)

    ask(np.uint64(0))
    (code,) = ask.inspect_llvm().values()
    assert "@llvm.prefetch" in code


def test_only_machine_code_is_kept_of_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_kernels.config, "CACHE_DIR", "")

    @compiled
    def twice(n):
        return 2 * n

    assert twice(21) == 42
    (whole,) = twice.whole.overloads.values()
    _, kind, (machine_code, names) = whole.library.serialize_using_object_code()
    assert kind == "object"
    assert whole.fndesc.llvm_cpython_wrapper_name.encode() in machine_code
    kept = parse_bitcode(names)
    assert whole.fndesc.llvm_cpython_wrapper_name in {function.name for function in kept.functions}
    assert all(len(list(function.blocks)) == 1 for function in kept.functions)


class Pair(compile_kernels.Struct):
    """Two arrays, one of them in a tuple."""


@compile_kernels.structure
class PairType(compile_kernels.StructType):
    """What kernels know of a `Pair`."""


compile_kernels.define(Pair, PairType, "values others size")


def test_what_is_read_from_a_struct_belongs_to_the_struct() -> None:
    @compiled
    def read_many_times(pair):
        total = 0.0
        for i in range(pair.size):
            values, others = pair.values, pair.others[0]
            total += values[i] * others[i]
        return total

    @making_arrays
    def sum_of_products(values, n):
        pair = Pair(values, (np.full(n, 2.0),), n)  # an array of the caller's, and one that only the struct has
        return read_many_times(pair)

    values = np.arange(100.0)
    sum_of_products(values, 100)
    _nrt_python.memsys_enable_stats()
    try:
        n_counted, before = sys.getrefcount(values), rtsys.get_allocation_stats()
        assert sum_of_products(values, 100) == 9900.0
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert sys.getrefcount(values) == n_counted
    assert after.alloc - before.alloc == after.free - before.free > 0


def test_arrays_pass_only_between_kernels_that_both_count_who_has_one() -> None:
    @making_arrays
    def made(n):
        return np.zeros(n)

    @compiled
    def handed_on(values):
        return values

    @compiled
    def total_of_made(n):
        return made(n).sum()

    @making_arrays
    def total_of_copy(values):
        return handed_on(values).copy().sum()

    @compiled
    def calls_total_of_made(n):
        return total_of_made(n)

    assert total_of_made(3) == 0.0  # as Python calls it, it counts
    with pytest.raises(TypeError, match="total_of_made and made: mark both"):
        calls_total_of_made(3)
    with pytest.raises(TypeError, match="total_of_copy and handed_on: mark both"):
        total_of_copy(np.zeros(3))


def test_kernels_give_back_all_memory() -> None:
    run_every_kernel()
    gc.collect()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        run_every_kernel()
        gc.collect()
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
