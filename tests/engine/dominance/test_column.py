import re

import numpy as np
import pytest
from scipy.stats import norm, t

from riskrank.engine.dominance.column_ranking import is_best_on_sample, model_win_rate, per_sample_win_rate
from riskrank.engine.dominance.column_tests import study_columns, study_dominance
from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.inference import Claim, ColumnClaims, Inference
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import InputError
from tests.engine.dominance.helpers import study_ranking

CLAIMS = (Claim(1), Claim(2), Claim(1, "absolute", 0.25), Claim(2, "absolute", 0.25))
KINDS = ("relative", "direct")


def fat_tailed_field(n=400):
    """Return four stable models, and one with the second-best mean that sometimes fails badly."""
    rng = np.random.default_rng(0)
    steady = [rng.normal(mean, 0.3, size=n) for mean in (1.0, 0.6, 0.4, 0.2)]
    gambler = np.where(np.arange(n) % 10 == 0, -6.0, 1.5) + rng.normal(0, 0.1, size=n)
    return ClusteredScores.build([*steady, gambler])


def chat_models(k=9, n=1013):
    """Return binary scores; the first model is better than the last on 872 tasks and worse on 20."""
    rng = np.random.default_rng(5)
    best, worst = np.ones(n), np.ones(n)
    worst[:872], best[872:892] = 0, 0
    between = (rng.random((k - 2, n)) < np.linspace(0.9, 0.3, k - 2)[:, None]).astype(float)
    return ClusteredScores.build([best, *between, worst])


def test_method_names_are_those_of_the_paper():
    assert [claim.method for claim in CLAIMS] == ["R-FSD", "R-SSD", "FSD(0.25)", "SSD(0.25)"]


def test_study_contains_every_method():
    scores = fat_tailed_field()
    study = study_ranking(scores, CLAIMS, Inference(resamples=100))
    assert list(study.rankings) == [
        "R-FSD", "R-SSD", "FSD(0.25)", "SSD(0.25)", "MWR", "MWR(sample)", "MWR(pairwise)",
    ]  # fmt: skip
    table = np.stack(scores.values)
    rates = study.rankings
    np.testing.assert_allclose(rates["MWR"].score, model_win_rate(table.mean(axis=1)))
    np.testing.assert_allclose(rates["MWR(sample)"].score, is_best_on_sample(table).mean(axis=1))
    np.testing.assert_allclose(rates["MWR(pairwise)"].score, per_sample_win_rate(table).mean(axis=1))


def test_the_model_with_the_fat_bad_tail_is_named():
    study = study_ranking(fat_tailed_field(), CLAIMS, Inference())
    assert study.rankings["MWR"].rank[4] == 2
    assert study.rankings["R-SSD"].rank[4] >= 4
    assert np.flatnonzero(study.hidden_risks.status == RISK).tolist() == [4]
    leader = study.rankings["R-SSD"].order[0]
    effects = study.effects["R-SSD"]
    assert effects.leader == leader
    np.testing.assert_allclose(effects.mean_difference.estimate, effects.mean - effects.mean[leader])
    counted = study.separations["R-SSD"]
    assert counted.pairs == 10
    assert counted.separated == np.count_nonzero(
        np.triu(study.tests_for("R-SSD").dominates | study.tests_for("R-SSD").dominates.T, 1)
    )
    assert study.tests_for("MWR") is None


def test_unpaired_models_have_no_sample_level_win_rates():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(size=30), rng.normal(size=40)], paired=False)
    assert "MWR(sample)" not in study_ranking(scores, CLAIMS, Inference(resamples=50)).rankings


def test_win_rates_alone_need_no_claim():
    study = study_ranking(fat_tailed_field(60), (), Inference(resamples=60))
    assert list(study.rankings) == ["MWR", "MWR(sample)", "MWR(pairwise)"]
    assert study.dominance.resamples == 60


def test_too_few_samples_are_refused_unless_tests_are_off():
    scores = ClusteredScores.build([np.arange(5.0), np.arange(5.0) + 1])
    with pytest.raises(InputError, match="at least 10"):
        study_dominance(scores, CLAIMS, Inference(resamples=50))
    study = study_dominance(scores, CLAIMS, Inference(test=False))
    assert study.replicates is study.resamples is None
    assert study.tests[0].p_value is None
    assert study.tests[0].dominates[1, 0]
    assert study.tests[0].decided.all()


