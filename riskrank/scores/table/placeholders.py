"""Detection of placeholders: human scores, usually 0, that represent an empty cell.

Zeros alone are not evidence, because humans often give them to hard samples. The judge's scores decide.
Consider the samples with the same human score for every model. If the score is real, they are easy or hard
for all models. The judge then scores them like other samples with that score, or more extremely. If it is a
placeholder, the judge scores them like a mixture of all samples.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.judges.inspection import label_shifts
from riskrank.engine.types import Booleans, Floats

# Minimum share of samples with the suspected score, and level of the tests behind a warning.
_MIN_SHARE, _LEVEL = 0.5, 0.001

# Minimum number of samples with another score, and with the same score among them.
_MIN_SAMPLES = 5

# People do not use the suspected score if at most this share of the other scores equals it.
_MAX_OTHER_SHARE = 0.02

# Judge means for a placeholder and for other samples differ by at most this many standard deviations.
# If people use the score too, the judge mean moves by at least this share towards that of other scores.
_MAX_SDS, _MIN_SHIFT = 0.5, 0.25


@dataclass(frozen=True)
class Placeholder:
    """A suspected placeholder, oriented like the table, and the number of samples with it for all models."""

    value: float
    samples: int


def detect_placeholder(human: Floats, judge: Floats) -> Placeholder | None:
    """Return a human score that may represent missing labels, or None.

    Parameters
    ----------
    human, judge : ndarray, shape (k, n)
        Human and judge scores of the same samples, without gaps.

    Returns
    -------
    Placeholder or None
    """
    if not human.size:
        return None
    values, counts = np.unique(human, return_counts=True)
    value = float(values[counts.argmax()])
    blank: Booleans = np.asarray((human == value).all(axis=0))
    count = int(np.count_nonzero(blank))
    if count < _MIN_SHARE * blank.size or blank.size - count < _MIN_SAMPLES:
        return None
    remaining = human[:, ~blank], judge[:, ~blank]
    same = remaining[0] == value
    if same.mean() > _MAX_OTHER_SHARE:
        doubtful = _shifts_to_remaining(judge[:, blank], remaining[1], same)
    else:
        doubtful = np.unique(remaining[0]).size > 1 and _similar_means(judge[:, blank], remaining[1])
    return Placeholder(value, count) if doubtful else None


def _similar_means(blank: Floats, remaining: Floats) -> bool:
    """Return True if the judge's means on both sets of samples are close for every model.

    Parameters
    ----------
    blank : ndarray, shape (k, b)
        Judge scores of the suspected samples.
    remaining : ndarray, shape (k, n − b)
        Judge scores of the other samples.
    """
    difference = np.abs(blank.mean(axis=1) - remaining.mean(axis=1))
    return bool(np.all(difference <= _MAX_SDS * np.concatenate((blank, remaining), axis=1).std(axis=1)))


def _shifts_to_remaining(blank: Floats, remaining: Floats, same: Booleans) -> bool:
    """Return True if judge scores of suspected samples resemble all others more than equally labelled ones.

    Parameters
    ----------
    blank : ndarray, shape (k, b)
        Judge scores of the suspected samples.
    remaining : ndarray, shape (k, n − b)
        Judge scores of the other samples.
    same : ndarray of bool, shape (k, n − b)
        True if the human score equals the suspected one.
    """
    enough = np.minimum(same.sum(axis=1), (~same).sum(axis=1)) >= _MIN_SAMPLES
    pairs = [
        (_welch(suspected, scores[matching]), _welch(scores[~matching], scores[matching]))
        for suspected, scores, matching in zip(blank[enough], remaining[enough], same[enough], strict=True)
    ]
    if not pairs:
        return False
    shift, span = np.array(pairs).transpose(1, 2, 0)
    if np.any(shift[0] * span[0] <= 0) or len(pairs) * max(shift[1].min(), span[1].min()) > _LEVEL:
        return False
    return bool(shift[0].sum() / span[0].sum() > _MIN_SHIFT)


def _welch(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the difference between two means, and the p-value of Welch's test for equal means."""
    difference, p_value = label_shifts([np.concatenate((first, second))], len(first))
    return float(difference[0]), float(p_value[0])
