import itertools

import numpy as np
import pytest

from riskrank.engine.gsd.relation import hasse_diagram
from riskrank.studies.gsd.figures import arrange_layers, node_positions


def random_diagram(seed, count=9):
    rng = np.random.default_rng(seed)
    points = rng.random((count, 2))
    return hasse_diagram((points[:, None] >= points[None]).all(axis=2))


def crossings(layers):
    """Count pairs of segments that cross between two layers."""
    place = {node: (row, at) for row, nodes in enumerate(layers.order) for at, node in enumerate(nodes)}
    count = 0
    for (a, b), (c, d) in itertools.combinations(layers.segments, 2):
        if place[a][0] == place[c][0]:
            count += (place[a][1] - place[c][1]) * (place[b][1] - place[d][1]) < 0
    return count


@pytest.mark.parametrize("seed", range(4))
def test_every_edge_goes_down_layer_by_layer(seed):
    diagram = random_diagram(seed, 20)
    layers = arrange_layers(diagram.levels, diagram.edges, 4)
    row_of = {node: row for row, nodes in enumerate(layers.order) for node in nodes}
    assert sorted(node for node in row_of if node < 20) == list(range(20))
    assert [(path[0], path[-1]) for path in layers.paths] == list(diagram.edges)
    for upper, lower in layers.segments:
        assert row_of[lower] == row_of[upper] + 1
    assert all(sum(node < 20 for node in row) <= 4 for row in layers.order)
    assert layers.crossings == crossings(layers)


@pytest.mark.parametrize("seed", range(4))
def test_small_diagrams_have_the_fewest_crossings(seed):
    diagram = random_diagram(seed, 6)
    layers = arrange_layers(diagram.levels, diagram.edges, 8)
    orders = itertools.product(*(itertools.permutations(row) for row in layers.order))
    least = min(crossings(type(layers)(layers.count, order, layers.paths)) for order in orders)
    assert layers.crossings == least


def test_barycentres_untangle_a_large_diagram():
    # A ladder of ten columns, shuffled: it can be drawn without any crossing.
    columns = np.random.default_rng(0).permutation(10)
    edges = [(int(columns[at]), 10 + at) for at in range(10)]
    layers = arrange_layers([0] * 10 + [1] * 10, edges, 10)
    assert layers.crossings == 0


def test_nodes_of_a_layer_do_not_touch():
    diagram = random_diagram(5, 20)
    layers = arrange_layers(diagram.levels, diagram.edges, 5)
    widths = [30.0 + node for node in range(20)]
    x = node_positions(layers, widths)
    for row in layers.order:
        nodes = [node for node in row if node < 20]
        for left, right in itertools.pairwise(nodes):
            assert x[right] - x[left] >= (widths[left] + widths[right]) / 2 - 1e-6
    assert min(x[node] - widths[node] / 2 for node in range(20)) >= -1e-6
