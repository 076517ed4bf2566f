"""Handling of samples that not all models have.

Such samples were added, removed or renamed, or calls failed. Samples that a baseline lacks are excluded and
listed. If both sides lack about the same number of samples, these are excluded and listed as well. All
other absent scores count as missing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.scores.table.baseline import Baseline, UnmatchedSamples, bless_command
from riskrank.scores.table.imputation import NEGLIGIBLE
from riskrank.scores.table.missing_scores import different_samples_error, require_every_metric, sample_mask
from riskrank.scores.table.sample_alignment import is_shifted, shift_hint
from riskrank.scores.table.scores import Scores, select

# Maximum share of the samples of one side that the other side may lack.
_MAX_UNSHARED = 0.2

_CHANGED = "if the sample set has changed, "


def keep_shared_samples(scores: Scores, metrics: Sequence[str]) -> Scores:
    """Exclude samples that were added, removed or renamed.

    All other absent scores count as missing.

    Raises
    ------
    InputError
        If too large a proportion of a model's samples is unmatched, or sample numbers may be shifted by one.
    """
    options, baseline = scores.options, scores.notes.baseline
    assert isinstance(options, GateReading)
    sample, sides = scores.codes("sample"), _coverage(scores)
    requested = np.zeros(len(scores.samples), dtype=bool)
    claimed = np.isin(scores.codes("metric"), [scores.metrics.index(name) for name in metrics])
    require_every_metric(select(scores.with_options(metric=tuple(metrics))))
    requested[sample[claimed]] = True
    sides[:, ~requested] = False
    names = list(scores.models)
    if baseline is not None:
        at = names.index(BASELINE)
        sides = np.stack([sides[at], np.delete(sides, at, axis=0).any(axis=0)])
        names = [baseline.path, "the new scores"]
    shared, lacking = sides.all(axis=0) | ~requested, (requested & ~sides).sum(axis=1)
    replaced = lacking.min() > 0 and np.ptp(lacking) <= NEGLIGIBLE * requested.sum()
    if options.missing == "auto" and not (options.grows or replaced or 2 * lacking.max() > requested.sum()):
        shared = sides[0] | ~requested if baseline is not None else np.ones_like(shared)
    if shared.all():
        return scores
    unmatched = sides & ~shared
    shares = unmatched.sum(axis=1) / sides.sum(axis=1)
    # While further samples are expected, missing ones have not been removed.
    share = shares.min() if options.grows else shares.max()
    limit = _MAX_UNSHARED if options.missing == "auto" else 0.0
    if share > limit or is_shifted(scores, _coverage(scores)):
        raise _unmatched_error(scores, sides, baseline)
    excluded = tuple(
        UnmatchedSamples(
            name, tuple(scores.samples[sample] for sample in np.flatnonzero(mask)), int(present.sum())
        )
        for name, mask, present in zip(names, unmatched, sides, strict=True)
        if mask.any()
    )
    filtered = scores.filter(shared[sample])
    return replace(filtered, notes=replace(scores.notes, unmatched=excluded))


def _coverage(scores: Scores) -> Booleans:
    """Return a mask of the samples for which each model has a row, with or without a score.

    Returns
    -------
    ndarray of bool, shape (models, samples)
    """
    return sample_mask(scores, scores.codes("model"), scores.codes("sample"))


def _unmatched_error(scores: Scores, sides: Booleans, baseline: Baseline | None) -> InputError:
    """Return the error for models with different samples, or for new samples unlike those of the baseline."""
    if baseline is None:
        return different_samples_error(scores, _coverage(scores))
    old, new = sides
    common, removed, added = (np.flatnonzero(indices) for indices in (old & new, old & ~new, new & ~old))
    parts = [f"{common.size:,} of the {int(old.sum()):,} baseline samples"]
    parts += [
        f"{indices.size:,} {word}, such as '{scores.samples[indices[0]]}'"
        for indices, word in ((removed, "missing"), (added, "new"))
        if indices.size
    ]
    bless = f"{_CHANGED}bless new scores: {bless_command(baseline.path)}"
    shift = shift_hint(scores, _coverage(scores))
    if shift:
        hint = f"{shift}{bless.removeprefix(_CHANGED)}"
    elif not common.size:
        column = baseline.sample_column
        source = f": the baseline used the column {column!r}" if column else ""
        renaming = f"{option('columns', 'sample=…')} selects the column"
        hint = f"the sample names have changed{source}; {renaming}; {bless}"
    elif added.size:
        hint = f"use the sample names of the baseline, and score the missing samples; {bless}"
    else:
        worst = f"; {option('missing', 'worst')} counts missing samples as the worst possible score"
        hint = f"score the missing samples{worst if 2 * common.size >= old.sum() else ''}; {bless}"
    return InputError(
        f"{baseline.path}: the new scores have different samples than the baseline",
        found=", ".join(parts),
        hint=hint,
    )
