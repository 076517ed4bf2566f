"""Random tasks: all resamples with their probabilities, and the replacement test for few tasks."""

import itertools

import numpy as np
import pytest
from scipy.stats import ttest_rel

from riskrank.engine.dominance.bootstrap import BootstrapColumn, all_replicates
from riskrank.engine.dominance.column_ranking import rank_column
from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.ranking import weighted_violation_ratios
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import Multisets


def suite(tasks, k=2, size=6, seed=0, shift=0.3, weights=None, effect=0.3):
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(tasks), size)
    values = rng.normal(size=(k, of.size)) + effect * rng.normal(size=(k, tasks))[:, of]
    values += shift * np.arange(k)[:, None]
    design = TaskDesign.build([f"t{task}" for task in range(tasks)], [of] * k, weights=weights, random=True)
    return ClusteredScores.build([*values], tasks=design), values, of


def test_multisets_are_all_draws():
    multisets = Multisets.from_units(4)
    samples = [tuple(np.bincount(draw, minlength=4)) for draw in itertools.product(range(4), repeat=4)]
    for counts, mass in zip(multisets.counts.tolist(), multisets.probabilities, strict=True):
        assert mass == pytest.approx(samples.count(tuple(counts)) / 256)
    assert len(multisets.probabilities) == len(set(samples)) == 35
    assert multisets.probabilities.min() == pytest.approx(4**-4)
    assert np.bincount(multisets.equiprobable_rows()).tolist() == pytest.approx(256 * multisets.probabilities)
    assert len(Multisets.from_units(6).probabilities) == 462
    nine = Multisets.from_units(9)
    assert len(nine.probabilities) == 24310
    assert nine.probabilities.sum() == pytest.approx(1)
    assert len(nine.equiprobable_rows()) == 6**6


def test_replicates_against_all_draws():
    weights = np.array([3, 1, 1, 2])
    scores, values, of = suite(4, k=3, weights=weights)
    replicates = all_replicates(BootstrapColumn(scores), Multisets.from_units(4))
    assert replicates.probabilities is not None
    assert replicates.overall is not None
    ratios, means = [], []
    for draw in itertools.product(range(4), repeat=4):
        # Tasks have equal sizes, so a task with weight 3 is equivalent to three copies.
        rows = np.concatenate([np.flatnonzero(of == task) for task in draw for _ in range(weights[task])])
        ratios.append(violation_matrices([np.sort(scores_of_model[rows]) for scores_of_model in values]))
        means.append(values[:, rows].mean(axis=1))
    ratios, means = np.array(ratios), np.array(means)
    assert replicates.crossings[0] == pytest.approx((ratios >= 0.5).mean(axis=0), abs=1e-9)
    assert replicates.ratio_error == pytest.approx(ratios.std(axis=0), abs=1e-9)
    assert np.sort(replicates.means, axis=0) == pytest.approx(np.sort(means, axis=0), abs=1e-9)


def mean_p_values(scores, values, of):
    """Return the p-values of differences of macro means, which are never below those of Student's t."""
    means = np.array([np.bincount(of, row) / np.bincount(of) for row in values])
    result = PairDifferences.from_scores(scores).p_above()
    for i, j in itertools.permutations(range(len(means)), 2):
        assert result[i, j] >= ttest_rel(means[i], means[j], alternative="greater").pvalue - 1e-12
    return result


def test_two_models_on_six_tasks():
    scores, values, of = suite(6, shift=0.5)
    of_means = mean_p_values(scores, values, of)
    study = study_dominance(scores, [Claim(1), Claim(2)], Inference())
    assert study.replicates is not None
    for tests, order in zip(study.tests, (0, 1), strict=True):
        assert tests.mean_test == "alongside"
        mass = study.replicates.crossings[0, order]
        for i, j in ((0, 1), (1, 0)):
            counted = float(expanded_p_value(min(max(mass[i, j], 6**-6), 1.0), 6))
            against = 0.5 if tests.ratios[i, j] >= 0.5 else 0.0
            assert tests.p_value[i, j] == pytest.approx(max(counted, against, of_means[i, j]))
        assert tests.decided.all()


def test_four_models_on_six_tasks_are_separated_by_means():
    scores, values, of = suite(6, k=4, shift=1.0)
    study = study_dominance(scores, [Claim(2)], Inference())
    (tests,) = study.tests
    assert tests.mean_test == "instead"
    pairs = ~np.eye(4, dtype=bool)
    assert tests.p_value[pairs] == pytest.approx(mean_p_values(scores, values, of)[pairs])
    assert tests.dominates[3, 0]
    assert not tests.dominates[0, 3]
    assert "add tasks" in " ".join(study.advice)
    assert rank_column(scores, study, Inference()).rankings["R-SSD"].order[0] == 3


@pytest.mark.parametrize(
    ("tasks", "kind"),
    [
        (8, "direct"),
        (12, "relative"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((8, "relative"), (12, "direct"))),
    ],
)
def test_claims_over_random_tasks_need_agreeing_means(tasks, kind):
    """A claim over random tasks needs a significant Student's test for any number of tasks (method §8)."""
    scores, values, of = suite(tasks, k=4, shift=0.0, effect=0.3)
    (tests,) = study_dominance(scores, [Claim(2, kind)], Inference()).tests
    means = np.array(
        [[scores_of_model[of == task].mean() for task in range(tasks)] for scores_of_model in values]
    )
    of_means = ttest_rel(means[:, None], means[None], axis=-1, alternative="greater").pvalue
    off = ~np.eye(4, dtype=bool)
    assert tests.p_value is not None
    assert np.all(tests.p_value[off] >= of_means[off] - 1e-12)
    assert tests.mean_test == "alongside"
    (absolute,) = study_dominance(scores, [Claim(2, "absolute", 0.25)], Inference()).tests
    assert absolute.mean_test == ""


def test_significant_claim_is_decided():
    scores, _, _ = suite(6, shift=3.0, effect=0.0)
    (tests,) = study_dominance(scores, [Claim(2, "direct")], Inference(), pairs=[(1, 0)]).tests
    assert tests.dominates[1, 0]
    assert tests.decided.all()


def test_direct_claims_beyond_the_rarest_resample_are_undecided():
    scores, _, _ = suite(6, k=4, shift=1.5, effect=0.0)
    study = study_dominance(scores, [Claim(2, "direct")], Inference())
    (tests,) = study.tests
    assert not tests.dominates.any()
    assert not tests.decided[3, 0]
    assert tests.decided[0, 3]
    assert "; add tasks" in " ".join(study.advice)


def test_many_tasks_are_resampled():
    scores, _, _ = suite(14, shift=0.8)
    study = study_dominance(scores, [Claim(2)], Inference())
    assert study.replicates is not None
    assert study.replicates.probabilities is None
    (tests,) = study.tests
    assert tests.dominates[1, 0]
    assert study.estimates.ratios == pytest.approx(weighted_violation_ratios(scores))


def test_unequal_task_weights_reduce_the_effective_sample_size():
    of = np.repeat([0, 1], [10, 200])
    values = np.random.default_rng(0).normal(size=(2, 210))
    scores = ClusteredScores.build([*values], tasks=TaskDesign.build("ab", [of] * 2, weights=[9, 1]))
    study = study_dominance(scores, [Claim(2)], Inference())
    assert "210 samples, weighted by task, have an effective sample size of 12" in study.advice[0]
