import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import rankdata

from riskrank.engine.dominance.rank_guard import direct_rank_p_values, rank_powers, relative_rank_p_values
from riskrank.engine.sampling.design import ClusteredScores


def by_hand(a, b, clusters, shares_a, shares_b):
    """Rule 4 written plainly for "a is not better than b" in a paired design of equal clusters."""
    p_values = []
    for score in (lambda r: r, lambda r: -((1 - r) ** 2), lambda r: -((1 - r) ** 8)):
        differences = [
            sum(score(r) for r in shares_a[clusters == c]) - sum(score(r) for r in shares_b[clusters == c])
            for c in np.unique(clusters)
        ]
        z = sum(differences) / np.sqrt(sum(d * d for d in differences))
        p_values.append(ndtr(-z))
    return min(1, 3 * min(p_values))


@pytest.mark.parametrize("draws", [1, 3])
def test_paired_guards_against_their_definition(draws):
    rng = np.random.default_rng(0)
    table = np.round(rng.normal([[0], [0.2], [0.6]], 1, size=(3, 20 * draws)), 1)
    clusters = np.repeat(np.arange(20), draws)
    scores = ClusteredScores.build(list(table), [clusters] * 3)
    pooled = ((rankdata(table) - 0.5) / table.size).reshape(table.shape)
    relative, direct = relative_rank_p_values(scores), direct_rank_p_values(scores, [(0, 1), (2, 1), (0, 2)])
    for i in range(3):
        for j in range(3):
            if i == j:
                continue
            assert relative[i, j] == pytest.approx(
                by_hand(table[i], table[j], clusters, pooled[i], pooled[j])
            )
            two = ((rankdata(table[[i, j]]) - 0.5) / (2 * table.shape[1])).reshape(2, -1)
            assert direct[i, j] == pytest.approx(by_hand(table[i], table[j], clusters, *two))


def test_unpaired_guards_against_all_permutations():
    """The permutation variance is that of the difference of means over all relabellings."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=4), rng.normal(size=5) + 1
    scores = ClusteredScores.build([a, b], paired=False)
    share = (rankdata(np.r_[a, b]) - 0.5) / 9
    from itertools import combinations

    p_values = []
    for values in (share, -((1 - share) ** 2), -((1 - share) ** 8)):
        effects = []
        for chosen in combinations(range(9), 4):
            inside = np.isin(np.arange(9), chosen)
            effects.append(values[inside].mean() - values[~inside].mean())
        z = (values[:4].mean() - values[4:].mean()) / np.std(effects)
        p_values.append(ndtr(-z))
    expected = min(1, 3 * min(p_values))
    assert relative_rank_p_values(scores)[0, 1] == pytest.approx(expected)
    assert direct_rank_p_values(scores, [(0, 1)])[0, 1] == pytest.approx(expected)


def test_clusters_of_different_sizes_are_compared_by_their_means():
    """A model with more draws of a sample must not gain from their number."""
    repeated = ClusteredScores.build([np.ones(12), np.ones(20)], [np.arange(12), np.sort(np.arange(20) % 12)])
    assert relative_rank_p_values(repeated)[0, 1] == relative_rank_p_values(repeated)[1, 0] == 1


def test_additional_models_change_only_the_relative_guard():
    rng = np.random.default_rng(0)
    pair = [rng.normal(size=50), rng.normal(size=50) + 0.3]
    alone = ClusteredScores.build(pair)
    company = ClusteredScores.build([*pair, rng.exponential(size=50)])
    assert direct_rank_p_values(alone, [(1, 0)])[1, 0] == direct_rank_p_values(company, [(1, 0)])[1, 0]
    assert relative_rank_p_values(alone)[1, 0] != relative_rank_p_values(company)[1, 0]
    assert relative_rank_p_values(alone)[1, 0] == direct_rank_p_values(alone, [(1, 0)])[1, 0]


def test_identical_models_and_untested_pairs_have_guard_1():
    same = ClusteredScores.build([np.arange(10.0)] * 3)
    assert np.all(relative_rank_p_values(same) == 1)
    other = ClusteredScores.build([np.arange(10.0), np.arange(10.0) + 5, np.arange(10.0) + 9])
    assert direct_rank_p_values(other, [(1, 0)])[2, 0] == 1


@pytest.mark.parametrize("paired", [True, False])
def test_guards_hold_their_level_under_the_heaviest_tails(paired):
    """Cauchy scores: rejections at 5 % of the tripled minimum of three scores, with 3 Monte-Carlo errors."""
    rng = np.random.default_rng(4)
    runs = 600
    rates = [
        relative_rank_p_values(ClusteredScores.build(list(rng.standard_cauchy((2, 30))), paired=paired))[0, 1]
        for _ in range(runs)
    ]
    share = np.mean(np.array(rates) <= 0.05)
    assert 0.01 < share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_better_tail_is_detected_despite_worse_ranks():
    """As log losses are: a little worse on three samples of four, far better on the fourth."""
    rng = np.random.default_rng(0)
    careful = -rng.exponential(0.02, size=1000)
    bold = careful + 0.002
    bold[:250] -= 3 * rng.random(250)
    guard = relative_rank_p_values(ClusteredScores.build([careful, bold]))
    assert np.mean(careful > bold) < 0.3
    assert guard[0, 1] < 1e-6


def test_powers_by_hand():
    """1, 2, 8 always; then 32, 128, ... as long as eight samples lie in the part they look at."""
    assert rank_powers(10) == rank_powers(255.9) == (1, 2, 8)
    assert rank_powers(256) == rank_powers(1023) == (1, 2, 8, 32)
    assert rank_powers(1024) == (1, 2, 8, 32, 128)
    assert rank_powers(20_000) == (1, 2, 8, 32, 128, 512, 2048)


@pytest.mark.parametrize("paired", [True, False])
def test_rare_disasters_are_detected(paired):
    """A chance of one in twenty of −5 at equal means: with powers up to 8 the ranks are blind to it."""
    rng = np.random.default_rng(0)
    safe = rng.normal(size=2000)
    risky = np.where(rng.random(2000) < 0.05, -5.0, rng.normal(0.26, 1, size=2000))
    scores = ClusteredScores.build([safe, risky], paired=paired)
    assert relative_rank_p_values(scores)[0, 1] < 1e-4
    assert direct_rank_p_values(scores, [(0, 1)])[0, 1] == relative_rank_p_values(scores)[0, 1]


def test_unpaired_guard_uses_the_powers_of_the_smaller_model():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=20), rng.normal(0.4, 1, size=2000), rng.normal(size=2000)]
    scores = ClusteredScores.build(values, paired=False)
    share = np.split((rankdata(np.concatenate(values)) - 0.5) / 4020, [20, 2020])

    def plain(i, j):
        p_values = []
        for q in rank_powers(min(len(share[i]), len(share[j]))):
            a, b = (-((1 - share[m]) ** q) for m in (i, j))
            spread = np.var(np.r_[a, b], ddof=1) * (1 / len(a) + 1 / len(b))
            p_values.append(ndtr(-(a.mean() - b.mean()) / np.sqrt(spread)))
        return min(1, len(p_values) * min(p_values))

    guard = relative_rank_p_values(scores)
    for i, j in ((0, 1), (1, 0), (1, 2), (2, 1)):
        assert guard[i, j] == pytest.approx(plain(i, j))
