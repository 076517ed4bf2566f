"""Samples of one side alone, which were added, removed or renamed: few are left out, by name."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.scores.table.baseline import Baseline, Unshared, how_to_bless
from riskrank.scores.table.missing_scores import covered, different_samples, require_every_metric
from riskrank.scores.table.sample_alignment import hint_for_shift, moved
from riskrank.scores.table.scores import Scores, select

# Largest share of a side's samples that the other side may lack.
_MOST_UNSHARED = 0.2

_CHANGED = "if the samples changed for good, "


def on_shared(scores: Scores, metrics: Sequence[str]) -> Scores:
    """The samples that all models have, where few others are left out; what failed on them stays missing.

    Raises
    ------
    InputError
        If more than a share of a model's samples is its own, or numbers may be shifted by one.
    """
    options, baseline = scores.options, scores.notes.baseline
    assert isinstance(options, GateReading)
    sample, sides = scores.codes("sample"), _has(scores)
    asked = np.zeros(len(scores.samples), dtype=bool)
    claimed = np.isin(scores.codes("metric"), [scores.metrics.index(name) for name in metrics])
    require_every_metric(select(scores.asking(metric=tuple(metrics))))
    asked[sample[claimed]] = True
    sides[:, ~asked] = False
    names = list(scores.models)
    if baseline is not None:
        at = names.index(BASELINE)
        sides = np.stack([sides[at], np.delete(sides, at, axis=0).any(axis=0)])
        names = [baseline.path, "the new scores"]
    shared = sides.all(axis=0) | ~asked
    if shared.all():
        return scores
    own = sides & ~shared
    shares = own.sum(axis=1) / sides.sum(axis=1)
    # Where samples still come in, those that are not there yet are none that were taken out.
    share = shares.min() if options.grows else shares.max()
    most = _MOST_UNSHARED if options.missing == "auto" else 0.0
    if share > most or moved(scores, _has(scores)):
        raise _other_samples(scores, sides, baseline)
    unshared = tuple(
        Unshared(name, tuple(scores.samples[sample] for sample in np.flatnonzero(mine)), int(had.sum()))
        for name, mine, had in zip(names, own, sides, strict=True)
        if mine.any()
    )
    kept = scores.only(shared[sample])
    return replace(kept, notes=replace(scores.notes, unshared=unshared))


def _has(scores: Scores) -> Booleans:
    """Whether a model has a row of a sample, with a score or without, shape (models, samples)."""
    return covered(scores, scores.codes("model"), scores.codes("sample"))


def _other_samples(scores: Scores, sides: Booleans, baseline: Baseline | None) -> InputError:
    """New scores of other samples than were blessed, or models that were scored on different ones."""
    if baseline is None:
        return different_samples(scores, _has(scores))
    old, new = sides
    common, gone, added = (np.flatnonzero(one) for one in (old & new, old & ~new, new & ~old))
    told = [f"{common.size:,} of the {int(old.sum()):,} blessed samples"]
    told += [
        f"{one.size:,} {word}, '{scores.samples[one[0]]}' first"
        for one, word in ((gone, "missing"), (added, "new"))
        if one.size
    ]
    anew = f"{_CHANGED}bless new scores: {how_to_bless(baseline.path)}"
    shift = hint_for_shift(scores, _has(scores))
    if shift:
        hint = f"{shift}{anew.removeprefix(_CHANGED)}"
    elif not common.size:
        of = f": they were those of the column {baseline.sample_column!r}" if baseline.sample_column else ""
        another = f"{option('columns', 'sample=…')} takes them from another column"
        hint = f"the samples have other names now{of}; {another}; {anew}"
    elif added.size:
        hint = f"name samples as before, and score those that are missing; {anew}"
    else:
        worst = f"; {option('missing', 'worst')} counts those that are missing as the worst there can be"
        hint = f"score those that are missing{worst if 2 * common.size >= old.sum() else ''}; {anew}"
    return InputError(
        f"{baseline.path}: the new scores are not of the samples that were blessed",
        found=", ".join(told),
        hint=hint,
    )
