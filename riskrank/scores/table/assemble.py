"""Scores become rows of a complete matrix, the last step: repeats first, then gaps."""

import numpy as np

from riskrank.scores.table.gaps import completed
from riskrank.scores.table.repeats import laid_out
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.scores import Scores


def assemble(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores into rows.

    Parameters
    ----------
    scores : Scores
        What was selected; the options `repeats`, `missing` and `unpaired` say what to do about irregular
        tables.
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.

    Returns
    -------
    rows : Rows
    warnings : tuple of str
        What was dropped.

    Raises
    ------
    InputError
        For duplicate rows, different sample sets or missing cells, unless the options say what to do.
    """
    rows, notes = laid_out(scores, values)
    rows, warnings = completed(scores, rows)
    if scores.options.repeats == "draws":
        rows = rows.with_sorted_draws()
    return rows, (*notes, *warnings)
