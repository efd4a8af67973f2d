"""The parts that a dataset's rows are divided into."""

from enum import StrEnum


class Part(StrEnum):
    """What a row is used for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


PARTS = tuple(Part)
