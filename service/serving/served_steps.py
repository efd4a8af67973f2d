"""The trees of a model's pruning history, ready to answer; those used last are cached."""

from functools import lru_cache, partial

from core.explanation.sentences import Sentences
from core.prediction.answers import Answering
from core.prediction.predictor import Predictor, TreePredictor
from core.rules.difference import RuleDifference, rule_difference
from core.tree.model import Model
from core.tree.tree import TreeView
from service.serving.resolve_step import in_body, resolve_step

STEPS_KEPT = 16
NAMES_KEPT = 64
DIFFERENCES_KEPT = 4  # so that a difference is not computed for each of its pages


class ServedSteps:
    """A model, and caches for the steps used last: their numbers by name, views, predictors and differences.

    A cached step answers as fast as the selected one: both are found in the same way.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.number = lru_cache(maxsize=NAMES_KEPT)(partial(resolve_step, model.history))
        self.as_of = lru_cache(maxsize=STEPS_KEPT)(model.as_of)
        self.view = lru_cache(maxsize=STEPS_KEPT)(self._view)
        self.answering = lru_cache(maxsize=STEPS_KEPT)(self._answering)
        self.sentences = lru_cache(maxsize=STEPS_KEPT)(self._sentences)
        self.difference = lru_cache(maxsize=DIFFERENCES_KEPT)(self._difference)
        self._all_steps = TreePredictor(model.tree)

    def number_in_body(self, step: str | int) -> int:
        """The number of the step given in a body under `step`; InvalidBody if it is malformed."""
        return in_body(self.number, step)

    def _view(self, step: int) -> TreeView:
        return TreeView(self.as_of(step).tree, self.model.view(step).is_leaf)

    def _difference(self, before: int, after: int) -> RuleDifference:
        return rule_difference(self.view(before), self.view(after), self.model.attributes)

    def _sentences(self, step: int) -> Sentences:
        return Sentences(self.as_of(step), self.answering(step).predictor)

    def _answering(self, step: int) -> Answering:
        """The answering of a step; steps share all they can, unless a raised branch makes another tree."""
        view = self.view(step)
        predictor = self._all_steps.of(view) if view.tree is self.model.tree else Predictor(view)
        return Answering(predictor, self.model.attributes)
