"""Samples that some models count from 0 and others from 1: pairing them by number would pair wrong ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.errors import listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
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
    prefix : str
        What stands before each number, if it is the same before all.
    digits : int
        To how many digits numbers are filled with zeros; 0 where they are not.
    """

    numbers: np.ndarray
    series: np.ndarray
    prefix: str | None
    digits: int

    def one_less(self, column: str) -> str:
        """The name with the number before, in SQL."""
        if not self.prefix and not self.digits:
            return f"{column} - 1"
        number = f"CAST(CAST(SUBSTR({column}, {len(self.prefix or '') + 1}) AS BIGINT) - 1 AS VARCHAR)"
        if self.digits:
            number = f"LPAD({number}, {self.digits}, '0')"
        return f"CONCAT({quoted_text(self.prefix)}, {number})" if self.prefix else number


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
    alike = _renumbered(scores, later, numbering)
    return (
        f"{listing(earlier, 3)} may count from 0 and {listing(later, 3)} from 1: then equal numbers are "
        f"different samples, and {alike}; if equal numbers are equal samples, "
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
    if (
        len(parts) < len(samples)
        or 2 * len(prefixes) > len(parts) + 1
        or max(map(len, digits)) > _MOST_DIGITS
    ):
        return None
    # Before the digits of a date or a fraction stand no letters.
    if any(prefix and not any(map(str.isalpha, prefix)) for prefix in prefixes):
        return None
    filled = 0 if all(number == str(int(number)) for number in digits) else min(map(len, digits))
    if filled and any(number != f"{int(number):0{filled}}" for number in digits):
        return None
    at = {prefix: number for number, prefix in enumerate(prefixes)}
    return _Numbering(
        np.array([int(number) for number in digits]),
        np.array([at[prefix] for prefix, _ in parts]),
        prefixes[0] if len(prefixes) == 1 else None,
        filled,
    )


def _renumbered(scores: Scores, later: Sequence[str], numbering: _Numbering) -> str:
    files = scores.notes.files
    roles = {(file.roles.model, file.roles.sample) for file in files}
    model, sample = roles.pop()
    own_sql = any(file.source.own_sql or file.source.model_label is not None for file in files)
    # LPAD cuts what is longer.
    cut = 0 < numbering.digits < len(str(numbering.numbers.max() - 1))
    if (
        numbering.prefix is None
        or cut
        or roles
        or own_sql
        or scores.options.sql
        or None in (model, sample)
        or "+" in f"{model}{sample}"
    ):
        return "the files have to number them alike"
    named, place = quoted_column(str(sample)), quoted_column(str(model))
    models = ", ".join(map(quoted_text, later))
    query = f"CASE WHEN {place} IN ({models}) THEN {numbering.one_less(named)} ELSE {named} END AS {named}"
    return f"{option('sql', f'SELECT * REPLACE ({query}) FROM scores')} numbers them alike"
