import numpy as np
import pytest

from core.library.train import TrainedForest, TrainedIsolation, table, train
from core.tables.errors import InvalidConfig, RecordsDoNotFit

ROWS = range(80)
COLUMNS = {
    "a": [None if row % 9 == 0 else float(row * 7 % 20) for row in ROWS],
    "b": ["xyz"[row % 3] for row in ROWS],
    "y": ["p" if (row * 7 % 20) + 5 * (row % 3 == 0) > 11 else "q" for row in ROWS],
    "z": [float(row * 7 % 20) for row in ROWS],
}
ASKED = {"a": [1.0, 11.0, None, 19.0], "b": ["x", "y", "z", None]}
PLAIN = {"division": {"kind": "none"}}


@pytest.fixture(scope="module")
def forest():
    order = {"target": "y", "attributes": ["a", "b"], "algorithm": {"kind": "random_forest", "n_trees": 6}, **PLAIN}
    return train(table(COLUMNS), order, engine="definition")


@pytest.fixture(scope="module")
def isolation():
    order = {
        "attributes": ["a", "b"],
        "algorithm": {"kind": "isolation_forest", "n_trees": 8, "threshold": 0.5},
        **PLAIN,
    }
    return train(table(COLUMNS), order, engine="definition")


def test_a_committee_answers_with_the_mean_of_its_trees(forest):
    assert isinstance(forest, TrainedForest)
    assert len(forest) == 6
    of_trees = [forest.tree(index).answers(ASKED) for index in range(6)]
    assert forest.answers(ASKED) == pytest.approx(np.mean(of_trees, axis=0))
    assert forest.answers(ASKED, voting={"kind": "average"}).tolist() == forest.answers(ASKED).tolist()
    labels = forest.answers(ASKED).argmax(axis=1)
    assert forest.classes(ASKED) == [forest.model.classes[label] for label in labels]


def test_trees_vote_as_they_are_told(forest):
    votes = np.array([[forest.tree(index).classes(ASKED)] for index in range(6)])[:, 0, :]
    shares = forest.answers(ASKED, voting={"kind": "majority"})
    position = forest.model.classes.index("p")
    assert shares[:, position] == pytest.approx((votes == "p").mean(axis=0))
    agreed = [row[0] if len(set(row)) == 1 else None for row in votes.T.tolist()]
    assert forest.classes(ASKED, voting={"kind": "unanimous"}) == agreed


@pytest.mark.parametrize(
    ("voting", "path", "words"),
    [
        ({"kind": "guess"}, ("voting", "kind"), "average"),
        ({}, ("voting", "kind"), "no way to vote"),
        ({"kind": "majority", "share": 0.5}, ("voting", "share"), "not an option of majority"),
        ({"kind": "veto", "trees": [6]}, ("voting", "trees", 0), "no tree 6"),
        ({"kind": "threshold", "share": 2.0}, ("voting", "share"), "at most 1"),
    ],
)
def test_votings_that_cannot_be_are_refused(forest, voting, path, words):
    with pytest.raises(InvalidConfig) as refused:
        forest.classes(ASKED, voting=voting)
    (fault,) = refused.value.faults
    assert fault.path == path
    assert words in f"{fault.detail} {fault.hint}"


def test_records_and_policies_are_checked_as_for_a_tree(forest):
    with pytest.raises(RecordsDoNotFit):
        forest.answers({"aa": [1.0]})
    for missing in ("guess", "surrogate"):
        with pytest.raises(InvalidConfig):
            forest.answers(ASKED, missing=missing)
    assert forest.answers(ASKED, missing="last_node").shape == (4, 2)
    for index in (-1, 6):
        with pytest.raises(InvalidConfig, match=f"no tree {index}"):
            forest.tree(index)


def test_a_committee_of_numbers_has_no_classes():
    order = {"target": "z", "attributes": ["a", "b"], "algorithm": {"kind": "extra_trees", "n_trees": 3}, **PLAIN}
    numbers = train(table(COLUMNS), order, engine="definition")
    assert numbers.answers(ASKED).shape == (4, 1)
    with pytest.raises(InvalidConfig, match="predicts numbers"):
        numbers.classes(ASKED)
    with pytest.raises(InvalidConfig, match="majority"):
        numbers.answers(ASKED, voting={"kind": "majority"})


def test_an_isolation_forest_scores_records(isolation):
    assert isinstance(isolation, TrainedIsolation)
    scores = isolation.scores({"a": [10.0, 500.0], "b": ["x", "x"]})
    assert 0 < scores[0] < scores[1] < 1
    assert isolation.are_anomalies({"a": [10.0, 500.0], "b": ["x", "x"]}).tolist() == (scores > 0.5).tolist()
    assert len(isolation) == 8
    assert isolation.tree(0).answers({"a": [10.0], "b": ["x"]})[0, 0] >= 1


def test_members_may_be_listed_and_their_faults_are_found_there():
    members = [{"kind": "cart"}, {"kind": "c45", "categorical": "multiway", "min_category_weight": 2}]
    order = {"target": "y", "attributes": ["b"], "algorithm": {"kind": "bagging", "members": members}, **PLAIN}
    with pytest.raises(InvalidConfig) as refused:
        train(table(COLUMNS), order)
    assert [fault.path for fault in refused.value.faults] == [("algorithm", "members", 1, "min_category_weight")]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [{"kind": "cart"}, {"kind": "random_forest", "n_trees": 3}])
def test_what_attributes_are_worth_is_found_where_the_configuration_asks(algorithm):
    order = {"target": "y", "attributes": ["a", "b"], "algorithm": algorithm, **PLAIN}
    stages = []
    asked = {**order, "importance": {"kind": "retraining", "repeats": 1}}
    trained = train(table(COLUMNS), asked, engine="definition", report=lambda stage, _: stages.append(stage))
    assert trained.retrained.falls[0].mean > trained.retrained.falls[1].mean
    assert stages[-1] == "retraining"
    assert train(table(COLUMNS), order, engine="definition").retrained is None
    for wrong, path in ((0, ("importance", "repeats")), ("often", ("importance", "repeats"))):
        with pytest.raises(InvalidConfig) as error:
            train(table(COLUMNS), {**order, "importance": {"kind": "retraining", "repeats": wrong}})
        assert error.value.faults[0].path == path
