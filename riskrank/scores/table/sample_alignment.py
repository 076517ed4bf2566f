"""Checks that enough samples remain for a decision, and that all models number samples consistently."""

import re
from collections.abc import Sequence

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.scores.table.scores import Scores

# A number with an optional prefix, which must contain a letter so that dates and fractions do not match.
_NUMBERED_NAME = re.compile(r"((?:.*[^\W\d_].*?)?)(?<![0-9])([0-9]{1,18})", re.DOTALL)


def shift_hint(scores: Scores, covered: np.ndarray) -> str:
    """Return a hint to number samples consistently if their numbers are shifted, otherwise an empty string.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample.
    """
    firsts = {*_first_numbers(scores.samples, covered)}
    shifted = [first for first in firsts if first is not None and len({*first}) > 1]
    if None in firsts or len(shifted) != 1 or {*shifted[0]} != {0, 1}:
        return ""
    first = shifted[0]
    later = [name for name, start in zip(scores.models, first, strict=True) if start]
    earlier = [name for name in scores.models if name not in later]
    return (
        f"{listing(earlier, 3)} may number samples from 0 and {listing(later, 3)} from 1: if so, use the "
        "same numbers in all files; if equal numbers are the same samples, "
    )


def is_shifted(scores: Scores, covered: np.ndarray) -> bool:
    """Return True if models number the same samples from different starting points.

    Samples are assumed to be the same if their names share a prefix and their numbers have the same
    increments.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample.
    """
    return any(first is not None and len({*first}) > 1 for first in _first_numbers(scores.samples, covered))


def _first_numbers(samples: Sequence[str], covered: np.ndarray) -> list[tuple[int, ...] | None]:
    """Return the first sample number of each model, for each series of samples.

    Samples in a series share a prefix and differ in the number that follows. Each task, for example, may be a
    series.

    Returns
    -------
    list of (tuple of int, or None)
        None for a series in which the numbers of two models differ by more than a shift. The list is empty
        if sample names do not follow this pattern.
    """
    parts = [match.groups() for name in samples if (match := _NUMBERED_NAME.fullmatch(name))]
    series = {prefix for prefix, _ in parts}
    if len(parts) < len(samples) or 2 * len(series) > len(parts) + 1:
        return []
    width = min(len(number) for _, number in parts)
    if any(number not in (str(int(number)), f"{int(number):0{width}}") for _, number in parts):
        return []
    firsts: list[tuple[int, ...] | None] = []
    for prefix in sorted(series):
        values = np.array([int(number) if text == prefix else -1 for text, number in parts])
        numbers = [np.sort(values[mask & (values >= 0)]) for mask in covered]
        same = all(x.size and np.array_equal(x - x[0], numbers[0] - numbers[0][0]) for x in numbers)
        firsts.append(tuple(int(x[0]) for x in numbers) if same else None)
    return firsts


def require_majority(scores: Scores, present: np.ndarray, complete: np.ndarray) -> None:
    """Check that more than half of the samples remain for deciding claims, and that they are aligned.

    Parameters
    ----------
    scores : Scores
    present, complete : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample, and if it has one without missing scores.

    Raises
    ------
    InputError
        If half of the samples or less remain, or samples may be misaligned.
    """
    if not isinstance(scores.options, GateReading):
        return
    shift = "" if scores.options.unpaired else shift_hint(scores, present)
    worst = depleted_model(scores, present, complete)
    if worst is None and not shift:
        return
    hint = "score the missing samples, or use the same samples for all models"
    if worst is None:
        # Dropping unmatched samples would leave samples paired by the wrong number.
        problem = "samples with equal numbers may differ, so no claim can be decided"
        common = int(np.count_nonzero(present.all(axis=0)))
        detail = f"{common:,} of {present.shape[1]:,} samples have scores of every model"
        hint = "use the same samples for all models"
    else:
        total, count = int(present[worst].sum()), int(complete[worst].sum())
        problem = f"{option('missing', 'drop')} leaves too few samples to decide a claim"
        detail = f"{count:,} of {total:,} samples of {scores.models[worst]}; a gate needs more than half"
    raise InputError(f"{scores.file_names()}: {problem}", found=detail, hint=f"{shift}{hint}")


def depleted_model(scores: Scores, present: np.ndarray, complete: np.ndarray) -> int | None:
    """Return the index of a model that retains half of its samples or less, or None.

    If models share samples, only one model is considered: the baseline, or otherwise the model with the most
    samples. With `grows`, it is the model with the fewest samples, because further samples are expected.
    """
    counts = present.sum(axis=1)
    depleted = np.flatnonzero(2 * complete.sum(axis=1) <= counts)
    if not scores.options.unpaired:
        has_baseline = scores.notes.baseline is not None and BASELINE in scores.models
        reference = scores.models.index(BASELINE) if has_baseline else int(np.argmax(counts))
        if isinstance(scores.options, GateReading) and scores.options.grows:
            reference = int(np.argmin(counts))
        depleted = depleted[depleted == reference]
    return int(depleted[0]) if depleted.size else None
