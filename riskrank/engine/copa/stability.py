"""Sensitivity of COPA's choice to the composition of the population."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from riskrank.engine.copa.population import Population, dominance_matrix, rank_counts, rank_denominator
from riskrank.engine.copa.ranking import CopaRanking, lexicographic_argmin, power_norm, tie_breaking_norms
from riskrank.engine.sampling.resamples import unit_counts
from riskrank.engine.types import Floats, Integers

# Resamples per random stream. Changing it would change the results for a given seed.
_BLOCK = 32
# Largest number of pairs of a removed model and a candidate that are processed at once.
_CELLS = 1_000_000
# Keeps rounding from excluding a model whose norm equals the best.
_SLACK = 1e-9


@dataclass(frozen=True)
class ChoiceBootstrap:
    """COPA's choices in resampled populations.

    Attributes
    ----------
    chosen : int
        Choice in the original population.
    count : array of int, shape (N,)
        Number of resamples in which each model is chosen.
    resamples : int
        Number of resampled populations.
    """

    chosen: int
    count: Integers
    resamples: int

    def share(self, model: int) -> float:
        """Return the proportion of resamples in which the model with index `model` is chosen."""
        return float(self.count[model] / self.resamples)

    @property
    def survival(self) -> float:
        """Proportion of resamples in which the originally chosen model is chosen again."""
        return self.share(self.chosen)

    @property
    def runners_up(self) -> Integers:
        """Indices of other models that are chosen in at least one resample, the most frequent first."""
        order = np.argsort(-self.count, kind="stable")
        return order[(self.count[order] > 0) & (order != self.chosen)]


@dataclass(frozen=True)
class ModelInfluence:
    """COPA's choices when one model at a time is removed from the population.

    Attributes
    ----------
    chosen : int
        Choice in the whole population.
    choice : array of int, shape (N,)
        Choice without each model; -1 if no feasible model remains.
    """

    chosen: int
    choice: Integers

    @property
    def influential(self) -> Integers:
        """Indices of models, other than the chosen one, whose removal changes the choice.

        Such a model violates the independence of irrelevant alternatives, because its presence determines the
        choice between two other models.
        """
        changed = self.choice != self.chosen
        changed[self.chosen] = False
        return np.flatnonzero(changed)

    @property
    def successor(self) -> int:
        """Index of the model chosen after removal of the chosen one; -1 if no feasible model remains."""
        return int(self.choice[self.chosen])


def bootstrap_choice(
    models: Population, ranking: CopaRanking, *, resamples: int = 1000, seed: int = 0
) -> ChoiceBootstrap:
    """Repeat the choice of a model in bootstrap resamples of the population.

    The population is treated as a sample from a larger one, whose distribution functions the ranks estimate
    with variance u(1 - u)/N (COPA Prop. 3.1). N models are drawn with replacement, and the original models
    are ranked among them. The choice is made among all original feasible models, so a model that was not
    drawn can still be chosen.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    ranking : CopaRanking
        Ranking of these models.
    resamples : int
        Number of resampled populations.
    seed : int
        Entropy of the random streams, one per block of resamples.

    Returns
    -------
    ChoiceBootstrap
    """
    # A dominated model has no smaller ranks than its dominator in any resample, so only the front can win.
    candidates = np.flatnonzero(models.front)
    order = np.argsort(-models.objectives, axis=0, kind="stable")
    better, matched = (counts[candidates] for counts in rank_counts(models.objectives))
    N, share, names = len(models.u), models.tie_share, models.name_order[candidates]

    def ranks_among(draw_counts: Integers) -> Floats:
        """Rank the candidates among the drawn models, shape (resamples, candidates, K).

        `draw_counts` holds how often each model is drawn in each resample. A model's own copies count as tied
        with it. Ranks depend on values alone. Otherwise, the more often drawn of two models with the same
        value would gain.
        """
        ranks = np.empty((len(draw_counts), candidates.size, order.shape[1]))
        total = np.zeros((len(draw_counts), N + 1), dtype=np.int64)
        for k in range(order.shape[1]):
            np.cumsum(draw_counts[:, order[:, k]], axis=1, out=total[:, 1:])
            count = total[:, better[:, k]] * (1 - share)
            if share:
                count = count + share * total[:, matched[:, k]]
            ranks[:, :, k] = count / N
        ranks[:, models.missing[candidates]] = 1.0
        return ranks

    count = np.zeros(N, dtype=np.int64)
    sizes = np.diff(np.append(np.arange(0, resamples, _BLOCK), resamples))
    for size, stream in zip(sizes, np.random.SeedSequence(seed).spawn(len(sizes)), strict=True):
        draw_counts = unit_counts(np.random.default_rng(stream).integers(0, N, (size, N)))
        terms = ranks_among(draw_counts) * ranking.weights
        norm = power_norm(terms, ranking.p)
        choice = lexicographic_argmin(chain([norm], tie_breaking_norms(terms), [names]))
        count += np.bincount(candidates[choice], minlength=count.size)
    return ChoiceBootstrap(chosen=ranking.chosen, count=count, resamples=int(resamples))


def leave_one_out(models: Population, ranking: CopaRanking) -> ModelInfluence:
    """Repeat the choice of a model after removing each model of the population in turn.

    Infeasible models are also removed in turn, because they affect the ranks.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    ranking : CopaRanking
        Ranking of these models.

    Returns
    -------
    ModelInfluence
    """
    N, share = len(models.u), models.tie_share
    better, matched = rank_counts(models.objectives)
    counts = (1 - share) * better + share * (matched - 1)
    scale = rank_denominator(N - 1, models.denominator)
    candidates = _candidate_choices(models, counts, scale, ranking)
    values = models.objectives[candidates].T
    dominates, position = dominance_matrix(values, values), np.full(N, -1)
    position[candidates] = np.arange(candidates.size)
    choice = np.full(N, -1, dtype=np.int64)
    step = max(1, _CELLS // candidates.size)
    for start in range(0, N, step):
        removed = np.arange(start, min(start + step, N))
        removed_values, kept_values = models.objectives[removed][:, None], models.objectives[candidates]
        exceeds, matches = removed_values > kept_values, removed_values >= kept_values
        without = counts[candidates] - (1 - share) * exceeds - share * matches
        ranks = np.where(models.missing[candidates], 1.0, without / scale)
        terms = ranks * ranking.weights
        norm = power_norm(terms, ranking.p)
        norm[removed[:, None] == candidates] = np.inf
        # A model that dominates one with the smallest norm has that norm too, so it is a candidate.
        removed_position = position[removed][:, None]
        dominators = dominates.sum(axis=0) - ((removed_position >= 0) & dominates[removed_position[:, 0]])
        names = models.name_order[candidates]
        winner = lexicographic_argmin(chain([norm, dominators > 0], tie_breaking_norms(terms), [names]))
        has_choice = np.isfinite(norm[np.arange(removed.size), winner])
        choice[removed[has_choice]] = candidates[winner[has_choice]]
    return ModelInfluence(chosen=ranking.chosen, choice=choice)


def _candidate_choices(models: Population, counts: Integers, scale: int, ranking: CopaRanking) -> Integers:
    """Return the indices of feasible models that can be chosen after another model is removed.

    Removing a model lowers each rank count by at most one. At least one of the two models with the best norms
    remains, and its norm does not increase. Models that cannot reach the second-best norm are therefore
    excluded.

    `counts` holds the rank counts, shape (N, K), and `scale` their divisor.
    """
    highest = np.where(models.missing, 1.0, counts / scale)
    lowest = np.where(models.missing, 1.0, np.maximum(counts - 1, 0) / scale)
    feasible, weights, p = np.flatnonzero(models.feasible), ranking.weights, ranking.p
    if feasible.size <= 2:
        return feasible
    bound = np.partition(power_norm(highest[feasible] * weights, p), 1)[1]
    return feasible[power_norm(lowest[feasible] * weights, p) <= bound * (1 + _SLACK)]
