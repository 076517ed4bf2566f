import numpy as np
import pytest

import riskrank as rr
from riskrank.engine.family import Family
from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.rank_tests import run_criteria_tests
from riskrank.engine.gsd.relabelling import RelabellingTest
from riskrank.engine.gsd.relation import DominanceRelation
from riskrank.studies.gsd.figures import (
    HassePanel,
    critical_difference,
    draw_contamination,
    draw_critical_difference,
    draw_hasse,
    draw_null_distribution,
    find_cliques,
)


def relation(count, seed=0):
    points = np.random.default_rng(seed).normal(np.arange(count)[:, None] * 0.2, 1, (count, 2))
    points[-1] = points[0]
    dominates = (points[:, None] >= points[None]).all(axis=2)
    return dominates, ~(dominates & ~dominates.T).any(axis=0)


def analysed(dominates, front, significant, delta=0.0):
    none = np.zeros(dominates.shape)
    return GsdAnalysis(
        threshold=Threshold(delta=delta),
        relation=DominanceRelation(none, dominates, none, none, 0, 0),
        front=front,
        tests=dict.fromkeys(np.ndindex(dominates.shape)),
        p_adjusted=np.where(significant, 0.0, 1.0),
        tolerated_samples={},
        family=Family(),
    )


def test_panel_matches_the_hasse_diagram():
    dominates, front = relation(12)
    significant = np.zeros_like(dominates)
    diagram = analysed(dominates, front, significant).hasse
    upper, lower = diagram.edges[0]
    significant[diagram.nodes[upper][-1], diagram.nodes[lower][0]] = True
    panel = HassePanel.from_analysis(analysed(dominates, front, significant), [f"m{i}" for i in range(12)])
    edges = [(panel.nodes[path[0]], panel.nodes[path[-1]]) for path in panel.paths]
    assert set(edges) == {(diagram.nodes[a], diagram.nodes[b]) for a, b in diagram.edges}
    supported = [
        edge for edge, is_significant in zip(edges, panel.significant, strict=True) if is_significant
    ]
    assert supported == [(diagram.nodes[upper], diagram.nodes[lower])]
    for node, inside in zip(panel.nodes, panel.front, strict=True):
        assert inside == front[node[0]]
    assert (0, 11) in panel.nodes
    assert panel.excluded == 0
    assert panel.label == "δ = 0"


def test_large_diagram_keeps_the_top_nodes():
    order = np.arange(100)
    dominates = order[:, None] <= order[None]
    panel = HassePanel.from_analysis(
        analysed(dominates, order == 0, ~dominates), [str(model) for model in order]
    )
    assert panel.excluded == 20
    assert panel.nodes == [(model,) for model in range(80)]
    assert [(path[0], path[-1]) for path in panel.paths] == [(node, node + 1) for node in range(79)]


@pytest.mark.parametrize("count", [2, 12, 60, 120])
def test_hasse_legible(legible, names, count):
    panels = []
    for seed in range(1 if count > 12 else 3):
        dominates, front = relation(count, seed)
        panels.append(analysed(dominates, front, dominates, seed / 100))
    words = legible(lambda: draw_hasse(panels, names(count)))
    assert words.count("gpt") == (len(panels) if count <= 60 else words.count("gpt"))


def test_cliques_are_maximal():
    rng = np.random.default_rng(1)
    for _ in range(20):
        different = rng.random((7, 7)) < 0.25
        different = (different | different.T) & ~np.eye(7, dtype=bool)

        def not_different(first, last, different=different):
            return not different[first : last + 1, first : last + 1].any()

        runs = [(a, b) for a in range(7) for b in range(a + 1, 7) if not_different(a, b)]
        longest = {
            (a, b) for a, b in runs if not any((c, d) != (a, b) and c <= a and b <= d for c, d in runs)
        }
        assert set(find_cliques(different)) == longest


def test_cliques_exclude_significant_pairs():
    # 1 and 3 differ although neither differs from 2: two bars, not one.
    different = np.zeros((3, 3), dtype=bool)
    different[0, 2] = different[2, 0] = True
    assert find_cliques(different) == ((0, 1), (1, 2))
    assert find_cliques(np.ones((3, 3), dtype=bool)) == ()


