"""The orders of the net: about two hundred trainings that together take every way through the engine.

An order is grown by each of its engines, and all must store the same bytes. A single tree of a small table is grown by
the definition and by kernels, a committee by kernels on two threads too. A tree of many rows is grown by kernels on one
thread and on two, since the definition takes long there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

# name: settings of the service
ENGINES: dict[str, dict[str, str]] = {
    "definition": {"engine": "definition", "threads": "1"},
    "kernels": {"engine": "kernels", "threads": "1"},
    "two threads": {"engine": "kernels", "threads": "2"},
}
BOTH_ENGINES = ("definition", "kernels")
EVERY_ENGINE = tuple(ENGINES)
BY_KERNELS = ("kernels", "two threads")

Options = dict[str, Any]

ALL_ROWS: Options = {"division": {"kind": "none"}}
BY_COLUMN: Options = {"division": {"kind": "column", "column": "part"}}
UNPRUNED: Options = {"pruning": {"kind": "none"}}

# What to learn from and what to predict, by table.
ATTRIBUTES: dict[str, list[str]] = {
    "mixed": ["area", "age", "rooms", "state", "region", "street"],
    "ties": ["x0", "x1", "x2", "x3", "x4", "x5"],
    "words": ["colour", "root", "sound", "texture", "place"],
    "slanted": ["x0", "x1", "x2", "x3"],
    "rare": ["first", "second", "word"],
    "complete": ["x0", "x1", "x2", "x3", "x4", "few"],
    "large": ["x0", "x1", "x2", "x3", "few", "two"],
}
CLASSES = {
    "mixed": "sold",
    "ties": "kind",
    "words": "ripe",
    "slanted": "side",
    "rare": "fraud",
    "complete": "kind",
    "large": "kind",
}
NUMBERS = {"mixed": "price", "ties": "amount", "complete": "amount", "large": "amount"}
SEVERAL = {
    "mixed": ["price", "rent"],
    "ties": ["amount", "other amount"],
    "complete": ["amount", "x4"],
    "large": ["amount", "other amount"],
}

SHORT = {"max_depth": 5}


@dataclass(frozen=True)
class Order:
    """A training, under a name that says what is particular about it, and the engines that grow it."""

    name: str
    table: str
    body: Options
    engines: tuple[str, ...] = BOTH_ENGINES


def order(
    name: str,
    table: str,
    algorithm: Options,
    *,
    target: Any = None,
    attributes: list[str] | None = None,
    engines: tuple[str, ...] | None = None,
    **said: Any,
) -> Order:
    """An order that predicts the table's classes from all rows, and does not prune, unless told otherwise."""
    is_committee = algorithm["kind"] in COMMITTEES
    body = {
        "target": target or CLASSES[table],
        "attributes": attributes or ATTRIBUTES[table],
        "algorithm": algorithm,
        "seed": 7,
        **ALL_ROWS,
        **({} if is_committee else UNPRUNED),
        **said,
    }
    return Order(f"{table}: {name}", table, body, engines or (EVERY_ENGINE if is_committee else BOTH_ENGINES))


COMMITTEES = ("bagging", "random_forest", "extra_trees", "isolation_forest")

CRITERIA: dict[str, Options] = {
    "gini": {"kind": "gini"},
    "information gain": {"kind": "information_gain"},
    "error rate": {"kind": "error_rate"},
    "gain ratio": {"kind": "gain_ratio"},
    "gain ratio, better half": {"kind": "gain_ratio", "filter": "better_half"},
    "gain ratio, no filter": {"kind": "gain_ratio", "filter": "none"},
    "gain ratio, corrected": {"kind": "gain_ratio", "numeric_correction": "release8"},
}
SPLITS = ("multiway", "one_vs_rest", "two_groups")
CUTS: dict[str, Options] = {
    "boundary": {"kind": "boundary"},
    "quantile": {"kind": "quantile", "bins": 6},
    "quantile intervals": {"kind": "quantile", "bins": 4, "as": "intervals"},
    "uniform": {"kind": "uniform", "bins": 7},
    "uniform intervals": {"kind": "uniform", "bins": 5, "as": "intervals"},
    "random": {"kind": "random", "draws": 3},
    "mdlp": {"kind": "mdlp"},
    "mdlp intervals": {"kind": "mdlp", "as": "intervals"},
}
MISSING = ("majority", "class_majority", "distribution", "surrogate")


