"""Cuts a model's bytes into pieces, so that models of the same tree share the tree's piece."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from core.storage.serialization import MAGIC

HISTORY = "history."


def pieces(content: bytes) -> tuple[bytes, ...]:
    """The header, then the arrays, with those of the pruning history apart; joined, they are the content."""
    start = len(MAGIC) + 9
    end = start + int.from_bytes(content[start - 8 : start], "little")
    described = json.loads(content[start:end])["arrays"]
    return (content[:end], *_cut(content, end, described))


def _cut(content: bytes, start: int, described: list[dict[str, Any]]) -> Iterator[bytes]:
    for _, together in groupby(described, key=lambda entry: str(entry["name"]).startswith(HISTORY)):
        end = start + sum(np.dtype(entry["type"]).itemsize * int(np.prod(entry["shape"])) for entry in together)
        if end > start:
            yield content[start:end]
        start = end
