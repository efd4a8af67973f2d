"""The engine without the service: tables from arrays or lists, training, prediction, and reading what was learnt.

    data = table({"outlook": ["sunny", "rain", None, "rain"], "play": ["no", "yes", "yes", "yes"]})
    trained = train(data, {"target": "play", "algorithm": {"kind": "c45"}, "division": {"kind": "none"}})
    trained.classes({"outlook": ["sunny", None]})

Mistakes are `core.errors.CoreError`s, which say where they are and what would fit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core import training
from core.checks import check
from core.config import DatasetsDivision, TrainingConfig
from core.division import Part
from core.drawing.labels import answer_text
from core.drawing.text import tree_text
from core.errors import EmptyTable, Fault, InvalidConfig, InvalidTable, RecordsDoNotFit, raise_any
from core.growth.engine import Engine
from core.growth.held_out import labels_of
from core.inference import Declaration, declaration_faults, name_faults
from core.json_tables import table_from_columns
from core.model import Model
from core.plain_config import Plain, config_from_plain
from core.prediction import MissingPolicy, policy_as_grown
from core.predictor import Predictor
from core.preparation import prepare, recoded
from core.pruning.history import History
from core.rules.extraction import path_rules, rule_text
from core.schema import Attribute, Kind, Schema
from core.suggestion import did_you_mean, quoted
from core.summary import summarize
from core.table import MISSING_CODE, Column, FloatArray, Table
from core.target import Task
from core.tree import TreeView

MANY_RECORDS = 100_000

Cells = Any  # a one-dimensional array, or a list of numbers, texts or truth values with None where one is missing
Columns = Mapping[str, Cells]
Report = Callable[[str, float], None]


def named_columns(matrix: Any, names: Sequence[str] | None = None) -> dict[str, Cells]:
    """The columns of a two-dimensional array by name: `x0`, `x1`, … unless told."""
    values = np.asarray(matrix)
    if values.ndim != 2:
        raise InvalidTable(Fault(f"the array has {values.ndim} dimension(s), not 2"))
    chosen = [f"x{column}" for column in range(values.shape[1])] if names is None else list(names)
    if len(chosen) != values.shape[1]:
        raise InvalidTable(Fault(f"there are {len(chosen)} names for {values.shape[1]} columns"))
    return {name: values[:, column] for column, name in enumerate(chosen)}


def table(
    columns: Columns,
    *,
    kinds: Mapping[str, str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """A table from its columns by name. NaN and None are missing.

    Numbers make a numeric column; text and truth values a categorical one, unless `kinds` says otherwise: numeric,
    ordinal, categorical or ignore. `categories` lists a column's categories (of an ordinal one from low to high); those
    of the data, in order of appearance, where it does not.
    """
    declared = declarations(kinds or {}, categories or {})
    cells = {name: cells_of(name, values) for name, values in columns.items()}
    raise_any(InvalidTable, [fault.below("columns") for fault in name_faults(list(cells))])
    raise_any(InvalidTable, declaration_faults(declared, list(cells), ()))
    if not any(len(values) for values in cells.values()):
        raise EmptyTable(Fault("a table needs at least one column and at least one row"))
    first = next(iter(cells))
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(name)} has {len(values)} cells, but {quoted(first)} has {len(cells[first])}", (name,))
            for name, values in cells.items()
            if len(values) != len(cells[first])
        ),
    )
    read = {name: read_column(name, values, declared.get(name)) for name, values in cells.items()}
    return Table(Schema(tuple(attribute for attribute, _ in read.values())), tuple(c for _, c in read.values()))


def train(
    data: Table,
    config: Plain | TrainingConfig,
    *,
    validation: Table | None = None,
    test: Table | None = None,
    engine: str = Engine.AUTO,
    threads: int = 1,
    report: Report = lambda _stage, _progress: None,
) -> "Trained":
    """Grow and prune a tree.

    `config` is what the HTTP API takes for a training, without name and dataset. Rows to validate and to test with come
    from the table, as `division` says, or from tables of their own. `report` hears the stage and how much of it is
    done; it may raise to stop the training. `engine` is auto, definition or kernels, `threads` is how many of them the
    kernels may use: the tree is always the same.
    """
    if engine not in tuple(Engine):
        raise InvalidConfig(Fault(f"{quoted(engine)} is no engine", ("engine",), "use auto, definition or kernels"))
    if threads < 1:
        raise InvalidConfig(Fault(f"there cannot be {threads} threads", ("threads",), "use 1 or more"))
    chosen = config
    if not isinstance(chosen, TrainingConfig):
        chosen = config_from_plain(chosen, data.schema, validated_elsewhere=validation is not None)
    others = {part: t for part, t in ((Part.VALIDATION, validation), (Part.TEST, test)) if t is not None}
    if others:
        words = {part: part.value for part in others}
        chosen = replace(chosen, division=DatasetsDivision(words.get(Part.VALIDATION), words.get(Part.TEST)))
    check(
        chosen,
        summarize(data),
        {part: summarize(other) for part, other in others.items()},
        members_listed=not isinstance(config, TrainingConfig) and config["algorithm"].get("members") is not None,
    )
    prepared = prepare(data, chosen, others)
    model = training.train(prepared, chosen, report, engine=Engine(engine), threads=threads)
    return Trained(model, prepared.warnings, Engine(engine))


@dataclass(frozen=True)
class Trained:
    """A trained model, ready to answer and to be read. Steps are those of its pruning: 0 is the full tree.

    Records are columns by name, as for `table`, or a table; an attribute that is not there is missing. A category that
    the model has never seen counts as missing too.
    """

    model: Model
    warnings: tuple[str, ...] = ()
    engine: Engine = Engine.AUTO

    def answers(self, records: Columns | Table, *, step: int | None = None, missing: str | None = None) -> FloatArray:
        """`[row, :]`: the probability of each of `model.classes`, or the predicted numbers.

        `missing` is what becomes of a record where a tested value is missing: weighted, last_node, majority_branch or
        surrogate; as the model was trained unless told.
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
        """Every decision of the pruning, in order, with what it was based on."""
        return self.model.history

    def tree(self, step: int | None = None) -> TreeView:
        """The tree as of a step; as it is after pruning unless told."""
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
        """Whether compiled code answers: as in training, or if there are so many records that it pays to compile it."""
        return self.engine is Engine.KERNELS or (self.engine is Engine.AUTO and records.n_rows > MANY_RECORDS)

    def _step(self, step: int | None) -> int:
        last = len(self.history.steps)
        if step is not None and not 0 <= step <= last:
            raise InvalidConfig(Fault(f"there is no step {step}", ("step",), f"use 0 (the full tree) to {last}"))
        return self.history.selected if step is None else step

    def _taken(self, records: Columns | Table, missing: str | None) -> tuple[Table, MissingPolicy]:
        """The records as the tree takes them, and what becomes of missing values."""
        encoded = records_for(self.model, records)
        if missing is None:
            return self.model.as_trained(encoded), policy_as_grown(self.model.tree)
        if missing not in tuple(MissingPolicy):
            hint = "use " + ", ".join(MissingPolicy)
            raise InvalidConfig(Fault(f"{quoted(missing)} is no way to treat missing values", ("missing",), hint))
        if missing == MissingPolicy.SURROGATE and not self.model.tree.surrogates:
            hint = 'train it with "missing": "surrogate", or use another way'
            raise InvalidConfig(Fault("this model has no surrogates", ("missing",), hint))
        return encoded, MissingPolicy(missing)


