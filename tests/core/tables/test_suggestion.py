import pytest

from core.tables.suggestion import did_you_mean, quoted


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("incme", ["income", "age"], "did you mean income?"),
        ("纹里", ["纹理", "色泽"], "did you mean 纹理?"),
        ("zzz", ["income"], None),
        ("x" * 81, ["x" * 81], None),
        ("a", [], None),
        ("age1", [f"age{n}" for n in range(1001)], None),
    ],
)
def test_the_nearest_known_word(word, known, hint):
    assert did_you_mean(word, known) == hint


def test_long_text_is_shown_in_short():
    assert quoted("abc") == '"abc"'
    assert quoted("x" * 80) == '"' + "x" * 80 + '"'
    assert quoted("x" * 10_000) == '"' + "x" * 80 + '…"'
