"""A model as bytes, and back.

    "NIWAKI" | format, one byte | length of the header, 8 bytes | header | arrays

All numbers are little-endian. The header is JSON (UTF-8, keys sorted, no blanks): the task, target, classes and
attributes, and for each array its name, type and shape; the arrays follow in that order, one after the other. For many
trees, its `model` is `forest` or `isolation_forest`.

Nothing in the bytes depends on when, where or under which name a model was trained, so the same data, configuration and
seed give the same bytes. Every format ever released stays readable.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from core.config.options import CriterionKind, MissingStrategy
from core.ensembles.forest import Forest
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.isolation.stored import isolation_arrays, isolation_header, read_isolation
from core.ensembles.model import ForestModel
from core.missing.surrogates import Surrogate
from core.splits.split import Cuts, Split, SplitKind, Term
from core.storage.forest import forest_arrays, read_forest
from core.tables.schema import Attribute, Kind, Schema
from core.tables.target import Task
from core.tree.history import DECISIONS, METHODS, CrossValidation, Decision, History, Method, Steps
from core.tree.model import Model
from core.tree.tree import RaisedBranch, Tree

MAGIC = b"NIWAKI"
FORMAT = 1
FOREST, ISOLATION = "forest", "isolation_forest"  # the header's `model` for many trees
TYPES = re.compile(r"[<|][biuf][1248]")  # of arrays: numbers, little-endian
ArrayOf = np.ndarray[tuple[int, ...], np.dtype[Any]]

NOT_ARRAYS = ("task", "cuts", "surrogates", "costs", "gone", "terms")  # or optional, or never stored
TREE_ARRAYS = tuple(field.name for field in fields(Tree) if field.name not in NOT_ARRAYS)
FIRST_METHODS, FIRST_DECISIONS = (Method.VALIDATE_SPLITS, Method.REDUCED_ERROR), (Decision.CUT, Decision.KEPT)
RAISED_FIGURES = ("weight", "share", "impurity", "values")
TABLE_COLUMNS = ("alpha", "step", "leaves", "error", "standard_error")


class UnknownFormatError(ValueError):
    """The bytes are not a model, or in a format that this version does not read."""


AnyModel = Model | ForestModel | IsolationModel


def dump(model: AnyModel) -> bytes:
    """The model in the newest format."""
    match model:
        case Model():
            of_trees, arrays = of_tree(model)
        case ForestModel():
            of_trees, arrays = of_forest(model)
        case IsolationModel():
            of_trees, arrays = of_isolation(model)
    arrays = {name: np.ascontiguousarray(values, values.dtype.newbyteorder("<")) for name, values in arrays.items()}
    header: dict[str, Any] = {
        "task": model.task,
        "target": model.target,
        "classes": model.classes,
        "attributes": [attribute_header(model, column) for column in range(len(model.attributes))],
        "arrays": [{"name": n, "type": v.dtype.str, "shape": v.shape} for n, v in arrays.items()],
        **of_trees,
    }
    if model.missing is not MissingStrategy.WEIGHTED:
        header["missing"] = model.missing
    text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    start = MAGIC + bytes([FORMAT]) + len(text).to_bytes(8, "little") + text
    return start + b"".join(values.tobytes() for values in arrays.values())


def of_tree(model: Model) -> tuple[dict[str, Any], dict[str, ArrayOf]]:
    """The header entries that only a single tree has, and its arrays."""
    arrays = {f"tree.{name}": getattr(model.tree, name) for name in TREE_ARRAYS} | surrogate_arrays(model.tree)
    arrays |= term_arrays(model.tree)
    if model.tree.costs is not None:
        arrays["tree.costs"] = model.tree.costs
    if model.data_thresholds is not None:
        arrays["tree.data_threshold"] = model.data_thresholds
    arrays |= history_arrays(model.history)  # last, so that the tree's arrays are contiguous
    header: dict[str, Any] = {"methods": methods_of(model.history), "decisions": decisions_of(model.history)}
    if model.history.selected != len(model.history.steps):
        header["selected"] = model.history.selected
    if model.history.cross_validation is not None:
        header["folds"] = model.history.cross_validation.n_folds
    return header, arrays


def of_forest(model: ForestModel) -> tuple[dict[str, Any], dict[str, ArrayOf]]:
    """The header entries that only a forest has, and its arrays."""
    forest = model.forest
    arrays = {f"forest.{name}": values for name, values in forest_arrays(forest).items()}
    arrays |= surrogate_arrays(forest) | term_arrays(forest) | {"forest.prior": model.prior}
    if forest.costs is not None:
        arrays["forest.costs"] = forest.costs
    kinds = [{"criterion": each, "cuts": cuts} for each, cuts in zip(forest.criteria, forest.cuts, strict=True)]
    return {"model": FOREST, "kinds": kinds}, arrays


def of_isolation(model: IsolationModel) -> tuple[dict[str, Any], dict[str, ArrayOf]]:
    """The header entries that only an isolation forest has, and its arrays."""
    return {"model": ISOLATION, **isolation_header(model.isolation)}, isolation_arrays(model.isolation)


def attribute_header(model: AnyModel, column: int) -> dict[str, Any]:
    """An attribute in the header, with `cuts` and `fill` only if there are any."""
    attribute = model.attributes[column]
    described: dict[str, Any] = {
        "name": attribute.name,
        "kind": attribute.kind,
        "categories": attribute.categories,
        "range": model.ranges[column],
    }
    cuts = model.cuts_of(column) if isinstance(model, Model) else None  # in a forest, each kind of tree has its own
    if cuts is not None:
        described["cuts"] = cuts
    if model.fills:
        described["fill"] = model.fills[column]
    return described


def load(content: bytes) -> AnyModel:
    """The model that `dump` wrote, now or in any earlier release; UnknownFormatError for anything else."""
    try:
        with np.errstate(all="ignore"):  # damaged numbers raise an error, not a warning
            return _load(content)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise UnknownFormatError(f"these bytes are not a whole Niwaki model: {error}") from error


def load_tree(content: bytes) -> Model:
    """Load a model that is known to be of one tree."""
    model = load(content)
    assert isinstance(model, Model)
    return model


def _load(content: bytes) -> AnyModel:
    if content[: len(MAGIC)] != MAGIC:
        raise UnknownFormatError("these bytes are not a Niwaki model")
    if content[len(MAGIC)] != FORMAT:
        raise UnknownFormatError(f"this version reads model format {FORMAT}, not {content[len(MAGIC)]}")
    start = len(MAGIC) + 9
    end = start + int.from_bytes(content[start - 8 : start], "little")
    header = json.loads(content[start:end])
    arrays = read_arrays(header["arrays"], content, end)
    attributes = header["attributes"]
    described: dict[str, Any] = {
        "task": Task(header["task"]),
        "target": header["target"] if isinstance(header["target"], str) else tuple(header["target"]),
        "classes": tuple(header["classes"]),
        "attributes": Schema(tuple(Attribute(a["name"], Kind(a["kind"]), tuple(a["categories"])) for a in attributes)),
        "ranges": tuple(None if a["range"] is None else (a["range"][0], a["range"][1]) for a in attributes),
        "missing": MissingStrategy(header.get("missing", MissingStrategy.WEIGHTED)),
        "fills": tuple(a["fill"] for a in attributes if "fill" in a),
    }
    if header.get("model") == FOREST:
        forest = read_trees(header, arrays, described["attributes"])
        return ForestModel(**described, forest=forest, prior=arrays["forest.prior"])
    if header.get("model") == ISOLATION:
        found = read_isolation(header, arrays)
        return IsolationModel(described["attributes"], described["ranges"], found)
    tree = read_tree(header, arrays)
    data_thresholds = arrays.get("tree.data_threshold")
    return Model(**described, history=read_history(tree, header, arrays), data_thresholds=data_thresholds)


def read_tree(header: Mapping[str, Any], arrays: Mapping[str, ArrayOf]) -> Tree:
    """The tree of a single-tree model."""
    return Tree(
        task=Task(header["task"]),
        **{name: arrays[f"tree.{name}"] for name in TREE_ARRAYS},
        cuts=read_cuts([attribute.get("cuts") for attribute in header["attributes"]]),
        surrogates=read_surrogates(arrays),
        costs=arrays.get("tree.costs"),
        terms=read_terms(arrays),
    )


def read_trees(header: Mapping[str, Any], arrays: Mapping[str, ArrayOf], schema: Schema) -> Forest:
    """The trees of a forest."""
    stored = {n.removeprefix("forest."): v for n, v in arrays.items() if n.startswith("forest.")}
    task, criteria = Task(header["task"]), tuple(CriterionKind(kind["criterion"]) for kind in header["kinds"])
    cuts = tuple(read_cuts(kind["cuts"]) for kind in header["kinds"])
    start, columns, n_codes = read_forest(stored, criteria, cuts, schema)
    return Forest(
        task=task,
        start=start,
        member=stored["member"],
        criteria=criteria,
        columns=columns,
        n_codes=n_codes,
        branch_of=stored["branch_of"],
        cuts=cuts,
        costs=stored.get("costs"),
        surrogates=read_surrogates(arrays),
        terms=read_terms(arrays),
    )


def read_cuts(cuts: list[list[float] | None]) -> Cuts:
    """The cuts of each attribute made before growth; empty if there were none."""
    if all(of_attribute is None for of_attribute in cuts):
        return ()
    return tuple(None if of_attribute is None else tuple(of_attribute) for of_attribute in cuts)


def read_arrays(described: list[dict[str, Any]], content: bytes, start: int) -> dict[str, ArrayOf]:
    """The arrays by name, in this machine's byte order."""
    arrays = {}
    for entry in described:
        if not TYPES.fullmatch(entry["type"]):
            raise ValueError(f"{entry['type']} is not a type of numbers")
        stored = np.dtype(entry["type"])
        shape = tuple(entry["shape"])
        values = np.frombuffer(content, stored, count=int(np.prod(shape)), offset=start).reshape(shape)
        arrays[entry["name"]] = values.astype(stored.newbyteorder("="))
        start += values.nbytes
    if start != len(content):
        raise ValueError(f"{len(content) - start} bytes follow the last array")
    return arrays


