import pytest

from core.tables.errors import EmptyTable, Fault, InvalidConfig, InvalidTable, raise_any


def test_an_error_carries_its_faults_and_says_them():
    error = InvalidConfig(Fault("too deep", ("a", 0), "less"), Fault("too wide"))
    assert str(error) == "too deep; too wide"
    assert error.faults[0].below("outer").path == ("outer", "a", 0)
    assert error.faults[0].below("outer").hint == "less"


def test_an_error_with_one_fault_at_a_path():
    error = InvalidTable.at("columns", 3, detail="is empty", hint="fill it")
    assert isinstance(error, InvalidTable)
    assert error.faults == (Fault("is empty", ("columns", 3), "fill it"),)


def test_nothing_is_raised_without_faults():
    raise_any(EmptyTable, iter(()))
    with pytest.raises(EmptyTable):
        raise_any(EmptyTable, [Fault("no row")])
