"""The sums of both branches of a split where a number is predicted, row by row and without a look where each row goes.

A row adds nothing to the other branch, and a sum plus nothing is the same to the last bit.
"""

from core.compiler.compile import compiled


@compiled
def no_branches():
    """Of both branches the weight, the sums of centred numbers and of their squares, and the sum of numbers."""
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def with_row(both, to, weight, number, centre):
    """The same with one row more, that goes to the first branch, 0, or to the second."""
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
    """Write them down as `growth.kernels.node.split_rows.branch_figures` does, and the sums of numbers apart."""
    weight_0, weight_1, moment_0, moment_1, square_0, square_1, sum_0, sum_1 = both
    sums[0], sums[1], centres[0], centres[1] = weight_0, weight_1, sum_0, sum_1
    sums[2], sums[3], sums[4] = weight_0, moment_0, square_0
    sums[5], sums[6], sums[7] = weight_1, moment_1, square_1
