"""The compiled twin of `class_moments` and of its tests: of all columns with an order at once, eight in lanes.

What is known of a node's columns stands in one list, class by class, and for eight columns after the other:

    | class 0                                                        | class 1 ...
    | columns 0 to 7                                | columns 8 to 15 ...
    | centre  weight  sum  squares  mean  deviation |                         each of eight numbers

`numbers[row * width:]` are a row's values, NaN where missing; the width is a multiple of eight. Rows are packed with
their class, see `packed`.
"""

from numba import int64, types, uint64

from core.compiled_kernels import ask_for, compiled
from core.lane_kernels import WIDTH, in_lanes
from core.ties import TIE

CENTRE, WEIGHT, SUM, SQUARES, MEAN, DEVIATION = (WIDTH * place for place in range(6))
SHIFT, VARIATION = SUM, SQUARES  # what becomes of them once all rows are added up
OF_CLASS = 6 * WIDTH
WHOLE, GROUPS, MOMENT, WITHIN, BETWEEN, FIRST_CENTRE, STATISTIC, BETWEEN_DEGREES, WITHIN_DEGREES = (
    WIDTH * place for place in range(9)
)
OF_TEST = 9 * WIDTH
AHEAD = uint64(12)  # rows: so far further on numbers are asked for
ROW_BITS, CLASS_MASK = uint64(32), uint64((1 << 32) - 1)


@compiled
def packed(row, class_):
    """A row with its class in the lower bits."""
    return uint64(row) << ROW_BITS | uint64(class_)


@compiled
def row_of(entry):
    """The row."""
    return entry >> ROW_BITS


@compiled
def class_of(entry):
    """Its class."""
    return entry & CLASS_MASK


@in_lanes(types.void)
def begin(moments, nan, weight):
    """Nothing is known yet of a class of this weight."""
    zero = nan.all(0.0)
    moments.put(CENTRE, nan)
    moments.put(WEIGHT, weight)
    moments.put(SUM, zero)
    moments.put(SQUARES, zero)
    moments.put(DEVIATION, zero)


@in_lanes(types.uint64)
def take_centre(values, moments):
    """The first known values are the centres; which are known now."""
    centre = moments(CENTRE)
    centre = centre.where(centre.is_known(), values(0))
    moments.put(CENTRE, centre)
    return centre.is_known().as_bits()


@in_lanes(types.void)
def add_row(values, moments, weight):
    """Add a row without missing values."""
    apart = values(0) - moments(CENTRE)
    moved = weight * apart
    moments.add(SUM, moved)
    moments.add(SQUARES, moved * apart)


@in_lanes(types.void)
def add_known(values, moments, weight):
    """Add what is known of a row."""
    value = values(0)
    known, apart = value.is_known(), value - moments(CENTRE)
    moved = weight * apart
    moments.add(WEIGHT, weight.where(known))
    moments.add(SUM, moved.where(known))
    moments.add(SQUARES, (moved * apart).where(known))


@in_lanes(types.void)
def add_deviation(values, moments, weight):
    """Add the distance of a row from the mean of its class."""
    value = values(0)
    apart = (value - moments(CENTRE) - moments(SHIFT)).size()
    moments.add(DEVIATION, (weight * apart).where(value.is_known()))


@in_lanes(types.void)
def begin_test(tests, zero):
    """No class is looked at yet."""
    for place in (WHOLE, GROUPS, MOMENT, WITHIN, BETWEEN):
        tests.put(place, zero)


@in_lanes(types.void)
def take_first_centre(moments, tests, nan):
    """Means are told from the centre of the first class that has one."""
    centre = tests(FIRST_CENTRE)
    tests.put(FIRST_CENTRE, centre.where(centre.is_known(), moments(CENTRE)))


@in_lanes(types.void)
def finish_class(moments, tests):
    """From sums to mean and variation; add the class to the analysis of variance."""
    weight, total, centre = moments(WEIGHT), moments(SUM), moments(CENTRE)
    zero, one = weight.all(0.0), weight.all(1.0)
    has_weight = weight > zero
    shift = total / weight.where(has_weight, one)
    variation = moments(SQUARES) - total * shift
    variation = variation.where(variation > zero)
    mean = (centre - tests(FIRST_CENTRE) + shift).where(centre.is_known())
    moments.put(SHIFT, shift)
    moments.put(VARIATION, variation)
    moments.put(MEAN, mean)
    tests.add(WHOLE, weight)
    tests.add(GROUPS, one.where(has_weight))
    tests.add(MOMENT, weight * mean)
    tests.add(WITHIN, variation)


@in_lanes(types.void)
def add_between(moments, tests):
    """How far the mean of a class is from that of all."""
    apart = moments(MEAN) - tests(MOMENT) / tests(WHOLE)
    tests.add(BETWEEN, moments(WEIGHT) * (apart * apart))


@in_lanes(types.void)
def add_class_of_levene(moments, tests):
    """Add a class to Levene's test: what its distances vary by counts as at least TIE of their squares."""
    weight, deviation, variation = moments(WEIGHT), moments(DEVIATION), moments(VARIATION)
    zero, one = weight.all(0.0), weight.all(1.0)
    varied, least = variation - deviation * deviation / weight.where(weight > zero, one), variation * weight.all(TIE)
    tests.add(WHOLE, weight)
    tests.add(GROUPS, one.where(weight > zero))
    tests.add(MOMENT, deviation)
    tests.add(WITHIN, varied.where(varied > least, least))


