"""Headers as they come in and go out: for every request, looking is quicker than making an object to ask."""

from starlette.types import Message, Scope


def raw_header(scope: Scope, name: bytes) -> str | None:
    """The first header of a name in small letters; None when there is none."""
    for other, value in scope["headers"]:
        if other == name:
            text: str = value.decode("latin-1")
            return text
    return None


def add_vary(message: Message, name: bytes) -> None:
    """Say in the head of an answer that it depends on one more header of its request."""
    headers = message["headers"]
    for place, (other, value) in enumerate(headers):
        if other == b"vary":
            headers[place] = (other, value + b", " + name)
            return
    headers.append((b"vary", name))
