"""Ids with a prefix for what they identify; they sort by the time they were made."""

import secrets
import threading
import time
from typing import Literal

Prefix = Literal["ds", "trn", "mdl", "job"]

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
RANDOM_BITS = 80
LENGTH = 26  # characters of 5 bits: 48 bits of time and 80 random bits

_lock = threading.Lock()
_last = 0


def new_id(prefix: Prefix) -> str:
    """An id such as `ds_01k9…`: milliseconds since 1970, then random bits, in Crockford's base 32.

    Within a process each id is larger than the one before, even within a millisecond or if the clock is set back.
    """
    global _last
    fresh = (time.time_ns() // 1_000_000) << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
    with _lock:
        _last = max(fresh, _last + 1)
        number = _last
    return f"{prefix}_{_base32(number)}"


def _base32(number: int) -> str:
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))
