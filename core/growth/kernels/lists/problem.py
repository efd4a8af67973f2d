"""The samples as the kernels take them: columns of many values as sorted lists, the others as codes or bits."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.arithmetic.kernels.sorting import (
    DIGIT,
    MOST_DIGITS,
    insertion_sort_runs,
    list_entries,
    sort_keys,
    sortable_keys,
)
from core.compiler.growing_arrays import list_capacity
from core.config.options import Algorithm, MissingStrategy
from core.growth.kernels.inputs.coding import as_numbers, for_kernels
from core.growth.kernels.inputs.columns import (
    Column,
    Weighing,
    class_bits_of,
    classes_of,
    first_levels,
    numbers_of,
    row_bits_of,
)
from core.growth.kernels.lists.grow import STOP
from core.growth.kernels.lists.rules import is_bounded, way_of
from core.growth.kernels.lists.threads import GrowthEnded, Pool
from core.growth.samples import Samples
from core.splits.kernels import candidates as ways
from core.tables.target import Task

SORTED = 2  # an index in `progress`, after those of the kernels: the part of the lists that is sorted


def problem_of(
    samples: Samples,
    algorithm: Algorithm,
    columns: list[Column],
    weighing: Weighing,
    threads: int,
    progress: FloatArray,
) -> tuple[Any, ...]:
    """The samples as sorted lists and codes: the fields of the kernels' `Problem`."""
    n_rows = len(samples)
    listed = [number for number, column in enumerate(columns) if column.coding is None]
    coded = [(column.coding, column.is_bit) for column in columns if column.coding is not None]
    n_words = (len(listed) + 63) // 64 if weighing.has_missing and samples.target.task is Task.REGRESSION else 0
    missing = np.zeros((n_rows, n_words), dtype=np.uint64)
    capacity = list_capacity(n_rows, weighing.has_missing)
    lists = np.empty((len(listed), capacity), dtype=np.uint32)
    lengths, distinct = fill_lists(samples, listed, lists, threads, progress)
    for position, column in enumerate(listed if n_words else ()):
        set_bits(missing, position, np.isnan(as_numbers(samples, column)))
    in_codes = [number for number, (_, is_bit) in enumerate(coded) if not is_bit]
    in_bits = [number for number, (_, is_bit) in enumerate(coded) if is_bit]
    codes, starts = np.empty((n_rows, len(in_codes)), dtype=np.uint32), first_levels(columns)
    for position, number in enumerate(in_codes):
        np.add(coded[number][0].codes, starts[number], out=codes[:, position], casting="unsafe")
    bits = np.zeros((n_rows, (len(in_bits) + 63) // 64), dtype=np.uint64)
    for position, number in enumerate(in_bits):
        set_bits(bits, position, coded[number][0].codes)
    return (
        lists,
        lengths,
        distinct,
        np.array([columns[column].slot for column in listed], dtype=np.int64),
        np.arange(capacity, dtype=np.uint32),  # only the first n_rows are rows
        n_rows,
        classes_of(samples),
        numbers_of(samples),
        weights_of(samples, weighing),
        missing,
        weighing.has_missing,
        codes,
        np.array(in_codes, dtype=np.int64),
        bits,
        np.array(in_bits, dtype=np.int64),
        np.empty(0, dtype=np.uint32),  # no `origin`: rows keep their numbers
        row_bits_of(samples),
        values_of(samples, algorithm, listed),
        path_of(samples, algorithm, weighing),
    )


def path_of(samples: Samples, algorithm: Algorithm, weighing: Weighing) -> FloatArray:
    """The weight that all rows have, if flags in the entries can tell weights; else empty.

    See `growth.kernels.bounds.weight_flags`.
    """
    has_flags = (
        weighing.has_missing and is_bounded(samples, algorithm) and bool((samples.weights == samples.weights[0]).all())
    )
    return for_kernels(samples.weights[:1] if has_flags else np.empty(0), np.float64).copy()


def weights_of(samples: Samples, weighing: Weighing) -> FloatArray:
    """The weights of the rows; a copy if the kernels change them."""
    weights: FloatArray = for_kernels(samples.weights, np.float64)
    return weights.copy() if weighing.has_missing else weights


def set_bits(words: NDArray[np.uint64], position: int, flags: NDArray[Any]) -> None:
    """Set bit `position` in the words of every row whose flag is 1."""
    words[:, position // 64] |= flags.astype(np.uint64) << np.uint64(position % 64)


def values_of(samples: Samples, algorithm: Algorithm, listed: list[int]) -> FloatArray:
    """`[list, row]`: the values of columns that are lists; empty unless cuts are chosen by value or surrogates used."""
    by_way = way_of(algorithm)[0] in (ways.EQUAL_WIDTH, ways.AT_RANDOM, ways.DISTANT_VALUES)
    if not listed or not (by_way or algorithm.missing is MissingStrategy.SURROGATE):
        return np.empty((0, 0))
    return np.array([as_numbers(samples, column) for column in listed])


def fill_lists(
    samples: Samples, listed: list[int], lists: Any, threads: int, progress: FloatArray
) -> tuple[RowArray, BoolArray]:
    """`fill_list` for each of these columns, in parallel: how many values are known, and whether all are distinct."""
    lengths, distinct = np.zeros(len(listed), dtype=np.int64), np.zeros(len(listed), dtype=np.bool_)
    classes, class_bits, row_bits = classes_of(samples), class_bits_of(samples), row_bits_of(samples)
    pairs = Pool(np.empty((2, len(samples)), dtype=np.uint64) for _ in range(threads))

    def fill(position: int) -> None:
        if progress[STOP]:
            raise GrowthEnded
        values = as_numbers(samples, listed[position])
        with pairs.one() as buffers:
            lengths[position], distinct[position] = fill_list(
                values, classes, class_bits, row_bits, buffers, lists[position]
            )
        progress[SORTED] += 1 / len(listed)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(len(listed))))
    progress[SORTED] = 1.0
    return lengths, distinct


def fill_list(
    values: FloatArray, classes: CodeArray, class_bits: int, row_bits: int, buffers: Any, entries: Any
) -> tuple[int, bool]:
    """Write a column's sorted list; returns how many values are known, and whether all are distinct.

    If too many values are so close that their keys are equal, the values themselves are sorted instead.
    """
    n = int(sortable_keys(values, values.view(np.uint64), classes, class_bits, row_bits, buffers[0]))
    counts = np.empty((MOST_DIGITS, 1 << DIGIT), dtype=np.uint32)
    keys = sort_keys(buffers[0, :n], buffers[1, :n], row_bits + class_bits, counts)
    if not insertion_sort_runs(keys, values, class_bits, row_bits, np.uint64((1 << (row_bits + class_bits)) - 1)):
        rows = np.argsort(values, kind="stable")[: len(keys)].astype(np.uint64)
        keys[:] = (rows << np.uint64(class_bits)) | classes[rows].astype(np.uint64)  # without bits of the value
    n_new = list_entries(keys, values, class_bits, row_bits, entries)
    return len(keys), bool(n_new + 1 == len(keys))
