"""The database's tables, the same on SQLite and Postgres.

    files <- datasets <- model_datasets -> models <- model_pieces -> pieces <- piece_chunks
                                           models <- trainings -> jobs
    model_names                            the last version number given to each name

Times are seconds since 1970 on the database's clock. JSON is stored as text, so both databases hold the same bytes.
"""

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator


class JsonText(TypeDecorator[Any]):
    """A JSON value as compact text; the order of keys is kept. None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)


# Postgres sorts text by the rules of a language by default; ids must sort by their characters everywhere.
Id = String().with_variant(String(collation="C"), "postgresql")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

files = Table(
    "files",
    metadata,
    Column("digest", String, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
)

datasets = Table(
    "datasets",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", ForeignKey("files.digest"), nullable=False, index=True),
    Column("n_rows", BigInteger, nullable=False),
    Column("n_columns", Integer, nullable=False),
    Column("n_missing", BigInteger, nullable=False),
    Column("columns", JsonText, nullable=False),
    Column("warnings", JsonText, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("deleted_at", Double),
)

model_names = Table(
    "model_names",
    metadata,
    Column("name", Text, primary_key=True),
    Column("last_version", Integer, nullable=False),
)

models = Table(
    "models",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("task", String),
    Column("target", JsonText),
    Column("dataset_id", ForeignKey("datasets.id"), nullable=False, index=True),
    Column("configuration", JsonText, nullable=False),
    # The model it was pruned from, copied, so that it stays when that one is deleted; likewise in `trainings`.
    Column("parent", JsonText),
    # The dataset that validates in place of the division's validation part, if the model was pruned with one.
    Column("validation_dataset_id", Id),
    Column("digest", String),
    Column("format", Integer),
    Column("size", BigInteger),
    Column("facts", JsonText),
    Column("evaluation", JsonText),
    Column("created_at", Double, nullable=False),
    Column("ready_at", Double),
    UniqueConstraint("name", "version"),
    Index("ix_models_state_id", "state", "id"),
)

pieces = Table(
    "pieces",
    metadata,
    Column("digest", String, primary_key=True),
    Column("size", BigInteger, nullable=False),
)

piece_chunks = Table(
    "piece_chunks",
    metadata,
    Column("digest", ForeignKey("pieces.digest", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

model_pieces = Table(
    "model_pieces",
    metadata,
    Column("model_id", ForeignKey("models.id", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("digest", ForeignKey("pieces.digest"), nullable=False, index=True),
)

model_datasets = Table(
    "model_datasets",
    metadata,
    Column("model_id", ForeignKey("models.id", ondelete="CASCADE"), primary_key=True),
    Column("dataset_id", ForeignKey("datasets.id"), primary_key=True, index=True),
    Column("role", String, primary_key=True),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", String, nullable=False),
    Column("status", String, nullable=False),
    Column("stage", String),
    Column("progress", Double, nullable=False),
    # `attempt` numbers the claims and never decreases: it distinguishes an earlier worker from the present one.
    Column("attempt", Integer, nullable=False),
    # `crashes` counts the attempts that ended badly; a job given back by a worker that was told to stop did not crash.
    Column("crashes", Integer, nullable=False),
    Column("worker", String),
    Column("lease_until", Double),
    Column("cancel_requested", Boolean, nullable=False),
    Column("warnings", JsonText, nullable=False),
    Column("problem", JsonText),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Index("ix_jobs_status_id", "status", "id"),
)

trainings = Table(
    "trainings",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("model_id", ForeignKey("models.id", ondelete="SET NULL"), index=True),
    # No foreign key: the record of a training outlives the dataset.
    Column("dataset_id", Id, nullable=False),
    Column("configuration", JsonText, nullable=False),
    Column("parent", JsonText),
    Column("validation_dataset_id", Id),
    Column("created_at", Double, nullable=False),
)
