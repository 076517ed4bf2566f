"""Power on a suite against data sets drawn by hand, t tests of macro means, and closed forms."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtr

from riskrank.engine.dominance.column_tests import Inference, study_dominance
from riskrank.engine.dominance.inference import Claim, Question
from riskrank.engine.dominance.task_mean_tests import with_task_means
from riskrank.engine.family import Family
from riskrank.engine.power.closed_form import TaskTables
from riskrank.engine.power.effects import effects_of
from riskrank.engine.power.planning import plan_from_pilot, shares_between_tasks
from riskrank.engine.power.simulation import PilotSampler, verdicts_of
from riskrank.engine.power.study import _Search, study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Workers
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.suites.macro_means import macro_differences
from riskrank.engine.suites.task_differences import TaskScores, task_differences
from riskrank.errors import InputError

SIZES = (60, 90, 120, 400)
DIRECT = Claim(2, "direct")


def suite(sizes=SIZES, gap=0.4, effect=0.0, *, weights=None, random=False, paired=True, seed=3):
    """Two models, the first ahead by a gap that differs by task."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(size=of.size)
    ahead = gap + effect * rng.normal(size=len(sizes))
    values = [shared + ahead[of] + rng.normal(size=of.size), shared + rng.normal(size=of.size)]
    design = TaskDesign.build([str(t) for t in range(len(sizes))], [of] * 2, weights=weights, random=random)
    return ClusteredScores.build(values, paired=paired, tasks=design)


def power_of(scores, size, inference, repeats=200, claim=DIRECT):
    plan = plan_from_pilot(scores, claim, inference, pair=(0, 1))
    return study_power(plan, [size], limit=size, repeats=repeats).curve.power[0, 0]


@pytest.mark.parametrize("paired", [True, False])
def test_so_many_samples_of_every_task_are_drawn(paired):
    scores = suite(paired=paired)
    sampler = PilotSampler(scores)
    draw = sampler.of(sampler.chosen(np.random.default_rng(0), 7))
    assert draw.tasks is not None
    assert scores.strata.several
    for model, (value, tasks) in enumerate(zip(draw.samples, draw.tasks.of_row, strict=True)):
        assert np.bincount(tasks).tolist() == [7] * 4
        # Any four in a row are one of each task.
        assert tasks.reshape(7, 4).tolist() == [[0, 1, 2, 3]] * 7
        for task in range(4):
            own = scores.values[model][scores.strata.of_cluster[model][scores.clusters[model]] == task]
            assert np.isin(value[tasks == task], own).all()
    together = {tuple(pair) for pair in np.transpose(scores.values).tolist()}
    assert all(tuple(pair) in together for pair in np.transpose(draw.samples).tolist()) == paired


