"""The errors with which a request can fail; `service.api.problems` gives each its HTTP status.

    ServiceError
      NotFound          DatasetNotFound, TrainingNotFound, ModelNotFound, StepNotFound
      Conflict          DatasetInUse, ModelNotReady, NotForThisModel, TrainingAlreadyEnded, TrainingNotEnded
      InvalidRequest    MalformedBody, InvalidBody, InvalidFile, InvalidParameter, UnsupportedMediaType,
                        UnsupportedContentCoding, NotAcceptable
      TooLarge          BodyTooLarge
      Unavailable       StoreUnavailable, MigrationsPending, TooBusy

Messages name the thing and the value, and say what would work. Bugs of the service are assertions, not classes here.
"""

from collections.abc import Sequence

from core.tables.errors import Fault


class ServiceError(Exception):
    """An error with which a request fails; `faults` give its places in the request, if it has any."""

    def __init__(self, detail: str, *faults: Fault) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = faults


class NotFound(ServiceError):
    """The named resource does not exist."""


class DatasetNotFound(NotFound):
    """No dataset has this id."""


class TrainingNotFound(NotFound):
    """No training has this id."""


class ModelNotFound(NotFound):
    """No model has this id, name or version."""


class StepNotFound(NotFound):
    """The model's pruning history has no such step."""


class Conflict(ServiceError):
    """The state of the resource does not allow the request."""


class DatasetInUse(Conflict):
    """A queued or running training uses the dataset."""


class ModelNotReady(Conflict):
    """The model's training has not ended yet."""


class NotForThisModel(Conflict):
    """The model is of the wrong kind: it has many trees where a single one is needed, or the other way round."""


class TrainingAlreadyEnded(Conflict):
    """The training succeeded or failed; there is nothing to cancel."""


class TrainingNotEnded(Conflict):
    """The training is queued or running; cancel it first."""


class InvalidRequest(ServiceError):
    """The request cannot be parsed, or is invalid."""


class MalformedBody(InvalidRequest):
    """The body cannot be read as what its headers declare, such as JSON, CSV or multipart."""


class InvalidBody(InvalidRequest):
    """The body was parsed, but its content is invalid."""


class InvalidFile(InvalidRequest):
    """The file was read, but is not a table."""


class UnsupportedMediaType(InvalidRequest):
    """The body's Content-Type is not supported by the call."""


class UnsupportedContentCoding(InvalidRequest):
    """The body is compressed in a way that is not supported."""

    def __init__(self, coding: str, taken: tuple[str, ...]) -> None:
        super().__init__(
            f"Content-Encoding {coding} is not taken; send {' or '.join(taken)}, or a body without Content-Encoding"
        )
        self.taken = taken


class NotAcceptable(InvalidRequest):
    """The answer cannot be given in any media type that the client accepts."""


class InvalidParameter(InvalidRequest):
    """A query or path parameter is invalid; if it holds JSON, `faults` say where in it."""

    def __init__(
        self,
        parameter: str,
        detail: str,
        *,
        hint: str | None = None,
        location: str = "query",
        faults: Sequence[Fault] = (),
    ) -> None:
        super().__init__(f"{parameter}: {detail}", *(faults or [Fault(detail, (), hint)]))
        self.parameter = parameter
        self.location = location


class TooLarge(ServiceError):
    """Something exceeds a limit."""


class BodyTooLarge(TooLarge):
    """The body is larger than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the body is larger than the limit of {limit} bytes; send less, or raise the limit in the settings"
        )
        self.limit = limit


class Unavailable(ServiceError):
    """The request cannot be answered now; trying again later may help."""


class StoreUnavailable(Unavailable):
    """The database does not answer."""


class MigrationsPending(Unavailable):
    """The database's tables are not those this version needs."""


class TooBusy(Unavailable):
    """Too many requests of this kind are under way."""
