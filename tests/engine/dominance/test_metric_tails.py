"""Tail means of all metrics computed together equal those of each column, for sample and resamples."""

import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.contrasts import MetricTails
from riskrank.engine.dominance.inference import ColumnClaims, Inference
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.strata import TaskDesign

INFERENCE = Inference(resamples=150, seed=3, jobs=1)


def scores(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [np.round(rng.standard_t(3, (n, 2)), 1) * [1, 1000] for n in sizes]


def plain():
    return ScoreTables.from_arrays(scores([90] * 3), [np.arange(90)] * 3, ["p", "q"])


def draws():
    return ScoreTables.from_arrays(scores([90] * 3), [np.arange(90) // 3] * 3, ["p", "q"])


def uneven_clusters():
    cluster = np.sort(np.random.default_rng(1).integers(0, 25, 90))
    cluster = np.unique(cluster, return_inverse=True)[1]
    return ScoreTables.from_arrays(scores([90] * 3), [cluster] * 3, ["p", "q"], samples=[np.arange(90)] * 3)


def unpaired():
    sizes = [40, 90, 60]
    return ScoreTables.from_arrays(scores(sizes), [np.arange(n) for n in sizes], ["p", "q"], paired=False)


def suite():
    task = np.repeat(np.arange(3), [20, 40, 60])
    tasks = TaskDesign(("a", "b", "c"), np.array([0.5, 0.25, 0.25]), (task,) * 3)
    return ScoreTables.from_arrays(scores([120] * 3), [np.arange(120)] * 3, ["p", "q"], tasks=tasks)


def resampled_tasks():
    task = np.repeat(np.arange(12), 10)
    tasks = TaskDesign(tuple("abcdefghijkl"), np.full(12, 1 / 12), (task,) * 3, random=True)
    return ScoreTables.from_arrays(scores([120] * 3), [np.arange(120)] * 3, ["p", "q"], tasks=tasks)


@pytest.mark.parametrize("build", [plain, draws, uneven_clusters, unpaired, suite, resampled_tasks])
def test_tails_match_those_of_single_columns(build):
    tables = build()
    tails = MetricTails.from_tables(tables, INFERENCE)
    resampled = tails.replicates(150)
    assert resampled.shape == (150, 3, 2)
    for m, name in enumerate(tables.metrics):
        (study,) = study_columns([ColumnClaims(tables.clustered_column(name), ())], INFERENCE)
        assert tails.level == study.estimates.tail_level
        np.testing.assert_allclose(tails.sample[:, m], study.estimates.tails, rtol=1e-12)
        np.testing.assert_allclose(resampled[:, :, m], study.replicates.tails, rtol=1e-9)


def test_against_brute_force():
    tables = plain()
    tails = MetricTails.from_tables(tables, INFERENCE)
    for i in range(3):
        for m in range(2):
            expected = tail_value_at_risk(tables.values[i][:, m], tails.level)
            assert tails.sample[i, m] == pytest.approx(float(expected), rel=1e-12)


def test_second_call_continues_the_resampling():
    once, twice = (MetricTails.from_tables(plain(), INFERENCE) for _ in range(2))
    twice.replicates(50)
    np.testing.assert_array_equal(once.replicates(125), twice.replicates(125))


def test_resample_lacking_the_worst_scores_reads_further():
    """The worst scores are in few clusters, and some resamples draw less than half of these."""
    cluster = np.arange(2000) // 10
    values = [np.column_stack([cluster + i + 0.5, -cluster]) for i in range(2)]
    tables = ScoreTables.from_arrays(values, [cluster] * 2, ["p", "q"], samples=[np.arange(2000)] * 2)
    resampled = MetricTails.from_tables(tables, INFERENCE).replicates(150)
    (study,) = study_columns([ColumnClaims(tables.clustered_column("p"), ())], INFERENCE)
    np.testing.assert_allclose(resampled[:, :, 0], study.replicates.tails, rtol=1e-9)


def test_single_metric_or_no_resamples_give_none():
    single = ScoreTables.from_arrays([v[:, :1] for v in scores([30] * 2)], [np.arange(30)] * 2, ["p"])
    assert MetricTails.from_tables(single, INFERENCE) is None
    assert MetricTails.from_tables(plain(), Inference(variance="clt")) is None
    assert MetricTails.from_tables(plain(), Inference(test=False)) is None
    assert MetricTails.from_tables(plain(), Inference(paper_exact=True)) is None