def surrogate_arrays(tree: Tree | Forest) -> dict[str, ArrayOf]:
    """The surrogates of all nodes, one after the other; empty for a tree grown without them."""
    if not tree.surrogates:
        return {}
    every = [surrogate for of_node in tree.surrogates for surrogate in of_node]
    columns: dict[str, ArrayOf] = {
        "start": np.cumsum([0, *map(len, tree.surrogates)], dtype=np.int64),
        "column": np.array([s.split.column for s in every], dtype=np.int32),
        "threshold": np.array([s.split.threshold for s in every], dtype=np.float64),
        "reversed": np.array([s.is_reversed for s in every], dtype=np.int8),
        "agreement": np.array([s.agreement for s in every], dtype=np.float64),
        "branch_start": np.cumsum([0, *(len(s.split.branch_of) for s in every)], dtype=np.int64),
        "branch_of": np.array([branch for s in every for branch in s.split.branch_of], dtype=np.int32),
    }
    return {f"surrogate.{name}": values for name, values in columns.items()}


def read_surrogates(arrays: Mapping[str, ArrayOf]) -> tuple[tuple[Surrogate, ...], ...]:
    """The surrogates of each node from their columns; empty for a tree grown without them."""
    columns = {n.removeprefix("surrogate."): v for n, v in arrays.items() if n.startswith("surrogate.")}
    if not columns:
        return ()
    every = [
        Surrogate(_surrogate_split(columns, position), bool(columns["reversed"][position]), float(agreement))
        for position, agreement in enumerate(columns["agreement"])
    ]
    return tuple(tuple(every[start:end]) for start, end in pairwise(columns["start"].tolist()))