def cart(**options: Any) -> Options:
    return {"kind": "cart", **options}


def single_trees() -> Iterator[Order]:
    """CART, C4.5 and ID3: criteria, splits, cuts, missing values."""
    for (criterion, told), categorical in product(CRITERIA.items(), SPLITS):
        yield order(f"{criterion}, {categorical}", "mixed", cart(criterion=told, categorical=categorical))
    for criterion, told in CRITERIA.items():
        yield order(criterion, "ties", cart(criterion=told), target="kind of three")
        yield order(f"id3 by {criterion}", "words", {"kind": "id3", "criterion": told})
    for (cut, numeric), criterion in product(CUTS.items(), ("gini", "gain ratio")):
        yield order(f"{cut} cuts, {criterion}", "mixed", cart(numeric=numeric, criterion=CRITERIA[criterion]))
    for (cut, numeric), criterion in product(CUTS.items(), ("gini", "information gain", "error rate")):
        yield order(f"{cut} cuts, {criterion}", "ties", cart(numeric=numeric, criterion=CRITERIA[criterion]))
    for missing, criterion in product(MISSING, ("gini", "gain ratio")):
        yield order(f"{missing}, {criterion}", "mixed", cart(missing=missing, criterion=CRITERIA[criterion]))
    yield order("surrogates of a number", "mixed", cart(missing="surrogate", stopping=SHORT), target="price")
    yield order("categories of little weight", "mixed", cart(min_category_weight=12))
    yield order(
        "categories of little weight, one by one", "mixed", cart(min_category_weight=9, categorical="one_vs_rest")
    )
    yield order("c45", "mixed", {"kind": "c45"})
    yield order("id3 with intervals", "mixed", {"kind": "id3", "numeric": CUTS["quantile intervals"]})
    yield order("c45", "ties", {"kind": "c45"})
    for table, collapse in product(("mixed", "ties"), (True, False)):
        told = "collapsed" if collapse else "not collapsed"
        yield order(f"release 8, {told}", table, {"kind": "c45", "dialect": "release8", "collapse": collapse})
    yield order("release 8, weighted", "mixed", {"kind": "c45", "dialect": "release8"}, sample_weight="weight")


def numbers() -> Iterator[Order]:
    """Trees that predict numbers, one or several."""
    for table, target in (("mixed", NUMBERS), ("mixed", SEVERAL), ("ties", NUMBERS), ("ties", SEVERAL)):
        told = "numbers" if target is SEVERAL else "a number"
        yield order(told, table, cart(), target=target[table])
        yield order(f"{told}, weighted", table, cart(), target=target[table], sample_weight="weight")
        yield order(f"{told}, seven leaves", table, cart(stopping={"max_leaves": 7}), target=target[table])
    for categorical in ("multiway", "one_vs_rest"):
        yield order(f"a number, {categorical}", "mixed", cart(categorical=categorical), target="price")
    for missing in ("majority", "distribution"):
        yield order(f"a number, {missing}", "mixed", cart(missing=missing), target="price")
    for cut in ("quantile", "uniform", "random", "quantile intervals"):
        yield order(f"a number, {cut} cuts", "mixed", cart(numeric=CUTS[cut]), target="price")
        yield order(f"a number, {cut} cuts", "ties", cart(numeric=CUTS[cut]), target="amount")


