import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.gsd.hasse import hasse_diagram


def reachable(nodes, edges):
    """Pairs of elements the diagram relates, by following its edges."""
    below = {node: {node} for node in range(len(nodes))}
    for _ in nodes:
        for upper, lower in edges:
            below[upper] |= below[lower]
    return {(a, b) for node, lows in below.items() for low in lows for a in nodes[node] for b in nodes[low]}


@st.composite
def pre_orders(draw):
    """Component-wise order on points that may coincide."""
    points = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
    points = np.array(points)
    return np.all(points[:, None] >= points[None], axis=2)


@settings(max_examples=60)
@given(pre_orders())
def test_edges_imply_the_relation_and_none_is_spare(relation):
    diagram = hasse_diagram(relation)
    expected = {(a, b) for a, b in np.argwhere(relation).tolist()}
    assert sorted(itertools.chain(*diagram.nodes)) == list(range(len(relation)))
    assert reachable(diagram.nodes, diagram.edges) == expected
    for edge in diagram.edges:
        assert reachable(diagram.nodes, [e for e in diagram.edges if e != edge]) != expected
    assert diagram.implied == ()


@settings(max_examples=60)
@given(pre_orders())
def test_levels_against_longest_way_up(relation):
    diagram = hasse_diagram(relation)

    def longest(node):
        return max((1 + longest(upper) for upper, lower in diagram.edges if lower == node), default=0)

    assert diagram.levels == tuple(longest(node) for node in range(len(diagram.nodes)))


def test_equals_share_a_node():
    relation = [[1, 1, 1], [1, 1, 1], [0, 0, 1]]
    diagram = hasse_diagram(relation)
    assert diagram.nodes == ((0, 1), (2,))
    assert diagram.edges == ((0, 1),)


def test_pairs_only_transitivity_relates_are_named():
    relation = [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    diagram = hasse_diagram(relation)
    assert diagram.edges == ((0, 1), (1, 2))
    assert diagram.implied == ((0, 2),)
