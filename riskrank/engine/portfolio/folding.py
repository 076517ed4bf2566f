"""A portfolio score for every row of every model, by either copula ([RAB] section 4, method §2).

Scores folded and ranked within each task of a suite, so that no task's scale decides (method §8).

Portfolios: several metrics folded into one score by a copula of their pooled CDFs.

Source: [RAB] section 4, eq. 15 and 17 of the final version; method §2.
"""

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.ties import Pool, mid_rank_shares, without_rounding
from riskrank.engine.types import Floats, Integers
from riskrank.engine.weights import normalised_weights

# Points compared at once: a block of comparison results stays in the second-level cache.
_BLOCK_ROWS = 64
_BLOCK_COLUMNS = 4096


def pooled_cdf(scores: Floats) -> Floats:
    """Pooled right-continuous CDF of each metric at each of its own scores.

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, a column a metric.

    Returns
    -------
    ndarray, shape (N, m)
        ``#{pooled scores <= x} / N``, in (0, 1].
    """
    found = np.empty(scores.shape)
    for at, column in enumerate(scores.T):
        # Sorted once with their places: to look millions of scores up, one here and one there, takes minutes.
        order = np.argsort(column)
        ordered = column[order]
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        found[order, at] = np.repeat(ends + 1, np.diff(ends, prepend=-1)) / len(column)
    return found


def _split(pooled: Floats, tables: Sequence[Floats]) -> list[Floats]:
    """What was found of all rows together, by table."""
    return np.split(pooled, np.cumsum([len(table) for table in tables])[:-1])


def independent_copula(scores: Floats, weights: Floats | None = None) -> Floats:
    """Portfolio by the independent copula, P(IC): ``exp Σ_m λ_m log F_m(x_m)`` ([RAB] eq. 15).

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, larger is better, a column a metric.
    weights : array_like, shape (m,), optional
        Non-negative weights; they are divided by their sum. Uniform by default.

    Returns
    -------
    ndarray, shape (N,)
        Portfolio scores in (0, 1].

    Raises
    ------
    UsageError
        If all weights are 0.
    """
    return independent_copulas(scores, [weights])[0]


def independent_copulas(scores: Floats, weights: Sequence[Floats | None]) -> list[Floats]:
    """The same of several sets of weights, for which every metric is sorted once."""
    # A column in one piece: older NumPy takes logarithms of a strided one by either of two routines that
    # round otherwise, as the addresses happen to lie.
    logarithms = [np.log(np.ascontiguousarray(share)) for share in pooled_cdf(scores).T]
    names = [f"metric {number + 1}" for number in range(len(logarithms))]
    found = []
    for given in weights:
        lambdas = normalised_weights(given, names)
        # Column by column instead of a matrix product: equal rows must give equal bits wherever they stand.
        logarithm = np.zeros_like(logarithms[0])
        for own, weight in zip(logarithms, lambdas, strict=True):
            logarithm += weight * own
        # Equal products of other shares differ by rounding, which would break ties between models.
        found.append(without_rounding(np.exp(logarithm)))
    return found


def empirical_copula(scores: Floats, models: Integers | None = None) -> Floats:
    """Portfolio by the empirical copula, P(EC): share of points strictly worse on every metric.

    [RAB, final version] eq. 17: ``Ĉ(u) = (1/n) Σ_j Π_m 1[F_m(x_jm) < u_m]`` at ``u = F(x)``.

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, larger is better, a column a metric.
    models : array_like of int, shape (N,), optional
        When given, each point is compared with the points of its own model only; by default with
        all of them, so that models are comparable.

    Returns
    -------
    ndarray, shape (N,)
        Portfolio scores in [0, 1).
    """
    if models is None:
        return _share_strictly_below(scores)
    owner = np.asarray(models)
    result = np.empty(len(scores))
    for model in np.unique(owner):
        result[owner == model] = _share_strictly_below(scores[owner == model])
    return result


def _share_strictly_below(scores: Floats) -> Floats:
    """Count, for every row, the rows strictly smaller in all columns; as a share of all rows."""
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in scores.T])
    points, inverse, counts = np.unique(ranks, axis=0, return_inverse=True, return_counts=True)
    below = _count_strictly_below(points, counts)
    return below[inverse.ravel()] / len(scores)


