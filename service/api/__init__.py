"""The HTTP layer: parse a request, call one use case, answer."""