def weights_and_costs() -> Iterator[Order]:
    """Rows, classes, mistakes and questions that do not all weigh the same."""
    for table, criterion in product(("mixed", "ties"), ("gini", "information gain", "gain ratio", "error rate")):
        yield order(f"{criterion}, weighted", table, cart(criterion=CRITERIA[criterion]), sample_weight="weight")
    classes, mistakes = {"later": 2.5, "no": 0.5}, {"later": {"yes": 3, "no": 2}, "yes": {"later": 4}}
    yield order("class weights", "mixed", cart(), class_weights=classes)
    yield order("costs of mistakes", "mixed", cart(), misclassification_costs=mistakes)
    yield order(
        "costs of mistakes, pruned",
        "mixed",
        cart(),
        misclassification_costs=mistakes,
        pruning={"kind": "reduced_error"},
        **BY_COLUMN,
    )
    entropy = CRITERIA["information gain"]
    costs = {"area": 3, "street": 5, "state": 0.5}
    dear: Options = {"kind": "tan_schlimmer", "costs": costs}
    yield order("tan schlimmer", "mixed", cart(attribute_costs=dear, criterion=entropy))
    yield order("tan schlimmer, multiway", "mixed", {"kind": "c45", "attribute_costs": dear, "criterion": entropy})
    dear = {"kind": "nunez", "costs": costs, "w": 0.7}
    yield order("nunez", "mixed", cart(attribute_costs=dear, criterion=entropy))
    dear = {"kind": "tan_schlimmer", "costs": {"x0": 2, "x5": 0.25}}
    yield order("tan schlimmer", "ties", cart(attribute_costs=dear, criterion=entropy))


STOPPING: dict[str, Options] = {
    "depth 3": {"max_depth": 3},
    "nine leaves": {"max_leaves": 9},
    "nine leaves, depth 3": {"max_leaves": 9, "max_depth": 3},
    "nodes of 20": {"min_samples_split": 20},
    "leaves of 8": {"min_samples_leaf": 8},
    "a gain of 0.05": {"min_gain": 0.05},
    "a score of 0.04": {"min_score": 0.04},
    "an impurity of 0.3": {"min_impurity": 0.3},
    "copies of 0.2": {"min_copy_weight": 0.2},
}


def stopping() -> Iterator[Order]:
    """What ends the growth of a tree."""
    for told, limits in STOPPING.items():
        yield order(told, "mixed", cart(stopping=limits))
    for told in ("nine leaves", "leaves of 8", "a gain of 0.05"):
        yield order(told, "ties", cart(stopping=STOPPING[told]))
        yield order(f"{told}, gain ratio", "mixed", cart(stopping=STOPPING[told], criterion=CRITERIA["gain ratio"]))
    checked = {"validate_splits": True}
    yield order("validated splits", "mixed", cart(stopping=checked), **BY_COLUMN)
    yield order("validated splits of c45", "mixed", {"kind": "c45", "stopping": checked}, **BY_COLUMN)
    yield order("validated splits of a number", "mixed", cart(stopping=checked), target="price", **BY_COLUMN)


PRUNINGS: dict[str, Options] = {
    "reduced error": {"kind": "reduced_error"},
    "reduced error, ties are cut": {"kind": "reduced_error", "on_tie": "cut"},
    "confidence": {"kind": "confidence"},
    "confidence of 0.1": {"kind": "confidence", "cf": 0.1},
    "confidence, normal": {"kind": "confidence", "bound": "normal"},
    "confidence, raising": {"kind": "confidence", "raising": True},
    "cost-complexity": {"kind": "cost_complexity"},
    "cost-complexity of 0.01": {"kind": "cost_complexity", "alpha": 0.01},
    "cost-complexity by folds": {"kind": "cost_complexity", "choose": "cross_validation", "folds": 4},
    "cost-complexity by entropy": {"kind": "cost_complexity", "cost": "entropy", "alpha": 0.02},
    "cost-complexity by errors": {"kind": "cost_complexity", "cost": "error"},
}


