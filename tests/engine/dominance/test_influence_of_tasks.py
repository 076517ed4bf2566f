"""Standard errors of a suite's ratios without resampling, against resampling within tasks and plain rows."""

from functools import cache

import numpy as np
import pytest

from riskrank.engine.dominance.bootstrap import Bootstrap, BootstrapColumn
from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.column import study_dominance
from riskrank.engine.dominance.equal_distributions import per_cluster
from riskrank.engine.dominance.estimates import weighted_matrices
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.influence import influence_of_violation
from riskrank.engine.dominance.pair_influence import MergedGrid
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.errors import UsageError


def suite(sizes, weights, *, paired=True, seed=0, random=False):
    of = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    base = rng.normal(size=of.size)
    values = [0.7 * base + 0.7 * rng.normal(size=of.size) * (1 + i) + 0.4 * i + of for i in range(3)]
    names = [str(task) for task in range(len(sizes))]
    tasks = TaskDesign.build(names, [of] * 3, weights=weights, random=random)
    return ClusteredScores.build(values, tasks=tasks, paired=paired)


@cache
def resampled(paired):
    """A suite and its resamples, which hold both orders."""
    scores = suite([400, 1000, 2000], [0.5, 0.3, 0.2], paired=paired)
    with Bootstrap([BootstrapColumn(scores)], seed=1) as bootstrap:
        return scores, bootstrap.extend({0: 400})[0]


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("order", [1, 2])
def test_errors_against_resampling_within_tasks(order, paired):
    scores, drawn = resampled(paired)
    found = influence_of_violation(scores, order=order)
    off = ~np.eye(3, dtype=bool)
    assert found.ratio[off] == pytest.approx(weighted_matrices(scores)[order - 1][off], abs=1e-9)
    # Near 0 and 1 a ratio is no linear function of the scores, however many there are.
    inside = off & (np.abs(found.ratio - 0.5) < 0.45) & (found.ratio_error < 0.15)
    assert inside.any()
    assert found.ratio_error[inside] == pytest.approx(drawn.ratio_error[order - 1][inside], rel=0.15)


@pytest.mark.parametrize("order", [1, 2])
def test_tasks_that_are_drawn_from_as_one_are_as_no_task(order):
    """Strata whose means agree say what all samples together do, but for a degree of freedom."""
    values = np.random.default_rng(0).normal(size=(3, 600))
    values -= values.reshape(3, 2, 300).mean(axis=2).repeat(300, axis=1)
    tasks = TaskDesign.build(["0", "1"], [np.repeat([0, 1], 300)] * 3)
    found, expected = (
        influence_of_violation(ClusteredScores.build(list(values), tasks=own), order=order)
        for own in (tasks, None)
    )
    np.testing.assert_array_equal(found.ratio, expected.ratio)
    assert found.relative_error == pytest.approx(expected.relative_error, nan_ok=True, rel=0.03)


def test_grids_of_equal_weights_are_the_plain_ones():
    for n, m in ((6, 6), (4, 6), (7, 3)):
        plain, found = MergedGrid(n, m), MergedGrid.of_weights(np.full(n, 1 / n), np.full(m, 1 / m))
        assert found.width == pytest.approx(plain.width)
        for name in ("step_first", "step_second", "at_first", "at_second"):
            assert getattr(found, name).tolist() == getattr(plain, name).tolist()


def test_a_study_of_a_suite_without_resampling():
    scores = suite([80, 200, 700], [0.5, 0.3, 0.2])
    study = study_dominance(scores, [Claim(1), Claim(2)], Inference(variance="clt"))
    assert study.tests[1].p_value is not None
    with pytest.raises(UsageError, match="tasks like these"):
        study_dominance(suite([9] * 8, None, random=True), [Claim(2)], Inference(variance="clt"))


def test_clusters_add_up_to_the_variance_of_a_weighted_mean():
    scores = suite([6, 10, 40], [0.5, 0.3, 0.2])
    value, of = scores.values[0], scores.strata.of_cluster[0]
    parts = per_cluster(scores, 0, value)
    by_task = [value[of == task] for task in range(3)]
    expected = sum(w**2 * own.var(ddof=1) / own.size for w, own in zip((0.5, 0.3, 0.2), by_task, strict=True))
    assert (parts**2).sum() == pytest.approx(expected)
