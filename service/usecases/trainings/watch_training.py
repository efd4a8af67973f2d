"""Wait for a training to end, without holding a connection meanwhile."""

import asyncio

from service.store import trainings
from service.store.trainings import TrainingRecord
from service.store.transactions import Database

PAUSE_SECONDS = 0.2


async def watch_training(database: Database, training_id: str, *, wait_seconds: float) -> TrainingRecord:
    """The training as soon as it has ended, or as it is when the time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_seconds
    while True:
        async with database.reading() as session:
            training = await trainings.get(session, training_id)
        left = deadline - loop.time()
        if training.has_ended or left <= 0:
            return training
        await asyncio.sleep(min(PAUSE_SECONDS, left))