def prunings() -> Iterator[Order]:
    """Every way to prune, with rows kept aside."""
    for told, pruning in PRUNINGS.items():
        yield order(told, "mixed", cart(), pruning=pruning, **BY_COLUMN)
    for told in ("confidence", "confidence, raising", "reduced error"):
        yield order(f"c45, {told}", "mixed", {"kind": "c45"}, pruning=PRUNINGS[told], **BY_COLUMN)
        yield order(
            f"release 8, {told}", "mixed", {"kind": "c45", "dialect": "release8"}, pruning=PRUNINGS[told], **BY_COLUMN
        )
    rule = {"kind": "cost_complexity", "choose": "cross_validation", "folds": 4, "rule": "one_standard_error"}
    yield order("cost-complexity by one standard error", "ties", cart(), pruning=rule)
    random = {"division": {"kind": "random", "train": 0.7, "validation": 0.2, "test": 0.1}}
    yield order("cost-complexity by random rows", "ties", cart(), pruning=PRUNINGS["cost-complexity"], **random)
    for told, target in (("a number", "price"), ("numbers", ["price", "rent"])):
        for name in ("reduced error", "cost-complexity", "cost-complexity by folds"):
            yield order(f"{told}, {name}", "mixed", cart(), target=target, pruning=PRUNINGS[name], **BY_COLUMN)


def other_methods() -> Iterator[Order]:
    """CHAID, QUEST and multivariate trees."""
    chaid: dict[str, Options] = {
        "chaid": {},
        "exhaustive chaid": {"exhaustive": True},
        "chaid without multipliers": {"bonferroni": False, "alpha_split": None},
        "chaid by likelihood": {"statistic": "likelihood_ratio", "alpha_merge": 0.2},
        "chaid, missing by weight": {"missing": "weighted"},
        "chaid, equal widths": {"binning": "equal_width", "bins": 6},
    }
    small = {"min_samples_split": 12, "min_samples_leaf": 4}
    for told, options in chaid.items():
        yield order(told, "mixed", {"kind": "chaid", "stopping": small, **options})
    for told in ("chaid", "exhaustive chaid"):
        options = {"kind": "chaid", "stopping": small, **chaid[told]}
        yield order(f"{told} of a number", "mixed", options, target="price")
        yield order(f"{told}, weighted", "mixed", options, sample_weight="weight")
        yield order(told, "ties", options, target="kind of three")
    quest: dict[str, Options] = {
        "quest": {},
        "quest of 0.3": {"alpha": 0.3, "when_insignificant": "stop"},
        "quest, filled": {"missing": "class_majority"},
        "quest, surrogates": {"missing": "surrogate"},
    }
    for told, options in quest.items():
        yield order(told, "mixed", {"kind": "quest", **options})
    yield order("quest, weighted", "mixed", {"kind": "quest"}, sample_weight="weight")
    yield order("quest", "ties", {"kind": "quest"}, target="kind of three")
    yield order("quest", "slanted", {"kind": "quest"}, target="band")
    by_folds = {"kind": "cost_complexity", "choose": "cross_validation", "folds": 3}
    yield order("quest, pruned", "mixed", {"kind": "quest"}, pruning=by_folds)
    for fit, (told, target) in product(("oc1", "lda", "logistic"), (("two", "side"), ("three", "band"))):
        sums = {"kind": "multivariate", "fit": fit, "stopping": SHORT}
        yield order(f"{fit}, {told} classes", "slanted", sums, target=target)
    every = [*ATTRIBUTES["slanted"], "with holes", "word"]
    for told, options, said in (
        ("oc1, holes and words", {}, {}),
        ("oc1 by information gain", {"criterion": CRITERIA["information gain"]}, {}),
        ("oc1 of two terms", {"max_terms": 2}, {}),
        ("oc1, weighted", {}, {"sample_weight": "weight"}),
    ):
        sums = {"kind": "multivariate", "stopping": SHORT, **options}
        yield order(told, "slanted", sums, target="band", attributes=every, **said)


