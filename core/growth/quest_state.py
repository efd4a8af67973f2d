"""What the kernels of QUEST hand on to each other, with the fields that `quest_grow` and `quest_room` describe."""

from core.compiled_kernels import Struct, StructType, define, structure
from core.growth import quest_grow, quest_room


class Problem(Struct):
    """`quest_grow.Problem`, of all rows or of those of a subtree."""


class Work(Struct):
    """`quest_room.Work`"""


@structure
class ProblemType(StructType):
    """What kernels know of a `Problem`."""


@structure
class WorkType(StructType):
    """What kernels know of `Work`."""


define(Problem, ProblemType, " ".join(quest_grow.Problem._fields))
define(Work, WorkType, " ".join(quest_room.Work._fields))
