"""Preference systems on quality vectors with mixed scales, which order the vectors and their differences.

A *quality vector* is a model's scores on all criteria for one sample. A preference system orders the vectors
(R1) and the exchanges of one vector for a better one (R2); method §6, [GSD] eq. 1-3. Both are component-wise
orders on integers. Only their covering relations are stored, which imply all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.gsd.quality import QualityTable, Scale
from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, UsageError, option

# Optima closer than this are equal, and values above -RESOLUTION count as nonnegative.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Threshold:
    """Slack required for the strict relations of a preference system.

    Attributes
    ----------
    delta : float
        The slack itself ([GSD] Definition 3).
    share : float or None
        Instead of ``delta``: the slack as a proportion of the largest feasible common slack.
    slack_on : {"r1", "r1+r2"}
        Strict relations that have the slack; always both if ``share`` is given.

    Raises
    ------
    UsageError
        If the slack is negative or the share lies outside [0, 1].
    """

    delta: float = 0.0
    share: float | None = None
    slack_on: str = "r1"

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise UsageError(
                "the regularization must be a share of the largest slack",
                found=f"{self.share:g}",
                hint="give a number from 0 to 1",
            )
        if not self.delta >= 0:
            raise UsageError(
                "the threshold delta must not be negative",
                found=f"{self.delta:g}",
                hint="give a number from 0 to delta_max, which the relation reports",
            )

    def __str__(self) -> str:
        return f"δ = {self.delta:g}" if self.share is None else f"δ = {self.share:g} ξ"

    @property
    def rows(self) -> str:
        """Strict relations that have the slack: "r1" or "r1+r2"."""
        return self.slack_on if self.share is None else "r1+r2"

    def resolve(self, largest: float) -> float:
        """Return the slack, given the largest feasible slack.

        Raises
        ------
        InputError
            If the slack exceeds the largest feasible slack.
        """
        if self.share is not None:
            return self.share * largest
        if self.delta > largest + RESOLUTION:
            raise InputError(
                "no utility satisfies the threshold delta: it is too large",
                found=f"delta {self.delta:g}, delta_max {largest:.6g}",
                hint=f"choose delta from 0 to {largest:.6g}",
            )
        return min(self.delta, largest)


# For more exchanges, the covers of R2 would need more than half a gigabyte.
MOST_EXCHANGES = 100_000


@dataclass(frozen=True)
class PreferenceSystem:
    """Relations R1 and R2 on a set of quality vectors, stored as covers.

    Attributes
    ----------
    vectors : ndarray of int, shape (d, n)
        Distinct vectors in lexicographic order, the worst first and the best last.
    table_rows : ndarray of int, shape (d,)
        Row in ``QualityTable.vectors``; -1 for an extreme vector that no model attains.
    improvements : ndarray of int, shape (m1, 2)
        Covers of R1 as (x, y): x is better than y, and no vector lies in between.
    exchanges : ndarray of int, shape (m2, 4)
        Covers of R2 as (x, y, x', y'), meaning u(x) - u(y) >= u(x') - u(y'); without those implied by R1.
    ties : ndarray of int, shape (m3, 4)
        Exchanges of equal strength: u(x) - u(y) = u(x') - u(y').
    """

    vectors: Integers
    table_rows: Integers
    improvements: Integers
    exchanges: Integers
    ties: Integers

    @property
    def size(self) -> int:
        """Number of vectors, d."""
        return len(self.vectors)


def preference_system(table: QualityTable, models: Sequence[int] | None = None) -> PreferenceSystem:
    """Build the preference system on the vectors of some models.

    R1 is the component-wise order. R2 orders the strict R1 pairs: by their differences on cardinal criteria,
    and by nesting on ordinal criteria (method §6; [GSD] eq. 2 if all are cardinal). The worst and the best
    possible vectors are added. They consist of the declared bounds or, without bounds, of the extreme scores
    of these models.

    Parameters
    ----------
    table : QualityTable
        The quality vectors of all models.
    models : sequence of int, optional
        Models whose vectors are included; all by default.

    Returns
    -------
    PreferenceSystem

    Raises
    ------
    InputError
        If there are too many comparable pairs to compute the covers of R2.
    """
    chosen = slice(None) if models is None else list(models)
    used = np.unique(table.index[chosen][table.weight[chosen] > 0])
    observed = table.vectors[used]
    vectors, members = _add_extremes(observed, used, table.scales)
    above = np.all(vectors[:, None, :] >= vectors[None, :, :], axis=2)
    np.fill_diagonal(above, False)
    better, worse = np.nonzero(above)
    lower, upper = covering_pairs(vectors)
    exchanges, ties = _exchanges(vectors, table.ordinal, above, better, worse)
    return PreferenceSystem(
        vectors=vectors,
        table_rows=members,
        improvements=np.stack([upper, lower], axis=1),
        exchanges=exchanges,
        ties=ties,
    )


def covering_pairs(keys: Integers) -> tuple[Integers, Integers]:
    """Return the covering pairs of the component-wise order on integer vectors (keys).

    A key q covers p if q >= p in every component and no third key lies in between. The down-set of each key
    (all keys below it) is stored as the bits of a Python integer. The highest remaining bit is a cover, whose
    down-set is then removed. This takes one pass over a few hundred bytes per cover, whereas a boolean matrix
    product would need one pass per pair.

    Parameters
    ----------
    keys : ndarray of int, shape (P, m)
        Distinct rows in lexicographic order.

    Returns
    -------
    lower, upper : ndarray of int
        Rows of the covered and the covering keys.
    """
    down = _down_sets(keys)
    lower, upper = [], []
    for p in range(len(keys)):
        remaining = down[p] ^ (1 << p)
        while remaining:
            q = remaining.bit_length() - 1
            lower.append(q)
            upper.append(p)
            remaining ^= remaining & down[q]
    return np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64)


def _down_sets(keys: Integers, block: int = 256) -> list[int]:
    """Return the down-set of every key, including the key itself, as the bits of an integer."""
    # Ranks in the smallest integer type: the comparison below is bound by memory traffic.
    kind: type[np.signedinteger] = np.int16 if len(keys) < 2**15 else np.int32
    ranks = [np.unique(column, return_inverse=True)[1].astype(kind) for column in keys.T]
    down: list[int] = []
    for start in range(0, len(keys), block):
        stop = min(start + block, len(keys))
        # In lexicographic order nothing after a key lies below it.
        below = np.ones((stop - start, stop), dtype=bool)
        for rank in ranks:
            below &= rank[start:stop, None] >= rank[None, :stop]
        packed = np.packbits(below, axis=1, bitorder="little")
        down.extend(int.from_bytes(row.tobytes(), "little") for row in packed)
    return down


def _exchanges(
    vectors: Integers, ordinal: Booleans, above: Booleans, better: Integers, worse: Integers
) -> tuple[Integers, Integers]:
    """Return the covers of R2 that R1 does not imply, and the ties of R2.

    The exchange (x, y) is at least as strong as (x', y') if and only if its key is at least as large in every
    component. The key is x - y on the cardinal criteria, and x and -y on the ordinal ones.

    Parameters
    ----------
    vectors : (n, q) ndarray
        Distinct quality vectors, one per row.
    ordinal : (q,) ndarray of bool
        Mask of the ordinal criteria.
    above : (n, n) ndarray of bool
        True where R1 places the vector of the row above that of the column.
    better, worse : (m,) ndarray of int
        Vectors of each pair of R1.

    Returns
    -------
    covers, ties : (·, 4) ndarray of int
        Vectors x, y, x', y' of each pair of exchanges.
    """
    if ordinal.all() or len(better) < 2:
        none = np.empty((0, 4), dtype=np.int64)
        return none, none  # ordinal pairs are nested, and R1 implies u(x) >= u(x') >= u(y') >= u(y)
    if len(better) > MOST_EXCHANGES:
        raise InputError(
            f"{len(vectors):,} quality vectors have too many comparable pairs",
            found=f"{len(better):,} pairs, more than {MOST_EXCHANGES:,}",
            hint=f"compare two models at a time ({option('system', 'pair')}), "
            f"or round the scores ({option('digits')})",
        )
    x, y = vectors[better], vectors[worse]
    keys = np.hstack([x[:, ~ordinal] - y[:, ~ordinal], x[:, ordinal], -y[:, ordinal]])
    distinct, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    lower, upper = covering_pairs(distinct)
    p, q = first[upper], first[lower]
    rows = np.stack([better[p], worse[p], better[q], worse[q]], axis=1)
    reaches = above | np.eye(len(vectors), dtype=bool)
    nested = reaches[rows[:, 0], rows[:, 2]] & reaches[rows[:, 3], rows[:, 1]]
    same = first[inverse.ravel()]
    tied = np.flatnonzero(same != np.arange(len(better)))
    ties = np.stack([better[tied], worse[tied], better[same[tied]], worse[same[tied]]], axis=1)
    return rows[~nested], ties


def _add_extremes(observed: Integers, used: Integers, scales: tuple[Scale, ...]) -> tuple[Integers, Integers]:
    """Add the worst and the best possible quality vector to the observed ones.

    Returns
    -------
    vectors : ndarray
        The distinct vectors, sorted.
    members : ndarray of int
        Row of each vector in the table; −1 for an added vector.
    """
    worst, best = observed.min(axis=0), observed.max(axis=0)
    for j, scale in enumerate(scales):
        worst[j] = worst[j] if scale.lower is None else scale.lower
        best[j] = best[j] if scale.upper is None else scale.upper
    vectors, first = np.unique(np.vstack([observed, worst, best]), axis=0, return_index=True)
    members = np.where(first < len(used), used[np.minimum(first, len(used) - 1)], -1)
    return vectors, members
