import numpy as np

from core.tables.schema import Attribute, Kind, Schema
from core.tables.summary import ColumnSummary, summarize
from core.tables.table import Table


def test_a_summary_counts_known_cells_and_spans_the_numbers() -> None:
    schema = Schema((Attribute("密度", Kind.NUMERIC), Attribute("色泽", Kind.CATEGORICAL, ("青绿", "乌黑", "浅白"))))
    table = Table(schema, (np.array([0.5, np.nan, -2.0]), np.array([1, -1, -1], dtype=np.int32)))
    assert summarize(table) == (
        ColumnSummary("密度", Kind.NUMERIC, (), 1, -2.0, 0.5, 2),
        ColumnSummary("色泽", Kind.CATEGORICAL, ("青绿", "乌黑", "浅白"), 2, None, None, 1),
    )


def test_a_column_without_numbers_has_no_span() -> None:
    (summary,) = summarize(Table(Schema((Attribute("n", Kind.NUMERIC),)), (np.array([np.nan]),)))
    assert (summary.minimum, summary.maximum, summary.n_missing, summary.n_values) == (None, None, 1, 0)


def test_a_summary_survives_json() -> None:
    schema = Schema((Attribute("等级", Kind.ORDINAL, ("低", "高")), Attribute("n", Kind.NUMERIC)))
    for summary in summarize(Table(schema, (np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0])))):
        assert ColumnSummary.from_json(summary.to_json()) == summary
