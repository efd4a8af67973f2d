"""The compiled twin of `levels.levels_of`."""

from numba import int64, uint32, uint64

from core.compiler.compile import ask_for, compiled

BUCKET_BYTES, THRESHOLD_BYTES = 4, 8


@compiled
def level_of(levels, column, value):
    """The level of a value, 0 where it is missing: its bucket, then a search by halving.

    Thresholds in later buckets are above the value, so a step that is too long is not taken.
    """
    low, begin = levels.low[column], levels.bucket_start[column]
    start, step = uint64(levels.start[column]), uint64(levels.half[column])
    n_last = levels.bucket_start[column + uint64(1)] - begin - int64(1)
    bucket = bucket_of(value, low, levels.high[column], levels.scale[column], n_last)
    place = start + uint64(levels.buckets[uint64(begin + bucket)])
    while step > uint64(0):
        place += step * uint64(levels.thresholds[place + step - uint64(1)] < value)
        step >>= uint64(1)
    return uint32(place - start + uint64(1)) * uint32(value == value)


@compiled
def bucket_of(value, low, high, scale, n_last):
    """The bucket of a value; of a missing one, the first."""
    within = value if value > low else low
    within = high if within > high else within
    bucket = int64((within - low) * scale)
    return n_last if bucket > n_last else bucket


@compiled
def levels_of_record(levels, cells, shift, of_record, places):
    """`level_of` of one value in each column, shifted; whether all are known.

    What is read in one pass over the columns was asked for in the pass before.
    """
    n, is_complete = uint64(cells.shape[0]), True
    buckets, thresholds = uint64(levels.buckets.ctypes.data), uint64(levels.thresholds.ctypes.data)
    for column in range(n):
        begin = levels.bucket_start[column]
        n_last = levels.bucket_start[column + uint64(1)] - begin - int64(1)
        value, low, high = cells[column], levels.low[column], levels.high[column]
        places[column] = begin + bucket_of(value, low, high, levels.scale[column], n_last)
        ask_for(buckets + uint64(places[column]) * uint64(BUCKET_BYTES))
    for column in range(n):
        places[column] = levels.start[column] + int64(levels.buckets[uint64(places[column])])
        ask_for(thresholds + uint64(places[column]) * uint64(THRESHOLD_BYTES))
    for column in range(n):
        value, place, step = cells[column], uint64(places[column]), uint64(levels.half[column])
        while step > uint64(0):
            place += step * uint64(levels.thresholds[place + step - uint64(1)] < value)
            step >>= uint64(1)
        of_record[column] = int64((place - uint64(levels.start[column]) + uint64(1)) << shift)
        is_complete &= value == value
    return is_complete


@compiled
def write_levels(levels, column, cells, first, n, shift, places, out, at):
    """`level_of` of n values from `first` on, shifted, to `out` from `at` on: all go step by step together."""
    low, high, scale = levels.low[column], levels.high[column], levels.scale[column]
    begin, start, step = levels.bucket_start[column], uint64(levels.start[column]), uint32(levels.half[column])
    n_last = levels.bucket_start[column + uint64(1)] - begin - int64(1)
    buckets, thresholds = levels.buckets[begin:], levels.thresholds[start:]
    for i in range(n):
        places[i] = buckets[uint64(bucket_of(cells[first + i], low, high, scale, n_last))]
    while step > uint32(0):
        for i in range(n):
            places[i] += step * uint32(thresholds[uint64(places[i] + step - uint32(1))] < cells[first + i])
        step >>= uint32(1)
    for i in range(n):
        level = (places[i] + uint32(1)) * uint32(cells[first + i] == cells[first + i])
        out[at + i] = level << shift
