"""Named distributions: parsing, quantiles, and refusals."""

import numpy as np
import pytest

from riskrank.engine.power.planning import FAMILIES, parse_distribution
from riskrank.errors import UsageError

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
