"""`ranks.ranks_of`, compiled: a bucket, then a short binary search in it."""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled, prefetch

BUCKET_BYTES, THRESHOLD_BYTES = 4, 8


@compiled
def rank_of(ranks, column, value):
    """`ranks.ranks_of` of one value: its bucket, then a binary search without branches.

    Thresholds in later buckets are above the value, so a step beyond the bucket is never taken.
    """
    low, begin = ranks.low[column], ranks.bucket_start[column]
    start, step = uint64(ranks.start[column]), uint64(ranks.half[column])
    n_last = ranks.bucket_start[column + uint64(1)] - begin - int64(1)
    bucket = bucket_of(value, low, ranks.high[column], ranks.scale[column], n_last)
    position = start + uint64(ranks.buckets[uint64(begin + bucket)])
    while step > uint64(0):
        position += step * uint64(ranks.thresholds[position + step - uint64(1)] < value)
        step >>= uint64(1)
    return uint32(position - start + uint64(1)) * uint32(value == value)


@compiled
def bucket_of(value, low, high, scale, n_last):
    """The bucket of a value, the first one if it is missing."""
    within = value if value > low else low
    within = high if within > high else within
    bucket = int64((within - low) * scale)
    return n_last if bucket > n_last else bucket


@compiled
def ranks_of_record(ranks, cells, shift, of_record, positions):
    """Write `rank_of` one value in each column, shifted left; returns whether all are known.

    Each pass over the columns prefetches what the next one reads.
    """
    n, is_complete = uint64(cells.shape[0]), True
    buckets, thresholds = uint64(ranks.buckets.ctypes.data), uint64(ranks.thresholds.ctypes.data)
    for column in range(n):
        begin = ranks.bucket_start[column]
        n_last = ranks.bucket_start[column + uint64(1)] - begin - int64(1)
        value, low, high = cells[column], ranks.low[column], ranks.high[column]
        positions[column] = begin + bucket_of(value, low, high, ranks.scale[column], n_last)
        prefetch(buckets + uint64(positions[column]) * uint64(BUCKET_BYTES))
    for column in range(n):
        positions[column] = ranks.start[column] + int64(ranks.buckets[uint64(positions[column])])
        prefetch(thresholds + uint64(positions[column]) * uint64(THRESHOLD_BYTES))
    for column in range(n):
        value, position, step = cells[column], uint64(positions[column]), uint64(ranks.half[column])
        while step > uint64(0):
            position += step * uint64(ranks.thresholds[position + step - uint64(1)] < value)
            step >>= uint64(1)
        of_record[column] = int64((position - uint64(ranks.start[column]) + uint64(1)) << shift)
        is_complete &= value == value
    return is_complete


@compiled
def write_ranks(ranks, column, cells, first, n, shift, positions, out, at):
    """Write `rank_of` n values from `first` on, shifted left, to `out` from `at` on; all searches advance together."""
    low, high, scale = ranks.low[column], ranks.high[column], ranks.scale[column]
    begin, start, step = ranks.bucket_start[column], uint64(ranks.start[column]), uint32(ranks.half[column])
    n_last = ranks.bucket_start[column + uint64(1)] - begin - int64(1)
    buckets, thresholds = ranks.buckets[begin:], ranks.thresholds[start:]
    for i in range(n):
        positions[i] = buckets[uint64(bucket_of(cells[first + i], low, high, scale, n_last))]
    while step > uint32(0):
        for i in range(n):
            positions[i] += step * uint32(thresholds[uint64(positions[i] + step - uint32(1))] < cells[first + i])
        step >>= uint32(1)
    for i in range(n):
        rank = (positions[i] + uint32(1)) * uint32(cells[first + i] == cells[first + i])
        out[at + i] = rank << shift
