import pytest

from core.tables.schema import Attribute, Kind, Schema

SCHEMA = Schema((Attribute("a", Kind.NUMERIC), Attribute("b", Kind.ORDINAL, ("lo", "hi")), Attribute("c", Kind.IGNORE)))


def test_columns_are_found_by_place_and_by_name():
    assert len(SCHEMA) == 3
    assert SCHEMA.names == ("a", "b", "c")
    assert [attribute.name for attribute in SCHEMA] == ["a", "b", "c"]
    assert SCHEMA[1] is SCHEMA.columns[SCHEMA.column("b")]
    assert "b" in SCHEMA
    assert "z" not in SCHEMA
    with pytest.raises(KeyError):
        SCHEMA.column("z")


def test_numbers_and_ordinals_have_an_order():
    assert [attribute.has_order for attribute in SCHEMA] == [True, True, False]
    assert [attribute.is_numeric for attribute in SCHEMA] == [True, False, False]
