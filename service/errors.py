"""What can stand in the way of a request; the edge gives each its status.

    ServiceError
      NotFound          DatasetNotFound, TrainingNotFound, ModelNotFound, StepNotFound
      Conflict          DatasetInUse, ModelNotReady, NotForThisModel, TrainingAlreadyEnded, TrainingNotEnded
      InvalidRequest    MalformedBody, InvalidBody, InvalidFile, InvalidParameter, UnsupportedMediaType,
                        UnsupportedContentCoding, NotAcceptable
      TooLarge          BodyTooLarge
      Unavailable       StoreUnavailable, MigrationsPending, TooBusy

Messages name the thing, the value and the way out. Our own mistakes are assertions, not classes here.
"""

from collections.abc import Sequence

from core.tables.errors import Fault


class ServiceError(Exception):
    """A fact that stands in the way of a request; `faults` say where, when there is a where."""

    def __init__(self, detail: str, *faults: Fault) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = faults


class NotFound(ServiceError):
    """The thing named is not there."""


class DatasetNotFound(NotFound):
    """No dataset has this id."""


class TrainingNotFound(NotFound):
    """No training has this id."""


class ModelNotFound(NotFound):
    """No model has this id, name or version."""


class StepNotFound(NotFound):
    """The model's pruning history has no such step."""


class Conflict(ServiceError):
    """The thing is in a state that does not allow this."""


class DatasetInUse(Conflict):
    """A queued or running training uses the dataset."""


class ModelNotReady(Conflict):
    """The model's training has not ended yet."""


class NotForThisModel(Conflict):
    """The model is of another kind: it has many trees, and this is about one; or the other way round."""


class TrainingAlreadyEnded(Conflict):
    """The training succeeded or failed; there is nothing to cancel."""


class TrainingNotEnded(Conflict):
    """The training is queued or running; cancel it first."""


class InvalidRequest(ServiceError):
    """What was sent cannot be understood or does not fit."""


class MalformedBody(InvalidRequest):
    """The body is not the JSON, CSV or multipart it says it is."""


class InvalidBody(InvalidRequest):
    """The body was read, but what it says does not fit."""


class InvalidFile(InvalidRequest):
    """The file was read, but is not a table."""


class UnsupportedMediaType(InvalidRequest):
    """The body's Content-Type is not one that is taken here."""


class UnsupportedContentCoding(InvalidRequest):
    """The body is compressed in a way that is not taken here."""

    def __init__(self, coding: str, taken: tuple[str, ...]) -> None:
        super().__init__(
            f"Content-Encoding {coding} is not taken; send {' or '.join(taken)}, or a body without Content-Encoding"
        )
        self.taken = taken


class NotAcceptable(InvalidRequest):
    """None of the media types that the client accepts can be answered."""


class InvalidParameter(InvalidRequest):
    """A query or path parameter does not fit; `faults` say where inside it, when it holds JSON."""

    def __init__(
        self,
        parameter: str,
        detail: str,
        *,
        hint: str | None = None,
        place: str = "query",
        faults: Sequence[Fault] = (),
    ) -> None:
        super().__init__(f"{parameter}: {detail}", *(faults or [Fault(detail, (), hint)]))
        self.parameter = parameter
        self.place = place


class TooLarge(ServiceError):
    """More than a limit allows."""


class BodyTooLarge(TooLarge):
    """The body is larger than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the body is larger than the limit of {limit} bytes; send less, or raise the limit in the settings"
        )
        self.limit = limit


class Unavailable(ServiceError):
    """Not now; trying again later may help."""


class StoreUnavailable(Unavailable):
    """The database does not answer."""


class MigrationsPending(Unavailable):
    """The database's tables are not those this version needs."""


class TooBusy(Unavailable):
    """Too much of this is under way."""
