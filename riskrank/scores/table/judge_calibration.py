"""A table of a judge's scores and some of people's becomes one of corrected scores (method §12)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.judges.correction import (
    FEWEST_OTHERS,
    LABELS_ALPHA,
    Correction,
    for_differences,
    on_human_scale,
)
from riskrank.engine.judges.inspection import shifts
from riskrank.engine.sampling.design import FEWEST_LABELS
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import NO_COLUMN, ReadOptions
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.missing_scores import DROPPED
from riskrank.scores.table.oriented_scores import Judged, LabelShift, ScoreTable, by_sample
from riskrank.scores.table.placeholders import placeholder
from riskrank.scores.table.suite import NO_SUITE, fixed

# A judge whose scores lie so far outside people's, in ranges of theirs, or span so little of that range, is
# on another scale.
_BEYOND, _NARROW = 0.1, 0.2


def corrected(table: ScoreTable, options: ReadOptions) -> ScoreTable:
    """One column, people's metric, of a table that holds both.

    Raises
    ------
    InputError
        If people scored different samples of the models, too few, or all; or the judge not all.
    UsageError
        If the samples belong to tasks.
    """
    if table.suite and options.task != NO_COLUMN:
        raise UsageError(
            f"{option('judge')} corrects samples of one kind, and these belong to tasks",
            found=f"{len(table.suite.names)} tasks: {listing(table.suite.names, 4)}",
            hint=f"pool them, {option('task', NO_COLUMN)}, or read one task at a time with {option('where')}",
        )
    scores = table.as_draws()[:, :, 0]
    human, judge = scores[:, :, 0], scores[:, :, 1]
    notes: list[str] = []
    kept = _scored_by_judge(table, judge, options, notes)
    doubt = _never_looked_at(table, human, judge, kept)
    labelled = _labelled(table, ~np.isnan(human), kept, options, notes, doubt)
    notes += [doubt] if doubt else []
    _require_constant_neither(table, human[:, labelled], judge[:, kept], options)
    first, rest = np.flatnonzero(labelled), np.flatnonzero(kept & ~labelled)
    every = np.concatenate((first, rest))
    why = _another_scale(table.metrics, human[:, first], judge[:, first], judge[:, every])
    raw = tuple(own[every] for own in judge)
    corrections = []
    for people, own in zip(human[:, first], raw, strict=True):
        corrections.append(Correction.of(people, on_human_scale(people, own) if why else own))
    names, sign = (str(options.human), str(options.judge)), table.metrics[1].sign
    shift = _shift(table.models, raw, len(first), sign)
    judged = Judged(*names, first, rest, for_differences(corrections), raw, why, sign, shift)
    if why:
        how = "isotonic regression, cross-fitted in 5 folds"
        notes.append(f"{why}: its scores are mapped onto those of {judged.human} by {how}")
    notes += [shift.warning] if shift.models else []
    return _table(replace(table, warnings=(*table.warnings, *notes), options=options), judged, kept)


def _scored_by_judge(table: ScoreTable, judge: Floats, options: ReadOptions, notes: list[str]) -> Booleans:
    """Samples of which the judge scored every model."""
    lacking = np.isnan(judge)
    whole: Booleans = np.asarray(~np.any(lacking, axis=0))
    if whole.all():
        return whole
    if options.missing == "drop" and whole.any():
        notes.append(
            f"{DROPPED}{int((~whole).sum()):,} of {whole.size:,} samples: the judge lacks a model on them"
        )
        return whole
    model, sample = (int(at) for at in np.argwhere(lacking)[0])
    raise InputError(
        f"the judge, {options.judge}, has to score every sample of every model",
        found=f"{int(lacking.sum()):,} of {lacking.size:,} scores are missing; for example of "
        f"{table.models[model]} on '{table.samples[sample]}'",
        hint=f"{option('missing', 'drop')} leaves out the samples it did not score"
        if whole.any()
        else f"name a metric that every model has: {option('judge')}",
    )


def _labelled(
    table: ScoreTable, has: Booleans, kept: Booleans, options: ReadOptions, notes: list[str], doubt: str
) -> Booleans:
    """Samples that people scored of every model, of those kept."""
    has = has & kept
    name, counts = options.human, has.sum(axis=1)
    every: Booleans = np.asarray(np.all(has, axis=0))
    if not (counts == counts[0]).all() or int(every.sum()) != counts[0]:
        without = [model for model, count in zip(table.models, counts.tolist(), strict=True) if not count]
        if options.missing != "drop" or without:
            raise _different_labels(table, str(name), has, without)
        some = int(has.any(axis=0).sum() - every.sum())
        notes.append(f"{some:,} samples that people scored of some models only count as not labelled")
    n, total = int(every.sum()), int(kept.sum())
    if n < FEWEST_LABELS:
        raise InputError(
            f"{n} human score{'s a model are' if n != 1 else ' a model is'} too few to correct a judge",
            found=f"{name} on {n} of {total:,} samples",
            hint=f"have people score at least {FEWEST_LABELS} samples, by chance, the same of each model",
        )
    if total - n < FEWEST_OTHERS:
        turned = f"{option('human', options.judge)} {option('judge', name)}"
        raise UsageError(
            f"people scored {'every sample' if total == n else 'all samples but one'} that the judge did: "
            f"there is nothing for {option('judge', options.judge)} to add",
            found=f"{name} on {n:,} of {total:,} samples",
            hint=doubt
            or f"compare by what people said: {option('metric', name)} alone; or, if these are the wrong way "
            f"round, write {turned}",
        )
    return every


def _never_looked_at(table: ScoreTable, human: Floats, judge: Floats, kept: Booleans) -> str:
    """Where one score of people's may stand for samples that nobody looked at: what to look at."""
    both = kept & ~np.isnan(human).any(axis=0)
    found = placeholder(human[:, both], judge[:, both])
    if found is None:
        return ""
    people, shown = table.metrics[0], f"{found.value * table.metrics[0].sign + 0.0:g}"
    where = f"on {found.samples:,} of {int(both.sum()):,} samples"
    return (
        f"{people.name} is {shown} for every model {where}, and the judge does not score them like that: if "
        f"{shown} stands for samples nobody scored, leave these cells empty"
    )


