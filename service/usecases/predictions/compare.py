"""Answer the same records in several ways, side by side, and say where and why the answers differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from core.explanation.comparison import Parting, Route, parting, same_numbers
from core.prediction.routing import MissingPolicy
from core.records.records import MOST_FAULTS, Value
from core.tables.errors import Fault, RecordsDoNotFit
from service.errors import InvalidBody, ModelNotFound, ModelNotReady, NotForThisModel, StepNotFound
from service.serving.loaded_models import LoadedModel, LoadedModels
from service.usecases.predictions.predict import Answered, Order, answer, encode, order_of


@dataclass(frozen=True)
class Wish:
    """A requested way of answering; `model` None means the one in the request's path."""

    name: str | None
    model: str | None
    step: str | int
    policy: MissingPolicy | None


@dataclass(frozen=True)
class Variant:
    """A way of answering records: a model, a step and a missing-value policy."""

    name: str
    loaded: LoadedModel
    order: Order

    @property
    def fills(self) -> bool:
        """Whether missing values are filled in first, as in the training."""
        return self.order.policy is None and self.loaded.model.missing.fills_records

    @property
    def question(self) -> str:
        """What the model predicts, in words."""
        model = self.loaded.model
        return f"{'the class' if model.classes else 'the number'} {', '.join(model.targets)}"


@dataclass(frozen=True)
class Difference:
    """Why a variant's answer differs from that of the first one: where their paths part."""

    variant: int
    parting: Parting
    first: Route
    second: Route


@dataclass(frozen=True)
class Compared:
    """The answers of each variant to all records."""

    variants: list[Variant]
    answered: list[Answered]

    def __len__(self) -> int:
        return len(self.answered[0])

    @cached_property
    def values(self) -> list[list[dict[str, float]]]:
        """`[variant][row]`: probabilities by class, or means by target."""
        names = [variant.loaded.model.classes or variant.loaded.model.targets for variant in self.variants]
        return [
            [dict(zip(own, numbers, strict=True)) for numbers in answered.answers.values.tolist()]
            for own, answered in zip(names, self.answered, strict=True)
        ]

    @cached_property
    def labels(self) -> list[list[str]] | None:
        """`[variant][row]`: the class; None for numbers."""
        if not self.variants[0].loaded.model.classes:
            return None
        return [
            [variant.loaded.model.classes[label] for label in answered.answers.labels.tolist()]
            for variant, answered in zip(self.variants, self.answered, strict=True)
        ]

    def is_decided(self, index: int, row: int) -> bool:
        """Whether no missing value could change a variant's answer."""
        return bool(self.answered[index].answers.is_decided[row])

    def agree(self, row: int, one: int, other: int) -> bool:
        """Whether two variants give the same label or, for numbers, the same means."""
        if self.labels is not None:
            return self.labels[one][row] == self.labels[other][row]
        return self._same_values(row, one, other)

    def all_agree(self, row: int) -> bool:
        """Whether all variants agree on a record."""
        return all(self.agree(row, 0, other) for other in range(1, len(self.variants)))

    def n_different(self) -> dict[tuple[int, int], int]:
        """For each pair of variants, the number of records that they answer differently."""
        pairs = combinations(range(len(self.variants)), 2)
        return {pair: sum(not self.agree(row, *pair) for row in range(len(self))) for pair in pairs}

    def differences(self, row: int) -> list[Difference]:
        """Why variants differ from the first one, in labels or only in figures; those that do not are left out."""
        found = []
        for other in range(1, len(self.variants)):
            if not (self.agree(row, 0, other) and self._same_values(row, 0, other)):
                first, second = self._route(0, row), self._route(other, row)
                found.append(Difference(other, parting(first, second), first, second))
        return found

    def _same_values(self, row: int, one: int, other: int) -> bool:
        unit = 1.0 if self.labels is not None else 0.0
        return same_numbers(self.values[one][row], self.values[other][row], unit=unit)

    def _route(self, index: int, row: int) -> Route:
        variant, answered = self.variants[index], self.answered[index]
        loaded, step = variant.loaded, variant.order.step
        return Route(
            model=loaded.model,
            view=loaded.view(step),
            step=step,
            policy=answered.policy,
            fills=variant.fills,
            reached=self._reached[index][row],
        )

    @cached_property
    def _reached(self) -> list[list[list[tuple[int, float]]]]:
        return [answered.answers.ends.by_row() for answered in self.answered]


async def find_variants(models: LoadedModels, path_model: str, wishes: Sequence[Wish]) -> list[Variant]:
    """The variants that the wishes describe; InvalidBody unless all predict the same target."""
    variants = []
    for index, wish in enumerate(wishes):
        loaded = await _found(models, wish.model or path_model, index)
        try:
            order = order_of(loaded, step=wish.step, policy=wish.policy)
        except (InvalidBody, StepNotFound) as error:
            faults = error.faults or (Fault(error.detail, ("step",)),)
            raise type(error)(error.detail, *(fault.below("variants", index) for fault in faults)) from error
        variants.append(Variant(wish.name or _described(loaded, order), loaded, order))
    _refuse_other_targets(variants)
    return variants


async def _found(models: LoadedModels, ref: str, index: int) -> LoadedModel:
    try:
        return await models.tree(ref, instead="only single trees are compared, since where their ways part is told")
    except (ModelNotFound, ModelNotReady, NotForThisModel) as error:
        raise type(error)(error.detail, Fault(error.detail, ("variants", index, "model"))) from error


def _described(loaded: LoadedModel, order: Order) -> str:
    """A name for a variant that was given none, such as `melon@3, step 5, last_node`."""
    record, policy = loaded.record, f", {order.policy}" if order.policy else ""
    return f"{record.name}@{record.version}, step {order.step}{policy}"


def _refuse_other_targets(variants: Sequence[Variant]) -> None:
    first = variants[0].loaded.model
    own = variants[0].question
    faults = [
        Fault(f"it predicts {variant.question}, not {own}", ("variants", index, "model"), f"name a model of {own}")
        for index, variant in enumerate(variants)
        if (variant.loaded.model.task, variant.loaded.model.target) != (first.task, first.target)
    ]
    if faults:
        raise InvalidBody("the variants answer different questions", *faults)


def compare(
    variants: Sequence[Variant],
    *,
    records: Sequence[Mapping[str, Value]] | None,
    columns: Mapping[str, Sequence[Value]] | None,
    ignore_unknown: bool,
    kernels: bool,
) -> Compared:
    """The answers of all variants; RecordsDoNotFit with the faults of all of them."""
    encoded, faults = [], list[Fault]()
    for variant in variants:
        try:
            encoded.append(encode(variant.loaded, records=records, columns=columns, ignore_unknown=ignore_unknown))
        except RecordsDoNotFit as error:
            faults += [Fault(f"{fault.detail} ({variant.name})", fault.path, fault.hint) for fault in error.faults]
    if faults:
        raise RecordsDoNotFit(*faults[:MOST_FAULTS])
    answered = [
        answer(variant.loaded, variant.order, sent, kernels=kernels)
        for variant, sent in zip(variants, encoded, strict=True)
    ]
    return Compared(list(variants), answered)
