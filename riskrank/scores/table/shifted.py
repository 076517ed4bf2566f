"""Whether enough samples are left to decide on, and none that some models number from another number on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.asked.baseline import BASELINE, GateReading
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.scores import Scores

# Longer numbers are no counts, and do not fit an integer.
_MOST_DIGITS = 18
_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


@dataclass(frozen=True)
class _Numbering:
    """How samples are numbered.

    Attributes
    ----------
    numbers : ndarray of int
        Of each sample.
    series : ndarray of int
        What stands before the number of each sample, by number: tasks may number their samples each.
    """

    numbers: np.ndarray
    series: np.ndarray


def hint_for_shift(scores: Scores, covered: np.ndarray) -> str:
    """How to number samples alike, with a semicolon behind; empty where they are not shifted by one.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
    """
    numbering = _numbering(scores.samples)
    if numbering is None:
        return ""
    first = _first_numbers(numbering, covered)
    if sorted(set(first)) != [0, 1]:
        return ""
    later = [name for name, start in zip(scores.models, first, strict=True) if start]
    earlier = [name for name in scores.models if name not in later]
    return (
        f"{listing(earlier, 3)} may count from 0 and {listing(later, 3)} from 1: then equal numbers are "
        "different samples, and the files have to number them alike; if equal numbers are equal samples, "
    )


def moved(scores: Scores, covered: np.ndarray) -> bool:
    """Whether some series has as many samples of every model, numbered from another number on."""
    numbering = _numbering(scores.samples)
    firsts = [] if numbering is None else _firsts(numbering, covered)
    return any(one is not None and len(set(one)) > 1 for one in firsts)


def _firsts(numbering: _Numbering, covered: np.ndarray) -> list[tuple[int, ...] | None]:
    """Where each model begins to count in each series; None where they differ in more than that."""
    found: list[tuple[int, ...] | None] = []
    for series in np.unique(numbering.series):
        numbers = [np.sort(numbering.numbers[has & (numbering.series == series)]) for has in covered]
        alike = all(own.size and np.array_equal(own - own[0], numbers[0] - numbers[0][0]) for own in numbers)
        found.append(tuple(int(own[0]) for own in numbers) if alike else None)
    return found


def _first_numbers(numbering: _Numbering, covered: np.ndarray) -> list[int]:
    """Where each model begins to count in series that are shifted; nothing where more than that differs."""
    first = set(_firsts(numbering, covered))
    shifted = [one for one in first if one is not None and len(set(one)) > 1]
    return [*shifted[0]] if len(shifted) == 1 and None not in first else []


def _numbering(samples: Sequence[str]) -> _Numbering | None:
    """How names are made of a prefix and a number each; None where they are not."""
    parts = [found.groups() for name in samples if (found := _NUMBERED.fullmatch(name))]
    prefixes, digits = sorted({prefix for prefix, _ in parts}), [number for _, number in parts]
    # Names that all begin differently are no series.
    no_series = len(parts) < len(samples) or 2 * len(prefixes) > len(parts) + 1
    if no_series or max(map(len, digits)) > _MOST_DIGITS:
        return None
    # Before the digits of a date or a fraction stand no letters.
    if any(prefix and not any(map(str.isalpha, prefix)) for prefix in prefixes):
        return None
    filled = not all(number == str(int(number)) for number in digits)
    if filled and any(number != f"{int(number):0{min(map(len, digits))}}" for number in digits):
        return None
    at = {prefix: number for number, prefix in enumerate(prefixes)}
    return _Numbering(np.array([*map(int, digits)]), np.array([at[prefix] for prefix, _ in parts]))


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
