"""A score that may stand for none: a 0 of people's where nobody looked, in the place of an empty cell.

Zeros alone say nothing: of hard samples people give many. What tells is the judge. Samples with the same
score of every model are what nobody looked at, or what is hard, or easy, for all. In the second case the
judge says of them at most what it says of other samples with that score, of which some model has another; in
the first what it says of samples of all kinds.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.judges.inspection import shifts
from riskrank.engine.types import Booleans, Floats

# Share of the samples from which on one score is looked at, and the level of the tests behind a warning.
_MANY, _LEVEL = 0.5, 0.001

# Fewer samples with another score, or with this one among them, tell nothing.
_FEWEST = 5

# So little of the other samples' scores is the one in question: it is no score of these people's.
_HARDLY = 0.02

# Of a score that stands for none the judge says on average what it says elsewhere, up to so many deviations;
# of one that others have it goes so much of the way towards what it says of other scores.
_ALIKE, _TOWARDS = 0.5, 0.25


@dataclass(frozen=True)
class Placeholder:
    """A score that may stand for none, oriented as the table, and how many samples have it of all models."""

    value: float
    samples: int


def placeholder(human: Floats, judge: Floats) -> Placeholder | None:
    """Look for a score that may stand for none.

    Parameters
    ----------
    human, judge : ndarray, shape (k, n)
        People's scores and the judge's of the same samples, without gaps.

    Returns
    -------
    Placeholder or None
    """
    if not human.size:
        return None
    values, counts = np.unique(human, return_counts=True)
    value = float(values[counts.argmax()])
    blank: Booleans = np.asarray((human == value).all(axis=0))
    found = int(np.count_nonzero(blank))
    if found < _MANY * blank.size or blank.size - found < _FEWEST:
        return None
    rest = human[:, ~blank], judge[:, ~blank]
    same = rest[0] == value
    if same.mean() > _HARDLY:
        doubtful = _towards_others(judge[:, blank], rest[1], same)
    else:
        doubtful = np.unique(rest[0]).size > 1 and _alike(judge[:, blank], rest[1])
    return Placeholder(value, found) if doubtful else None


def _alike(blank: Floats, rest: Floats) -> bool:
    """Whether the judge says the same of both kinds of samples, of every model."""
    away = np.abs(blank.mean(axis=1) - rest.mean(axis=1))
    return bool(np.all(away <= _ALIKE * np.concatenate((blank, rest), axis=1).std(axis=1)))


def _towards_others(blank: Floats, rest: Floats, same: Booleans) -> bool:
    """Whether the judge takes blank samples for something better, or worse, than others with their score."""
    told = np.minimum(same.sum(axis=1), (~same).sum(axis=1)) >= _FEWEST
    found = [
        (_apart(own, others[its]), _apart(others[~its], others[its]))
        for own, others, its in zip(blank[told], rest[told], same[told], strict=True)
    ]
    if not found:
        return False
    moved, whole = np.array(found).transpose(1, 2, 0)
    if np.any(moved[0] * whole[0] <= 0) or len(found) * max(moved[1].min(), whole[1].min()) > _LEVEL:
        return False
    return bool(moved[0].sum() / whole[0].sum() > _TOWARDS)


def _apart(first: Floats, second: Floats) -> tuple[float, float]:
    """Difference of two means, and Welch's p-value."""
    difference, p_value = shifts([np.concatenate((first, second))], len(first))
    return float(difference[0]), float(p_value[0])
