"""Explains a record's isolation score in a sentence or two."""

from collections.abc import Sequence

from core.ensembles.isolation.explanation import ExplainedLength
from core.ensembles.isolation.isolation import IsolationForest, usual_length
from core.tree.conditions import number_text

MOST_TOLD = 3  # attributes that are named
LEAST_TOLD = 0.05  # of a step of the path; smaller effects are not named


def isolation_sentence(
    isolation: IsolationForest, names: Sequence[str], explained: ExplainedLength, score: float, is_anomaly: bool
) -> str:
    """How soon the record is isolated, compared with a score of 0.5, and which attributes contribute most."""
    verdict = "an anomaly" if is_anomaly else "no anomaly"
    said = (
        f"{verdict}: its score is {number_text(round(score, 4))}, and anomalies are above "
        f"{number_text(isolation.threshold)}. It takes {explained.length:.1f} cuts on average to set it apart, where "
        f"{usual_length(isolation.n_sampled):.1f} are usual."
    )
    shortening = sorted((step, name) for step, name in zip(explained.by_attribute, names, strict=True))
    told = [f"{name} ({step:+.1f})" for step, name in shortening[:MOST_TOLD] if step <= -LEAST_TOLD]
    return f"{said} What sets it apart soonest: {', '.join(told)}." if told else said
