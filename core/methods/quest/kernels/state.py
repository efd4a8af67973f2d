"""The structures that QUEST's kernels share.

Their fields are described in `methods.quest.problem` and `methods.quest.scratch`.
"""

from core.compiler.compile import Struct, StructType, define, structure
from core.methods.quest import problem, scratch


class Problem(Struct):
    """`methods.quest.problem.Problem`, of all rows or of the rows of a subtree."""


class Work(Struct):
    """`methods.quest.scratch.Work`."""


@structure
class ProblemType(StructType):
    """The Numba type of `Problem`."""


@structure
class WorkType(StructType):
    """The Numba type of `Work`."""


define(Problem, ProblemType, " ".join(problem.Problem._fields))
define(Work, WorkType, " ".join(scratch.Work._fields))
