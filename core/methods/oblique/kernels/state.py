"""The structure that the kernels for learning directions share."""

from core.compiler.compile import Struct, StructType, define, structure


class Scene(Struct):
    """`linear.Scene` with totals over all samples, and scratch.

    - `x[feature, sample]` has a row of -1 after the last feature; `labels` are those of `splits.kernels.unsorted`.
    - `by_class`, `weight`, `whole`: the weight of each class, of all samples, and the score of the unsplit samples.
    - `buffers` to sort in, and `sums` of each sample.
    - For a step: `turns` has the step at which each sample changes sides, `buckets` its bucket, and `slots` its index
      in the flat `moves[bucket, class, RISES or FALLS]`. `is_high` flags the high buckets, `high` lists their samples,
      `ordered` and `ordered_turns` have these sorted within each bucket, from `begins` to `ends`. By class: the weight
      `above`, its score terms on both sides, the least and the most weight above within a bucket, and the growth of
      the terms from the least to the most. `scores` and `middles` are the scores above the bar and their steps.
    """


@structure
class SceneType(StructType):
    """The Numba type of `Scene`."""


define(
    Scene,
    SceneType,
    "x labels by_class weight whole buffers sums turns buckets slots moves is_high begins ends high ordered "
    "ordered_turns above terms_above terms_below least most rises rises_above rises_below scores middles",
)
