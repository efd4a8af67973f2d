"""Pieces of models in SQL: named by their digest, so that what several models have in common is stored once.

A piece stays as long as a model uses it. Its row is locked while it is added or removed, so that the removal of one
model can never remove a piece of another.
"""

import hashlib
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, insert, select
from sqlalchemy import delete as delete_from
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import tables
from service.store.transactions import insert_or_update

CHUNK_BYTES = 4 * 1024 * 1024

_pieces, _chunks, _uses = tables.pieces, tables.piece_chunks, tables.model_pieces


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes, compressed and cut into chunks; `size` is their number before compression."""

    digest: str
    size: int
    chunks: tuple[bytes, ...]


def pack(content: bytes) -> Piece:
    """Compress bytes; to be done before the transaction that stores them, which then stays short."""
    packed = zlib.compress(content)
    chunks = tuple(packed[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES))
    return Piece(digest_of(content), len(content), chunks)


def digest_of(content: bytes) -> str:
    """The digest that names some bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


async def give(session: AsyncSession, model_id: str, pieces: Sequence[Piece]) -> None:
    """Replace a model's pieces by these, in this order; only pieces that are not stored yet are written."""
    for piece in sorted({piece.digest: piece for piece in pieces}.values(), key=lambda piece: piece.digest):
        await _store(session, piece)
    await session.execute(delete_from(_uses).where(_uses.c.model_id == model_id))
    await _use(session, model_id, [piece.digest for piece in pieces])
    await sweep(session)


async def share(session: AsyncSession, model_id: str, other_id: str) -> None:
    """Give a model all pieces of another one, which the caller keeps from being deleted meanwhile."""
    await _use(session, model_id, await _digests(session, other_id))


async def read(session: AsyncSession, model_id: str) -> bytes | None:
    """A model's pieces, decompressed and joined; None if it has none, or is just being deleted."""
    digests = await _digests(session, model_id)
    parts = []
    for digest in digests:
        unpacked = zlib.decompressobj()
        parts += [unpacked.decompress(data) async for data in _stored_chunks(session, digest)]
        if not unpacked.eof:
            return None
    return b"".join(parts) if digests else None


async def sweep(session: AsyncSession) -> None:
    """Remove the pieces that no model uses any more; those locked by others are left to the next sweep."""
    unused = select(_pieces.c.digest).where(~_has_a_model()).order_by(_pieces.c.digest)
    found = (await session.scalars(unused.with_for_update(skip_locked=True))).all()
    if found:
        # Checked again, in a separate statement: a model may have got one of them before it was locked.
        await session.execute(delete_from(_pieces).where(_pieces.c.digest.in_(found), ~_has_a_model()))


async def _store(session: AsyncSession, piece: Piece) -> None:
    row = {"digest": piece.digest, "size": piece.size}
    await session.execute(insert_or_update(session, _pieces, row, key="digest", changes={"size": piece.size}))
    if await session.scalar(select(_chunks.c.number).where(_chunks.c.digest == piece.digest).limit(1)) is not None:
        return
    for number, data in enumerate(piece.chunks):
        # One statement for each, so that a large model is not in memory many times over.
        await session.execute(insert(_chunks).values(digest=piece.digest, number=number, data=data))


async def _use(session: AsyncSession, model_id: str, digests: Iterable[str]) -> None:
    uses = [{"model_id": model_id, "place": place, "digest": digest} for place, digest in enumerate(digests)]
    await session.execute(insert(_uses), uses)


async def _digests(session: AsyncSession, model_id: str) -> Sequence[str]:
    query = select(_uses.c.digest).where(_uses.c.model_id == model_id).order_by(_uses.c.place)
    return (await session.scalars(query)).all()


async def _stored_chunks(session: AsyncSession, digest: str) -> AsyncIterator[bytes]:
    """The chunks of a piece, each by its own query, because drivers read a whole result into memory."""
    number = 0
    query = select(_chunks.c.data).where(_chunks.c.digest == digest)
    while (data := await session.scalar(query.where(_chunks.c.number == number))) is not None:
        yield data
        number += 1


def _has_a_model() -> ColumnElement[bool]:
    return exists().where(_uses.c.digest == _pieces.c.digest)