def _count_strictly_below(points: Integers, counts: Integers) -> Integers:
    """Weighted dominance counts of distinct integer points sorted by their first column.

    Only points with a smaller first rank can be strictly below: about half of all comparisons, done in
    blocks on the smallest integer type that holds the ranks, many to an instruction.
    """
    small = np.uint16 if points.max(initial=0) < 2**16 else np.uint32
    columns = np.ascontiguousarray(points.T.astype(small))
    multiple = bool(np.any(counts > 1))
    below = np.zeros(len(points), dtype=np.int64)
    first = columns[0]
    for top in range(0, len(points), _BLOCK_ROWS):
        rows = slice(top, min(top + _BLOCK_ROWS, len(points)))
        reach = int(np.searchsorted(first, first[rows.stop - 1]))
        for left in range(0, reach, _BLOCK_COLUMNS):
            others = slice(left, min(left + _BLOCK_COLUMNS, reach))
            smaller = columns[0, None, others] < columns[0, rows, None]
            for column in columns[1:]:
                smaller &= column[None, others] < column[rows, None]
            if multiple:
                below[rows] += smaller @ counts[others]
            else:
                below[rows] += np.count_nonzero(smaller, axis=1)
    return below


Fold = Callable[[Sequence[Floats]], Sequence[Floats]]


def within_tasks(scores: Sequence[Floats], tasks: TaskDesign | None, fold: Fold) -> tuple[Floats, ...]:
    """Fold the rows of all models task by task, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
    tasks : TaskDesign or None
        None for all rows at once.
    fold : callable
        From the rows of k models to a number a row of each, or several.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,) or (n_i, count)
    """
    if tasks is None:
        return tuple(fold(scores))
    found: tuple[Floats, ...] = ()
    for task in range(len(tasks.names)):
        rows = [np.flatnonzero(of_row == task) for of_row in tasks.of_row]
        if not any(own.size for own in rows):
            continue
        part = fold([own[at] for own, at in zip(scores, rows, strict=True)])
        found = found or tuple(np.empty((len(own), *part[0].shape[1:])) for own in scores)
        for column, at, folded in zip(found, rows, part, strict=True):
            column[at] = folded
    return found


def portfolio(
    scores: Sequence[Floats],
    tasks: TaskDesign | None = None,
    *,
    copula: str = "independent",
    weights: Floats | None = None,
    per_model: bool = False,
) -> tuple[Floats, ...]:
    """Fold the metrics of all models into one score a row, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k array_like, shapes (n_i, m)
        Scores of each model, larger is better, a column a metric.
    tasks : TaskDesign, optional
        Of a suite: rows are folded within each task.
    copula : {"independent", "empirical"}
        P(IC) or P(EC).
    weights : array_like, shape (m,), optional
        Weights of the metrics, for P(IC).
    per_model : bool
        For P(EC): compare a row with the rows of its own model only.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,)

    Raises
    ------
    UsageError
        If all weights are 0.
    """

    def fold(rows: Sequence[Floats]) -> list[Floats]:
        pooled = np.concatenate(rows)
        if copula == "independent":
            return _split(independent_copula(pooled, weights), rows)
        owner = np.repeat(np.arange(len(rows)), [len(table) for table in rows])
        return _split(empirical_copula(pooled, owner if per_model else None), rows)

    return within_tasks([np.asarray(table, dtype=np.float64) for table in scores], tasks, fold)


def portfolios(scores: Sequence[Floats], weights: Sequence[Floats]) -> list[Floats]:
    """Fold by P(IC) with several sets of weights, a column each, shapes (n_i, sets) of k models."""
    return _split(np.column_stack(independent_copulas(np.concatenate(scores), weights)), scores)


def ranks_within_tasks(scores: Sequence[Floats], tasks: TaskDesign) -> tuple[Floats, ...]:
    """Mid-rank share of every score among those of all models on its task, shapes as of ``scores``.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
        Each column has ranks of its own.
    tasks : TaskDesign
    """

    def shares(rows: Sequence[Floats]) -> list[Floats]:
        pooled = np.concatenate(rows)
        found = mid_rank_shares(pooled, [Pool(np.sort(pooled))])
        return _split(found, rows)

    columns = [
        within_tasks([own[:, at] for own in scores], tasks, shares) for at in range(scores[0].shape[1])
    ]
    return tuple(np.column_stack(own) for own in zip(*columns, strict=True))