@pytest.mark.parametrize("count", [2, 12, 60])
def test_critical_difference(legible, names, count):
    scores = np.random.default_rng(0).normal(np.arange(count)[:, None, None] * 0.1, 1, (count, 25, 2))
    scores[-1] = scores[0]
    tests = run_criteria_tests(scores)
    diagrams = [critical_difference(tests, number, f"criterion {number}", 0.05) for number in range(2)]
    for number, diagram in enumerate(diagrams):
        assert np.array_equal(diagram.mean_rank, np.sort(tests.mean_rank[number]))
        assert np.array_equal(tests.mean_rank[number][diagram.order], diagram.mean_rank)
        for first, last in diagram.cliques:
            assert tests.nemenyi_p_value[number, diagram.order[first], diagram.order[last]] > 0.05
    criteria = [diagram.criterion for diagram in diagrams]
    legible(lambda: draw_critical_difference(tests, criteria, names(count), level=0.05, samples=25))


def example_tests(count):
    return [
        RelabellingTest(
            winner=i,
            loser=i + 1,
            optimum=0.1,
            p_value=0.001,
            share_smaller=1.0,
            resamples=1000,
            exact=False,
            contamination=tuple(0.001 * 2.0 ** np.arange(4 + i % 3)) if i != 1 else (),
            lps_solved=1,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("count", [1, 12, 40])
def test_contamination(legible, names, count):
    tests = [test for test in example_tests(count) if test.contamination]
    plot = draw_contamination(tests, names(count + 1), level=0.05, samples=80, label="δ = 0")
    axes = next(axes for axes in plot.axes if axes.get_ylabel() == "p-value")
    for line, test in zip(axes.lines, tests, strict=False):
        assert tuple(line.get_ydata()) == test.contamination
    legible(lambda: draw_contamination(tests, names(count + 1), level=0.05, samples=80, label="δ = 0"))


@pytest.mark.parametrize("observed", [-0.06, 0.013, 0.0])
def test_null_distribution(legible, names, observed):
    optima = np.random.default_rng(0).normal(-0.02, 0.01, 500)
    plot = draw_null_distribution(optima, observed, 0.01, *names(12)[-2:], "δ = 0")
    axes = next(axes for axes in plot.axes if axes.get_ylabel())
    assert sum(bar.get_height() for bar in axes.patches) == optima.size
    assert axes.lines[0].get_xdata()[0] == pytest.approx(observed)
    low, high = axes.get_xlim()
    assert low < min(optima.min(), observed) <= max(optima.max(), observed) < high
    words = legible(lambda: draw_null_distribution(optima, observed, 0.01, *names(12)[-2:], "δ = 0"))
    assert "observed" in words


def test_null_distribution_of_equal_optima(legible):
    legible(lambda: draw_null_distribution(np.zeros(5), 0.0, 1.0, "a", "b", "δ = 0"))


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    scores = rng.random((3, 12, 2)).round(1) * 0.5 + np.array([0.5, 0.2, 0.0])[:, None, None]
    return rr.gsd(
        {
            "model": np.repeat(["A", "B", "C"], 24).tolist(),
            "sample": np.tile(np.repeat(np.arange(12), 2), 3).tolist(),
            "metric": ["acc", "auc"] * 36,
            "score": scores.ravel().tolist(),
        },
        higher=["*"],
        resamples=60,
        correction="none",
        contamination=True,
        baselines=True,
        delta=(0.0, 0.001),
    )


@pytest.mark.slow
def test_pictures_of_a_study(result, legible):
    kinds = list(dict.fromkeys(name.partition("@")[0] for name in result.pictures))
    assert kinds == ["hasse", "contamination", "null", "ranks"]
    for kind in kinds:
        legible(lambda kind=kind: result.plot(kind))


def test_contamination_is_plotted_for_significant_pairs(result):
    for analysis in result.document.analyses:
        is_plotted = f"contamination@{analysis.threshold}" in result.pictures
        assert is_plotted == any(test.p_value <= 0.05 for test in analysis.tests.values())


def test_null_distribution_matches_the_test(result):
    document = result.document
    for analysis in document.analyses:
        for (i, j), test in analysis.tests.items():
            optima = document.null_optima(analysis, i, j)
            assert optima.size == test.resamples
            extreme = np.sum(optima >= test.optimum - 1e-9)
            assert test.p_value == pytest.approx((1 + extreme) / (test.resamples + 1))