def declarations(kinds: Mapping[str, str], categories: Mapping[str, Sequence[str]]) -> dict[str, Declaration]:
    """What the caller says about columns; a list of categories alone makes a column categorical."""
    words = ", ".join(Kind)
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(str(kind))} is no kind of column", ("kinds", name), f"use {words}")
            for name, kind in kinds.items()
            if kind not in tuple(Kind)
        ),
    )
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(name)} is ordinal, and nothing says in which order", ("categories", name), "list them")
            for name, kind in kinds.items()
            if kind == Kind.ORDINAL and name not in categories
        ),
    )
    declared = {name: Declaration(Kind(kind)) for name, kind in kinds.items()}
    for name, listed in categories.items():
        kind = declared[name].kind if name in declared else Kind.CATEGORICAL
        declared[name] = Declaration(kind, tuple(listed))
    return declared


def cells_of(name: str, values: Cells) -> Any:
    """A column as an array of numbers, or as a list with None where a value is missing."""
    array = values if isinstance(values, list | tuple) else np.asarray(values)
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise InvalidTable(Fault(f"{quoted(name)} has {array.ndim} dimension(s), not 1", ("columns", name)))
        if array.dtype.kind in "fiu":
            return array.astype(np.float64)
        array = array.tolist()
    return [None if value is None or value != value else plain(value) for value in array]


def plain(value: Any) -> Any:
    """A value of NumPy's own types as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def read_column(name: str, cells: Any, declaration: Declaration | None) -> tuple[Attribute, Column]:
    """A column as it is understood; InvalidTable where a cell is not what the column holds."""
    is_array = isinstance(cells, np.ndarray)
    if is_array and (declaration is None or declaration.kind is Kind.NUMERIC):
        attribute, column = Attribute(name, Kind.NUMERIC), cells
    else:
        listed = [None if value != value else value for value in cells.tolist()] if is_array else cells
        read = table_from_columns({name: listed}, {} if declaration is None else {name: declaration}, ())
        attribute, column = read.schema[0], read.columns[0]
    if attribute.is_numeric and np.isinf(column).any():
        row = int(np.flatnonzero(np.isinf(column))[0])
        raise InvalidTable(Fault(f"{quoted(name)} is infinite in row {row}", ("columns", name, row), "use None or NaN"))
    return attribute, column


def records_for(model: Model, records: Columns | Table) -> Table:
    """Records coded as the model was trained; extra columns are taken for typing errors while attributes are absent."""
    names = records.schema.names if isinstance(records, Table) else tuple(records)
    absent = [attribute.name for attribute in model.attributes if attribute.name not in names]
    extra = [name for name in names if name not in model.attributes and name not in model.targets]
    if absent and extra:
        raise RecordsDoNotFit(
            *(
                Fault(f"not an attribute of this model: {quoted(name)}", (name,), did_you_mean(name, absent))
                for name in extra
            )
        )
    given = [attribute for attribute in model.attributes if attribute.name not in absent]
    if not given:
        raise RecordsDoNotFit(
            Fault("no attribute of this model is there", (), "it has " + ", ".join(model.attributes.names))
        )
    if not isinstance(records, Table):
        kinds = {attribute.name: Declaration(attribute.kind) for attribute in given}
        read = [read_column(a.name, cells_of(a.name, records[a.name]), kinds[a.name]) for a in given]
        records = Table(Schema(tuple(attribute for attribute, _ in read)), tuple(column for _, column in read))
    known = recoded(records.select([a.name for a in given]), Schema(tuple(given)))
    unknown = {True: np.full(known.n_rows, np.nan), False: np.full(known.n_rows, MISSING_CODE, dtype=np.int32)}
    columns = [unknown[a.is_numeric] if a.name in absent else known.values(a.name) for a in model.attributes]
    return Table(model.attributes, tuple(columns))
