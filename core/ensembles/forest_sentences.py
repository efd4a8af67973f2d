"""Why many trees answer as they do, in a sentence or two."""

from collections.abc import Sequence

from core.ties import TIE
from core.wording import listed, probability_text, rounded_text

MOST_TOLD = 3  # attributes on either side
LEAST_TOLD = 0.005  # of a probability; less is not worth a word


def class_sentence(
    label: str | None, votes: dict[str, int], probabilities: dict[str, float], parts: dict[str, dict[str, float]]
) -> str:
    """How the trees vote, and which attributes speak most for the class and against it."""
    n_trees, leading = sum(votes.values()), label
    if label is None:
        leading = max(votes, key=lambda name: votes[name])
        said = f"undecided: {votes[leading]} of {n_trees} trees vote for {leading}, which is not enough here."
    else:
        said = (
            f"{label}, for which {votes[label]} of {n_trees} trees vote; its probability is "
            f"{probability_text(probabilities[label])}."
        )
    assert leading is not None
    moves = {name: of_classes[leading] for name, of_classes in parts.items()}
    return said + _told(moves, f"for {leading}", "against it", LEAST_TOLD)


def number_sentence(answer: str, spread: str, parts: dict[str, float], start: float = 0.0) -> str:
    """The answer, how far the trees are apart, and which attributes move it most from where the trees start."""
    least = max(0.01 * max((abs(part) for part in parts.values()), default=0.0), TIE * abs(start))
    said = f"{answer}, the mean of the trees, whose answers have a standard deviation of {spread}."
    return said + _told(parts, "for more", "for less", least)


def _told(moves: dict[str, float], on_one_side: str, on_the_other: str, least: float) -> str:
    ordered = sorted(moves.items(), key=lambda move: -abs(move[1]))
    speaking = [move for move in ordered if move[1] > least], [move for move in ordered if move[1] < -least]
    sides = zip(speaking, (on_one_side, on_the_other), strict=True)
    return "".join(f" Most {side} speaks {_names(found)}." for found, side in sides if found)


def _names(moves: Sequence[tuple[str, float]]) -> str:
    return listed([f"{name} ({'+' if move > 0 else ''}{rounded_text(move)})" for name, move in moves[:MOST_TOLD]])
