"""`ensembles.prediction.predictor.average_of_trees` of one record, compiled for trees packed by `packed_trees`.

The record descends many trees in turn: in each it passes the tests of one cache line and prefetches the next. The
kernel takes addresses, since unpacking arrays would take longer than the trees.
"""

from numba import int64, uint64

from core.compiler.compile import compiled, inlined, making_arrays, numbers_at, prefetch, shorts_at, wholes_at
from core.ensembles.prediction.kernels.ranks import ranks_of_record
from core.ensembles.prediction.packed_trees import (
    ANSWERS,
    BEFORE,
    BLOCK_DEPTH,
    COLUMN_BITS,
    DEPTH,
    LEAF_BIT,
    N_ADDRESSES,
    N_ANSWERS,
    N_COLUMNS,
    N_OUTPUTS,
    N_TESTS,
    N_TREES,
    START,
    TESTS,
    TREES_IN_FLIGHT,
    WORD_BYTES,
)
from core.ensembles.prediction.ranks import ThresholdRanks

OUTPUTS_AT_ONCE = 4
POSITION = uint64((1 << 32) - 1)  # the bits of a test that hold the position of its first branch
ANSWER = uint64((1 << LEAF_BIT) - 1)  # of a leaf's key


@making_arrays
def ranks_at(table):
    """The `ThresholdRanks` from a table of addresses and lengths, in the order of the fields."""
    return ThresholdRanks(
        numbers_at(table[0], table[1]),
        wholes_at(table[2], table[3]),
        numbers_at(table[4], table[5]),
        numbers_at(table[6], table[7]),
        numbers_at(table[8], table[9]),
        wholes_at(table[10], table[11]),
        shorts_at(table[12], table[13]),
        wholes_at(table[14], table[15]),
    )


@inlined
def go_down(tests, position, n_tests, column_mask, of_record):
    """The position of a record after `n_tests` tests."""
    for _ in range(n_tests):
        test = uint64(tests[position])
        key = test >> uint64(32)
        position = (test & POSITION) + uint64(uint64(of_record[key & column_mask]) > key)
    return position


@compiled
def reach_leaves(table, tests, begin, end, of_record, reached):
    """Write the leaf positions of a record in the trees from `begin` to `end` to `reached`."""
    column_mask, n_trees = (uint64(1) << uint64(table[COLUMN_BITS])) - uint64(1), uint64(table[N_TREES])
    start, depth, address = wholes_at(table[START], n_trees), wholes_at(table[DEPTH], n_trees), uint64(table[TESTS])
    deepest = int64(0)
    for tree in range(begin, end):
        position = go_down(tests, uint64(start[tree]), BLOCK_DEPTH + 1, column_mask, of_record)
        prefetch(address + position * uint64(WORD_BYTES))
        reached[tree - begin] = int64(position)
        deepest = max(deepest, depth[tree])
    for _ in range(BLOCK_DEPTH + 1, deepest, BLOCK_DEPTH):
        for i in range(end - begin):
            position = go_down(tests, uint64(reached[i]), BLOCK_DEPTH, column_mask, of_record)
            prefetch(address + position * uint64(WORD_BYTES))
            reached[i] = int64(position)


@compiled
def find_answers(table, tests, begin, end, reached):
    """Replace the positions of leaves by the rows of their answers."""
    n_trees, n_outputs, address = uint64(table[N_TREES]), uint64(table[N_OUTPUTS]), uint64(table[ANSWERS])
    before, column_bits = wholes_at(table[BEFORE], n_trees), uint64(table[COLUMN_BITS])
    for tree in range(begin, end):
        key = uint64(tests[uint64(reached[tree - begin])]) >> uint64(32)
        answer_in_tree = (key & ANSWER) >> column_bits
        row = answer_in_tree + uint64(before[tree]) * uint64(answer_in_tree >= n_outputs)
        prefetch(address + row * n_outputs * uint64(WORD_BYTES))
        reached[tree - begin] = int64(row)


@compiled
def add_answers(answers, n_outputs, rows, n, sums):
    """Add the answers of n rows, in their order, to the sums, a few outputs at a time."""
    last = n_outputs - uint64(1)
    for k in range(uint64(0), n_outputs, uint64(OUTPUTS_AT_ONCE)):
        second, third, fourth = min(k + uint64(1), last), min(k + uint64(2), last), min(k + uint64(3), last)
        a, b, c, d = sums[k], sums[second], sums[third], sums[fourth]
        for i in range(n):
            row = uint64(rows[i]) * n_outputs
            a += answers[row + k]
            b += answers[row + second]
            c += answers[row + third]
            d += answers[row + fourth]
        sums[k], sums[second], sums[third], sums[fourth] = a, b, c, d


@compiled
def average_packed(address, buffer):
    """Write the mean answer to the record in `buffer` after its values; False if a value is missing.

    `address` is that of a table of addresses and sizes, `buffer` that of the record's values, then the answer, then
    scratch space.
    """
    table = wholes_at(address, N_ADDRESSES)
    n_columns, n_trees, n_outputs = table[N_COLUMNS], uint64(table[N_TREES]), uint64(table[N_OUTPUTS])
    cells, sums = numbers_at(buffer, n_columns), numbers_at(buffer + WORD_BYTES * n_columns, n_outputs)
    of_record = wholes_at(buffer + WORD_BYTES * (n_columns + int64(n_outputs)), n_columns)
    positions = wholes_at(buffer + WORD_BYTES * (2 * n_columns + int64(n_outputs)), n_columns)
    reached = wholes_at(buffer + WORD_BYTES * (3 * n_columns + int64(n_outputs)), TREES_IN_FLIGHT)
    if not ranks_of_record(ranks_at(table), cells, uint64(table[COLUMN_BITS]), of_record, positions):
        return False
    tests = wholes_at(table[TESTS], table[N_TESTS])
    answers = numbers_at(table[ANSWERS], table[N_ANSWERS] * int64(n_outputs))
    for k in range(n_outputs):
        sums[k] = 0.0
    for begin in range(uint64(0), n_trees, uint64(TREES_IN_FLIGHT)):
        end = min(begin + uint64(TREES_IN_FLIGHT), n_trees)
        reach_leaves(table, tests, begin, end, of_record, reached)
        find_answers(table, tests, begin, end, reached)
        add_answers(answers, n_outputs, reached, end - begin, sums)
    for k in range(n_outputs):
        sums[k] /= n_trees
    return True
