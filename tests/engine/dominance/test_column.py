import numpy as np
import pytest

from riskrank.engine.dominance.column import Inference, method_name, study_dominance, study_ranking
from riskrank.engine.dominance.tests import Claim
from riskrank.engine.dominance.win_rate import beaten_on_sample, best_on_sample, model_win_rate
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import InputError

CLAIMS = (Claim(1), Claim(2), Claim(1, 0.25), Claim(2, 0.25))


def fat_tailed_field(n=400):
    """Four steady models, and one with the second-best mean that fails badly now and then."""
    rng = np.random.default_rng(0)
    steady = [rng.normal(mean, 0.3, size=n) for mean in (1.0, 0.6, 0.4, 0.2)]
    gambler = np.where(np.arange(n) % 10 == 0, -6.0, 1.5) + rng.normal(0, 0.1, size=n)
    return ClusteredScores.build([*steady, gambler])


def test_method_names_are_those_of_the_paper():
    assert [method_name(claim) for claim in CLAIMS] == ["R-FSD", "R-SSD", "FSD(0.25)", "SSD(0.25)"]


def test_one_study_holds_every_method():
    scores = fat_tailed_field()
    study = study_ranking(scores, CLAIMS, Inference(resamples=100))
    assert list(study.rankings) == [
        "R-FSD", "R-SSD", "FSD(0.25)", "SSD(0.25)", "MWR", "MWR(sample)", "MWR(pairwise)",
    ]  # fmt: skip
    table = np.stack(scores.values)
    rates = study.rankings
    np.testing.assert_allclose(rates["MWR"].score, model_win_rate(table.mean(axis=1)))
    np.testing.assert_allclose(rates["MWR(sample)"].score, best_on_sample(table).mean(axis=1))
    np.testing.assert_allclose(rates["MWR(pairwise)"].score, beaten_on_sample(table).mean(axis=1))


def test_the_model_with_the_fat_bad_tail_is_named():
    study = study_ranking(fat_tailed_field(), CLAIMS, Inference(resamples=400))
    assert study.rankings["MWR"].rank[4] == 2
    assert study.rankings["R-SSD"].rank[4] >= 4
    assert study.hidden_risks.tolist() == [4]


def test_unpaired_models_have_no_sample_level_win_rates():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(size=30), rng.normal(size=40)], paired=False)
    assert "MWR(sample)" not in study_ranking(scores, CLAIMS, Inference(resamples=50)).rankings


def test_too_few_samples_are_refused_unless_no_test_is_wanted():
    scores = ClusteredScores.build([np.arange(5.0), np.arange(5.0) + 1])
    with pytest.raises(InputError, match="at least 10"):
        study_dominance(scores, CLAIMS, Inference(resamples=50))
    study = study_dominance(scores, CLAIMS, Inference(test=False))
    assert study.replicates is None
    assert study.tests[0].p_value is None
    assert study.tests[0].dominates[1, 0]


def test_advice_names_what_a_reader_must_know():
    rng = np.random.default_rng(0)
    few = ClusteredScores.build([rng.normal(i, 1, size=20) for i in range(5)])
    assert "too few" in " ".join(study_dominance(few, CLAIMS, Inference(resamples=100)).advice)
    advice = " ".join(study_dominance(few, CLAIMS, Inference(resamples=400, alpha=0.01)).advice)
    assert "only 20 samples" in advice
    assert "extrapolated" in advice
    assert "--resamples" in advice
    assert "paper" in " ".join(
        study_dominance(few, CLAIMS, Inference(resamples=100, paper_exact=True)).advice
    )
    many = ClusteredScores.build([rng.normal(size=50), rng.normal(size=50)])
    assert study_dominance(many, CLAIMS, Inference(resamples=100)).advice == ()