@in_lanes(types.void)
def add_between_of_levene(moments, tests):
    """How far the mean distance of a class is from that of all."""
    weight = moments(WEIGHT)
    apart = moments(DEVIATION) / weight - tests(MOMENT) / tests(WHOLE)
    tests.add(BETWEEN, (weight * (apart * apart)).where(weight > weight.all(0.0)))


@in_lanes(types.void)
def finish_test(tests):
    """F and its degrees of freedom; what varies within counts as at least TIE of the whole."""
    between, within, whole, groups = tests(BETWEEN), tests(WITHIN), tests(WHOLE), tests(GROUPS)
    zero, one = whole.all(0.0), whole.all(1.0)
    least = whole.all(TIE) * (between + within)
    within = within.where(within > least, least)
    between_degrees, within_degrees = groups - one, whole - groups
    can_differ = (between_degrees > zero) & (within_degrees > zero) & (between > zero)
    statistic = between / between_degrees / (within / within_degrees)
    tests.put(STATISTIC, statistic.where(can_differ))
    tests.put(BETWEEN_DEGREES, between_degrees.where(between_degrees > zero))
    tests.put(WITHIN_DEGREES, within_degrees.where(within_degrees > zero))


@compiled
def add_numbers(numbers, width, has_missing, entry, weight, moments):
    """Add a row to the moments of its class; they have begun, and have centres."""
    at, of_class = row_of(entry) * width, class_of(entry) * width * uint64(OF_CLASS // WIDTH)
    end = at + width
    while at < end:
        if has_missing:
            add_known((at, of_class), numbers, moments, weight)
        else:
            add_row((at, of_class), numbers, moments, weight)
        at += uint64(WIDTH)
        of_class += uint64(OF_CLASS)


@compiled
def ask_for_row(numbers, width, entry):
    """Have all numbers of a row brought near."""
    at = uint64(numbers.ctypes.data) + uint64(8) * width * row_of(entry)
    end = at + uint64(8) * width
    while at < end:
        ask_for(at)
        at += uint64(64)


@compiled
def begin_classes(width, class_weights, has_missing, moments):
    """Nothing is known yet of the classes in the node; of complete rows the weights are."""
    for k in range(class_weights.shape[0]):
        for b in range(int64(width) // WIDTH):
            at = (k * int64(width) // WIDTH + b) * OF_CLASS
            begin(at, moments, float("nan"), 0.0 if has_missing else class_weights[k])


@compiled
def find_centres(numbers, width, rows, class_weights, moments):
    """The first known value of every class and column."""
    n_waiting = int64(0)
    for k in range(class_weights.shape[0]):
        n_waiting += class_weights[k] > 0
    is_found = uint64(0)  # a bit for each of the first classes
    for_class = width * uint64(OF_CLASS // WIDTH)
    for i in range(rows.shape[0]):
        k = class_of(rows[i])
        bit = uint64(1) << (k & uint64(63)) if k < uint64(64) else uint64(0)
        if is_found & bit:
            continue
        at, of_class, known = row_of(rows[i]) * width, k * for_class, uint64((1 << WIDTH) - 1)
        end = at + width
        while at < end:
            known &= take_centre((at, of_class), numbers, moments)
            at += uint64(WIDTH)
            of_class += uint64(OF_CLASS)
        if known == uint64((1 << WIDTH) - 1) and bit:
            is_found |= bit
            n_waiting -= 1
            if n_waiting == 0:
                return


@compiled
def test_means(width, class_weights, moments, tests):
    """Finish the moments, and put F and its degrees of freedom into `tests`."""
    n_blocks = int64(width) // WIDTH
    for b in range(n_blocks):
        begin_test(b * OF_TEST, tests, 0.0)
        for lane in range(WIDTH):
            tests[b * OF_TEST + FIRST_CENTRE + lane] = float("nan")
        for k in range(class_weights.shape[0]):
            take_first_centre(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests, 0.0)
        for k in range(class_weights.shape[0]):
            finish_class(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        for k in range(class_weights.shape[0]):
            add_between(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        finish_test(b * OF_TEST, tests)


@compiled
def test_spread(problem, rows, weights, class_weights, moments, tests):
    """`levene_test` of all columns, whose moments are known: F and its degrees of freedom into `tests`."""
    numbers, width, n = problem.numbers, uint64(problem.width), uint64(rows.shape[0])
    for_class = width * uint64(OF_CLASS // WIDTH)
    i = uint64(0)
    while i < n:
        entry = rows[i]
        at, of_class = row_of(entry) * width, class_of(entry) * for_class
        end = at + width
        while at < end:
            add_deviation((at, of_class), numbers, moments, weights[i])
            at += uint64(WIDTH)
            of_class += uint64(OF_CLASS)
        i += uint64(1)
    n_blocks = int64(width) // WIDTH
    for b in range(n_blocks):
        begin_test(b * OF_TEST, tests, 0.0)
        for k in range(class_weights.shape[0]):
            add_class_of_levene(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        for k in range(class_weights.shape[0]):
            add_between_of_levene(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        finish_test(b * OF_TEST, tests)
