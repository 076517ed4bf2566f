"""Whether enough samples are left of those that were asked for, where claims are decided on them."""

import numpy as np

from riskrank.asked.baseline import BASELINE, GateReading
from riskrank.errors import InputError, option
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.shifted import hint_for_shift


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
