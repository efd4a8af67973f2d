"""The rows of the report, in order: what is measured on which table, against whom, and how fast it has to be.

`Faster(rival, floor, goal)`: so many times the rival's speed. `Within(rival, floor, goal)`: at most so many times its
time. `AsAccurate(rival)`: at most 0.2 points of held-out accuracy below.
"""

from dataclasses import replace
from functools import partial

from bench.asking import AnotherStep, Limit, ManyRows, OneRecord, RowsWithHoles
from bench.chaid import ChaidRow
from bench.forest_asking import ForestManyRows, ForestOneRecord, ForestSize
from bench.forest_importance import PermutationImportance
from bench.forests import ForestRow, OurForest, ScikitForest, YDFForest
from bench.growing import AsAccurate, Faster, ForestMemoryRow, MemoryRow, ScalingRow, ThreadsRow, TreeRow, Within
from bench.isolation import IsolationScores
from bench.kinds import (
    ADDED_UP_200K,
    COVER_TYPES,
    HUNDRED_VALUES,
    MIXED_2,
    MIXED_4,
    MIXED_FEW_LEVELS,
    NUMERIC_1M,
    NUMERIC_100K,
    NUMERIC_200K,
    REGRESSION,
    REGRESSION_100K,
    SEVEN_CLASSES_100K,
    SLANTED_3_100K,
    SLANTED_100K,
    TWO_CLASSES_100K,
    missing,
    weighted,
)
from bench.ours import OurMultivariate, OurQuest, Ours
from bench.peers import YDF, LightGBM, ScikitLearn, XGBoost
from bench.pruning import CrossValidationRow, DeepSequenceRow, SequenceRow
from bench.serving.kinds import (
    AboveConstant,
    BatchInFlight,
    ExplainedAbovePlain,
    Rival,
    Throughput,
    TrainingOnAllCores,
    WorkerStart,
)
from bench.serving.requests import arrow, columns, open_inference, records
from bench.serving.servers import mlserver, plain
from bench.tables import Tables

Row = (
    TreeRow
    | ThreadsRow
    | ScalingRow
    | MemoryRow
    | ForestMemoryRow
    | ManyRows
    | OneRecord
    | RowsWithHoles
    | AnotherStep
    | IsolationScores
    | PermutationImportance
    | SequenceRow
    | CrossValidationRow
    | DeepSequenceRow
    | ChaidRow
    | ForestRow
    | ForestManyRows
    | ForestOneRecord
    | ForestSize
    | AboveConstant
    | ExplainedAbovePlain
    | Throughput
    | BatchInFlight
    | TrainingOnAllCores
    | WorkerStart
)

DEEP, FULL, MIXED = Ours(depth=12), Ours(), Ours(depth=12, min_leaf=50)
COMPLETE, AXIS_PARALLEL = "our complete table", "our axis-parallel tree"


def quest_row(name: str, title: str, tables: Tables, depth: int | None = None, min_leaf: int = 1) -> TreeRow:
    """QUEST beside CART with the same limits."""
    cart = Within(Ours(depth=depth, min_leaf=min_leaf), 1.0, 0.9, label="our CART")
    return TreeRow(name, f"QUEST, {title}", tables, OurQuest(depth=depth, min_leaf=min_leaf), (cart,))


