"""Keeping a running job: extending its lease, and noticing requests to cancel it."""

import asyncio
from enum import Enum

from service.errors import StoreUnavailable
from service.jobs.retries import Outage
from service.settings import Settings
from service.store import jobs
from service.store.jobs import Job, LeaseLost
from service.store.transactions import Database

CHECK_SECONDS = 0.25  # between two checks for a request to cancel


class Verdict(Enum):
    """What the database says about a running job."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


class Heartbeat:
    """The lease of a running job; the next `look` writes `stage` and `progress` to the database."""

    def __init__(self, database: Database, settings: Settings, job: Job, outage: Outage) -> None:
        self._database, self._settings, self._job, self._outage = database, settings, job, outage
        self.stage: str | None = None
        self.progress = 0.0
        self._shown: tuple[str | None, float] = (None, 0.0)
        self._now = asyncio.get_running_loop().time
        self._next_check = self._now() + CHECK_SECONDS
        self._next_extension = self._now() + settings.heartbeat_seconds

    async def check(self) -> Verdict:
        """Extend the lease if that is due or there is progress to write, else check for a request to cancel.

        Does nothing if the last check was less than CHECK_SECONDS ago.
        """
        if self._now() < self._next_check:
            return Verdict.GO_ON
        self._next_check = self._now() + CHECK_SECONDS
        try:
            is_due = self._now() >= self._next_extension or self._shown != (self.stage, self.progress)
            is_cancelled = await self._extend() if is_due else await self._is_cancelled()
        except LeaseLost:
            return Verdict.LOST
        except StoreUnavailable as error:
            # The computation goes on: if the database is back in time, nothing is lost.
            self._outage.begins(error)
            return Verdict.GO_ON
        self._outage.ends()
        return Verdict.CANCEL if is_cancelled else Verdict.GO_ON

    async def _extend(self) -> bool:
        self._shown = (self.stage, self.progress)
        async with self._database.writing() as session:
            is_cancelled = await jobs.extend_lease(
                session, self._job, self._settings.lease_seconds, stage=self.stage, progress=self.progress
            )
        self._next_extension = self._now() + self._settings.heartbeat_seconds
        return is_cancelled

    async def _is_cancelled(self) -> bool:
        async with self._database.reading() as session:
            return await jobs.is_cancel_requested(session, self._job)
