"""Plans from a pilot and from named distributions."""

import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import Inference, study_dominance
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.family import Family
from riskrank.engine.power.planning import (
    FAMILIES,
    parse_distribution,
    plan_from_distributions,
    plan_from_pilot,
)
from riskrank.engine.power.study import study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import InputError, UsageError

CLT = Inference(variance="clt", family=Family(correction="none", sides=1))


def named(*texts):
    return [parse_distribution(text) for text in texts]


def pilot(gap=0.5, n=60, *, noise=1.0, paired=True):
    rng = np.random.default_rng(3)
    shared = rng.normal(size=n)
    values = [shared + gap + noise * rng.normal(size=n), shared + noise * rng.normal(size=n)]
    return ClusteredScores.build(values, paired=paired)


def estimated_power(plan, size, repeats=60):
    return study_power(plan, [size], limit=size, repeats=repeats).curve.power[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim", [Claim(1), Claim(2), Claim(1, "absolute", 0.25), Claim(2, "absolute", 0.25)]
)
def test_power_of_separated_and_equal_models(claim):
    separated = plan_from_distributions(named("normal:6", "normal"), claim, CLT)
    assert estimated_power(separated, 30, repeats=40) == 1
    same = plan_from_distributions(named("normal", "normal"), claim, CLT, pair=(1, 0))
    assert estimated_power(same, 60) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
def test_power_matches_simulated_data_sets():
    plan = plan_from_distributions(named("normal:0.5,1", "normal:0.2,1", "normal"), Claim(2), CLT)
    assert plan.pairs == ((0, 1), (0, 2), (1, 2))
    curve = study_power(plan, [80], limit=80, repeats=80).curve
    rng = np.random.default_rng(99)
    verdicts = []
    for _ in range(80):
        scores = ClusteredScores.build([rng.normal(mean, 1, 80) for mean in (0.5, 0.2, 0)], paired=False)
        dominates = study_dominance(scores, [Claim(2)], CLT).tests[0].dominates
        verdicts.append([dominates[pair] for pair in plan.pairs])
    expected, error = np.mean(verdicts, axis=0), curve.standard_error[0, :-1]
    assert 0.2 < expected[0] < 0.6 < expected[1] < 0.9
    assert np.all(np.abs(curve.power[0, :-1] - expected) < 4 * np.sqrt(2) * error)
    assert curve.power[0, -1] == pytest.approx(np.mean(np.all(verdicts, axis=1)), abs=0.15)


@pytest.mark.slow
def test_pairing_of_the_pilot_is_preserved():
    pilots = {paired: pilot(0.15, noise=0.1, paired=paired) for paired in (True, False)}
    power = {
        paired: estimated_power(plan_from_pilot(scores, Claim(2), CLT, pair=(0, 1)), 60)
        for paired, scores in pilots.items()
    }
    assert power[True] > 0.9
    assert power[False] < 0.5


@pytest.mark.slow
def test_repeats_of_a_sample_are_resampled_together():
    # Five equal repeats per sample add no information.
    single = pilot(0.8, paired=True)
    many = ClusteredScores.build(
        [np.repeat(value, 5) for value in single.values], [np.repeat(np.arange(60), 5)] * 2, paired=True
    )
    plans = [plan_from_pilot(scores, Claim(2), CLT, pair=(0, 1)) for scores in (single, many)]
    powers = [estimated_power(plan, 50) for plan in plans]
    assert 0.1 < powers[0] < 0.9
    assert powers[0] == pytest.approx(powers[1], abs=0.02)


def test_sample_order_matches_dominance():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(gap, 1, 80) for gap in (0.1, 0.0, 0.9)], paired=True)
    inference = Inference(resamples=40, seed=5)
    plan = plan_from_pilot(scores, Claim(2), inference)
    result = study_dominance(scores, [Claim(2)], Inference(resamples=1000, seed=5)).tests[0].dominates
    assert set(plan.pairs) == set(zip(*map(np.ndarray.tolist, np.nonzero(result)), strict=True))
    assert set(plan.pairs) == {(2, 0), (2, 1)}


def test_distributions_have_the_published_ratios():
    """Check the ratios of N(0.5, sd 2) over N(0, 1) in method §3."""
    for order, ratio in ((1, 0.16771), (2, 0.44473)):
        plan = plan_from_distributions(named("normal:0.5,2", "normal:0,1"), Claim(order), CLT)
        assert plan.reference.ratios[0, 1] == pytest.approx(ratio, abs=2e-5)


