"""What the kernels of QUEST hand on to each other, with the fields that `methods.quest.problem` and
`methods.quest.scratch` describe.
"""

from core.compiler.compile import Struct, StructType, define, structure
from core.methods.quest import problem, scratch


class Problem(Struct):
    """`methods.quest.problem.Problem`, of all rows or of those of a subtree."""


class Work(Struct):
    """`methods.quest.scratch.Work`"""


@structure
class ProblemType(StructType):
    """What kernels know of a `Problem`."""


@structure
class WorkType(StructType):
    """What kernels know of `Work`."""


define(Problem, ProblemType, " ".join(problem.Problem._fields))
define(Work, WorkType, " ".join(scratch.Work._fields))
