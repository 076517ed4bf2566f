"""Calibration of judge scores on human labels, which a table contains as two metrics (method §12)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from riskrank.engine.judges import (
    LABELS_ALPHA,
    MIN_UNLABELLED,
    Correction,
    JudgeAgreement,
    label_shifts,
    map_to_human_scale,
    tune_for_differences,
)
from riskrank.engine.sampling.design import MIN_LABELS, MIN_SAMPLES
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import NO_COLUMN, ReadOptions
from riskrank.scores.names.vocabulary import has_word
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.oriented_scores import CalibratedJudge, LabelShift, ScoreTable, order_by_sample
from riskrank.scores.table.scores import DROPPED, Scores
from riskrank.scores.table.suite import NO_SUITE, read_only

# A judge has a different scale if its scores exceed the human range by more than the first share of that
# range, or span less than the second.
_MAX_EXCESS, _MIN_SPAN = 0.4, 0.2
# Largest number of judges whose pairs are compared.
_MAX_JUDGES = 8


def judge_scores(scores: Scores) -> dict[str, Floats]:
    """Return the scores of each judge on the only metric, in the units of the file, by judge.

    Each array has the shape (models, samples), NaN if missing. The result is empty without a column of
    judges, with too many of them, or with a second source of noise.
    """
    noise = scores.options.noise
    columns = {"draw": scores.notes.files[0].roles.draw or "", "noise": noise[0] if len(noise) == 1 else ""}
    role = next((r for r, name in columns.items() if scores.has_role(r) and has_word(name, "judge")), None)
    judges = () if role is None or len(scores.metrics) > 1 else scores.names(role)
    if role is None or not 2 <= len(judges) <= _MAX_JUDGES:
        return {}
    grid = np.full((len(judges), len(scores.models), len(scores.samples)), np.nan)
    grid[scores.codes(role), scores.codes("model"), scores.codes("sample")] = np.where(
        scores.invalid_mask(), np.nan, scores.values
    )
    return dict(zip(judges, grid, strict=True))


def judge_agreements(judges: Mapping[str, Floats]) -> tuple[JudgeAgreement, ...]:
    """Return the agreement of each pair of judges, unless they share too few samples."""
    agreements = []
    for (first, a), (second, b) in combinations(judges.items(), 2):
        model, units = np.nonzero(np.isfinite(a + b))
        if np.unique(units).size >= MIN_SAMPLES:
            pair = (a[model, units], b[model, units])
            agreements.append(JudgeAgreement.measure((first, second), pair, units))
    return tuple(agreements)


def calibrate_judge(table: ScoreTable, options: ReadOptions) -> ScoreTable:
    """Calibrate judge scores on human labels; return a table with this metric only.

    The metric is named after the human scores.

    Raises
    ------
    InputError
        If human labels cover different samples for different models, too few samples or all samples, or if
        judge scores are missing.
    UsageError
        If the samples belong to tasks.
    """
    if table.suite and options.task != NO_COLUMN:
        detail = f"{len(table.suite.names)} tasks: {listing(table.suite.names, 4)}"
        hint = f"pool the tasks, {option('task', NO_COLUMN)}, or select one task with {option('where')}"
        raise UsageError(f"{option('judge')} does not support tasks", found=detail, hint=hint)
    scores = table.score_array()[:, :, 0]
    human, judge = scores[:, :, 0], scores[:, :, 1]
    notes: list[str] = []
    usable = _judged_samples(table, judge, options, notes)
    labelled = _labelled_samples(table, ~np.isnan(human), usable, options, notes)
    _require_variation(table, human[:, labelled], judge[:, usable], options)
    rated, unrated = np.flatnonzero(labelled), np.flatnonzero(usable & ~labelled)
    order = np.concatenate((rated, unrated))
    reason = _scale_mismatch(table.metrics, human[:, rated], judge[:, rated], judge[:, order])
    raw = tuple(row[order] for row in judge)
    fits = []
    for labels, row in zip(human[:, rated], raw, strict=True):
        fits.append(Correction.fit(labels, map_to_human_scale(labels, row) if reason else row))
    names, sign = (str(options.human), str(options.judge)), table.metrics[1].sign
    # If the mean judge score differs (Welch's test), labels may have been chosen by outcome.
    differences, p_values = label_shifts(raw, len(rated))
    model, significant = int(np.argmin(p_values)), int(np.count_nonzero(p_values <= LABELS_ALPHA))
    difference = sign * float(differences[model])
    shift = LabelShift(table.models[model], difference, float(p_values[model]), significant)
    judged = CalibratedJudge(*names, rated, unrated, tune_for_differences(fits), raw, reason, sign, shift)
    if reason:
        how = "isotonic regression, cross-fitted in 5 folds"
        notes.append(f"{reason}: its scores are calibrated on {judged.human} by {how}")
    notes += [shift.warning] if shift.models else []
    return _build_table(replace(table, warnings=(*table.warnings, *notes), options=options), judged, usable)


def _judged_samples(table: ScoreTable, judge: Floats, options: ReadOptions, notes: list[str]) -> Booleans:
    """Return a mask of the samples on which the judge scored every model, with shape (samples,).

    If a judge score is missing, the sample is dropped with a note or an error is raised, depending on the
    options.

    Parameters
    ----------
    table : ScoreTable
    judge : ndarray, shape (models, samples)
        Judge scores; NaN if missing.
    options : ReadOptions
    notes : list of str
        List to which a note about dropped samples is appended.
    """
    missing = np.isnan(judge)
    full: Booleans = np.asarray(~np.any(missing, axis=0))
    if full.all():
        return full
    if options.missing == "drop" and full.any():
        notes.append(
            f"{DROPPED}{int((~full).sum()):,} of {full.size:,} samples that lack a judge score for some model"
        )
        return full
    model, sample = (int(at) for at in np.argwhere(missing)[0])
    example = f"{table.models[model]} on '{table.samples[sample]}'"
    detail = f"{int(missing.sum()):,} of {missing.size:,} scores are missing, for example {example}"
    hint = f"choose a judge that scored every model: {option('judge')}"
    if full.any():
        hint = f"{option('missing', 'drop')} excludes the samples that the judge did not score"
    problem = f"the judge, {options.judge}, must score every sample of every model"
    raise InputError(problem, found=detail, hint=hint)


def _labelled_samples(
    table: ScoreTable, has_label: Booleans, usable: Booleans, options: ReadOptions, notes: list[str]
) -> Booleans:
    """Return a mask of the usable samples with human labels for every model, with shape (samples,).

    Parameters
    ----------
    table : ScoreTable
    has_label : ndarray of bool, shape (models, samples)
        True if a sample has a human label.
    usable : ndarray of bool, shape (samples,)
        Samples with judge scores.
    options : ReadOptions
    notes : list of str
        List to which a note about incomplete labels is appended.

    Raises
    ------
    InputError
        If the labels cover different samples for different models, or are too few.
    UsageError
        If nearly all samples have labels.
    """
    has_label = has_label & usable
    name, counts = options.human, has_label.sum(axis=1)
    complete: Booleans = np.asarray(np.all(has_label, axis=0))
    if not (counts == counts[0]).all() or int(complete.sum()) != counts[0]:
        without = [model for model, count in zip(table.models, counts.tolist(), strict=True) if not count]
        if options.missing != "drop" or without:
            labels = [f"{row.sum():,} of {model}" for model, row in zip(table.models, has_label, strict=True)]
            common = int(complete.sum())
            hint = "collect human scores on the same samples for all models"
            if common >= MIN_LABELS:
                hint = f"{option('missing', 'drop')} uses only the {common:,} samples labelled for all models"
            problem = f"no human scores for {listing(without, 4)}"
            problem = problem if without else "the models have human scores on different samples"
            detail = f"{name}: {listing(labels, 4)}; {common:,} samples for all models"
            raise InputError(problem, found=detail, hint=hint)
        partial = int(has_label.any(axis=0).sum() - complete.sum())
        notes.append(f"{partial:,} samples have human scores for some models only and count as unlabelled")
    n, total = int(complete.sum()), int(usable.sum())
    if n < MIN_LABELS:
        raise InputError(
            f"{n} human score{'s per model are' if n != 1 else ' per model is'} too few to calibrate a judge",
            found=f"{name} on {n} of {total:,} samples",
            hint=f"collect human scores for at least {MIN_LABELS} random samples, the same for each model",
        )
    if total - n < MIN_UNLABELLED:
        swapped = f"{option('human', options.judge)} {option('judge', name)}"
        raise UsageError(
            f"{'all' if total == n else 'all but one of the'} samples of the judge have human scores: "
            f"{option('judge', options.judge)} adds nothing",
            found=f"{name} on {n:,} of {total:,} samples",
            hint=f"use the human scores only: {option('metric', name)}; or, if the two columns are swapped, "
            f"write {swapped}; or, if a value marks samples without human scores, leave these cells empty",
        )
    return complete


def _require_variation(table: ScoreTable, human: Floats, judge: Floats, options: ReadOptions) -> None:
    """Raise InputError if the judge scores or the human scores are constant."""
    if options.allow_constant:
        return
    if judge.min() == judge.max():
        raise InputError(
            f"the judge, {options.judge}, has the same score everywhere and adds nothing to the human scores",
            found=f"{judge.flat[0] * table.metrics[1].sign:g} for every model and sample",
            hint=f"use the human scores only: {option('metric', options.human)} {option('missing', 'drop')}",
        )
    if human.min() < human.max():
        return
    problem = f"metric '{options.human}' is constant and cannot separate the models"
    detail = f"{human.flat[0] * table.metrics[0].sign:g} for every model and sample with a human score"
    raise InputError(problem, found=detail, hint="collect more human scores")


def _scale_mismatch(specs: Sequence[MetricSpec], human: Floats, paired: Floats, judge: Floats) -> str:
    """Describe how the judge's scale differs from the human scale; return an empty string if it does not.

    Without declared bounds, the range of the labels represents the human scale. The range of scores grows
    with the number of samples. The labels are therefore compared only with judge scores of the labelled
    samples.

    Parameters
    ----------
    specs : sequence of 2 MetricSpec
        Human metric and judge metric.
    human : ndarray
        Human scores of the labelled samples.
    paired : ndarray
        Judge scores of the labelled samples.
    judge : ndarray
        Judge scores of all samples.
    """
    target, source = specs
    name = f"the judge, {source.name}, has a different scale"
    if target.direction != source.direction or target.transform != source.transform:
        aspect = "direction" if target.transform == source.transform else "transform"
        return f"{name} (different {aspect})"
    if target.bounds is not None and source.bounds is not None:
        return "" if target.bounds == source.bounds else f"{name} (different bounds)"
    low, high = float(human.min()), float(human.max())
    if target.bounds is not None:
        limits = sorted(target.sign * end for end in target.bounds)
        if np.isfinite(limits).all() and target.transform == "none":
            low, high, paired = *limits, judge
    span = high - low
    if paired.min() < low - _MAX_EXCESS * span or paired.max() > high + _MAX_EXCESS * span:
        return f"{name} (scores outside the range of {target.name})"
    if paired.max() - paired.min() < _MIN_SPAN * span:
        return f"{name} (scores span less than a fifth of the range of {target.name})"
    return ""


def _build_table(table: ScoreTable, judged: CalibratedJudge, usable: Booleans) -> ScoreTable:
    """Return a copy of the table with calibrated scores, sorted by sample.

    A labelled sample has two rows: its human score, followed by its judge score. `judged` holds both kinds of
    scores; `usable` is a mask of the samples with judge scores.
    """
    order, samples = order_by_sample(judged.labelled, judged.unlabelled)
    used = np.flatnonzero(usable)
    rows = (read_only(np.searchsorted(used, samples).astype(np.int64)),) * len(table.models)
    return replace(
        table,
        metrics=table.metrics[:1],
        samples=tuple(table.samples[at] for at in used.tolist()),
        values=tuple(read_only(c.weighted_rows()[0][order][:, None]) for c in judged.corrections),
        row_samples=rows,
        clusters=rows,
        has_repeats=False,
        suite=NO_SUITE,
        scored=(),
        judged=judged,
    )
