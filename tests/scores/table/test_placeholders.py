"""Scores that stand for none: found where they do, and not where people mean them."""

import numpy as np
import pytest

from riskrank.scores.table.placeholders import placeholder


def truth(seed, share, k=3, n=600, hardness=1.0):
    """Zeros and ones of k models on samples that are hard for all, or easy, and what they come from."""
    draws = np.random.default_rng(seed)
    shared = hardness * draws.normal(size=n)
    latent = shared + draws.normal(size=(k, n)) + np.linspace(-0.3, 0.3, k)[:, None]
    return (latent > np.quantile(latent, 1 - share)).astype(float), latent


def judge(human, latent, kind, seed=0):
    """A judge of zeros and ones that is good, generous, useless, the wrong way round, or fond of a model."""
    draws = np.random.default_rng([seed, 1])
    if kind == "fond":  # on a scale of its own
        return 50 + 10 * latent + 7 * draws.normal(size=human.shape) + 15 * np.arange(len(human))[:, None]
    chance = {"good": (0.1, 0.9), "generous": (0.7, 0.97), "useless": (0.6, 0.6), "turned": (0.9, 0.1)}[kind]
    return (draws.random(human.shape) < np.where(human == 1, chance[1], chance[0])).astype(float)


@pytest.mark.parametrize("kind", ["good", "generous", "useless", "turned", "fond"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_honest_zeros_are_no_placeholders(kind, share):
    """Most samples are zeros of all models, whatever the judge makes of them."""
    blank = []
    for seed in range(20):
        human, latent = truth(seed, share, hardness=3.0)
        blank.append(np.mean((human == 0).all(axis=0)))
        assert placeholder(human, judge(human, latent, kind, seed)) is None
    assert min(blank) >= 0.5


@pytest.mark.parametrize(("kind", "share"), [("good", 0.5), ("good", 0.8), ("fond", 0.8)])
def test_zeros_where_nobody_looked_are_found(kind, share):
    for seed in range(10):
        human, latent = truth(seed, share)
        scores = judge(human, latent, kind, seed)
        human[:, 150:] = 0
        found = placeholder(human, scores)
        assert found is not None
        assert found.value == 0
        assert found.samples == int((human == 0).all(axis=0).sum())


@pytest.mark.parametrize("value", [0.0, -1.0, 99.0])
@pytest.mark.parametrize("noise", [0.5, 50.0])
def test_a_score_nobody_gave_otherwise_is_found_with_any_judge(value, noise):
    """On a scale of 1 to 5; the second judge knows nothing."""
    draws = np.random.default_rng(0)
    human = draws.integers(1, 6, (2, 400)).astype(float)
    scores = human + noise * draws.normal(size=human.shape)
    human[:, 120:] = value
    found = placeholder(human, scores)
    assert found is not None
    assert (found.value, found.samples) == (value, 280)


def test_two_copies_of_a_model_have_no_placeholder():
    """All their zeros are zeros of both."""
    human, latent = truth(0, 0.3, k=1)
    scores = np.tile(judge(human, latent, "useless"), (2, 1))
    assert placeholder(np.tile(human, (2, 1)), scores) is None


def test_what_tells_nothing_is_none():
    zeros = np.zeros((2, 50))
    assert placeholder(zeros, zeros) is None
    assert placeholder(np.empty((2, 0)), np.empty((2, 0))) is None
    few = zeros.copy()
    few[:, :4] = [1, 2, 3, 4]
    assert placeholder(few, zeros) is None
    same = np.tile([0.0, 0.0, 1.0], (2, 100))
    same[0, ::6] = 1
    assert placeholder(same, same) is None
