from service.api.raw_headers import add_vary, raw_header


def test_a_header_is_found_by_its_name_in_small_letters() -> None:
    scope = {"headers": [(b"accept", b"a"), (b"accept", b"b")]}
    assert raw_header(scope, b"accept") == "a"
    assert raw_header(scope, b"vary") is None


def test_what_an_answer_depends_on_is_told_in_one_header() -> None:
    message = {"headers": [(b"content-type", b"text/csv")]}
    add_vary(message, b"Accept")
    add_vary(message, b"Accept-Encoding")
    assert message["headers"] == [(b"content-type", b"text/csv"), (b"vary", b"Accept, Accept-Encoding")]
