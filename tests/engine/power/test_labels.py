"""Required labels of a gate: the closed form compared with gates on simulated tables, and formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtr

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.judges.correction import Correction, tune_for_differences
from riskrank.engine.power.required_size import LabelNeed
from riskrank.studies.gate.claim import BETTER, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.decisions import decide
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.targets import Units
from tests.engine.judges.test_correction import column

REACH = 4.0


def pilot(seed=0, n=100, total=400, ahead=0.25, noise=0.7):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=total)
    human = 3 + 0.7 * shared + 0.7 * rng.normal(size=(2, total)) + [[ahead], [0.0]]
    human = np.clip(np.rint(human), 1, 5)
    judge = np.clip(np.rint(human + rng.normal(0, noise, human.shape)), 1, 5)
    both = zip(human[:, :n], judge, strict=True)
    return tune_for_differences([Correction.fit(*scores) for scores in both])


def label_need(corrections, **changes):
    return replace(LabelNeed.from_pilot(*corrections, boundary=0.0, level=0.05), **changes)


def population(corrections):
    """Return human and judge scores with the corrected means and unbiased variances."""
    n = corrections[0].n_labelled
    human = np.array([correction.human - correction.human.mean() for correction in corrections])
    judge = np.array([correction.judge[:n] - correction.judge[:n].mean() for correction in corrections])
    wider, means = np.sqrt(n / (n - 2)), np.array([[correction.mean] for correction in corrections])
    return means + wider * human, wider * judge


def draw_table(scores, rng, labels, samples=400):
    """Draw a table with the given number of labels."""
    human, judge = scores
    chosen = rng.integers(0, human.shape[1], samples)
    both = zip(human[:, chosen[:labels]], judge[:, chosen], strict=True)
    return tune_for_differences([Correction.fit(*scores) for scores in both])


def passes(corrections, seed):
    """Return the gate's decision from 2,000 resamples."""
    scores = ScoreColumn("people", column(corrections), Units(1.0, ""), (1.0, 1.0 + REACH))
    rows, _ = decide([GateClaim(BETTER, 0, 1, scores, "mean")], Inference(seed=seed), ["new", "old"])
    return rows[0].verdict == PASS


def passes_by_t(corrections, level=0.05):
    """Return the gate's decision from Student's t instead of resamples."""
    errors, judge_parts = (
        new - old for new, old in zip(*(correction.parts for correction in corrections), strict=True)
    )
    parts = [part.var(ddof=1) / part.size for part in (errors, judge_parts)]
    df = sum(parts) ** 2 / (parts[0] ** 2 / (errors.size - 1) + parts[1] ** 2 / (judge_parts.size - 1)) - 1
    error = np.sqrt(sum(parts))
    return 2 * stdtr(df, -(errors.mean() + judge_parts.mean()) / error) <= level


@pytest.mark.slow
@pytest.mark.parametrize("labels", [20, 80])
def test_decisions_match_the_gate(labels):
    """Decisions by t and by 2,000 resamples agree, except for p-values close to the level."""
    scores, rng = population(pilot(ahead=0.3)), np.random.default_rng(labels)
    tables = [draw_table(scores, rng, labels) for _ in range(20)]
    plain = [passes_by_t(table) for table in tables]
    gates = [passes(table, seed) for seed, table in enumerate(tables)]
    assert 0 < np.mean(gates) < 1
    assert np.mean(np.array(plain) != gates) <= 0.05


@pytest.mark.slow
def test_required_labels_reach_the_requested_power():
    """Run complete gates at the reported number of labels."""
    corrections = pilot()
    size = label_need(corrections).required_labels(0.8, 398)
    scores, rng = population(corrections), np.random.default_rng(11)
    gates = [passes(draw_table(scores, rng, size), seed) for seed in range(40)]
    assert np.mean(gates) == pytest.approx(0.8, abs=2.5 * np.sqrt(0.16 / 40))


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (60, {}),
        *(
            pytest.param(labels, options, marks=pytest.mark.slow)
            for labels, options in (
                (35, {}),
                (105, {}),
                (20, {"ahead": 0.5}),
                (90, {"noise": 3.0}),
                (100, {"ahead": 0.15, "n": 300}),
                (200, {"ahead": 0.15, "n": 300}),
            )
        ),
    ],
)
def test_power_matches_simulated_tables(labels, options):
    corrections, tables = pilot(**options), 600
    scores, rng = population(corrections), np.random.default_rng(labels)
    share = np.mean([passes_by_t(draw_table(scores, rng, labels)) for _ in range(tables)])
    assert 0.3 < share < 0.98
    assert label_need(corrections).power(labels) == pytest.approx(
        share, abs=0.03 + 3 * np.sqrt(0.16 / tables)
    )


