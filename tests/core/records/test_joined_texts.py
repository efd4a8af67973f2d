import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.records.joined_texts import TextsSideBySide, side_by_side

texts = st.lists(st.binary(max_size=100), min_size=1, max_size=6)


@given(texts, st.lists(st.integers(0, 1_000), max_size=40), st.binary(max_size=50), st.binary(max_size=50))
def test_kernel_equals_definition(texts: list[bytes], drawn: list[int], before: bytes, behind: bytes) -> None:
    positions = np.array([position % len(texts) for position in drawn], dtype=np.int64)
    expected = side_by_side(texts, positions.tolist(), before, behind)
    assert bytes(TextsSideBySide(texts).of(positions, before, behind)) == expected
