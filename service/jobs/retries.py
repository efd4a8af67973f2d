"""Waiting before a retry, and logging an outage of the database."""

from service.logs import log_event


class Backoff:
    """Waits that double from `first` to `longest` seconds while something keeps failing."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._next = first

    def failed(self) -> float:
        """How long to wait after one more failure."""
        pause, self._next = self._next, min(self._next * 2, self._longest)
        return pause

    def worked(self) -> None:
        """Start again with the shortest wait."""
        self._next = self._first


class Outage:
    """Logs once when the database becomes unreachable, and once when it is back."""

    def __init__(self) -> None:
        self._is_on = False

    def begins(self, error: Exception) -> None:
        if not self._is_on:
            log_event("database_away", level="warning", detail=str(error.__cause__ or error))
        self._is_on = True

    def ends(self) -> None:
        if self._is_on:
            log_event("database_back")
        self._is_on = False
