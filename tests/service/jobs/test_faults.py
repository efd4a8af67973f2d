import pytest

from core.tables.errors import CoreError, Fault, InvalidConfig
from service.api.problems import PROBLEMS, kind_of
from service.errors import StoreUnavailable
from service.jobs.faults import CALLERS_FAULTS, problem_of
from service.store.jobs import internal_problem


@pytest.mark.parametrize("error", CALLERS_FAULTS)
def test_a_training_uses_the_words_of_the_api(error: type[Exception]) -> None:
    kind = PROBLEMS[error]
    assert CALLERS_FAULTS[error] == (kind.status, kind.word, kind.title)


def test_our_own_mistakes_have_the_words_of_the_api() -> None:
    kind, problem = kind_of(AssertionError), internal_problem("x")
    assert (problem["type"], problem["title"], problem["status"]) == (kind.type, kind.title, kind.status)


@pytest.mark.parametrize("error", CoreError.__subclasses__())
def test_everything_core_refuses_is_the_callers_fault(error: type[CoreError]) -> None:
    assert problem_of(error(Fault("no"))) is not None


@pytest.mark.parametrize("error", [ZeroDivisionError(), StoreUnavailable("away"), MemoryError(), AssertionError()])
def test_other_errors_are_not(error: Exception) -> None:
    assert problem_of(error) is None


def test_a_pointer_escapes_its_parts() -> None:
    problem = problem_of(InvalidConfig(Fault("no", ("a/b", 3, "c~d"))))
    assert problem is not None
    assert problem["errors"][0]["pointer"] == "#/a~1b/3/c~0d"
