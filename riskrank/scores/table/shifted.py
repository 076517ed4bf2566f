"""Samples that some models count from 0 and others from 1: pairing them by number would pair wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.table.scores import Scores


def hint_for_shift(scores: Scores, covered: np.ndarray, options: ReadOptions) -> str:
    """How to number samples alike, with a semicolon behind; empty where they are not shifted by one.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
    options : ReadOptions
    """
    if not all(name.isdecimal() and name == str(int(name)) for name in scores.samples):
        return ""
    numbers = np.array([int(name) for name in scores.samples])
    of_model = [np.sort(numbers[has]) for has in covered]
    first = [int(own[0]) for own in of_model]
    if sorted(set(first)) != [0, 1] or any(
        not np.array_equal(own - own[0], of_model[0] - of_model[0][0]) for own in of_model
    ):
        return ""
    later = [name for name, start in zip(scores.models, first, strict=True) if start]
    earlier = [name for name in scores.models if name not in later]
    return (
        f"{listing(earlier, 3)} may count from 0 and {listing(later, 3)} from 1: then equal numbers are "
        f"different samples, and {_renumbered(scores, later, options)}; if equal numbers are equal samples, "
    )


def _renumbered(scores: Scores, later: Sequence[str], options: ReadOptions) -> str:
    files = scores.notes.files
    roles = {(file.roles.model, file.roles.sample) for file in files}
    model, sample = roles.pop()
    own_sql = any(file.source.own_sql or file.source.model_label is not None for file in files)
    if roles or own_sql or options.sql or None in (model, sample) or "+" in f"{model}{sample}":
        return "the files have to number them alike"
    named, place = quoted_column(str(sample)), quoted_column(str(model))
    models = ", ".join(map(quoted_text, later))
    query = f"CASE WHEN {place} IN ({models}) THEN {named} - 1 ELSE {named} END AS {named}"
    return f"{option('sql', f'SELECT * REPLACE ({query}) FROM scores')} numbers them alike"