def _surrogate_split(columns: Mapping[str, ArrayOf], position: int) -> Split:
    start, end = columns["branch_start"][position : position + 2]
    branch_of = tuple(int(branch) for branch in columns["branch_of"][start:end])
    threshold = float(columns["threshold"][position])
    kind = SplitKind.GROUPS if np.isnan(threshold) else SplitKind.THRESHOLD
    return Split(int(columns["column"][position]), kind, 2, threshold=threshold, branch_of=branch_of)


def term_arrays(tree: Tree | Forest) -> dict[str, ArrayOf]:
    """The terms of all linear tests, one after the other; empty for a tree without such tests."""
    if not tree.terms:
        return {}
    every = [term for of_node in tree.terms for term in of_node]
    return {
        "term.start": np.cumsum([0, *map(len, tree.terms)], dtype=np.int64),
        "term.column": np.array([term.column for term in every], dtype=np.int32),
        "term.code": np.array([term.code for term in every], dtype=np.int32),
        "term.weight": np.array([term.weight for term in every], dtype=np.float64),
    }


def read_terms(arrays: Mapping[str, ArrayOf]) -> tuple[tuple[Term, ...], ...]:
    """The terms of each node from their columns; empty for a tree without linear tests."""
    if "term.start" not in arrays:
        return ()
    columns = (arrays[f"term.{name}"].tolist() for name in ("column", "weight", "code"))
    every = [Term(*values) for values in zip(*columns, strict=True)]
    return tuple(tuple(every[start:end]) for start, end in pairwise(arrays["term.start"].tolist()))


