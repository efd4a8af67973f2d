"""What a client prefers: the weights in `Accept` and `Accept-Encoding` (RFC 9110, section 12.5)."""

import re
from collections.abc import Mapping, Sequence

QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def weights_in(header: str) -> dict[str, float]:
    """Each word of the header and its weight, 1 unless given; words with a malformed weight are left out."""
    found = {}
    for part in header.split(","):
        word, *parameters = (piece.strip().lower() for piece in part.split(";"))
        told = [parameter[2:] for parameter in parameters if parameter.startswith("q=")]
        if word and all(map(QUALITY.fullmatch, told)):
            found[word] = float(told[0]) if told else 1.0
    return found


def preferred(offered: Sequence[str], weigh: Mapping[str, float]) -> str | None:
    """The one of largest weight, the first on a tie; None if all weights are 0, as are those not in `weigh`."""
    best = max(offered, key=lambda one: weigh.get(one, 0.0))
    return best if weigh.get(best, 0.0) > 0 else None


def media_weights(accept: str, offered: Sequence[str]) -> dict[str, float]:
    """The weight of each offered media type: that of the closest range, `text/csv` before `text/*` before `*/*`."""
    told = weights_in(accept)
    if not told:
        return dict.fromkeys(offered, 1.0)
    return {one: next((told[r] for r in _ranges(one) if r in told), 0.0) for one in offered}


def _ranges(media_type: str) -> tuple[str, str, str]:
    return media_type, f"{media_type.partition('/')[0]}/*", "*/*"


def coding_weights(accept_encoding: str, offered: Sequence[str]) -> dict[str, float]:
    """The weight of each offered content coding: its own, else that of `*`."""
    told = weights_in(accept_encoding)
    return {one: told.get(one, told.get("*", 0.0)) for one in offered}
