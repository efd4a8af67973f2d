"""Information gain weighed against the cost of an attribute.

A cheap test may be preferred to one of larger gain. The gain is information gain in bits, and never below 0; an
attribute without a given cost costs 1.
"""

from core.arithmetic.powers import exp2, power


def tan_schlimmer(gain: float, cost: float) -> float:
    """Gain(D, a)^2 / Cost(a), for a cost above 0.

    Tan and Schlimmer 1990, for a robot that pays for each observation.
    """
    return max(gain, 0.0) * max(gain, 0.0) / cost


def nunez(gain: float, cost: float, w: float) -> float:
    """(2^Gain(D, a) - 1) / (Cost(a) + 1)^w, for a cost of at least 0 and w in [0, 1].

    Núñez 1991, for medical diagnosis; w is how much costs matter, 0 for not at all.
    """
    return (exp2(max(gain, 0.0)) - 1) / power(cost + 1, w)