def test_whole_tasks_are_drawn_for_all_models_with_their_weights():
    scores = suite((6, 8, 7, 9, 6, 10), weights=np.arange(1, 7), random=True, paired=False)
    sampler = PilotSampler(scores)
    draw = sampler.of(sampler.chosen(np.random.default_rng(0), 9))
    assert draw.tasks is not None
    assert draw.tasks.random
    of = scores.clusters[0]
    found = []
    for task in range(9):
        drawn = [value[rows == task] for value, rows in zip(draw.samples, draw.tasks.of_row, strict=True)]
        same = [all(map(np.array_equal, drawn, (v[of == t] for v in scores.values))) for t in range(6)]
        found.append(same.index(True))
    share = np.array(found) + 1.0
    assert draw.tasks.weights == pytest.approx(share / share.sum())
    assert len(set(found)) < 9


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(1, 1, 2, 4), None])
def test_against_data_sets_drawn_by_hand(weights):
    """Samples a task: the gate's own test, and Student's of the macro means, which does no worse."""
    scores, size, repeats = suite(gap=0.7, weights=weights), 10, 150
    inference = Inference(variance="clt")
    found = power_of(scores, size, inference, repeats)
    rng, shown = np.random.default_rng(5), []
    of, bounds = np.repeat(np.arange(4), size), np.cumsum((0, *SIZES))
    tasks = TaskDesign.build("abcd", [of] * 2, weights=weights)
    for _ in range(repeats):
        rows = np.concatenate([rng.integers(*ends, size) for ends in itertools.pairwise(bounds)])
        values = [value[rows] for value in scores.values]
        (tested,) = study_dominance(ClusteredScores.build(values, tasks=tasks), [DIRECT], inference).tests
        drawn = TaskScores.build(values, [of] * 2, weights=weights)
        t = macro_differences(drawn, task_differences(drawn)).p_above()
        shown.append((tested.dominates[0, 1], t[0, 1] <= 0.025))
    dominance, means = np.mean(shown, axis=0)
    assert 0.3 < dominance < 0.95
    assert found == pytest.approx(dominance, abs=0.09)
    assert means > dominance
    weight = np.array(weights or (1,) * 4) / sum(weights or (1,) * 4)
    parts = [np.subtract(*scores.values)[low:high] for low, high in itertools.pairwise(bounds)]
    spread = np.sqrt(sum(w**2 * part.var() for w, part in zip(weight, parts, strict=True)) / size)
    effect = sum(w * part.mean() for w, part in zip(weight, parts, strict=True)) / spread
    assert means == pytest.approx(ndtr(effect - 1.96), abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "test", "tasks"),
    [(12, "direct", 8), (12, "relative", 8), (16, "direct", 12), (16, "absolute", 12)],
)
def test_drawn_tasks_against_every_data_set_tested_whole(size, test, tasks):
    """Below ten tasks, too: the test of a ranking, not resamples alone."""
    scores = suite((15,) * tasks, gap=0.5, effect=0.5, random=True)
    claim = Claim(2, test, 0.25 if test == "absolute" else None)
    plan = plan_from_pilot(scores, claim, Inference(resamples=200), pair=(0, 1))
    found = power_of(scores, size, Inference(resamples=200), 50, claim)
    whole = verdicts_of(plan, size, 150, seed=5).mean()
    assert 0.2 < whole < 0.97
    assert found == pytest.approx(whole, abs=0.12)


@pytest.mark.slow
def test_of_a_family_every_table_is_adjusted_as_a_ranking_does():
    """Nine tasks show nothing of seven models by resamples: Student's test of their means stands in."""
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(9), 20)
    ahead = np.linspace(2.0, 0.0, 7)[:, None]
    values = rng.normal(size=(7, 180)) + ahead + rng.normal(size=(7, 9))[:, of] * 0.2
    tasks = TaskDesign.build("abcdefghi", [of] * 7, weights=np.arange(6, 15), random=True)
    scores = ClusteredScores.build([*values], tasks=tasks)
    plan = plan_from_pilot(scores, Claim(2), Inference(), pair=(0, 3))
    closed = _Search(plan, 1, Workers(1))._closed
    assert isinstance(closed, TaskTables)
    assert closed.normal.blind(7)
    shown = []
    for row in rng.integers(0, 9, (40, 7)):
        draw = plan.sampler.of([row])
        data = ClusteredScores.build(draw.samples, paired=False, tasks=draw.tasks)
        tests = study_dominance(data, [Claim(2)], Inference(resamples=10)).tests[0]
        means = with_task_means(Question(data, (tests.claim,)), tests, Inference(), "instead")
        shown.append(bool(means.dominates[0, 3]))
        assert closed.answering([[row]], 7)(0.0)[0, plan.family.index((0, 3))] == shown[-1]
    assert 0 < sum(shown) < 40


