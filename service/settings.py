"""All settings, read once from environment variables with the prefix NIWAKI_."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class Settings(BaseSettings):
    """The settings of this process; docs/settings.md describes each of them."""

    model_config = SettingsConfigDict(env_prefix="NIWAKI_", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    data_dir: Path = Path("data")
    database_url: str | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    max_dataset_bytes: PositiveInt = 256 * MIB
    max_body_bytes: PositiveInt = 32 * MIB

    embedded_worker: bool = True
    worker_slots: PositiveInt = 1
    worker_nice: int = Field(default=10, ge=0, le=19)
    lease_seconds: PositiveFloat = 6.0
    heartbeat_seconds: PositiveFloat = 1.0
    max_attempts: PositiveInt = 3

    engine: Literal["auto", "definition", "kernels"] = "auto"
    cpu: Literal["baseline", "native"] = "baseline"
    kernel_dir: Path | None = None
    threads: PositiveInt = 1

    loaded_models: PositiveInt = 64

    @model_validator(mode="after")
    def _leases_outlive_heartbeats(self) -> Self:
        if self.heartbeat_seconds * 2 > self.lease_seconds:
            raise ValueError("NIWAKI_LEASE_SECONDS must be at least twice NIWAKI_HEARTBEAT_SECONDS")
        return self

    @property
    def store_url(self) -> str:
        """The configured database, or a SQLite file in the data directory."""
        return self.database_url or f"sqlite:///{self.data_dir / 'niwaki.db'}"

    @property
    def kernel_dirs(self) -> tuple[Path, ...]:
        """The folders that may hold compiled code: the configured one, if any, then one in the data directory."""
        asked_for = () if self.kernel_dir is None else (self.kernel_dir,)
        return (*asked_for, self.data_dir / "kernels")
