import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records.reader import RecordReader
from core.records.records import encode_records
from core.tables.errors import RecordsDoNotFit
from tests.core.records.test_json_scan import IGNORABLE, SCHEMA, any_records, assert_same, usual_records
from tests.examples import examples

READER = RecordReader(SCHEMA, IGNORABLE)


@examples(150)
@given(st.one_of(usual_records, any_records), st.booleans())
def test_records_are_read_like_encoded_ones_or_not_at_all(records, ignore_unknown):
    read = [READER.read(record, ignore_unknown=ignore_unknown) for record in records]
    taken = [(record, one) for record, one in zip(records, read, strict=True) if one is not None]
    expected = encode_records(
        [record for record, _ in taken], SCHEMA, ignorable=IGNORABLE, ignore_unknown=ignore_unknown
    )
    assert_same(READER.encoded([one for _, one in taken]), expected)
    assert [states for _, (_, states) in taken] == (expected.states_by_row or [b""] * len(taken))


@examples(50)
@given(usual_records)
def test_what_is_usual_is_read(records):
    assert None not in [READER.read(record, ignore_unknown=False) for record in records]


def test_what_is_refused_is_not_read():
    for record in ({"unknown": 1}, {"x": "1"}, {"x": True}, {"x": 10**400}, {"rings": 3}, {"grade": [1]}):
        assert READER.read(record, ignore_unknown=False) is None
    with pytest.raises(RecordsDoNotFit):
        encode_records([{"x": 10**400}], SCHEMA, ignorable=IGNORABLE, ignore_unknown=False)


def test_a_record_without_holes_has_no_states():
    record = dict(zip(SCHEMA.names, [1.5, 2, "清晰", "3", "no", "low", None], strict=True))
    cells, states = READER.read(record, ignore_unknown=False)
    assert np.array_equal(cells, [1.5, 2.0, 0.0, 0.0, 1.0, 0.0, np.nan], equal_nan=True)
    assert states == bytes([0, 0, 0, 0, 0, 0, 1])
    smaller = RecordReader(type(SCHEMA)(SCHEMA.columns[:2]), ())
    assert smaller.read({"密度": 1, "x": 2}, ignore_unknown=False) == ([1.0, 2.0], b"")
