"""A trained tree, ready to answer and to be inspected."""

from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray
from core.drawing.labels import answer_text
from core.drawing.text import tree_text
from core.engine.engine import Engine
from core.ensembles.insight.retraining import Retrained
from core.growth.held_out import labels_of
from core.library.tables import Columns, records_for
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy, policy_as_grown
from core.rules.extraction import path_rules, rule_text
from core.tables.errors import Fault, InvalidConfig
from core.tables.suggestion import quoted
from core.tables.table import Table
from core.tables.target import Task
from core.tree.history import History
from core.tree.model import Model
from core.tree.tree import TreeView

MANY_RECORDS = 100_000


@dataclass(frozen=True)
class Trained:
    """A trained model, ready to answer and to be inspected. Steps are those of its pruning; 0 is the full tree.

    Records are columns by name, as for `table`, or a table; an absent attribute is missing. A category that the model
    has never seen counts as missing too.
    """

    model: Model
    warnings: tuple[str, ...] = ()
    engine: Engine = Engine.AUTO
    retrained: Retrained | None = None  # the importance of attributes, if the configuration asks for it

    def answers(self, records: Columns | Table, *, step: int | None = None, missing: str | None = None) -> FloatArray:
        """`[row, :]`: the probability of each of `model.classes`, or the predicted numbers.

        `missing` says how a record is routed if a tested value is missing: weighted, last_node, majority_branch or
        surrogate; by default as in training.
        """
        taken, policy = self._taken(records, missing)
        return Predictor(self.tree(step)).batch(taken, policy, kernels=self._uses_kernels(taken))

    def classes(self, records: Columns | Table, *, step: int | None = None, missing: str | None = None) -> list[str]:
        """The class of each record."""
        if self.model.task is not Task.CLASSIFICATION:
            raise InvalidConfig(Fault("this model predicts numbers, not classes", (), "use answers"))
        labels = labels_of(self.answers(records, step=step, missing=missing), self.model.tree.costs)
        return [self.model.classes[label] for label in labels]

    def leaves(
        self, records: Columns | Table, *, step: int | None = None, missing: str | None = None
    ) -> list[list[tuple[int, float]]]:
        """For each record the leaves that answer it, with weights that sum to 1."""
        taken, policy = self._taken(records, missing)
        return Predictor(self.tree(step)).ends(taken, policy, kernels=self._uses_kernels(taken)).by_row()

    @property
    def history(self) -> History:
        """Every decision of the pruning, in order, with its evidence."""
        return self.model.history

    def tree(self, step: int | None = None) -> TreeView:
        """The tree as of a step; by default as it is after pruning."""
        return self.model.view(self._step(step))

    def text(self, step: int | None = None) -> str:
        """The tree as indented text."""
        return tree_text(self.model, self._step(step))

    def rules(self, step: int | None = None) -> list[str]:
        """The tree as if-then rules, one for each leaf."""
        model = self.model.as_of(self._step(step))
        rules = path_rules(self.tree(step), model.attributes)
        return [rule_text(rule, model.attributes, answer_text(model, rule.leaf)) for rule in rules]

    def _uses_kernels(self, records: Table) -> bool:
        return uses_kernels(self.engine, records)

    def _step(self, step: int | None) -> int:
        last = len(self.history.steps)
        if step is not None and not 0 <= step <= last:
            raise InvalidConfig(Fault(f"there is no step {step}", ("step",), f"use 0 (the full tree) to {last}"))
        return self.history.selected if step is None else step

    def _taken(self, records: Columns | Table, missing: str | None) -> tuple[Table, MissingPolicy]:
        """The records as the tree sees them, and the missing-value policy."""
        encoded = records_for(self.model, records)
        if missing is None:
            return self.model.as_trained(encoded), policy_as_grown(self.model.tree)
        return encoded, policy_named(missing, has_surrogates=bool(self.model.tree.surrogates))


def uses_kernels(engine: Engine, records: Table) -> bool:
    """Whether compiled code answers: as in training, or by default for so many records that compiling pays off."""
    return engine is Engine.KERNELS or (engine is Engine.AUTO and records.n_rows > MANY_RECORDS)


def policy_named(missing: str, *, has_surrogates: bool) -> MissingPolicy:
    """The missing-value policy of this name; InvalidConfig if there is none."""
    if missing not in tuple(MissingPolicy):
        hint = "use " + ", ".join(MissingPolicy)
        raise InvalidConfig(Fault(f"{quoted(missing)} is no way to treat missing values", ("missing",), hint))
    if missing == MissingPolicy.SURROGATE and not has_surrogates:
        hint = 'train it with "missing": "surrogate", or use another way'
        raise InvalidConfig(Fault("this model has no surrogates", ("missing",), hint))
    return MissingPolicy(missing)