def _different_labels(table: ScoreTable, name: str, has: Booleans, without: Sequence[str]) -> InputError:
    each = [f"{own.sum():,} of {model}" for model, own in zip(table.models, has, strict=True)]
    common = int(has.all(axis=0).sum())
    hint = "have people score the same samples of all models"
    if common >= FEWEST_LABELS:
        hint = f"{option('missing', 'drop')} goes on with the {common:,} that were scored of all models"
    return InputError(
        f"people scored nothing of {listing(without, 4)}"
        if without
        else "people did not score the same samples of all models",
        found=f"{name}: {listing(each, 4)}; {common:,} samples of all",
        hint=hint,
    )


def _require_constant_neither(table: ScoreTable, human: Floats, judge: Floats, options: ReadOptions) -> None:
    if options.allow_constant:
        return
    if judge.min() == judge.max():
        raise InputError(
            f"the judge, {options.judge}, says the same of every sample: it adds nothing to people's scores",
            found=f"{judge.flat[0] * table.metrics[1].sign:g} for every model and sample",
            hint="compare by what people said: "
            f"{option('metric', options.human)} {option('missing', 'drop')}",
        )
    if human.min() < human.max():
        return
    raise InputError(
        f"metric '{options.human}' is constant, it cannot tell the models apart",
        found=f"{human.flat[0] * table.metrics[0].sign:g} for every model and sample that people scored",
        hint="have people score more samples",
    )


def _shift(models: Sequence[str], raw: Sequence[Floats], labelled: int, sign: float) -> LabelShift:
    """Whether the labels look chosen by outcome: they correct nothing then."""
    shift, p_values = shifts(raw, labelled)
    chosen = int(np.count_nonzero(p_values <= LABELS_ALPHA))
    worst = int(np.argmin(p_values))
    return LabelShift(models[worst], sign * float(shift[worst]), float(p_values[worst]), chosen)


def _another_scale(specs: Sequence[MetricSpec], human: Floats, beside: Floats, judge: Floats) -> str:
    """Why a judge does not score on people's scale; empty where it does, as far as anybody can tell.

    Ends of people's scale that nobody declared are those of the labels: more samples reach further on the
    same scale, so that the judge's scores ``beside`` these labels are what is held against them.
    """
    people, other = specs
    name = f"the judge, {other.name}, is on another scale"
    if people.direction != other.direction or people.transform != other.transform:
        what = "direction" if people.transform == other.transform else "transform"
        return f"{name}, by its {what}"
    if people.bounds is not None and other.bounds is not None:
        return "" if people.bounds == other.bounds else f"{name}, by its bounds"
    low, high = float(human.min()), float(human.max())
    if people.bounds is not None:
        ends = sorted(people.sign * end for end in people.bounds)
        if np.isfinite(ends).all() and people.transform == "none":
            low, high, beside = *ends, judge
    reach = high - low
    if beside.min() < low - _BEYOND * reach or beside.max() > high + _BEYOND * reach:
        return f"{name}, with scores outside that of {people.name}"
    if beside.max() - beside.min() < _NARROW * reach:
        return f"{name}, of which its scores span less than a fifth"
    return ""


def _table(table: ScoreTable, judged: Judged, kept: Booleans) -> ScoreTable:
    """Rows by sample: what people said, if they did, then what the judge did."""
    order, samples = by_sample(judged.labelled, judged.others)
    left = np.flatnonzero(kept)
    rows = (fixed(np.searchsorted(left, samples).astype(np.int64)),) * len(table.models)
    return replace(
        table,
        metrics=table.metrics[:1],
        samples=tuple(table.samples[at] for at in left.tolist()),
        values=tuple(fixed(one.rows()[0][order][:, None]) for one in judged.corrections),
        row_samples=rows,
        clusters=rows,
        has_draws=False,
        suite=NO_SUITE,
        scored=(),
        judged=judged,
    )
