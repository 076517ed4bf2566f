"""Strengths of models from votes: closed forms, and numbers computed with statsmodels."""

import numpy as np
import pytest
from scipy.special import expit

from riskrank.engine.evidence.bradley_terry import fit_strengths
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores

# Strengths of models 1 to 3 minus that of model 0, and the advantage of the first position, by statsmodels.
PARAMETERS = [0.500069645254, 0.276772480028, -0.111575948103, 0.604065810325]
ERRORS = [0.446728548933, 0.436089485103, 0.430279282778, 0.2495106018]
CLUSTERED_ERRORS = [0.34779347276, 0.388534848689, 0.349059360662, 0.423714326759]


def test_two_models_equal_the_share_of_wins():
    outcome = np.array([1.0] * 12 + [0.0] * 5 + [0.5] * 3)
    fit = fit_strengths(np.zeros(20, int), np.ones(20, int), outcome, 2)
    share = outcome.mean()
    assert expit(fit.strength[0] - fit.strength[1]) == pytest.approx(share, abs=1e-12)
    # The delta method: the variance of the share, divided by the squared slope of the logistic function.
    error = np.sqrt(((outcome - share) ** 2).sum()) / 20 / (share * (1 - share))
    influence = fit.influence[:, 0] - fit.influence[:, 1]
    assert np.sqrt((influence**2).sum()) == pytest.approx(error, abs=1e-12)
    assert fit.strength.sum() == pytest.approx(0, abs=1e-12)


def table_of_votes():
    """Return sixty votes on four models, in both orders, with ties."""
    at = np.arange(60)
    outcome = np.array([1, 0, 0.5, 1, 1, 0, 1])[(at * 5 + at // 7) % 7]
    return at % 4, (at % 4 + 1 + at // 4 % 3) % 4, outcome


def test_strengths_and_standard_errors_match_statsmodels():
    """GLM(outcome, differences and a constant, family=Binomial()), with cov_type HC0 and cluster."""
    fit = fit_strengths(*table_of_votes(), 4, position=True)
    assert fit.strength[1:] - fit.strength[0] == pytest.approx(PARAMETERS[:3], abs=1e-8)
    assert fit.position == pytest.approx(PARAMETERS[3], abs=1e-8)
    influence = np.column_stack([fit.influence[:, 1:] - fit.influence[:, [0]], fit.position_influence])
    assert np.sqrt((influence**2).sum(axis=0)) == pytest.approx(ERRORS, abs=1e-8)
    clusters = np.array([np.bincount(np.arange(60) % 15, column) for column in influence.T])
    assert np.sqrt((clusters**2).sum(axis=1)) == pytest.approx(CLUSTERED_ERRORS, abs=1e-8)
    assert fit.influence.sum(axis=0) == pytest.approx(0, abs=1e-12)


def test_influence_approximates_the_change_without_a_vote():
    first, second, outcome = (np.tile(part, 20) for part in table_of_votes())
    fit = fit_strengths(first, second, outcome, 4)
    for vote in (0, 7, 30):
        kept = np.arange(outcome.size) != vote
        without = fit_strengths(first[kept], second[kept], outcome[kept], 4)
        assert fit.strength - without.strength == pytest.approx(fit.influence[vote], rel=0.02, abs=1e-5)


def test_exchanging_the_positions_changes_only_the_advantage():
    first, second, outcome = table_of_votes()
    fit = fit_strengths(first, second, outcome, 4, position=True)
    swapped = fit_strengths(second, first, 1 - outcome, 4, position=True)
    assert swapped.strength == pytest.approx(fit.strength, abs=1e-10)
    assert swapped.position == pytest.approx(-fit.position, abs=1e-10)


@pytest.mark.parametrize("wins", [3, 10])
def test_a_model_that_never_lost_has_a_finite_strength(wins):
    """Each model has one more win and one more loss against the average, so three wins are not enough."""
    fit = fit_strengths(np.zeros(wins, int), np.ones(wins, int), np.ones(wins), 2)
    assert fit.added
    beta = fit.strength[0]
    # Derivative of the likelihood: wins of the first, and its two added votes.
    assert wins * (1 - expit(2 * beta)) + 1 - 2 * expit(beta) == pytest.approx(0, abs=1e-10)
    assert fit.influence.shape == (wins + 4, 2)
    assert fit.influence.sum(axis=0) == pytest.approx(0, abs=1e-10)
    t = (2 * beta) / np.sqrt(((fit.influence[:, 0] - fit.influence[:, 1]) ** 2).sum())
    assert (t > 1.96) == (wins == 10)


def separated_pairs(seed):
    """Return the numbers of pairs separated by strengths, and by the direct votes on each pair."""
    rng = np.random.default_rng(seed)
    beta = np.array([0.5, 0.4, 0.3, -0.05, -0.25, -0.9])
    first = rng.integers(0, 6, 900)
    second = (first + rng.integers(1, 6, 900)) % 6
    outcome = (rng.random(900) < expit(beta[first] - beta[second])).astype(float)
    fit = fit_strengths(first, second, outcome, 6)
    scores = ClusteredScores.build([*(fit.strength + 900 * fit.influence).T], [np.arange(900)] * 6)
    pairs = PairDifferences.from_scores(scores)
    low, high = pairs.interval(0.05)
    assert (low <= pairs.value).all()
    assert (pairs.value <= high).all()
    p_values = np.ones((6, 6))
    for i in range(6):
        for j in range(6):
            won = np.concatenate(
                [outcome[(first == i) & (second == j)], 1 - outcome[(first == j) & (second == i)]]
            )
            if i != j:
                z = (won.mean() - 0.5) / (won.std(ddof=1) / np.sqrt(won.size))
                p_values[i, j] = 1 - expit(1.702 * z)  # close to the normal distribution
    family = Family()
    return [int(family.significant(family.adjust_pairs(p)).sum()) for p in (pairs.p_above(), p_values)]


def test_strengths_separate_more_pairs_than_direct_votes():
    strengths, direct = np.mean([separated_pairs(seed) for seed in range(3)], axis=0)
    assert strengths >= 8
    assert direct <= strengths - 2
