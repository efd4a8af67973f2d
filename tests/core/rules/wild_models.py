"""Models that nobody trained, with names and categories that try to break out of wherever they are written."""

import numpy as np

from core.prediction.routing import MissingPolicy, leaves_reached
from core.tables.schema import Attribute, Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.history import Ledger
from core.tree.model import Model
from core.tree.tree import Tree, TreeView
from tests.core.wild_trees import wild_schema, wild_table, wild_tree

NASTY = (
    'a"b',
    "it's",
    "two\nlines",
    "back\\slash",
    "'; DROP TABLE records; --",
    '"); DROP TABLE records; --',
    "{brace}",
    '"""',
    "'''",
    "%s",
    ":name ?1 $1",
    "纹理",
    "</script><b>",
    "| pipe | `x` |",
    "\u2028",
    "\t",
    " ",
    "\\",
    "\\'",
    "--",
    "/*",
    "import os",
)


def nasty_schema(chance: np.random.Generator) -> Schema:
    return Schema(tuple(_nasty_attribute(chance, number, a) for number, a in enumerate(wild_schema(chance))))


def _nasty_attribute(chance: np.random.Generator, number: int, attribute: Attribute) -> Attribute:
    words = chance.choice(NASTY, size=1 + len(attribute.categories))
    categories = tuple(f"{word}{code}" for code, word in enumerate(words[1:]))
    return Attribute(f"{words[0]}{number}", attribute.kind, categories)


def wild_model(seed: int) -> tuple[Model, TreeView, Table]:
    """A model, its tree with some branches cut, and records with and without holes."""
    chance = np.random.default_rng(seed)
    schema = nasty_schema(chance)
    tree = wild_tree(chance, schema, deepest=4)
    view = TreeView(tree, (tree.size == 1) | (chance.random(len(tree)) < 0.1))
    return nasty_model(chance, schema, tree), view, wild_table(chance, schema, 40)


def nasty_model(chance: np.random.Generator, schema: Schema, tree: Tree) -> Model:
    names = tuple(f"{word}{number}" for number, word in enumerate(chance.choice(NASTY, size=tree.values.shape[1])))
    has_classes = tree.task is Task.CLASSIFICATION
    return Model(
        task=tree.task,
        target=str(chance.choice(NASTY)) if has_classes or len(names) == 1 else names,
        classes=names if has_classes else (),
        attributes=schema,
        ranges=(None,) * len(schema),
        history=Ledger(tree).finished(),
    )


def decided(view: TreeView, records: Table) -> dict[int, int]:
    """The rows that come to one leaf as a whole, with the leaf: nothing they lack was asked for."""
    reached = leaves_reached(view, records, MissingPolicy.LAST_NODE)
    return {row: leaf for row, ((leaf, _),) in enumerate(reached) if view.is_leaf[leaf]}