ROWS: tuple[Row, ...] = (
    TreeRow(
        "numeric-1m",
        "1M x 20 distinct, 3 classes, depth 12",
        NUMERIC_1M,
        DEEP,
        (Faster(ScikitLearn(depth=12), 15, 24), Faster(XGBoost(depth=12), 3, 5)),
    ),
    TreeRow("numeric-200k", "200k x 20, fully grown", NUMERIC_200K, FULL, (Faster(ScikitLearn(), 14, 19),)),
    TreeRow(
        "cover-types",
        "500k x 54, 44 of them binary, 7 classes, min leaf 5",
        COVER_TYPES,
        Ours(min_leaf=5),
        (Faster(ScikitLearn(min_leaf=5), 9, 13),),
    ),
    TreeRow(
        "hundred-values",
        "300k x 20 of 100 distinct values each, fully grown",
        HUNDRED_VALUES,
        FULL,
        (Faster(ScikitLearn(), 8, 11),),
    ),
    TreeRow(
        "regression",
        "regression 500k x 20, depth 12",
        REGRESSION,
        DEEP,
        (Faster(ScikitLearn(depth=12), 12, 17), Faster(LightGBM(depth=12), 1.5, 2.2)),
    ),
    TreeRow(
        "weights-1m",
        "1M x 20, depth 12, with sample weights",
        weighted(NUMERIC_1M),
        DEEP,
        (Faster(DEEP, 0.65, 0.75, on=NUMERIC_1M, label="our unweighted table"),),
    ),
    TreeRow(
        "weights-200k",
        "200k x 20, fully grown, with sample weights",
        weighted(NUMERIC_200K),
        FULL,
        (Faster(FULL, 0.65, 0.75, on=NUMERIC_200K, label="our unweighted table"),),
    ),
    TreeRow(
        "entropy",
        "entropy, 1M x 20, depth 12",
        NUMERIC_1M,
        Ours(depth=12, criterion="information_gain"),
        (Within(DEEP, 1.2, 1.0, label="our Gini tree"),),
    ),
    TreeRow(
        "missing-15-200k",
        "15 % missing, 200k x 20, depth 12",
        missing(NUMERIC_200K, 0.15),
        DEEP,
        (
            Within(DEEP, 2.8, 2.3, on=NUMERIC_200K, label=COMPLETE),
            Faster(ScikitLearn(depth=12), 7, 10),
            AsAccurate(ScikitLearn(depth=12)),
            AsAccurate(YDF(depth=12)),
        ),
    ),
    TreeRow(
        "missing-15-1m",
        "15 % missing, 1M x 20, depth 12",
        missing(NUMERIC_1M, 0.15),
        DEEP,
        (
            Within(DEEP, 2.8, 2.3, on=NUMERIC_1M, label=COMPLETE),
            Faster(ScikitLearn(depth=12), 7, 10),
            AsAccurate(ScikitLearn(depth=12)),
        ),
    ),
    TreeRow(
        "missing-2-1m",
        "2 % missing, 1M x 20, depth 12",
        missing(NUMERIC_1M, 0.02),
        DEEP,
        (Within(DEEP, 1.6, 1.35, on=NUMERIC_1M, label=COMPLETE),),
    ),
    TreeRow(
        "missing-15-added-up",
        "15 % missing, 200k x 20, classes by a sum of eight columns, fully grown (5.6 times the entries)",
        missing(ADDED_UP_200K, 0.15),
        FULL,
        (
            Within(FULL, 6.3, 5.2, on=ADDED_UP_200K, label=COMPLETE),
            AsAccurate(ScikitLearn()),
            AsAccurate(YDF()),
        ),
    ),
    TreeRow(
        "missing-15-full",
        "15 % missing, 200k x 20, fully grown (8.8 times the entries)",
        missing(NUMERIC_200K, 0.15),
        FULL,
        (
            Within(FULL, 6.3, 5.2, on=NUMERIC_200K, label=COMPLETE),
            AsAccurate(ScikitLearn()),
            AsAccurate(YDF()),
        ),
    ),
    TreeRow(
        "mixed-2",
        "mixed 200k (8 categoricals of 2-200 levels, 6 numerics), two groups, min leaf 50, depth 12, 2 classes",
        MIXED_2,
        MIXED,
        (Faster(YDF(depth=12, min_leaf=50), 7, 10), Faster(LightGBM(depth=12, min_leaf=50), 4, 6)),
    ),
    TreeRow(
        "mixed-2-merged",
        "the same, categories with fewer than 20 rows in a node taken as one",
        MIXED_2,
        Ours(depth=12, min_leaf=50, min_category_weight=20),
        (AsAccurate(YDF(depth=12, min_leaf=50)), AsAccurate(LightGBM(depth=12, min_leaf=50))),
    ),
    TreeRow(
        "mixed-4",
        "mixed 200k, two groups, 4 classes",
        MIXED_4,
        MIXED,
        (Faster(YDF(depth=12, min_leaf=50), 6, 8), Faster(LightGBM(depth=12, min_leaf=50), 3, 4)),
    ),
    TreeRow(
        "mixed-multiway",
        "mixed 200k, multiway gain ratio, 2 classes",
        MIXED_2,
        Ours(depth=12, min_leaf=50, criterion="gain_ratio", categorical="multiway"),
        (Within(MIXED, 1.0, 0.8, label="our two groups"),),
    ),
    TreeRow(
        "mixed-missing",
        "mixed 200k, two groups, 2 classes, 15 % missing",
        missing(MIXED_2, 0.15),
        MIXED,
        (
            Faster(YDF(depth=12, min_leaf=50), 1.7, 2.3),
            Faster(LightGBM(depth=12, min_leaf=50), 1, 1.25),
            AsAccurate(YDF(depth=12, min_leaf=50)),
        ),
    ),
    ChaidRow(
        "chaid",
        "CHAID, mixed 200k x 14 (8 categoricals of 2-200 levels, 6 numerics), depth 1, 2 classes",
        MIXED_2,
        depth=1,
        most_seconds=200,
        floor=10,
        goal=100,
    ),
    ChaidRow(
        "chaid-few-levels",
        "CHAID, mixed 200k x 14 (8 categoricals of 2-20 levels, 6 numerics), depth 3, 2 classes",
        MIXED_FEW_LEVELS,
        depth=3,
        most_seconds=200,
        floor=10,
        goal=20,
    ),
    quest_row("quest", "200k x 20, 3 classes, depth 12", NUMERIC_200K, depth=12),
    quest_row("quest-full", "200k x 20, 3 classes, fully grown", NUMERIC_200K),
    quest_row("quest-missing", "the first with 15 % missing", missing(NUMERIC_200K, 0.15), depth=12),
    quest_row("quest-missing-full", "the second with 15 % missing", missing(NUMERIC_200K, 0.15)),
    quest_row("quest-mixed-2", "mixed 200k, min leaf 50, depth 12, 2 classes", MIXED_2, depth=12, min_leaf=50),
    quest_row("quest-mixed-4", "the same, 4 classes", MIXED_4, depth=12, min_leaf=50),
    quest_row("quest-mixed-2-missing", "2 classes, 15 % missing", missing(MIXED_2, 0.15), depth=12, min_leaf=50),
    quest_row("quest-mixed-4-missing", "4 classes, 15 % missing", missing(MIXED_4, 0.15), depth=12, min_leaf=50),
    *(
        TreeRow(
            name,
            f"an oblique tree, 100k x 20, {title}, fully grown",
            tables,
            OurMultivariate(),
            (Within(FULL, 20, 10, label=AXIS_PARALLEL), AsAccurate(FULL, label=AXIS_PARALLEL)),
        )
        for name, title, tables in (
            ("oblique", "2 classes on both sides of a slanted plane", SLANTED_100K),
            ("oblique-3", "3 classes between slanted planes", SLANTED_3_100K),
        )
    ),
    *(
        TreeRow(
            f"oblique-noise-{n_classes}",
            f"an oblique tree, 100k x 20, {n_classes} classes that no plane divides, fully grown",
            tables,
            OurMultivariate(),
            (Within(FULL, 20, 10, label=AXIS_PARALLEL),),
        )
        for n_classes, tables in ((2, TWO_CLASSES_100K), (3, NUMERIC_100K), (7, SEVEN_CLASSES_100K))
    ),
    *(
        ForestRow(
            name,
            f"forest of 100 trees, {title}, fully grown, √d attributes, two threads",
            tables,
            OurForest(),
            (
                Faster(ScikitForest(), floor, goal),
                Faster(YDFForest(), floor, goal),
                AsAccurate(ScikitForest()),
                AsAccurate(YDFForest()),
            ),
        )
        for name, title, tables, floor, goal in (
            ("forest-3", "100k x 20, 3 classes", NUMERIC_100K, 7, 11),
            ("forest-7", "100k x 20, 7 classes", SEVEN_CLASSES_100K, 6, 9),
            ("forest-regression", "100k x 20, regression", REGRESSION_100K, 6, 9),
        )
    ),
    ForestRow(
        "forest-missing",
        "the forest of 3 classes with 15 % missing",
        missing(NUMERIC_100K, 0.15),
        OurForest(),
        (Within(OurForest(), 5.2, 4.2, on=NUMERIC_100K, label="our complete table"),),
    ),
    ThreadsRow("threads", "two threads, 1M x 20, depth 12, wall", NUMERIC_1M, DEEP, floor=1.5, goal=1.65),
    MemoryRow("memory", "peak memory above the input, 1M x 20, depth 12", "complete", floor=7, goal=6),
    MemoryRow("memory-missing", "the same with 15 % missing", "missing", floor=12, goal=9),
    *(
        ForestMemoryRow(
            name,
            f"peak memory besides a forest of 100 trees, per thread, {title}, against the table (8 bytes a cell)",
            tables,
            floor=1.5,
            goal=1,
        )
        for name, title, tables in (
            ("memory-forest", "100k x 20, 3 classes", "classes"),
            ("memory-forest-regression", "100k x 20, regression", "regression"),
        )
    ),
    ScalingRow(
        "scaling",
        "10k to 3M rows x 20, depth 12: no faster than n log n",
        NUMERIC_1M,
        DEEP,
        sizes=(10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    ),
    ManyRows(
        "predict-many",
        "predict 1M rows, depth 12",
        NUMERIC_200K,
        12,
        (Limit("scikit-learn", 3, 4), Limit("onnxruntime", 3, 4)),
    ),
    OneRecord(
        "predict-one",
        "predict one record, wall",
        NUMERIC_200K,
        12,
        (Limit("onnxruntime", 2, 4), Limit("scikit-learn", 30, 60)),
    ),
    RowsWithHoles(
        "predict-missing",
        "predict 1M rows with 15 % missing, per leaf reached, depth 12",
        NUMERIC_200K,
        12,
        share=0.15,
        floor=0.55,
        goal=0.45,
    ),
    AnotherStep(
        "predict-step",
        "predict as of a step of the pruning history, 200k x 20, fully grown",
        NUMERIC_200K,
        floor=1.05,
        goal=1.02,
    ),
    IsolationScores(
        "isolation",
        "isolation forest of 100 trees, score 200k x 20, two threads",
        NUMERIC_200K,
        Limit("scikit-learn", 4, 5),
    ),
    PermutationImportance(
        "permutation-importance",
        "permutation importance, 10k rows x 20, 100 trees of depth 12, 5 repeats, two threads",
        NUMERIC_100K,
        12,
        Limit("scikit-learn", 10, 20),
    ),
    SequenceRow(
        "pruning-sequence",
        "the whole cost-complexity sequence, 200k x 20, fully grown",
        NUMERIC_200K,
        share_floor=0.02,
        share_goal=0.015,
        speed_floor=20,
        speed_goal=50,
    ),
    CrossValidationRow(
        "pruning-cross-validation",
        "every alpha by 5-fold cross-validation, 200k x 20, fully grown",
        NUMERIC_200K,
        floor=100,
        goal=200,
    ),
    DeepSequenceRow(
        "pruning-deep", "a sequence of up to 50,000 steps: no faster than n log n", sizes=(2_500, 10_000, 50_000)
    ),
    ForestManyRows(
        "forest-predict-many",
        "predict 100k rows x 20 with 100 trees, depth 12, two threads each",
        replace(NUMERIC_200K, n_rows=100_000),
        depth=12,
        floor=4,
        goal=7,
    ),
    ForestOneRecord(
        "forest-predict-one",
        "predict one record with 100 trees, depth 12, wall",
        replace(NUMERIC_200K, n_rows=100_000),
        depth=12,
        floor=4.5,
        goal=9,
    ),
    ForestSize(
        "forest-size",
        "how large 100 trees are stored, fully grown on 100k x 20",
        replace(NUMERIC_200K, n_rows=100_000),
        depth=None,
        floor=1 / 4,
        goal=1 / 6,
    ),
    AboveConstant("serving-one", "one record over HTTP, CPU", partial(records, 1), floor=1.35, goal=1.2),
    AboveConstant("serving-hundred", "100 JSON records over HTTP, CPU", partial(records, 100), floor=3, goal=2.3),
    AboveConstant("serving-records", "10,000 JSON records over HTTP, CPU", partial(records, 10_000), floor=7, goal=5.7),
    AboveConstant("serving-columns", "10,000 records as JSON columns, CPU", partial(columns, 10_000), floor=9, goal=8),
    AboveConstant("serving-arrow", "10,000 records as an Arrow stream, CPU", partial(arrow, 10_000), floor=3, goal=2.7),
    ExplainedAbovePlain(
        "serving-explain",
        "100 JSON records with their paths, CPU",
        partial(records, 100),
        partial(records, 100, explain=True),
        floor=50,
        goal=30,
    ),
    Throughput(
        "serving-peers-one",
        "one record a request, 8 connections",
        partial(records, 1),
        8,
        (
            Rival("MLServer", mlserver, partial(open_inference, 1), 4, 5),
            Rival("FastAPI + pandas + scikit-learn", plain, partial(records, 1, path="/predict"), 40, 50),
        ),
    ),
    Throughput(
        "serving-peers-records",
        "10,000 JSON records a request, 2 connections",
        partial(records, 10_000),
        2,
        (Rival("MLServer", mlserver, partial(open_inference, 10_000), 1.3, 1.5),),
    ),
    Throughput(
        "serving-peers-arrow",
        "10,000 records as an Arrow stream, 2 connections",
        partial(arrow, 10_000),
        2,
        (Rival("MLServer", mlserver, partial(open_inference, 10_000), 3.5, 4),),
    ),
    BatchInFlight(
        "serving-batch",
        "single records while a batch of 10,000 is in flight, 100 a second, wall",
        partial(records, 10_000),
        floor=30,
        goal=10,
    ),
    TrainingOnAllCores(
        "serving-training", "single records while all cores train, 100 a second, wall", floor=2, goal=1.5
    ),
    WorkerStart("serving-start", "a worker's start to its first tree, 5,000 rows of claims, wall", floor=1.0, goal=0.8),
)