def methods_of(history: History) -> tuple[Method, ...]:
    """The words for the methods' codes: the first two always, later ones only if they were used."""
    used = {METHODS[code] for code in np.unique(history.steps.method)}
    return (*FIRST_METHODS, *(m for m in Method if m not in FIRST_METHODS and m in used))


def decisions_of(history: History) -> tuple[Decision, ...]:
    """The words for the decisions' codes: the first two always, later ones only if they were used."""
    used = {DECISIONS[code] for code in np.unique(history.steps.decision)}
    return (*FIRST_DECISIONS, *(d for d in Decision if d not in FIRST_DECISIONS and d in used))


def history_arrays(history: History) -> dict[str, ArrayOf]:
    """The steps as columns; an absent alpha or piece of evidence is NaN."""
    steps = history.steps
    columns: dict[str, ArrayOf] = {
        "node": steps.node,
        "method": recoded(steps.method, METHODS, methods_of(history)),
        "decision": recoded(steps.decision, DECISIONS, decisions_of(history)),
        "before": steps.before,
        "after": steps.after,
        "alpha": steps.alpha,
        "leaves": steps.leaves,
        "depth": steps.depth,
    }
    columns |= {f"evidence.{name}": steps.evidence[name] for name in sorted(steps.evidence)}
    columns |= raised_arrays(history) | table_arrays(history.cross_validation)
    return {f"history.{name}": values for name, values in columns.items()}


def recoded(codes: ArrayOf, words: tuple[str, ...], wanted: tuple[str, ...]) -> ArrayOf:
    """Codes of `words` as indices into `wanted`."""
    positions = [wanted.index(word) if word in wanted else -1 for word in words]
    return np.array(positions, dtype=np.int8)[codes]


def read_history(tree: Tree, header: Mapping[str, Any], arrays: Mapping[str, ArrayOf]) -> History:
    """The steps from their columns."""
    columns = {n.removeprefix("history."): v for n, v in arrays.items() if n.startswith("history.")}
    evidence, raised, table = (taken_out(columns, prefix) for prefix in ("evidence.", "raised.", "cross_validation."))
    columns["method"] = recoded(columns["method"], tuple(header["methods"]), METHODS)
    columns["decision"] = recoded(columns["decision"], tuple(header["decisions"]), DECISIONS)
    steps = Steps(**columns, evidence=evidence)
    selected = header.get("selected", len(steps))
    return History(tree, steps, selected, read_raised(raised), read_table(header, table))


def taken_out(columns: dict[str, ArrayOf], prefix: str) -> dict[str, ArrayOf]:
    """Remove the columns whose names begin with `prefix`, and return them without it."""
    return {name.removeprefix(prefix): columns.pop(name) for name in list(columns) if name.startswith(prefix)}


def raised_arrays(history: History) -> dict[str, ArrayOf]:
    """The raised branches, one after the other; empty if there are none."""
    if not history.raises:
        return {}
    branches = list(history.raises.values())
    columns: dict[str, ArrayOf] = {
        "step": np.array(list(history.raises), dtype=np.int32),
        "node": np.array([branch.node for branch in branches], dtype=np.int32),
        "child": np.array([branch.child for branch in branches], dtype=np.int32),
        "start": np.cumsum([0, *(len(branch.nodes) for branch in branches)], dtype=np.int64),
        "nodes": np.concatenate([branch.nodes for branch in branches]).astype(np.int32),
        **{name: np.concatenate([getattr(branch, name) for branch in branches]) for name in RAISED_FIGURES},
    }
    return {f"raised.{name}": values for name, values in columns.items()}


def read_raised(columns: Mapping[str, ArrayOf]) -> dict[int, RaisedBranch]:
    """The raised branches by step."""
    if not columns:
        return {}
    parts = [slice(start, end) for start, end in pairwise(columns["start"].tolist())]
    return {
        int(step): RaisedBranch(
            int(columns["node"][position]),
            int(columns["child"][position]),
            columns["nodes"][part].astype(np.int64),
            **{name: columns[name][part] for name in RAISED_FIGURES},
        )
        for position, (step, part) in enumerate(zip(columns["step"], parts, strict=True))
    }


def table_arrays(table: CrossValidation | None) -> dict[str, ArrayOf]:
    """The table of a cross-validation; empty if there was none."""
    return {} if table is None else {f"cross_validation.{name}": getattr(table, name) for name in TABLE_COLUMNS}


def read_table(header: Mapping[str, Any], columns: Mapping[str, ArrayOf]) -> CrossValidation | None:
    """The table of a cross-validation, or None if there was none."""
    return CrossValidation(**columns, n_folds=header["folds"]) if columns else None
