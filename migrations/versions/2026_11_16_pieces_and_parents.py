"""Store models in pieces that they can share, and record which model another was pruned from."""

import zlib

import sqlalchemy as sa
from alembic import op

revision = "2026_11_16_pieces_and_parents"
down_revision = "2026_11_16_first_tables"
branch_labels = None
depends_on = None

Id = sa.String().with_variant(sa.String(collation="C"), "postgresql")
CHUNK_BYTES = 4 * 1024 * 1024


def upgrade() -> None:
    for table in ("models", "trainings"):
        op.add_column(table, sa.Column("parent", sa.Text()))
        op.add_column(table, sa.Column("validation_dataset_id", Id))
    create_pieces()
    move_into_pieces()
    op.drop_table("model_chunks")


def downgrade() -> None:
    create_model_chunks()
    move_out_of_pieces()
    for table in ("model_pieces", "piece_chunks", "pieces"):
        op.drop_table(table)
    for table in ("trainings", "models"):
        for column in ("validation_dataset_id", "parent"):
            op.drop_column(table, column)


def create_pieces() -> None:
    op.create_table(
        "pieces",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_pieces"),
    )
    op.create_table(
        "piece_chunks",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", "number", name="pk_piece_chunks"),
        sa.ForeignKeyConstraint(
            ["digest"], ["pieces.digest"], name="fk_piece_chunks_digest_pieces", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "model_pieces",
        sa.Column("model_id", Id, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("model_id", "place", name="pk_model_pieces"),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name="fk_model_pieces_model_id_models", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["digest"], ["pieces.digest"], name="fk_model_pieces_digest_pieces"),
    )
    op.create_index("ix_model_pieces_digest", "model_pieces", ["digest"])


def create_model_chunks() -> None:
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


def move_into_pieces() -> None:
    """Make each model's content one piece, named by the model's digest; equal models share it."""
    one_of_each = "SELECT digest, min(id) AS id FROM models WHERE digest IS NOT NULL GROUP BY digest"
    op.execute(
        "INSERT INTO pieces (digest, size) SELECT models.digest, models.size FROM models "
        f"JOIN ({one_of_each}) AS first ON first.id = models.id"
    )
    op.execute(
        "INSERT INTO piece_chunks (digest, number, data) SELECT first.digest, model_chunks.number, model_chunks.data "
        f"FROM model_chunks JOIN ({one_of_each}) AS first ON first.id = model_chunks.model_id"
    )
    op.execute(
        "INSERT INTO model_pieces (model_id, place, digest) SELECT id, 0, digest FROM models WHERE digest IS NOT NULL"
    )


def move_out_of_pieces() -> None:
    """Join each model's pieces, and compress them together again."""
    connection = op.get_bind()
    models = connection.execute(sa.text("SELECT id FROM models WHERE digest IS NOT NULL")).scalars().all()
    for model_id in models:
        packed = zlib.compress(content_of(connection, model_id))
        for number, start in enumerate(range(0, len(packed), CHUNK_BYTES)):
            connection.execute(
                sa.text("INSERT INTO model_chunks (model_id, number, data) VALUES (:model, :number, :data)"),
                {"model": model_id, "number": number, "data": packed[start : start + CHUNK_BYTES]},
            )


def content_of(connection: sa.Connection, model_id: str) -> bytes:
    """A model's pieces, decompressed and joined."""
    pieces = "SELECT digest FROM model_pieces WHERE model_id = :model ORDER BY place"
    chunks = "SELECT data FROM piece_chunks WHERE digest = :digest ORDER BY number"
    return b"".join(
        zlib.decompress(b"".join(connection.execute(sa.text(chunks), {"digest": digest}).scalars()))
        for digest in connection.execute(sa.text(pieces), {"model": model_id}).scalars().all()
    )