def test_unattainable_claims_are_not_searched():
    plan = plan_from_distributions(named("normal:0", "normal:1"), Claim(2), CLT)
    assert plan.unattainable_pairs == ((0, 1),)
    study = study_power(plan, [50, 100], repeats=20)
    assert study.size is None
    assert study.full_curve.sizes.tolist() == [50, 100]
    assert study.curve.power.max() == 0


@pytest.mark.slow
def test_progress_counts_the_resamples_of_every_data_set():
    plan = plan_from_distributions(named("normal:0.5", "normal"), Claim(2), Inference(resamples=100))
    seen = []
    study = study_power(plan, [50, 100], repeats=12, progress=lambda *numbers: seen.append(numbers))
    assert seen[-1] == (100 * study.agreement.tables,) * 2
    assert seen == sorted(seen)
    assert {planned for _, planned in seen} == {1000}


def test_a_pilot_of_few_samples_is_refused():
    with pytest.raises(InputError, match="at least 10 samples"):
        plan_from_pilot(pilot(n=8), Claim(2), CLT, pair=(0, 1))


MEAN_AND_SD = {
    "normal:0.5,2": (0.5, 2.0),
    "normal": (0.0, 1.0),
    "lognormal:0.1,0.5": (np.exp(0.1 + 0.125), np.exp(0.225) * np.sqrt(np.exp(0.25) - 1)),
    "beta:2,6": (0.25, np.sqrt(2 * 6 / (64 * 9))),
    "bernoulli:0.3": (0.3, np.sqrt(0.21)),
}


DRAWS = {
    "normal": lambda rng, n, mean, sd: rng.normal(mean, sd, n),
    "lognormal": lambda rng, n, mu, sigma: rng.lognormal(mu, sigma, n),
    "beta": lambda rng, n, a, b: rng.beta(a, b, n),
}


@pytest.mark.parametrize("text", MEAN_AND_SD)
def test_moments_match_theory(text):
    n = 200_000
    values = parse_distribution(text).quantile((np.arange(n) + 0.5) / n)
    mean, sd = MEAN_AND_SD[text]
    assert values.shape == (n,)
    assert values.mean() == pytest.approx(mean, abs=1e-4)
    assert values.std() == pytest.approx(sd, rel=1e-3)


@pytest.mark.parametrize("text", [text for text in MEAN_AND_SD if not text.startswith("bernoulli")])
def test_quantiles_match_samples(text):
    distribution = parse_distribution(text)
    levels = np.array([0.05, 0.3, 0.5, 0.9])
    draws = DRAWS[distribution.name](np.random.default_rng(1), 200_000, *distribution.parameters)
    shares = (draws <= distribution.quantile(levels)[:, None]).mean(axis=1)
    assert shares == pytest.approx(levels, abs=5 * 0.5 / np.sqrt(200_000))


def test_quantiles_of_bernoulli_scores():
    distribution = parse_distribution("bernoulli:0.3")
    assert distribution.quantile(np.array([0.1, 0.69, 0.71, 0.99])).tolist() == [0, 0, 1, 1]


def test_all_families_are_covered():
    assert {text.partition(":")[0] for text in MEAN_AND_SD} == set(FAMILIES)


def test_round_trip_of_distribution_text():
    for text in MEAN_AND_SD:
        distribution = parse_distribution(text)
        assert parse_distribution(str(distribution)) == distribution
    assert str(parse_distribution(" Normal:1 ")) == "normal:1,1"


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("norml:0,1", "unknown distribution", "did you mean normal"),
        ("weibull:2", "unknown distribution", "choose among"),
        ("", "unknown distribution", "choose among"),
        ("normal:0,1,2", "wrong number", "normal:mean,sd"),
        ("beta:2", "wrong number", "beta:a,b"),
        ("bernoulli", "wrong number", "bernoulli:p"),
        ("normal:0,-1", "sd of", "normal:mean,sd"),
        ("beta:0,1", "a of", "beta:a,b"),
        ("normal:0;1", "not a number", "commas"),
        ("normal:nan,1", "not a number", "commas"),
        ("normal:0,inf", "not a number", "commas"),
        ("normal:0,", "not a number", "commas"),
    ],
)
def test_bad_input(text, problem, hint):
    with pytest.raises(UsageError, match=problem) as caught:
        parse_distribution(text)
    assert hint in caught.value.hint