@pytest.mark.parametrize(("tasks", "alpha", "how"), [(6, 0.02, "beside"), (12, 0.001, "instead")])
def test_resamples_of_few_tasks_show_nothing_where_a_ranking_finds_so(tasks, alpha, how):
    """All of six are looked at, of which the rarest has 6⁻⁶; of twelve as many as the work allows."""
    inference = Inference(work_limit=3e6, family=Family(alpha=alpha))
    plan = plan_from_pilot(suite((6,) * 9, random=True), Claim(2), inference, pair=(0, 1))
    found = study_dominance(suite((6,) * tasks, random=True), [Claim(2)], inference).tests[0]
    assert found.of_means == how
    assert _Search(plan, 1, Workers(1))._closed.normal.blind(tasks) == (how == "instead")


def test_weights_worth_fewer_than_six_tasks_show_nothing():
    heavy = suite((10,) * 7, gap=5.0, weights=(1, 1, 1, 1, 1, 1, 1.6), random=True)
    closed = _Search(plan_from_pilot(heavy, DIRECT, Inference(), pair=(0, 1)), 1, Workers(1))._closed
    assert closed.answering([[np.arange(6)]], 6)(0.0).tolist() == [[True, False]]
    assert not closed.answering([[np.array([0, 1, 2, 3, 4, 6])]], 6)(0.0).any()


def test_more_samples_leave_the_variance_between_tasks():
    rng = np.random.default_rng(2)
    scores = suite((25,) * 10, effect=0.5, random=True)
    apart = np.subtract(*scores.values).reshape(10, 25)
    whole, within = apart.mean(axis=1).var(ddof=1), (apart.var(axis=1, ddof=1) / 25).mean()
    assert shares_between_tasks(scores, [(0, 1)]) == pytest.approx([1 - within / whole])
    many = [suite((200,) * 40, effect=0.5, random=True, seed=seed) for seed in range(5)]
    shares = [shares_between_tasks(one, [(0, 1)]) for one in many]
    assert np.mean(shares) == pytest.approx(0.25 / (0.25 + 2 / 200), abs=0.02)
    tasks = TaskDesign.build("abcdef", [np.repeat(range(6), 10)] * 2, random=True)
    level = ClusteredScores.build([rng.normal(size=60)] * 2, tasks=tasks)
    assert shares_between_tasks(level, [(0, 1)]).tolist() == [0.0]


@pytest.mark.slow
def test_an_effect_is_the_macro_difference_in_standard_deviations_of_a_sample_a_task():
    """Of normal scores: half of the data sets in which the mean difference is below 0."""
    for weights in (None, (1, 1, 2)):
        scores = suite((1600, 1200, 2000), gap=0.2, weights=weights)
        share = np.array(weights or (1, 1, 1)) / sum(weights or (1, 1, 1))
        found = effects_of(scores, DIRECT, ((0, 1),), 0).mean
        assert found[0] == pytest.approx(0.2 / np.sqrt(2 * (share**2).sum()), abs=0.06)


def test_an_interval_of_samples_a_task_however_tasks_weigh():
    equal = plan_from_pilot(suite(), DIRECT, Inference(variance="clt"), pair=(0, 1))
    study = study_power(equal, repeats=10)
    assert study.curve.sizes.tolist() == [20, 50, 100]
    assert study.interval is not None
    assert study.plan.unit == "samples a task"
    assert study.endless is None
    weighed = plan_from_pilot(suite(weights=(1, 1, 1, 3)), DIRECT, Inference(variance="clt"), pair=(0, 1))
    assert weighed.smallest == 4
    found = study_power(weighed, [20], limit=2000, repeats=20)
    assert found.interval.low < found.required.size < (found.interval.high or 2001)


def test_drawn_tasks_are_counted_and_six_are_needed():
    plan = plan_from_pilot(
        suite((20,) * 8, effect=0.3, random=True), DIRECT, Inference(resamples=40), pair=(0, 1)
    )
    assert (plan.unit, plan.smallest, plan.sizes) == ("tasks", 6, (10, 20, 50))
    study = study_power(plan, [12], limit=12, repeats=5)
    assert study.interval is None
    assert study.endless is not None
    with pytest.raises(InputError, match="at least 6 tasks"):
        plan_from_pilot(suite((20,) * 5, random=True), DIRECT, Inference(), pair=(0, 1))