def test_power_without_a_judge_matches_simulated_tables():
    """Without a judge, the share of passing tables equals the power of the closed form."""
    corrections = pilot()
    alone = LabelNeed.from_pilot(
        *(replace(correction, judge_weight=0.0) for correction in corrections),
        boundary=0.0,
        level=0.05,
    )
    size = replace(alone, effect=label_need(corrections).effect).required_labels(0.8)
    human, judge = population(corrections)
    rng, tables = np.random.default_rng(3), 400
    share = np.mean([passes_by_t(draw_table((human, 0 * judge), rng, size)) for _ in range(tables)])
    assert share == pytest.approx(0.8, abs=0.02 + 3 * np.sqrt(0.16 / tables))


@pytest.mark.parametrize("labels", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (40, 300))])
def test_variance_of_the_difference_matches_simulation(labels):
    corrections = pilot()
    need, scores, rng = label_need(corrections), population(corrections), np.random.default_rng(labels)
    means = [[correction.mean for correction in draw_table(scores, rng, labels)] for _ in range(800)]
    differences = np.subtract(*np.transpose(means))
    variance = (need.variance - need.gain) / labels + need.gain / need.samples
    assert np.var(differences) == pytest.approx(variance, rel=0.15)
    assert need.effect == pytest.approx(corrections[0].mean - corrections[1].mean)
    assert differences.mean() == pytest.approx(need.effect, abs=4 * np.std(differences) / np.sqrt(800))


def test_labels_of_the_normal_approximation():
    """For many labels the number is (c + z)² times the variance over the squared effect."""
    need = LabelNeed(effect=0.02, variance=1.0, gain=0.6, judge_variance=0.6, samples=1e9, level=0.05)
    both = ndtri(0.975) + ndtri(0.8)
    assert need.required_labels(0.8) == pytest.approx(0.4 * (both / 0.02) ** 2, rel=1e-3)
    assert replace(need, gain=0.0, judge_variance=0.0).required_labels(0.8) == pytest.approx(
        (both / 0.02) ** 2, rel=1e-3
    )
    few = replace(need, samples=50_000.0)
    assert few.power(10_000) == pytest.approx(
        ndtr(0.02 / np.sqrt(0.4 / 10_000 + 0.6 / 50_000) - ndtri(0.975)), abs=1e-3
    )
    assert replace(need, samples=20_000.0).required_labels(0.99, 19_998) is None


def test_labels_of_all_samples_are_as_good_as_labels_alone():
    """If all samples have labels, the judge has no effect on the variance or the degrees of freedom."""
    need = LabelNeed(effect=0.1, variance=1.0, gain=0.6, judge_variance=0.5, samples=300.0, level=0.05)
    alone = replace(need, gain=0.0, judge_variance=0.0)
    assert need.power(299) == pytest.approx(alone.power(299), abs=0.003)
    assert need.power(400) == alone.power(400)


def test_zero_effect_has_no_required_size():
    assert label_need(pilot(), effect=-0.1).required_labels(0.8) is None
    same = Correction.fit(np.tile([1.0, 2.0], 20), np.tile([1.0, 2.0], 100))
    need = label_need([same, same])
    assert (need.effect, need.variance, need.power(20)) == (0.0, 0.0, 0.0)
    assert need.required_labels(0.8) is None


def test_constant_scores():
    need = LabelNeed(effect=0.5, variance=0.0, gain=0.0, judge_variance=0.0, samples=100.0, level=0.05)
    assert need.required_labels(0.8) == 20
