"""Tail means of all metrics at once are those of each column alone, in the sample and in every resample."""

import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.inference import Inference, Question
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.strata import TaskDesign

INFERENCE = Inference(resamples=150, seed=3, jobs=1)


def scores(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [np.round(rng.standard_t(3, (n, 2)), 1) * [1, 1000] for n in sizes]


def plain():
    return ScoreTables.build(scores([90] * 3), [np.arange(90)] * 3, ["p", "q"])


def draws():
    return ScoreTables.build(scores([90] * 3), [np.arange(90) // 3] * 3, ["p", "q"])


def uneven_clusters():
    cluster = np.sort(np.random.default_rng(1).integers(0, 25, 90))
    cluster = np.unique(cluster, return_inverse=True)[1]
    return ScoreTables.build(scores([90] * 3), [cluster] * 3, ["p", "q"], samples=[np.arange(90)] * 3)


def unpaired():
    sizes = [40, 90, 60]
    return ScoreTables.build(scores(sizes), [np.arange(n) for n in sizes], ["p", "q"], paired=False)


def suite():
    task = np.repeat(np.arange(3), [20, 40, 60])
    tasks = TaskDesign(("a", "b", "c"), np.array([0.5, 0.25, 0.25]), (task,) * 3)
    return ScoreTables.build(scores([120] * 3), [np.arange(120)] * 3, ["p", "q"], tasks=tasks)


def drawn_tasks():
    task = np.repeat(np.arange(12), 10)
    tasks = TaskDesign(tuple("abcdefghijkl"), np.full(12, 1 / 12), (task,) * 3, random=True)
    return ScoreTables.build(scores([120] * 3), [np.arange(120)] * 3, ["p", "q"], tasks=tasks)


@pytest.mark.parametrize("made", [plain, draws, uneven_clusters, unpaired, suite, drawn_tasks])
def test_they_are_those_of_every_column_alone(made):
    tables = made()
    found = MetricTails.of(tables, INFERENCE)
    drawn = found.resampled(150)
    assert drawn.shape == (150, 3, 2)
    for m, name in enumerate(tables.metrics):
        (study,) = study_columns([Question(tables.column(name), ())], INFERENCE)
        assert found.level == study.estimates.tail_level
        np.testing.assert_allclose(found.sample[:, m], study.estimates.tails, rtol=1e-12)
        np.testing.assert_allclose(drawn[:, :, m], study.replicates.tails, rtol=1e-9)


def test_against_brute_force():
    tables = plain()
    found = MetricTails.of(tables, INFERENCE)
    for i in range(3):
        for m in range(2):
            own = tail_value_at_risk(tables.values[i][:, m], found.level)
            assert found.sample[i, m] == pytest.approx(float(own), rel=1e-12)


def test_a_later_call_goes_on_where_one_stopped():
    once, twice = (MetricTails.of(plain(), INFERENCE) for _ in range(2))
    twice.resampled(50)
    np.testing.assert_array_equal(once.resampled(125), twice.resampled(125))


def test_a_resample_without_most_of_the_worst_is_looked_at_further():
    """The worst scores lie in few clusters, of which some resamples draw less than half."""
    cluster = np.arange(2000) // 10
    values = [np.column_stack([cluster + i + 0.5, -cluster]) for i in range(2)]
    tables = ScoreTables.build(values, [cluster] * 2, ["p", "q"], samples=[np.arange(2000)] * 2)
    drawn = MetricTails.of(tables, INFERENCE).resampled(150)
    (study,) = study_columns([Question(tables.column("p"), ())], INFERENCE)
    np.testing.assert_allclose(drawn[:, :, 0], study.replicates.tails, rtol=1e-9)


def test_one_metric_and_no_resamples_have_none():
    one = ScoreTables.build([v[:, :1] for v in scores([30] * 2)], [np.arange(30)] * 2, ["p"])
    assert MetricTails.of(one, INFERENCE) is None
    assert MetricTails.of(plain(), Inference(variance="clt")) is None
    assert MetricTails.of(plain(), Inference(test=False)) is None
    assert MetricTails.of(plain(), Inference(paper_exact=True)) is None
