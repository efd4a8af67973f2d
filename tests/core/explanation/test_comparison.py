from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.explanation.comparison import PartingKind, Route, parting, partings, same_numbers
from core.explanation.why_variants_differ import text_of_difference
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.tables.target import Task
from tests.core.building import CUT, cart, cart_for_numbers, model_of
from tests.core.prediction.test_bounds import with_holes
from tests.core.strategies import samples
from tests.examples import examples

POLICIES = (MissingPolicy.WEIGHTED, MissingPolicy.LAST_NODE, MissingPolicy.MAJORITY_BRANCH)


def routes(model, step, policy, records):
    view = model.view(step)
    for reached in leaves_reached(view, records, policy):
        yield Route(model, view, step, policy, fills=False, reached=reached)


@examples(40)
@given(samples(max_columns=3, max_rows=12, max_outputs=2), st.integers(0, 2**32))
def test_ways_part_just_where_answers_differ(drawn, seed):
    chance = np.random.default_rng(seed)
    is_class = drawn.target.task is Task.CLASSIFICATION
    algorithm = cart() if is_class else cart_for_numbers()
    targets = "t" if is_class or drawn.target.numbers.shape[1] == 1 else ("t0", "t1")
    pruned = model_of(drawn, algorithm, validation=drawn, pruning=CUT, target=targets)
    other = model_of(replace(drawn, weights=chance.choice([1.0, 3.0], len(drawn))), algorithm, target=targets)
    ways = [(pruned, 0), (pruned, len(pruned.history.steps)), (other, 0)]
    (first, step), (second, other_step) = (ways[chance.integers(3)] for _ in range(2))
    policy, other_policy = (POLICIES[chance.integers(3)] for _ in range(2))
    records = with_holes(drawn.attributes, chance)
    answers = predict(first.view(step), records, policy), predict(second.view(other_step), records, other_policy)
    pairs = zip(routes(first, step, policy, records), routes(second, other_step, other_policy, records), strict=True)
    for row, (one, two) in enumerate(pairs):
        mine, theirs = (dict(enumerate(values[row])) for values in answers)
        if not same_numbers(mine, theirs, unit=one.unit):
            position = parting(one, two)
            assert position.kind is not PartingKind.COSTS
            assert position.weight <= 1 + 1e-12
            text = text_of_difference(position, one, two, ("this", "that"))
            assert text.endswith(".")
            assert (position.kind is PartingKind.CUT) == ("of its pruning cut node" in text)
            if first is second and policy is other_policy:
                assert position.kind is PartingKind.CUT
            if position.kind is PartingKind.MISSING:
                assert policy is not other_policy
        assert list(partings(one, one)) == []
