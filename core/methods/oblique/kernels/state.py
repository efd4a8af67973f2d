"""What the kernels that learn directions hand on to each other."""

from core.compiler.compile import Struct, StructType, define, structure


class Scene(Struct):
    """`linear.Scene`: the samples, what is known of all of them together, and room.

    - `x[feature, sample]`, after the last feature a row of -1; `labels` are those of `splits.kernels.unsorted`.
    - `by_class`, `weight`, `whole`: the weight of each class and of all samples, and the score of all undivided.
    - `room` to sort in, `sums` of each sample.
    - For a step: where each sample turns, its bucket, and its slot in `moves[bucket, class, rises or falls]`, which is
      flat; which buckets are high, their samples and these in order with their turns, from where to where each bucket
      stands there; of each class what is above, its terms of the score on both sides, the least and the most that may
      be above in a bucket, and what the terms grow by in between; scores above the bar, and where they are.
    """


@structure
class SceneType(StructType):
    """What kernels know of a `Scene`."""


define(
    Scene,
    SceneType,
    "x labels by_class weight whole buffers sums turns buckets slots moves is_high begins ends high ordered "
    "ordered_turns above terms_above terms_below least most rises rises_above rises_below scores middles",
)
