"""Words for messages: a value shown in short, and the known word nearest to a wrong one."""

from collections.abc import Collection
from difflib import get_close_matches

SHOWN_LENGTH = 80
MOST_COMPARED = 1_000


def shortened(text: str) -> str:
    """The text, truncated if it is very long."""
    return text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…"


def quoted(text: str) -> str:
    """The text in quotes, truncated if it is very long."""
    return f'"{shortened(text)}"'


def did_you_mean(word: str, known: Collection[str]) -> str | None:
    """A hint that names the known word nearest to this one, if one is near and they are not too many to compare."""
    if len(word) > SHOWN_LENGTH or len(known) > MOST_COMPARED:
        return None
    # Of two characters one may be wrong: Chinese names are often no longer.
    nearest = get_close_matches(word, known, n=1, cutoff=0.5 if len(word) <= 3 else 0.6)
    return f"did you mean {nearest[0]}?" if nearest else None
