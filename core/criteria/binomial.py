"""Confidence limits of an error rate, given the errors that were counted.

The upper limit U for E errors among N is the rate at which no more than E errors occur with probability CF:

    sum_{i <= E} C(N, i) U^i (1 - U)^(N - i) = CF,          which is U = BetaInv(1 - CF; E + 1, N - E)

The second form holds for any weights, whole or not. Clopper and Pearson 1934; prunes trees since C4.5 (Quinlan 1993).
"""

import math

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import LOG_2_PI, log, log1p_each, log_each
from core.arithmetic.powers import exp_each, expm1_each
from core.criteria.tails import SERIES_FROM, normal_quantile

PRECISE = 1e-12  # of a limit; the tails of large counts have no more digits
MOST_TURNS = 200
LARGE = 3_000.0  # beyond, an integral takes fewer terms than a continued fraction
PANELS = 8  # of that integral over WIDTH standard deviations, which gives all but the last digits
WIDTH, FURTHER = 14.0, 40.0  # it covers FURTHER / N more, since rare errors spread further up
NEAR_0 = 0.01

# Gauss's rule of twenty points between -1 and 1: the points above 0 and their weights; those below 0 mirror them. NumPy
# computes them with LAPACK, whose last bits depend on the processor.
POINTS_ABOVE = (
    0.07652652113349734,
    0.22778585114164507,
    0.37370608871541955,
    0.5108670019508271,
    0.636053680726515,
    0.7463319064601508,
    0.8391169718222188,
    0.912234428251326,
    0.9639719272779138,
    0.9931285991850949,
)
WEIGHTS_ABOVE = (
    0.15275338713072584,
    0.14917298647260374,
    0.14209610931838204,
    0.13168863844917664,
    0.11819453196151841,
    0.10193011981724044,
    0.08327674157670475,
    0.06267204833410907,
    0.04060142980038694,
    0.017614007139152118,
)


def upper_limits(errors: FloatArray, weights: FloatArray, cf: float) -> FloatArray:
    """The U of each pair of E errors among N, 0 <= E <= N: 1 where all are errors, 0 where N is 0."""
    limits = np.where(weights > 0, 1.0, 0.0)
    none = (weights > 0) & (errors <= 0)
    limits[none] = -expm1_each(log(cf) / weights[none])
    some = np.flatnonzero((errors > 0) & (errors < weights))
    if len(some):
        pairs, position = np.unique(np.stack([errors[some], weights[some]]), axis=1, return_inverse=True)
        limits[some] = beta_quantiles(pairs[0] + 1.0, pairs[1] - pairs[0], cf)[position.ravel()]
    return limits


def two_sided_limits(counted: FloatArray, weights: FloatArray, share: float) -> FloatArray:
    """`[i, (lower, upper)]`: an interval that contains the true rate with a probability of at least `share`.

    Clopper and Pearson's exact interval; from 0 to 1 where the weight is 0.
    """
    beyond = (1 - share) / 2
    upper = np.where(weights > 0, upper_limits(counted, weights, beyond), 1.0)
    lower = 1 - np.where(weights > 0, upper_limits(weights - counted, weights, beyond), 1.0)
    return np.stack([lower, upper], axis=-1)


def beta_quantiles(a: FloatArray, b: FloatArray, cf: float) -> FloatArray:
    """BetaInv(1 - CF; a, b) by Newton's method, kept between bounds that narrow."""
    x = np.clip(_start(a, b, cf), 1e-300, 1 - 1e-16)
    low, high, open_, scale = np.zeros_like(a), np.ones_like(a), np.arange(len(a)), _log_scale(a, b)
    for _ in range(MOST_TURNS):
        here, a_, b_ = x[open_], a[open_], b[open_]
        tail, density = _upper_tail(here, a_, b_, scale[open_]), _density(here, a_, b_, scale[open_])
        is_low = tail > cf
        low[open_[is_low]], high[open_[~is_low]] = here[is_low], here[~is_low]
        wanted, between = here + (tail - cf) / np.maximum(density, 1e-200), (low[open_] + high[open_]) / 2
        # Where less than one row is right, the density is infinite at 1, so that all steps from there are short.
        is_near = (np.abs(wanted - here) <= PRECISE * here) & (np.abs(tail - cf) <= 1e-6)
        is_inside = (wanted > low[open_]) & (wanted < high[open_])
        x[open_] = np.where(is_inside | is_near, np.minimum(wanted, 1.0), between)
        is_closed = is_near | (high[open_] - low[open_] <= PRECISE * here)
        open_ = open_[~is_closed]
        if not len(open_):
            break
    return x


def _start(a: FloatArray, b: FloatArray, cf: float) -> FloatArray:
    """A first guess: the upper limit by the normal approximation (Wilson 1927)."""
    n, z = a + b - 1.0, normal_quantile(cf)
    n = np.where(n > 0, n, 1.0)
    f = np.clip((a - 0.5) / n, 0.0, 1.0)
    return np.asarray((f + z * z / (2 * n) + z * np.sqrt(f * (1 - f) / n + z * z / (4 * n * n))) / (1 + z * z / n))


