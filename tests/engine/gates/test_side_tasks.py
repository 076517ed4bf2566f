"""Gates over a suite: resamples of weighted means and tails, and the sample more that speaks against them."""

import numpy as np
import pytest

from riskrank.engine.evidence.bootstrap import ResampledDifference
from riskrank.engine.evidence.johnson import mean_difference
from riskrank.engine.gates.caution import Comparison
from riskrank.engine.gates.replicates import difference, differences
from riskrank.engine.gates.side import SideScores, SideTasks, difference_of_means
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign

sizes, shares = np.array([6, 20, 60]), np.array([0.5, 0.3, 0.2])
task_of = np.repeat(np.arange(3), sizes)


def suite(seed=0, random=False, weights=shares, shift=0.0):
    values = np.random.default_rng(seed).normal([[shift], [0.0]], size=(2, task_of.size)) - task_of
    tasks = TaskDesign.build("abc", [task_of] * 2, weights=weights, random=random)
    return ClusteredScores.build([*values], tasks=tasks), values


def comparison(scores, level=None, bounded=True):
    sides = [SideScores.of(scores, model) for model in (0, 1)]
    return Comparison(*sides, True, level, -9.0, 9.0, bounded)


def macro(values):
    return shares @ [values[task_of == task].mean() for task in range(3)]


@pytest.mark.parametrize("random", [False, True])
def test_differences_of_the_sample(random):
    scores, values = suite(random=random)
    assert difference(comparison(scores)) == pytest.approx(macro(values[0]) - macro(values[1]))
    weights = (shares / sizes)[task_of]
    tails = [tail_value_at_risk(own, 0.1, weights) for own in values]
    assert difference(comparison(scores, 0.1)) == pytest.approx(tails[0] - tails[1])


def test_replicates_spread_as_the_standard_error_says():
    scores, values = suite()
    (drawn,) = differences([comparison(scores)], resamples=20000, seed=1)
    away = values[0] - values[1]
    # Exponential weights of n scores spread their mean by the standard deviation over √(n + 1).
    parts = [shares[t] ** 2 * away[task_of == t].var() / (sizes[t] + 1) for t in range(3)]
    assert drawn.std() == pytest.approx(np.sqrt(sum(parts)), rel=0.03)
    assert drawn.mean() == pytest.approx(macro(values[0]) - macro(values[1]), abs=0.01)


def test_replicates_of_drawn_tasks_spread_over_tasks():
    scores, values = suite(random=True, weights=np.ones(3))
    (drawn,) = differences([comparison(scores)], resamples=20000, seed=1)
    means = np.array([(values[0] - values[1])[task_of == task].mean() for task in range(3)])
    assert drawn.std() == pytest.approx(means.std() / 2, rel=0.03)


def test_a_task_that_weighs_nothing_changes_nothing():
    values = np.random.default_rng(0).normal(size=(2, 30))
    one = SideTasks(np.repeat([0, 1], [30, 3]), np.array([1.0, 0.0]))
    units = np.arange(30)
    with_task = Comparison(
        *(SideScores(np.append(own, np.zeros(3)), np.arange(33), one) for own in values),
        *(True, None, -9.0, 9.0, False),
    )
    plain = Comparison(*(SideScores(own, units) for own in values), True, None, -9.0, 9.0, False)
    for first, second in ((with_task, plain), (with_task.against(), plain.against())):
        assert difference(first) == pytest.approx(difference(second))
    found, expected = with_task.modified, plain.modified
    assert found.error == pytest.approx(expected.error)
    assert found.skewness == pytest.approx(expected.skewness)
    assert found.samples == pytest.approx(expected.samples)


def test_the_sample_more_lies_where_it_weighs_most():
    scores, _ = suite()
    for sign, one in ((-1, comparison(scores).against()), (1, comparison(scores).in_favour())):
        assert one.new.tasks.of_unit[-1] == 0
        assert len(one.new.values) == task_of.size + 1
        assert sign * (difference(one) - difference(comparison(scores))) > 0


def test_modified_t_of_tasks_against_its_formulas():
    scores, values = suite()
    found = comparison(scores, bounded=False).modified
    away = values[0] - values[1]
    by_task = [away[task_of == task] for task in range(3)]
    parts = np.array([w**2 * own.var(ddof=1) / own.size for w, own in zip(shares, by_task, strict=True)])
    third = sum(
        w**3 * ((own - own.mean()) ** 3).sum() / own.size**3 for w, own in zip(shares, by_task, strict=True)
    )
    assert found.estimate == pytest.approx(macro(away))
    assert found.error == pytest.approx(np.sqrt(parts.sum()))
    assert found.skewness == pytest.approx(third / parts.sum() ** 1.5)
    assert found.samples - 1 == pytest.approx(parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum())


def test_modified_t_of_drawn_tasks_is_that_of_their_means():
    scores, values = suite(random=True, weights=np.ones(3))
    found = difference_of_means(*(SideScores.of(scores, model) for model in (0, 1)), paired=True)
    means = [np.array([own[task_of == task].mean() for task in range(3)]) for own in values]
    expected = mean_difference(*((own, np.arange(3)) for own in means), paired=True)
    for name in ("estimate", "error", "skewness", "samples"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))


def test_a_clear_loss_is_refuted_and_a_gain_shown():
    for shift in (-2.5, 2.5):
        scores, _ = suite(shift=shift)
        one = comparison(scores)
        drawn = differences([one, one.against(), one.in_favour()], resamples=2000, seed=1)
        found = ResampledDifference.of_replicates(
            difference(one), 0.0, plain=drawn[0], against=drawn[1], in_favour=drawn[2], samples=86, behind=20
        )
        assert (found.p_above < 0.05) == (shift > 0)
        assert (found.p_below < 0.05) == (shift < 0)


def test_drawn_tasks_have_the_modified_t_in_the_place_of_a_task_more():
    scores, _ = suite(random=True)
    one = comparison(scores)
    assert one.bounded
    assert one.modified is not None
    assert one.against() is one
    assert one.in_favour() is one
    assert comparison(scores, 0.1).modified is None
    assert comparison(suite()[0]).modified is None