def committees() -> Iterator[Order]:
    """Many trees together."""
    few = {"n_trees": 3}
    for kind in ("random_forest", "extra_trees", "bagging"):
        for told, target in (("classes", CLASSES), ("a number", NUMBERS), ("numbers", SEVERAL)):
            yield order(f"{kind}, {told}", "mixed", {"kind": kind, **few}, target=target["mixed"])
            yield order(f"{kind}, {told}", "ties", {"kind": kind, **few}, target=target["ties"])
    for criterion in ("information gain", "error rate", "gain ratio"):
        yield order(
            f"forest by {criterion}", "ties", {"kind": "random_forest", **few, "criterion": CRITERIA[criterion]}
        )
    drawn: dict[str, Options] = {
        "two attributes": {"max_features": 2},
        "half of the attributes": {"max_features": 0.5},
        "log2 of the attributes": {"max_features": "log2"},
        "attributes by tree": {"features_per_tree": 3, "max_features": "all"},
        "half of the rows": {"sample_size": 0.5, "bootstrap": False},
        "fifty rows": {"sample_size": 50},
        "depth 4": {"stopping": {"max_depth": 4}},
        "surrogates": {"missing": "surrogate"},
        "drawn branches": {"missing": "distribution"},
        "quantile cuts": {"numeric": CUTS["quantile"]},
        "trees of c45": {"base": "c45"},
        "trees of three methods": {"base": ["cart", "c45", "chaid"]},
    }
    for told, options in drawn.items():
        yield order(f"forest, {told}", "mixed", {"kind": "random_forest", **few, **options})
    yield order("forest, weighted", "mixed", {"kind": "random_forest", **few}, sample_weight="weight")
    yield order("forest, class weights", "mixed", {"kind": "random_forest", **few}, class_weights={"later": 3})
    yield order("forest, nine leaves", "ties", {"kind": "random_forest", **few, "stopping": {"max_leaves": 9}})
    balances: list[Options] = [
        {"kind": "undersample"},
        {"kind": "parts"},
        {"kind": "cluster_undersample"},
        {"kind": "oversample", "ratio": 0.8},
        {"kind": "interpolate"},
        {"kind": "smote", "neighbours": 3},
    ]
    for imbalance in balances:
        yield order(f"forest, {imbalance['kind']}", "rare", {"kind": "random_forest", **few, "imbalance": imbalance})
    for table, sample in (("mixed", 64), ("ties", 100), ("slanted", 0.5)):
        isolation = {"kind": "isolation_forest", "n_trees": 8, "sample_size": sample}
        body = {"attributes": ATTRIBUTES[table], "algorithm": isolation, "seed": 7, **ALL_ROWS}
        yield Order(f"{table}: isolation of {sample}", table, body, EVERY_ENGINE)
    retraining = {"kind": "retraining", "repeats": 1}
    yield order("forest, retrained", "rare", {"kind": "random_forest", "n_trees": 3}, importance=retraining)


