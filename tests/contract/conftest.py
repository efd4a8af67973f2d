"""A running service for what is promised to programs and readers."""

from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.journeys.running import QUICK_LEASE, Service, serving


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An empty service on SQLite with its own worker."""
    folder = tmp_path_factory.mktemp("live")
    settings = Settings(data_dir=folder / "data", port=0, engine="definition", **QUICK_LEASE)
    with serving(settings, folder / "log") as service:
        yield service
