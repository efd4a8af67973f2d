"""The sums of both branches of a split where a number is predicted, added row by row without a conditional jump.

To the branch that it does not go down a row adds 0, which leaves a sum unchanged to the last bit.
"""

from core.compiler.compile import compiled


@compiled
def no_branches():
    """Sums of 0: of both branches the weight, the sums of centred numbers and of their squares, the sum of numbers."""
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def with_row(both, to, weight, number, centre):
    """The sums of both branches with one more row, which goes down branch `to`, 0 or 1."""
    weight_0, weight_1, moment_0, moment_1, square_0, square_1, sum_0, sum_1 = both
    off, second = number - centre, weight * to
    first = weight - second
    return (
        weight_0 + first,
        weight_1 + second,
        moment_0 + off * first,
        moment_1 + off * second,
        square_0 + off * off * first,
        square_1 + off * off * second,
        sum_0 + first * number,
        sum_1 + second * number,
    )


@compiled
def put_branches(both, sums, centres):
    """Store both branches as `growth.kernels.node.split_rows.branch_figures` does, and sums of numbers in `centres`."""
    weight_0, weight_1, moment_0, moment_1, square_0, square_1, sum_0, sum_1 = both
    sums[0], sums[1], centres[0], centres[1] = weight_0, weight_1, sum_0, sum_1
    sums[2], sums[3], sums[4] = weight_0, moment_0, square_0
    sums[5], sums[6], sums[7] = weight_1, moment_1, square_1
