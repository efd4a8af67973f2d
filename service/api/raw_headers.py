"""Raw ASGI headers: searching their list is faster than making a `Headers` object for every request."""

from starlette.types import Message, Scope


def raw_header(scope: Scope, name: bytes) -> str | None:
    """The first header of this name, which is in lower case; None if there is none."""
    for other, value in scope["headers"]:
        if other == name:
            text: str = value.decode("latin-1")
            return text
    return None


def add_vary(message: Message, name: bytes) -> None:
    """Add a request header to the `Vary` header in the head of an answer."""
    headers = message["headers"]
    for position, (other, value) in enumerate(headers):
        if other == b"vary":
            headers[position] = (other, value + b", " + name)
            return
    headers.append((b"vary", name))
