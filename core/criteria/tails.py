"""Upper tails of distributions as natural logarithms: far out, the probability itself is too small for a float.

    chi-squared   P(X > s)  =  Q(d/2, s/2)                                  the upper incomplete gamma function
    F             P(X > f)  =  I_y(d2/2, d1/2),  y = d2 / (d2 + d1 f)       the incomplete beta function

Both are a weight, whose logarithm is computed without large differences (Loader 2000), times a series or a continued
fraction of terms near 1 (DLMF 8.7.1, 8.9.2 and the even part of 8.17.22).
"""

import math
from functools import lru_cache

from core.arithmetic.logarithms import LOG_2_PI, log, log1p
from core.arithmetic.powers import exp

PRECISE = 1e-16
MOST_TERMS = 1_000_000
TINY = 1e-300
SERIES_FROM = 15.0


def log_chi_squared_tail(statistic: float, degrees: float) -> float:
    """log P(X > s) of the chi-squared distribution; its degrees of freedom are positive."""
    return log_gamma_tail(degrees / 2, statistic / 2)


def log_f_tail(statistic: float, between: float, within: float) -> float:
    """log P(X > f) of the F distribution with `between` and `within` degrees of freedom, both positive.

    With two between it is log (1 + 2f/d)^(-d/2), d being those within.
    """
    if between == 2:
        return -within / 2 * log1p(2 * statistic / within)
    upper, lower = between * statistic, within
    return log_beta_tail(upper / (upper + lower), lower / (upper + lower), between / 2, within / 2)


def log_gamma_tail(a: float, x: float) -> float:
    """log Q(a, x): the part of the gamma distribution above x."""
    if x <= 0:
        return 0.0
    log_weight = 0.5 * log(a / (2 * math.pi)) - stirling_error(a) - a * deviance(x / a)
    if x < a + 1:
        return log1p(-exp(log_weight) * _gamma_series(a, x))
    return log_weight + log(_gamma_fraction(a, x))


def _gamma_series(a: float, x: float) -> float:
    """sum_n x^n / (a (a + 1) ... (a + n)), the part below x divided by its weight."""
    term = total = 1 / a
    n = 0
    while term > PRECISE * total:
        n += 1
        term *= x / (a + n)
        total += term
    return total


def _gamma_fraction(a: float, x: float) -> float:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), by Lentz's method."""
    b = x + 1 - a
    c, d = 1 / TINY, 1 / b
    value = d
    for n in range(1, MOST_TERMS):
        b += 2
        term = n * (a - n)
        d = 1 / (term * d + b or TINY)
        c = b + term / c or TINY
        value *= c * d
        if abs(c * d - 1) <= 4 * PRECISE:
            break
    return value


def log_beta_tail(x: float, rest: float, a: float, b: float) -> float:
    """log of 1 - I_x(a, b): the part of the beta distribution above x; `rest` is 1 - x to full precision."""
    if x <= 0:
        return 0.0
    if x * b > rest * a:  # above the mean
        return _log_beta_part(rest, x, b, a)
    return log1p(-exp(_log_beta_part(x, rest, a, b)))


def _log_beta_part(x: float, rest: float, a: float, b: float) -> float:
    """log I_x(a, b) for x up to the mean a / (a + b)."""
    n = a + b
    whole = 0.5 * log(a / n * b / (2 * math.pi)) + stirling_error(n) - stirling_error(a) - stirling_error(b)
    log_weight = whole - a * deviance(n * x / a) - b * deviance(n * rest / b)
    return log_weight - log(_beta_fraction(x, rest, a, b))


def _beta_fraction(x: float, rest: float, a: float, b: float) -> float:
    """x^a (1 - x)^b / B(a, b) divided by I_x(a, b): b_0 + a_1 / (b_1 + a_2 / (b_2 + ...)), by Lentz's method.

        a_m = (a + m - 1) (a + b + m - 1) m (b - m) x^2 / (a + 2m - 1)^2
        b_m = m + m (b - m) x / (a + 2m - 1) + (a + m) (a (1 - x) - b x + 1 + m (2 - x)) / (a + 2m + 1)

    Up to the mean a (1 - x) - b x is not negative, so large terms never cancel.
    """
    lead = a * rest - b * x + 1
    value = a * lead / (a + 1)
    c, d = value, 0.0
    for m in range(1, MOST_TERMS):
        after = a + 2 * m
        term = (a + m - 1) * (a + b + m - 1) / (after - 1) * (m * (b - m) * x * x) / (after - 1)
        part = m + m * (b - m) * x / (after - 1) + (a + m) * (lead + m * (1 + rest)) / (after + 1)
        d = 1 / (term * d + part or TINY)
        c = part + term / c or TINY
        value *= c * d
        if abs(c * d - 1) <= 4 * PRECISE:
            break
    return value


def deviance(ratio: float) -> float:
    """u - 1 - log u, which is 0 for u = 1."""
    if ratio <= 0:
        return math.inf
    d = ratio - 1
    return d - (log1p(d) if abs(d) < 0.5 else log(ratio))


def stirling_error(z: float) -> float:
    """log(z!) less Stirling's formula: (z + 1/2) log z - z + log(2 pi)/2."""
    n = 0.0
    while z + n < SERIES_FROM:
        n += 1
    w, below = z + n, 1.0
    for i in range(1, int(n) + 1):
        below *= (z + i) / w
    r = 1 / w
    s = r * r
    error = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188))))
    if n > 0:  # log z! is log w! less the logarithms of the n factors between them
        error += (z + 0.5) * log(w / z) - log(below) - n
    return error


def log_factorial(z: float) -> float:
    """log(z!), for z from 0 on."""
    return (z + 0.5) * log(z) - z + 0.5 * LOG_2_PI + stirling_error(z) if z > 0 else 0.0


@lru_cache(maxsize=64)
def normal_quantile(beyond: float) -> float:
    """What a normal number exceeds with probability `beyond`, between 0 and 1: by Newton's method on log P(X > z).

    log P(X > z) is concave, so every step ends above the quantile, and every step after the first below the one before.
    """
    if beyond > 0.5:
        return -normal_quantile(1 - beyond)
    wanted, z, before = log(2 * beyond), 0.0, math.inf
    while True:
        tail = log_gamma_tail(0.5, z * z / 2)
        density = exp(-z * z / 2 - tail - LOG_2_PI / 2) * 2
        after = z + (tail - wanted) / density
        if after >= before:
            return z
        z = before = after
