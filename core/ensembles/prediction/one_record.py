"""One complete record down all trees of a forest of thresholds, with the least overhead for a caller in Python.

Values are packed into a buffer that the kernel reads, and the answer is unpacked from behind them; buffers are taken
from a free list and put back. Importing this module compiles nothing; calling the function that it returns does.
"""

from array import array
from collections.abc import Callable, Sequence
from itertools import chain
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiler.raw_memory import address_of
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.packed_trees import TREES_IN_FLIGHT, WORD_BYTES, packed_trees

AverageOfRecord = Callable[[Sequence[float]], tuple[float, ...] | None]


def average_of_record(layout: ForestLayout) -> AverageOfRecord:
    """A function that answers one record like `predictor.average_of_trees`, for a forest that suits packing.

    It returns None where the record lacks a value that a test may read. It uses local names only: looking up
    attributes would take a tenth of the time.
    """
    from core.ensembles.prediction.kernels.packed_trees import average_packed  # imports Numba

    kernel = getattr(average_packed, "whole", average_packed)  # skips a layer of dispatch
    n_values, tested = len(layout.tested), layout.tested
    are_first = tested == tuple(range(n_values))
    write, read = Struct(f"{n_values}d").pack_into, Struct(f"{layout.n_outputs}d").unpack_from
    table, *kept = _table(layout)
    address, answer_at = int(address_of(table)), WORD_BYTES * n_values
    free: list[tuple[array[float], int]] = []
    take, put_back = free.pop, free.append

    def average(cells: Sequence[float], _: object = (table, kept)) -> tuple[float, ...] | None:
        try:
            buffer = take()
        except IndexError:
            buffer = _new_buffer(n_values, layout.n_outputs)
        memory, memory_at = buffer
        values = cells[:n_values] if are_first else [cells[column] for column in tested]
        write(memory, 0, *values)
        answer = read(memory, answer_at) if kernel(address, memory_at) else None
        put_back(buffer)
        return answer

    return average


def _new_buffer(n_values: int, n_outputs: int) -> tuple["array[float]", int]:
    """A buffer for values, answer, ranks, scratch for finding ranks, and positions in trees; and its address."""
    buffer = array("d", bytes(WORD_BYTES * (3 * n_values + n_outputs + TREES_IN_FLIGHT)))
    return buffer, buffer.buffer_info()[0]


def _table(layout: ForestLayout) -> tuple[NDArray[Any], ...]:
    """The table of addresses and sizes that the kernel reads, and the arrays to keep alive."""
    nodes, trees = layout.nodes, packed_trees(layout)
    ranks = ((int(address_of(each)), len(each)) for each in layout.ranks)
    sizes = (layout.column_bits, len(layout.tested), len(trees.start), layout.n_outputs)
    lengths = (len(trees.tests), len(nodes.answers))
    arrays = (trees.tests, trees.start, nodes.depth, trees.before, nodes.answers)
    table = np.array([*chain(*ranks), *sizes, *lengths, *map(address_of, arrays)], dtype=np.int64)
    return table, *arrays, *layout.ranks
