"""The compiled twin of `levels.levels_of`, for many values of a column or one of each."""

from numba import int32, int64, uint64

from core.compiled_kernels import compiled


@compiled
def level_of(levels, column, value):
    """The level of a value, 0 where it is missing: its bucket, then a search by halving in it."""
    start, end = levels.start[column], levels.start[column + uint64(1)]
    if value != value:
        return int32(0)
    if start == end:
        return int32(1)
    thresholds, begin = levels.thresholds, levels.bucket_start[column]
    n_buckets = levels.bucket_start[column + uint64(1)] - begin - 1
    within = min(max(value, thresholds[start]), thresholds[end - 1])
    bucket = begin + min(int64((within - levels.low[column]) * levels.scale[column]), n_buckets - 1)
    place, last = int64(levels.buckets[bucket]), int64(levels.buckets[bucket + 1])
    step = int64(1) << levels.n_steps[column]
    while step > 1:
        step >>= 1
        after = place + step
        is_above = after <= last and thresholds[start + after - 1] < value
        place += step if is_above else 0
    return int32(place + 1)