def test_advice_reports_few_samples_and_undecided_claims():
    rng = np.random.default_rng(0)
    few = ClusteredScores.build([rng.normal(3 * i, 1, size=20) for i in range(5)])
    study = study_dominance(few, [Claim(1, "direct")], Inference(resamples=100))
    advice = " ".join(study.advice)
    assert "only 20 samples" in advice
    assert (
        f"{np.count_nonzero(~study.tests[0].decided)} of 20 claims are not decided, because 100 resamples"
        in advice
    )
    assert "paper" in " ".join(
        study_dominance(few, CLAIMS, Inference(resamples=100, paper_exact=True)).advice
    )
    many = ClusteredScores.build([rng.normal(size=50), rng.normal(size=50)])
    assert study_dominance(many, CLAIMS, Inference()).advice == ()


def test_paper_rule_uses_the_family_level():
    draws = np.random.default_rng(1).normal([[0.1], [0.0], [0.02]], 1, size=(3, 30))
    scores = ClusteredScores.build(list(draws))

    def tests(alpha):
        how = Inference(resamples=100, paper_exact=True, family=Family(alpha=alpha))
        return study_dominance(scores, [Claim(2, "absolute", 0.45)], how).tests[0]

    p = min(p_value for p_value in np.ravel(tests(0.05).p_adjusted) if 0.01 < p_value < 0.9)
    for alpha, significant in ((p * 1.01, True), (p * 0.99, False)):
        result = tests(alpha)
        assert result.dominates[result.p_adjusted == p].tolist() == [significant]


def test_advised_resamples_decide_every_claim():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(3 * i, 1, size=40) for i in range(5)])
    claim = [Claim(1, "direct")]
    study = study_dominance(scores, claim, Inference(resamples=100))
    needed = int(study.tests[0].resamples_needed.max())
    assert study_dominance(scores, claim, Inference(resamples=needed)).tests[0].decided.all()
    # The suggested number is rounded up to two significant digits.
    advised = int(re.search(r"resamples[^\d-]+(-?\d+)\D* would decide", " ".join(study.advice))[1])
    assert needed <= advised < 1.1 * needed
    assert set(str(advised)[2:]) <= {"0"}


@pytest.mark.parametrize(
    ("company", "seed"),
    [(2, 0), (2, 1), (3, 0), *(pytest.param(9, seed, marks=pytest.mark.slow) for seed in (0, 1))],
)
def test_872_against_20_is_significant_for_any_field_and_seed(company, seed):
    claims = [Claim(1, kind) for kind in KINDS]
    study = study_dominance(chat_models(company), claims, Inference(seed=seed))
    for tests in study.tests:
        assert tests.dominates[0, company - 1]
        assert not tests.dominates[company - 1, 0]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_872_against_20_is_significant_at_the_work_limit(seed):
    study = study_dominance(chat_models(24), [Claim(2)], Inference(resamples=400, seed=seed))
    (tests,) = study.tests
    assert tests.dominates[0, 23]
    assert tests.extrapolated[0, 23]
    assert not tests.dominates[23].any()


def test_rounds_stop_when_every_claim_is_closed():
    rng = np.random.default_rng(0)
    equal = ClusteredScores.build(list(rng.normal(size=(8, 60))))
    study = study_dominance(equal, [Claim(1), Claim(2)], Inference())
    assert study.resamples == 1000
    assert not any(tests.dominates.any() for tests in study.tests)
    shifted = ClusteredScores.build([*rng.normal(size=(7, 60)), rng.normal(0.8, 1, size=60)])
    study = study_dominance(shifted, [Claim(1, "direct")], Inference())
    assert study.resamples > 1000
    assert set(np.unique(study.tests[0].resamples)) <= {0, 1000, 4150, 10350}


def test_columns_stop_independently_and_match_single_studies():
    rng = np.random.default_rng(0)
    equal = ClusteredScores.build(list(rng.normal(size=(8, 60))))
    shifted = ClusteredScores.build([*rng.normal(size=(7, 60)), rng.normal(0.8, 1, size=60)])
    claims = (Claim(1, "direct"),)
    both = study_columns([ColumnClaims(equal, claims), ColumnClaims(shifted, claims)], Inference())
    alone = study_dominance(shifted, claims, Inference())
    assert both[0].resamples < both[1].resamples == alone.resamples
    for name in ("p_value", "p_adjusted", "resamples", "decided"):
        np.testing.assert_array_equal(getattr(both[1].tests[0], name), getattr(alone.tests[0], name))


