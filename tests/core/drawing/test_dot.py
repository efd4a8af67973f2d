import re

import pytest

from core.drawing.dot import tree_dot
from tests.core.building import id3, model_of, samples_of
from tests.core.stored_models import classification_model, regression_model, several_numbers_model

TEXT = r'"((?:[^"\\\n]|\\.)*)"'
NODE = re.compile(rf'  (\d+) \[label={TEXT}(, style="rounded,filled", fillcolor="#e8f3e8")?\];')
EDGE = re.compile(rf"  (\d+) -> (\d+) \[label={TEXT}\];")


def parsed(dot):
    """Nodes with label and whether they are filled, and edges with label; fails on anything else."""
    first, settings, *body, last = dot.splitlines()
    assert (first, last) == ("digraph tree {", "}")
    assert settings.startswith("  node [")
    assert settings.endswith("];")
    nodes, edges = {}, {}
    for line in body:
        if node := NODE.fullmatch(line):
            nodes[int(node[1])] = (unescaped(node[2]), node[3] is not None)
        else:
            edge = EDGE.fullmatch(line)
            assert edge, line
            edges[int(edge[1]), int(edge[2])] = unescaped(edge[3])
    return nodes, edges


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


@pytest.mark.slow
@pytest.mark.parametrize("make", [classification_model, regression_model, several_numbers_model])
def test_the_graph_has_every_node_left_and_every_edge(make):
    model = make()
    for step in {0, model.history.selected}:
        view = model.view(step)
        nodes, edges = parsed(tree_dot(model, step))
        assert list(nodes) == view.nodes
        assert list(edges) == [(int(model.tree.parent[node]), node) for node in view.nodes[1:]]
        assert [node for node, (_, is_filled) in nodes.items() if is_filled] == view.leaves


def test_words_on_nodes_and_edges():
    nodes, edges = parsed(tree_dot(regression_model(), 0))
    assert nodes[0][0] == "size?\nn 16"
    assert nodes[2][0] == "4\nn 4"
    assert edges[0, 1] == "<= 3.5"
    assert edges[1, 2] == "in {red, green}"


def test_quotes_backslashes_and_line_ends_are_escaped():
    names = ['he said "hi"', "back\\slash\\", "two\nlines", "}; evil [label=x"]
    samples = samples_of({'a "b"\\': names}, ['p"', "q\\", "r\n", "s;"])
    nodes, edges = parsed(tree_dot(model_of(samples, id3()), 0))
    assert nodes[0][0].startswith('a "b"\\?\n')
    assert list(edges.values()) == [f"= {name}" for name in names]
    assert nodes[2][0] == "q\\\nq\\ 1"
