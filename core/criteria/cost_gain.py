"""Information gain weighed against what it costs to ask for an attribute.

A test that is cheap may be chosen before one that tells more. The gain is that of information gain, in bits, and never
below 0; an attribute that nobody priced costs 1.
"""

from core.arithmetic.powers import exp2, power


def tan_schlimmer(gain: float, cost: float) -> float:
    """Gain(D, a)^2 / Cost(a), for a cost above 0.

    Tan and Schlimmer 1990: a robot that pays for each look.
    """
    return max(gain, 0.0) * max(gain, 0.0) / cost


def nunez(gain: float, cost: float, w: float) -> float:
    """(2^Gain(D, a) - 1) / (Cost(a) + 1)^w, for a cost of at least 0 and w in [0, 1].

    Núñez 1991: medical diagnosis; w tells how much costs matter, 0 for not at all.
    """
    return (exp2(max(gain, 0.0)) - 1) / power(cost + 1, w)