def many_rows() -> Iterator[Order]:
    """Tables of 1,500 and 20,000 rows, which kernels grow in other ways than small ones."""

    def grown(name: str, table: str, algorithm: Options, **said: Any) -> Order:
        return order(name, table, algorithm, engines=BY_KERNELS, **said)

    for criterion in ("gini", "information gain", "error rate", "gain ratio"):
        yield grown(criterion, "complete", cart(criterion=CRITERIA[criterion]))
    for criterion in ("gini", "information gain", "gain ratio"):
        yield grown(criterion, "large", cart(criterion=CRITERIA[criterion]))
    yield grown("two classes", "large", cart(), target="yes or no")
    yield grown("a number", "complete", cart(), target="amount")
    yield grown("a number", "large", cart(), target="amount")
    yield grown("numbers", "large", cart(stopping={"min_samples_leaf": 10}), target=SEVERAL["large"])
    yield grown("weighted", "large", cart(), sample_weight="weight")
    yield grown(
        "information gain, weighted", "large", cart(criterion=CRITERIA["information gain"]), sample_weight="weight"
    )
    yield grown("500 leaves", "large", cart(stopping={"max_leaves": 500}))
    words = [*ATTRIBUTES["large"][:3], "level", "colour"]
    for categorical in SPLITS:
        for told, target in (("classes", "kind"), ("two classes", "yes or no"), ("a number", "amount")):
            limits = {"min_samples_leaf": 20}
            split = cart(categorical=categorical, stopping=limits)
            yield grown(f"words, {categorical}, {told}", "large", split, target=target, attributes=words)
    holes = ["x0", "x1", "few", "x with holes", "colour with holes", "colour"]
    for told, options in (
        ("gini", {}),
        ("information gain", {"criterion": CRITERIA["information gain"]}),
        ("gain ratio, multiway", {"criterion": CRITERIA["gain ratio"], "categorical": "multiway"}),
        ("surrogates", {"missing": "surrogate", "stopping": {"max_depth": 6}}),
        ("drawn branches", {"missing": "distribution"}),
    ):
        yield grown(f"holes, {told}", "large", cart(**options), attributes=holes)
    yield grown("holes, a number", "large", cart(stopping={"max_depth": 9}), attributes=holes, target="amount")
    for cut in ("boundary", "quantile", "uniform", "random", "mdlp", "quantile intervals"):
        yield grown(f"{cut} cuts", "large", cart(numeric=CUTS[cut]))
    yield grown("release 8", "large", {"kind": "c45", "dialect": "release8"}, attributes=holes)
    yield grown("reduced error", "large", cart(), pruning=PRUNINGS["reduced error"], division={"kind": "random"})
    yield grown("cost-complexity", "large", cart(), pruning=PRUNINGS["cost-complexity"], division={"kind": "random"})
    yield grown("confidence", "large", {"kind": "c45"}, pruning=PRUNINGS["confidence"])
    yield grown("quest", "large", {"kind": "quest"}, attributes=[*holes, "level"])
    yield grown("chaid", "large", {"kind": "chaid"}, attributes=[*holes, "level"])
    yield grown("chaid of a number", "large", {"kind": "chaid"}, attributes=holes, target="amount")
    yield grown("oc1", "complete", {"kind": "multivariate", "stopping": SHORT})
    for told, target in (("classes", CLASSES), ("a number", NUMBERS), ("numbers", SEVERAL)):
        for kind in ("random_forest", "extra_trees"):
            attributes = ATTRIBUTES["complete"][:4]
            yield grown(
                f"{kind}, {told}",
                "complete",
                {"kind": kind, "n_trees": 5},
                target=target["complete"],
                attributes=attributes,
            )
        yield grown(f"forest, {told}", "large", {"kind": "random_forest", "n_trees": 2}, target=target["large"])
    yield grown("forest, holes", "large", {"kind": "random_forest", "n_trees": 2}, attributes=holes)
    yield grown("forest, words", "large", {"kind": "random_forest", "n_trees": 2}, attributes=words)
    isolation = {"kind": "isolation_forest", "n_trees": 10}
    yield Order(
        "large: isolation",
        "large",
        {"attributes": ATTRIBUTES["large"], "algorithm": isolation, "seed": 7, **ALL_ROWS},
        BY_KERNELS,
    )


def every_order() -> list[Order]:
    """All orders, in the order they are sent in."""
    families = (
        single_trees,
        numbers,
        weights_and_costs,
        stopping,
        prunings,
        other_methods,
        committees,
        many_rows,
    )
    return [each for family in families for each in family()]


ORDERS = every_order()
