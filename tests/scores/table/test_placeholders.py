"""Scores that are placeholders for missing ones are detected; genuine scores are not."""

import numpy as np
import pytest

from riskrank.scores.table.placeholders import detect_placeholder


def truth(seed, share, k=3, n=600, hardness=1.0):
    """Return binary scores of k models on samples of varying difficulty, and their latent values."""
    rng = np.random.default_rng(seed)
    difficulty = hardness * rng.normal(size=n)
    latent = difficulty + rng.normal(size=(k, n)) + np.linspace(-0.3, 0.3, k)[:, None]
    return (latent > np.quantile(latent, 1 - share)).astype(float), latent


def judge(human, latent, kind, seed=0):
    """Return scores of a judge that is good, generous, useless, inverted, or biased towards a model."""
    rng = np.random.default_rng([seed, 1])
    if kind == "fond":  # on a scale of its own
        return 50 + 10 * latent + 7 * rng.normal(size=human.shape) + 15 * np.arange(len(human))[:, None]
    chance = {"good": (0.1, 0.9), "generous": (0.7, 0.97), "useless": (0.6, 0.6), "turned": (0.9, 0.1)}[kind]
    return (rng.random(human.shape) < np.where(human == 1, chance[1], chance[0])).astype(float)


@pytest.mark.parametrize("kind", ["good", "generous", "useless", "turned", "fond"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_genuine_zeros_are_not_placeholders(kind, share):
    """Most samples are zero for all models, with any judge."""
    blank = []
    for seed in range(20):
        human, latent = truth(seed, share, hardness=3.0)
        blank.append(np.mean((human == 0).all(axis=0)))
        assert detect_placeholder(human, judge(human, latent, kind, seed)) is None
    assert min(blank) >= 0.5


@pytest.mark.parametrize(("kind", "share"), [("good", 0.5), ("good", 0.8), ("fond", 0.8)])
def test_unreviewed_zeros_are_detected(kind, share):
    for seed in range(10):
        human, latent = truth(seed, share)
        scores = judge(human, latent, kind, seed)
        human[:, 150:] = 0
        result = detect_placeholder(human, scores)
        assert result is not None
        assert result.value == 0
        assert result.samples == int((human == 0).all(axis=0).sum())


@pytest.mark.parametrize("value", [0.0, -1.0, 99.0])
@pytest.mark.parametrize("noise", [0.5, 50.0])
def test_unused_value_is_detected_with_any_judge(value, noise):
    """On a scale of 1 to 5; the second judge is uninformative."""
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, (2, 400)).astype(float)
    scores = human + noise * rng.normal(size=human.shape)
    human[:, 120:] = value
    result = detect_placeholder(human, scores)
    assert result is not None
    assert (result.value, result.samples) == (value, 280)


def test_two_copies_of_a_model_have_no_placeholder():
    """All zeros are shared by both copies."""
    human, latent = truth(0, 0.3, k=1)
    scores = np.tile(judge(human, latent, "useless"), (2, 1))
    assert detect_placeholder(np.tile(human, (2, 1)), scores) is None


def test_uninformative_labels_have_no_placeholder():
    zeros = np.zeros((2, 50))
    assert detect_placeholder(zeros, zeros) is None
    assert detect_placeholder(np.empty((2, 0)), np.empty((2, 0))) is None
    distinct = zeros.copy()
    distinct[:, :4] = [1, 2, 3, 4]
    assert detect_placeholder(distinct, zeros) is None
    same = np.tile([0.0, 0.0, 1.0], (2, 100))
    same[0, ::6] = 1
    assert detect_placeholder(same, same) is None
