"""The parts of a dataset's division: train, validation and test."""

from enum import StrEnum


class Part(StrEnum):
    """What a row is used for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


PARTS = tuple(Part)
