import pytest

from core.ensembles.isolation.explanation import ExplainedLength
from core.ensembles.isolation.sentence import isolation_sentence


class Forest:
    threshold = 0.6
    n_sampled = 16  # c(16) = 2 (ln 15 + 0.5772) - 2 * 15/16 = 4.7


@pytest.mark.parametrize(
    ("steps", "score", "is_anomaly", "said"),
    [
        (
            (-2.0, 0.5, -0.3),
            0.7123,
            True,
            "an anomaly: its score is 0.7123, and anomalies are above 0.6. It takes 4.2 cuts on average to set it "
            "apart, where 4.7 are usual. What sets it apart soonest: a (-2.0), c (-0.3).",
        ),
        (
            (0.1, 0.2, -0.01),
            0.45,
            False,
            "no anomaly: its score is 0.45, and anomalies are above 0.6. It takes 4.2 cuts on average to set it "
            "apart, where 4.7 are usual.",
        ),
    ],
)
def test_what_is_said_of_a_record(steps, score, is_anomaly, said):
    explained = ExplainedLength(length=4.2, depth=4.0, expected=6.0, by_attribute=steps, shortest=())
    assert isolation_sentence(Forest(), ("a", "b", "c"), explained, score, is_anomaly) == said