@pytest.mark.slow
def test_any_number_of_jobs_gives_the_same_verdicts(monkeypatch):
    monkeypatch.setattr("riskrank.engine.dominance.bootstrap._PROCESS_THRESHOLD", 0)
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([*rng.normal(size=(4, 60)), rng.normal(0.8, 1, size=60)])
    serial, parallel = (study_dominance(scores, CLAIMS, Inference(jobs=jobs)) for jobs in (1, 2))
    for a, b in zip(serial.tests, parallel.tests, strict=True):
        for name in ("p_value", "p_adjusted", "standard_error", "crossings", "resamples"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.slow
def test_the_limit_of_work_leaves_claims_undecided():
    scores = chat_models(8)
    claim = [Claim(1, "direct")]
    study = study_dominance(scores, claim, Inference(work_limit=1.0))
    assert study.resamples == 1000
    assert not study.tests[0].decided[0, 7]
    assert study_dominance(scores, claim, Inference()).tests[0].decided.all()


def test_gate_is_a_separate_family():
    scores = chat_models()
    study = study_dominance(scores, [Claim(1, "direct")], Inference(), pairs=[(0, 8)])
    assert study.tests[0].family == 1
    assert study.resamples == 1000
    assert study.tests[0].dominates.sum() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_theorem_decides_everything(kind):
    scores = chat_models(4, 200)
    study = study_dominance(scores, [Claim(1, kind), Claim(2, kind)], Inference(variance="clt"))
    assert study.resamples is None
    assert all(tests.decided.all() for tests in study.tests)
    some = study_dominance(scores, [Claim(1, kind)], Inference(variance="clt"), pairs=[(0, 3), (3, 0)])
    assert some.tests[0].family == 2
    assert some.tests[0].p_value[0, 3] == study.tests[0].p_value[0, 3]


@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_a_common_offset_changes_no_verdict(offset):
    """Scores on a grid of 1/64 are exact next to an offset of 1e9, so the ratios must not change."""
    rng = np.random.default_rng(0)
    table = np.round(64 * (rng.normal([[0], [0.2], [0.5], [1]], 1, size=(4, 40)))) / 64
    claims = [Claim(order, kind) for order in (1, 2) for kind in KINDS]
    plain, other = (
        study_dominance(ClusteredScores.build(list(values)), claims, Inference())
        for values in (table, table + offset)
    )
    for before, after in zip(plain.tests, other.tests, strict=True):
        np.testing.assert_allclose(after.ratios, before.ratios, rtol=1e-12)
        np.testing.assert_array_equal(after.crossings, before.crossings)
        np.testing.assert_array_equal(after.dominates, before.dominates)
    np.testing.assert_allclose(other.replicates.means - offset, plain.replicates.means, atol=1e-6)


def test_extreme_scores_raise_no_warning():
    largest = np.finfo(float).max
    rng = np.random.default_rng(0)
    table = rng.choice([-largest, 0.0, largest], size=(3, 40), p=[0.2, 0.3, 0.5])
    draws = ClusteredScores.build(list(table), [np.arange(40) // 2] * 3)
    for variance in ("bootstrap", "clt"):
        study = study_dominance(draws, CLAIMS, Inference(resamples=100, variance=variance))
        assert np.isfinite(study.estimates.means).all()
        assert all(np.isfinite(tests.p_value).all() for tests in study.tests)


def test_undecided_pairs_report_the_resamples_needed():
    """Twelve models on twelve samples with a clear leader need more resamples than is feasible."""
    values = np.random.default_rng(0).normal(size=(12, 12))
    values[0] += 20
    study = study_dominance(ClusteredScores.build(list(values)), [Claim(1, "direct")], Inference())
    (tests,) = study.tests
    assert study.resamples <= 13_200
    assert not tests.dominates.any()
    assert not tests.decided[0, 1:].any()
    needed = tests.resamples_needed[~tests.decided]
    s = norm.cdf(np.sqrt(12 / 11) * t.ppf(0.05 / 132, 11))
    assert set(needed.tolist()) == {int(np.ceil(1 / s))}
    assert needed.min() > 1e9 / (66 * 12)


def test_model_ahead_on_all_of_few_samples_is_significant():
    """Five models on twelve samples with a clear leader: 5m/α resamples would not be enough."""
    values = np.random.default_rng(3).normal(size=(5, 12))
    values[0] += 3
    study = study_dominance(ClusteredScores.build(list(values)), [Claim(1), Claim(2)], Inference())
    assert all(tests.dominates[0, 1:].all() for tests in study.tests)
    assert study.resamples > 2000
