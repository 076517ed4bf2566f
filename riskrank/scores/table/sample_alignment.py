"""Whether enough samples are left to decide on, and none that some models number from another number on."""

import re
from collections.abc import Sequence

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.scores.table.scores import Scores

# A number, and before it nothing or a name: before the digits of a date or a fraction stand no letters.
_NUMBERED = re.compile(r"((?:.*[^\W\d_].*?)?)(?<![0-9])([0-9]{1,18})", re.DOTALL)


def hint_for_shift(scores: Scores, covered: np.ndarray) -> str:
    """How to number samples alike, with a semicolon behind; empty where they are not shifted by one.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
    """
    firsts = {*_firsts(scores.samples, covered)}
    shifted = [first for first in firsts if first is not None and len({*first}) > 1]
    if None in firsts or len(shifted) != 1 or {*shifted[0]} != {0, 1}:
        return ""
    first = shifted[0]
    later = [name for name, start in zip(scores.models, first, strict=True) if start]
    earlier = [name for name in scores.models if name not in later]
    return (
        f"{listing(earlier, 3)} may count from 0 and {listing(later, 3)} from 1: then equal numbers are "
        "different samples, and the files have to number them alike; if equal numbers are equal samples, "
    )


def moved(scores: Scores, covered: np.ndarray) -> bool:
    """Whether some series has as many samples of every model, numbered from another number on."""
    return any(first is not None and len({*first}) > 1 for first in _firsts(scores.samples, covered))


def _firsts(samples: Sequence[str], covered: np.ndarray) -> list[tuple[int, ...] | None]:
    """Where each model begins to count in each series; None where they differ in more than that.

    Samples of a series are called by a number behind the same text: tasks may number theirs each. There is
    none where names are not made so, or all begin differently.
    """
    parts = [found.groups() for name in samples if (found := _NUMBERED.fullmatch(name))]
    series = {prefix for prefix, _ in parts}
    if len(parts) < len(samples) or 2 * len(series) > len(parts) + 1:
        return []
    width = min(len(number) for _, number in parts)
    if any(number not in (str(int(number)), f"{int(number):0{width}}") for _, number in parts):
        return []
    firsts: list[tuple[int, ...] | None] = []
    for prefix in sorted(series):
        own = np.array([int(number) if before == prefix else -1 for before, number in parts])
        numbers = [np.sort(own[has & (own >= 0)]) for has in covered]
        alike = all(one.size and np.array_equal(one - one[0], numbers[0] - numbers[0][0]) for one in numbers)
        firsts.append(tuple(int(one[0]) for one in numbers) if alike else None)
    return firsts


def require_most(scores: Scores, asked: np.ndarray, left: np.ndarray) -> None:
    """Refuse to decide claims on half of the samples or less, or on samples that may be others.

    Parameters
    ----------
    scores : Scores
    asked, left : ndarray of bool, shape (models, samples)
        Whether a model has a row of a sample, and whether one is left that nothing is missing in.

    Raises
    ------
    InputError
    """
    if not isinstance(scores.options, GateReading):
        return
    shift = "" if scores.options.unpaired else hint_for_shift(scores, asked)
    worst = little_left(scores, asked, left)
    if worst is None and not shift:
        return
    hint = "score what is missing, or give the models the same samples"
    if worst is None:
        # Dropping what does not match would leave samples that are paired by the wrong number.
        what = "equal numbers of samples may be different samples, and no claim is decided on them"
        common = int(np.count_nonzero(asked.all(axis=0)))
        found = f"{common:,} of {asked.shape[1]:,} samples are common to all {asked.shape[0]} models"
        hint = "give the models the same samples"
    else:
        had, kept = int(asked[worst].sum()), int(left[worst].sum())
        what = f"{option('missing', 'drop')} leaves too little to decide a claim on"
        found = f"{kept:,} of {had:,} samples of {scores.models[worst]}, and a gate needs more than half"
    raise InputError(f"{scores.files()}: {what}", found=found, hint=f"{shift}{hint}")


def little_left(scores: Scores, asked: np.ndarray, left: np.ndarray) -> int | None:
    """The model that keeps half of its samples or less; None where most are left.

    Of models that share their samples the one with the most, or the baseline, whose samples are those that
    were asked for: new ones beside them are no loss. Where samples still come in, the one with the fewest.
    """
    counts = asked.sum(axis=1)
    few = np.flatnonzero(2 * left.sum(axis=1) <= counts)
    if not scores.options.unpaired:
        known = scores.notes.baseline is not None and BASELINE in scores.models
        whole = scores.models.index(BASELINE) if known else int(np.argmax(counts))
        if isinstance(scores.options, GateReading) and scores.options.grows:
            whole = int(np.argmin(counts))
        few = few[few == whole]
    return int(few[0]) if few.size else None
