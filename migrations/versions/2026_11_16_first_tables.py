"""First tables: files, datasets, models, jobs and trainings."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_16_first_tables"
down_revision = None
branch_labels = None
depends_on = None

# Written out here, not imported, so that the migration stays the same when the code changes.
Id = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    create_datasets()
    create_models()
    create_trainings()


def downgrade() -> None:
    for table in ("trainings", "jobs", "model_datasets", "model_chunks", "models", "model_names", "datasets", "files"):
        op.drop_table(table)


def create_datasets() -> None:
    op.create_table(
        "files",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_files"),
    )
    op.create_table(
        "datasets",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("n_rows", sa.BigInteger(), nullable=False),
        sa.Column("n_columns", sa.Integer(), nullable=False),
        sa.Column("n_missing", sa.BigInteger(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("deleted_at", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.ForeignKeyConstraint(["digest"], ["files.digest"], name="fk_datasets_digest_files"),
    )
    op.create_index("ix_datasets_digest", "datasets", ["digest"])


def create_models() -> None:
    op.create_table(
        "model_names",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_model_names"),
    )
    op.create_table(
        "models",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("task", sa.String()),
        sa.Column("target", sa.Text()),
        sa.Column("dataset_id", Id, nullable=False),
        sa.Column("configuration", sa.Text(), nullable=False),
        sa.Column("digest", sa.String()),
        sa.Column("format", sa.Integer()),
        sa.Column("size", sa.BigInteger()),
        sa.Column("facts", sa.Text()),
        sa.Column("evaluation", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ready_at", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("name", "version", name="uq_models_name_version"),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_models_dataset_id_datasets"),
    )
    op.create_index("ix_models_dataset_id", "models", ["dataset_id"])
    op.create_index("ix_models_state_id", "models", ["state", "id"])
    op.create_table(
        "model_chunks",
        sa.Column("model_id", Id, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("model_id", "number", name="pk_model_chunks"),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name="fk_model_chunks_model_id_models", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "model_datasets",
        sa.Column("model_id", Id, nullable=False),
        sa.Column("dataset_id", Id, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("model_id", "dataset_id", "role", name="pk_model_datasets"),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name="fk_model_datasets_model_id_models", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name="fk_model_datasets_dataset_id_datasets"),
    )
    op.create_index("ix_model_datasets_dataset_id", "model_datasets", ["dataset_id"])


def create_trainings() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", Id, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("stage", sa.String()),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("crashes", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String()),
        sa.Column("lease_until", sa.Double()),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double()),
        sa.Column("finished_at", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_status_id", "jobs", ["status", "id"])
    op.create_table(
        "trainings",
        sa.Column("id", Id, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("model_id", Id),
        sa.Column("dataset_id", Id, nullable=False),
        sa.Column("configuration", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trainings"),
        sa.UniqueConstraint("job_id", name="uq_trainings_job_id"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_trainings_job_id_jobs"),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_trainings_model_id_models", ondelete="SET NULL"),
    )
    op.create_index("ix_trainings_model_id", "trainings", ["model_id"])
