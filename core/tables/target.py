"""What is to be predicted: a class, or numbers."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.arithmetic.sums import in_row_order, weights_by


class Task(StrEnum):
    """What a model predicts: a class, one or several numbers, or how unlike the others a row is."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    ANOMALY_DETECTION = "anomaly_detection"


@dataclass(frozen=True)
class ClassTarget:
    """A class per row, as codes into `classes`; -1 where it is missing."""

    classes: tuple[str, ...]
    codes: CodeArray

    task = Task.CLASSIFICATION

    @property
    def is_known(self) -> BoolArray:
        return self.codes >= 0

    def take(self, rows: RowArray) -> "ClassTarget":
        return ClassTarget(self.classes, self.codes[rows])

    def statistics(self, rows: RowArray, weights: FloatArray) -> FloatArray:
        """`[row, class]`: the row's weight in its class; these add up to class weights."""
        return np.eye(len(self.classes))[self.codes[rows]] * weights[:, None]

    def summary(self, rows: RowArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Class weights, added up in row order; no variances."""
        return weights_by(self.codes[rows], weights, len(self.classes)), np.empty(0)

    def is_pure(self, rows: RowArray) -> bool:
        """Whether all these rows have one class."""
        return bool((self.codes[rows] == self.codes[rows[0]]).all())


@dataclass(frozen=True)
class NumberTarget:
    """`numbers[row, output]`; NaN where it is missing."""

    numbers: FloatArray

    task = Task.REGRESSION

    @property
    def is_known(self) -> BoolArray:
        return np.logical_not(np.isnan(self.numbers).any(axis=1))

    def take(self, rows: RowArray) -> "NumberTarget":
        return NumberTarget(self.numbers[rows])

    def statistics(self, rows: RowArray, weights: FloatArray) -> FloatArray:
        """`[row, moment]`: 1, the outputs less their mean here, and their squares, each times the row's weight."""
        centred = self.numbers[rows] - self._centre(rows, weights)
        return np.hstack([np.ones((len(rows), 1)), centred, centred**2]) * weights[:, None]

    def summary(self, rows: RowArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each output."""
        total, centre = in_row_order(weights), self._centre(rows, weights)
        means = centre + in_row_order(weights[:, None] * (self.numbers[rows] - centre)) / total
        return means, in_row_order(weights[:, None] * (self.numbers[rows] - means) ** 2) / total

    def _centre(self, rows: RowArray, weights: FloatArray) -> FloatArray:
        """Weighted means, subtracted so that sums of squares keep their digits; rows of weight 0 must not move them."""
        return in_row_order(weights[:, None] * self.numbers[rows]) / in_row_order(weights)

    def is_pure(self, rows: RowArray) -> bool:
        """Whether all these rows have the same numbers."""
        return bool((self.numbers[rows] == self.numbers[rows[0]]).all())


Target = ClassTarget | NumberTarget
