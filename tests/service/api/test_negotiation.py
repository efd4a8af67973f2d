import pytest

from service.api.negotiation import coding_weights, media_weights, preferred, weights_in

JSON, NDJSON, CSV = "application/json", "application/x-ndjson", "text/csv"
CODINGS = ("zstd", "gzip", "identity")


@pytest.mark.parametrize(
    ("header", "weights"),
    [
        ("", {}),
        ("text/csv", {"text/csv": 1.0}),
        ("TEXT/CSV ; Q=0.5", {"text/csv": 0.5}),
        ("text/csv;q=0.25,  application/json", {"text/csv": 0.25, "application/json": 1.0}),
        ("text/csv; header=present; q=0.125", {"text/csv": 0.125}),
        ("gzip;q=0., br;q=1.000", {"gzip": 0.0, "br": 1.0}),
        ("gzip;q=2, br;q=x, zstd;q=, deflate;q=0.0001", {}),
        (",, ;q=1", {}),
    ],
)
def test_words_and_weights(header, weights):
    assert weights_in(header) == weights


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/*", CSV),
        ("application/*", JSON),
        ("application/x-ndjson", NDJSON),
        ("text/csv, application/x-ndjson", NDJSON),
        ("text/csv;q=0.5, application/x-ndjson;q=0.4", CSV),
        ("application/json;q=0, */*", NDJSON),
        ("application/json;q=0, application/*;q=0.1, */*;q=0.2", CSV),
        ("text/html, */*;q=0.1", JSON),
        ("text/html, image/*", None),
        ("*/*;q=0", None),
    ],
)
def test_the_closest_range_weighs(accept, answered):
    offered = (JSON, NDJSON, CSV)
    assert preferred(offered, media_weights(accept, offered)) == answered


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "gzip"),
        ("gzip;q=0.5", "gzip"),
        ("gzip;q=1.0, zstd;q=0.9", "gzip"),
        ("identity, gzip;q=0.5", "identity"),
        ("gzip;q=0", None),
        ("br", None),
        ("*", "zstd"),
        ("*;q=0.1, zstd;q=0", "gzip"),
        ("*;q=0", None),
    ],
)
def test_codings(accept, answered):
    assert preferred(CODINGS, coding_weights(accept, CODINGS)) == answered