def _upper_tail(x: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """1 - I_x(a, b): the part of the beta distribution above x."""
    tail, is_above = np.empty_like(x), x > (a + 1) / (a + b + 2)
    # Near 0 the continued fraction from the other end consists of differences of nearly equal numbers.
    is_smooth = (np.minimum(a, b) > LARGE) | (is_above & (x < NEAR_0))
    tail[is_smooth] = _integral(x[is_smooth], a[is_smooth], b[is_smooth], scale[is_smooth])
    is_right = ~is_smooth & is_above
    tail[is_right] = _fraction(1 - x[is_right], x[is_right], b[is_right], a[is_right], scale[is_right])
    is_left = ~is_smooth & ~is_above
    tail[is_left] = 1 - _fraction(x[is_left], 1 - x[is_left], a[is_left], b[is_left], scale[is_left])
    return tail


def _density(x: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The density of the beta distribution at x."""
    return np.asarray(exp_each(_log_weight(x, 1 - x, a, b, scale)) / (x * np.maximum(1 - x, 1e-300)))


def _fraction(x: FloatArray, rest: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """I_x(a, b) for x below the mean, as a continued fraction (DLMF 8.17.22), by Lentz's method; `rest` is 1 - x."""
    tiny = 1e-300
    c, d = np.ones_like(x), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    value, m, going = d.copy(), 0, np.ones(len(x), dtype=np.bool_)
    while going.any() and m < 100_000:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + term * d, 1 + term / c
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = np.where(np.abs(c) < tiny, tiny, c)
            value = np.where(going, value * (d * c), value)
        going &= np.abs(d * c - 1) > 1e-16 * 4
    return np.asarray(exp_each(_log_weight(x, rest, a, b, scale)) / a * value)


def _integral(x: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """`_upper_tail` by Gauss's rule, on panels from x, or from where the distribution begins, to its end."""
    mean, spread = a / (a + b), np.sqrt(a * b / ((a + b) * (a + b) * (a + b)))
    reach = WIDTH * spread + FURTHER / (a + b)
    x, end = np.maximum(x, mean - WIDTH * spread), np.minimum(1.0, np.maximum(x, mean) + reach)
    points = np.array([*(-point for point in reversed(POINTS_ABOVE)), *POINTS_ABOVE])
    weights = np.array([*reversed(WEIGHTS_ABOVE), *WEIGHTS_ABOVE])
    at = ((np.arange(PANELS)[:, None] + (points + 1) / 2) / PANELS).ravel()
    t = x[:, None] + (end - x)[:, None] * at
    density = _density(t, a[:, None], b[:, None], scale[:, None])
    return np.asarray((density * np.tile(weights, PANELS)).sum(axis=1) * (end - x) / (2 * PANELS))


def _log_weight(x: FloatArray, rest: FloatArray, a: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """log of x^a (1 - x)^b / B(a, b) without differences of large logarithms (Loader 2000); `rest` is 1 - x."""
    n = a + b
    return np.asarray(scale - a * _deviance(n * x / a - 1) - b * _deviance(n * rest / b - 1))


def _log_scale(a: FloatArray, b: FloatArray) -> FloatArray:
    """The part of `_log_weight` that does not depend on x."""
    whole = 0.5 * log_each(a * b / (a + b) / (2 * math.pi))
    return np.asarray(whole + stirling_errors(a + b) - stirling_errors(a) - stirling_errors(b))


def _deviance(d: FloatArray) -> FloatArray:
    """d - log(1 + d)."""
    return np.asarray(d - log1p_each(np.maximum(d, -1 + 1e-16)))


def stirling_errors(z: FloatArray) -> FloatArray:
    """`tails.stirling_error` of each number."""
    n, below = np.zeros_like(z), np.ones_like(z)
    for _ in range(int(SERIES_FROM)):
        n += z + n < SERIES_FROM
    w = z + n
    for i in range(1, int(n.max(initial=0.0)) + 1):
        below *= np.where(i <= n, (z + i) / w, 1.0)
    r = 1 / w
    s = r * r
    error = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188))))
    return np.where(n > 0, error + ((z + 0.5) * log_each(w / z) - log_each(below) - n), error)


def log_factorials(z: FloatArray) -> FloatArray:
    """`tails.log_factorial` of each number."""
    some = np.where(z > 0, z, 1.0)
    return np.where(z > 0, (some + 0.5) * log_each(some) - some + 0.5 * LOG_2_PI + stirling_errors(some), 0.0)


def added_errors(errors: FloatArray, weights: FloatArray, cf: float) -> FloatArray:
    """How many more errors than counted C4.5's programs expect, by their normal approximation.

    With z the upper CF quantile of the normal distribution and f = (E + 0.5)/N

        N (f + z^2/2N + z sqrt(f/N - f^2/N + z^2/4N^2)) / (1 + z^2/N) - E

    It is max(N - E, 0) where E + 0.5 >= N. For E < 1 it is interpolated between N (1 - CF^(1/N)) at E = 0 and the value
    at E = 1. It is 0 where N is 0.
    """
    n = np.where(weights > 0, weights, 1.0)
    at_none = -n * expm1_each(log(cf) / n)
    at_one = _added_from_one(np.ones_like(n), n, cf)
    added = np.where(errors < 1, at_none + errors * (at_one - at_none), _added_from_one(errors, n, cf))
    return np.where(weights > 0, added, 0.0)


def _added_from_one(errors: FloatArray, n: FloatArray, cf: float) -> FloatArray:
    z = normal_quantile(cf)
    f = (errors + 0.5) / n
    inside = np.maximum(f / n - f * f / n + z * z / (4 * n * n), 0.0)
    limit = (f + z * z / (2 * n) + z * np.sqrt(inside)) / (1 + z * z / n)
    return np.where(errors + 0.5 >= n, np.maximum(n - errors, 0.0), n * limit - errors)
