"""Headers as they came in: for what is asked of every request, looking is quicker than making an object to ask."""

from starlette.types import Scope


def raw_header(scope: Scope, name: bytes) -> str | None:
    """The first header of a name in small letters; None when there is none."""
    for other, value in scope["headers"]:
        if other == name:
            text: str = value.decode("latin-1")
            return text
    return None
