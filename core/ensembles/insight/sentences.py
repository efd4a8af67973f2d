"""Why a forest answers as it does, in a few plain words.

是 with probability 0.83: 9 of 10 trees say 是. Tree 3 is typical: 是, because 纹理 = 清晰: 7 of 8 training samples
like this are 是. 纹理 adds 0.31 to 是; 触感 takes away 0.05.
"""

from core.arithmetic.arrays import FloatArray
from core.ensembles.insight.explanation import ForestExplanation
from core.ensembles.model import ForestModel
from core.ensembles.voting import UNDECIDED
from core.explanation.tree_words import TreeWords
from core.explanation.wording import listed, percent_text, probability_text, rounded_text
from core.growth.held_out import labels_of
from core.tables.suggestion import shortened
from core.tables.target import Task

MOST_ATTRIBUTES = 3  # named, of those that add and of those that take away
LEAST_SHARE = 0.01  # of the largest contribution: smaller ones are not named


def why(model: ForestModel, explained: ForestExplanation) -> str:
    """The answer, how the trees vote, the answer of a typical tree, and which attributes contribute most."""
    return " ".join([_answer(model, explained), _typical(model, explained), _moves(model, explained)]).strip()


def agreed_words(model: ForestModel, values: FloatArray, label: int) -> str:
    """The result of a vote in words: a class, or numbers; a class may be undecided."""
    if model.task is not Task.CLASSIFICATION:
        return _numbers(model, values)
    return "Undecided" if label == UNDECIDED else shortened(model.classes[label])


def _answer(model: ForestModel, explained: ForestExplanation) -> str:
    if model.task is not Task.CLASSIFICATION:
        spread = model.number_words(rounded_text(float(number)) for number in explained.spread)
        return (
            f"{_numbers(model, explained.values)}: the mean of {_trees(explained)}, whose answers spread by {spread}."
        )
    label = _label(model, explained)
    name, likely = shortened(model.classes[label]), probability_text(float(explained.values[label]))
    return f"{name} with probability {likely}: {explained.votes[label]} of {_trees(explained)} say {name}."


def _typical(model: ForestModel, explained: ForestExplanation) -> str:
    """The answer of the tree nearest to the forest's, in words."""
    words = TreeWords(model.member(explained.typical))
    reasons = list(words.conditions(explained.leaf).values())
    because = f", because {listed(reasons)}" if reasons else ""
    part = "" if explained.weight == 1.0 else f", on the path of {percent_text(explained.weight)} of the record"
    told = f"{words.answer(explained.leaf)}{because}: {words.evidence(explained.leaf)}"
    return f"Tree {explained.typical} is typical{part}: {told}."


def _moves(model: ForestModel, explained: ForestExplanation) -> str:
    """Which attributes move the answer most, in words; nothing for several numbers."""
    if model.task is not Task.CLASSIFICATION and len(explained.values) > 1:
        return ""
    output = _label(model, explained) if model.task is Task.CLASSIFICATION else 0
    moved = explained.contributions[:, output]
    least = LEAST_SHARE * max(abs(moved).max(initial=0.0), 1e-12)
    order = sorted(range(len(moved)), key=lambda column: (-abs(moved[column]), column))
    up = [column for column in order if moved[column] > least][:MOST_ATTRIBUTES]
    down = [column for column in order if moved[column] < -least][:MOST_ATTRIBUTES]
    to = f" to {shortened(model.classes[output])}" if model.task is Task.CLASSIFICATION else ""
    told = [_told(model, moved, up, "adds", "add", to)] if up else []
    told += [_told(model, moved, down, "takes away", "take away", "")] if down else []
    return f"{'; '.join(told)}." if told else ""


def _told(model: ForestModel, moved: FloatArray, columns: list[int], one: str, many: str, to: str) -> str:
    amounts = [rounded_text(abs(float(moved[column]))) for column in columns]
    names = [shortened(model.attributes[column].name) for column in columns]
    if len(names) == 1:
        return f"{names[0]} {one} {amounts[0]}{to}"
    return f"{listed([f'{name} ({amount})' for name, amount in zip(names, amounts, strict=True)])} {many}{to}"


def _label(model: ForestModel, explained: ForestExplanation) -> int:
    return int(labels_of(explained.values[None], model.costs)[0])


def _numbers(model: ForestModel, numbers: FloatArray) -> str:
    return model.number_words(rounded_text(float(number)) for number in numbers)


def _trees(explained: ForestExplanation) -> str:
    return f"{explained.trees} tree{'' if explained.trees == 1 else 's'}"
