"""Treatment of samples that some models lack, and of rows without a score: reject, drop or keep."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from riskrank.errors import InputError, counted, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.interfaces import join_commas
from riskrank.options.reading import SHARED
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.score_counts import crosstab, describe_missing
from riskrank.scores.table.scores import Scores

if TYPE_CHECKING:
    from riskrank.scores.table.missing_reasons import Fixes

_SELECT_HINT = (
    f"select metrics and models with common samples, using {option('metric')} and {option('models')}"
)
# Largest number of metrics or models that are listed by name.
_MAX_LISTED = 8
# Prefix of warnings about dropped samples.
DROPPED = "dropped "
# All warnings about exclusions, including notes on exports.
_EXCLUSION = re.compile(
    rf"^{DROPPED}|left out|ignored|excluded|without (a )?scores?\b|no score|not scored"
    r"|(could not|cannot) be read|that failed|failed in|an error|fewer samples|new scores lack"
    r"|the run ended|not finished"
)


def reports_exclusion(warning: str) -> bool:
    """Return True if a warning reports that something requested is excluded from the comparison."""
    return _EXCLUSION.search(warning) is not None


def resolve_missing(scores: Scores, rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Reject, drop or keep rows with missing scores, according to the options.

    Returns
    -------
    rows : Rows
    warnings : tuple of str
        Warnings about dropped samples.

    Raises
    ------
    InputError
        If scores are missing and the options do not say how to treat them.
    """
    gaps = np.isnan(rows.values).any(axis=1)
    if scores.options.missing == "drop":
        return _drop_incomplete(scores, rows, gaps)
    has = np.ones((1, 1), bool) if scores.options.unpaired else sample_mask(scores, rows.model, rows.sample)
    if scores.options.missing in ("keep", SHARED):
        return (rows if has.all() else _append_empty_rows(rows, has)), ()
    _require_every_model(scores, rows.model)
    if not has.all():
        raise different_samples_error(scores, has)
    if gaps.any():
        raise _missing_scores_error(scores, rows, gaps)
    return rows, ()


def require_comparable(scores: Scores) -> None:
    """Check for missing scores that cannot be imputed.

    Raises
    ------
    InputError
        If a model has no score on a metric, or the models share too few samples.
    """
    require_every_metric(scores)
    if scores.options.unpaired:
        return
    from riskrank.scores.table.sample_alignment import shift_hint

    has = sample_mask(scores, scores.codes("model"), scores.codes("sample"))
    shared = int(np.count_nonzero(has.all(axis=0)))
    if 2 * shared < has.shape[1] or (shared < has.shape[1] and shift_hint(scores, has)):
        raise different_samples_error(scores, has)


def require_every_metric(scores: Scores) -> None:
    """Check that every model has a score on every metric.

    Raises
    ------
    InputError
        If a model has no score at all on a metric.
    """
    unscored = _list_unscored_models(scores)
    if unscored:
        # If every call failed, restricting the metrics does not help.
        failed = isinstance(scores.options, GateReading) and bool(scores.invalid_mask().any())
        rule = option("missing", scores.options.missing)
        message = f"{rule} cannot replace all scores of a metric"
        hint = "run the samples without a score again" if failed else _subset_hint(scores)
        raise InputError(f"{scores.file_names()}: {message}", found=unscored, hint=hint)


def sample_mask(scores: Scores, model: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return a mask of each model's samples, with shape (models, samples).

    Parameters
    ----------
    scores : Scores
    model, sample : ndarray of int, shape (rows,)
        Codes of each row's model and sample.
    """
    has = np.zeros((len(scores.models), len(scores.samples)), dtype=bool)
    has[model, sample] = True
    return has


def _append_empty_rows(rows: Rows, has_sample: np.ndarray) -> Rows:
    """Append rows of NaN for the samples that a model lacks.

    Parameters
    ----------
    rows : Rows
    has_sample : ndarray of bool, shape (models, samples)
        True if a model has a sample.
    """
    absent = np.argwhere(~has_sample)
    model = np.concatenate([rows.model, absent[:, 0]])
    sample = np.concatenate([rows.sample, absent[:, 1]])
    empty = np.full((len(absent), rows.values.shape[1]), np.nan)
    joined = Rows(model=model, sample=sample, values=np.concatenate([rows.values, empty]))
    return joined.take(np.lexsort((sample, model)))


def _drop_incomplete(scores: Scores, rows: Rows, gaps: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Drop incomplete repeats, then samples without a complete repeat.

    A sample is dropped for all models or, in an unpaired table, only for the incomplete model.
    """
    starts = np.diff(rows.model * len(scores.samples) + rows.sample, prepend=-1) != 0
    pair = np.cumsum(starts) - 1
    model, sample = rows.model[starts], rows.sample[starts]
    good = np.zeros(model.size, dtype=bool)
    good[pair[~gaps]] = True
    warnings = []
    if scores.options.unpaired:
        had = np.bincount(model, minlength=len(scores.models))
        lost = np.bincount(model[~good], minlength=len(scores.models))
        texts = [
            f"{dropped:,} of {total:,} samples of {name}"
            for name, total, dropped in zip(scores.models, had, lost, strict=True)
            if dropped
        ]
        if texts:
            warnings.append(f"{DROPPED}{listing(texts)}: a score is missing for some metric")
    else:
        full = np.bincount(sample[good], minlength=len(scores.samples)) == len(scores.models)
        good &= full[sample]
        excluded = int(np.count_nonzero(~full))
        if excluded:
            warnings.append(
                f"{DROPPED}{excluded:,} of {full.size:,} samples: a score is missing for some model or metric"
            )
    draws = int(np.count_nonzero(gaps & good[pair]))
    if draws:
        warnings.append(f"{DROPPED}{counted(draws, 'draw')} without a score for some metric")
    remaining = rows.take(good[pair] & ~gaps)
    _require_every_model(scores, remaining.model)
    from riskrank.scores.table.sample_alignment import require_majority

    before, after = (sample_mask(scores, part.model, part.sample) for part in (rows, remaining))
    require_majority(scores, before, after)
    return remaining, tuple(warnings)


def _require_every_model(scores: Scores, model: np.ndarray) -> None:
    """Raise InputError if a model has no complete sample."""
    counts = np.bincount(model, minlength=len(scores.models))
    empty = [name for name, count in zip(scores.models, counts, strict=True) if count == 0]
    if not empty:
        return
    message = "no sample has a score for every selected model and metric"
    if len(empty) < len(scores.models):
        message = f"no complete samples of model{'s' if len(empty) > 1 else ''} {listing(empty)}"
    details = _list_unscored_models(scores) or f"{len(scores.samples):,} samples, none of them complete"
    raise InputError(f"{scores.file_names()}: {message}", found=details, hint=_subset_hint(scores))


def different_samples_error(scores: Scores, has_sample: np.ndarray) -> InputError:
    """Return the error for models with different samples."""
    common = int(np.count_nonzero(has_sample.all(axis=0)))
    counts = has_sample.sum(axis=1)
    most = counts.max()
    short = [
        f"{name} has {count:,}"
        for name, count in zip(scores.models, counts, strict=True)
        if count < most or most < has_sample.shape[1]
    ]
    model, sample = (int(index) for index in np.argwhere(~has_sample)[0])
    from riskrank.scores.table.missing_reasons import drop_advice
    from riskrank.scores.table.sample_alignment import shift_hint

    fixes: Fixes = []
    hint = f"{option('unpaired', True)} compares models with different samples"
    if scores.options.paired_only:
        hint = "score all models on the same samples"
    if common > 1:
        shift = shift_hint(scores, has_sample)
        hint, fixes = drop_advice(scores, has_sample.shape[1] - common)
        fixes = [] if shift else fixes
        if isinstance(scores.options, GateReading):
            hint, fixes = "score the missing samples, or use the same samples for all models", []
            if not shift:  # dropping would favour a model that failed on these samples
                hint += f"; if the sample set has changed, bless new scores: {option('bless', 'FILE')}"
        hint = f"{shift}{hint}"
    return InputError(
        f"{scores.file_names()}: the models were not scored on the same samples",
        found=f"{common:,} of {has_sample.shape[1]:,} samples have scores of every model; "
        f"{listing(short, 4)}; for example {scores.models[model]} lacks '{scores.samples[sample]}'",
        hint=hint,
        suggestions=fixes,
    )


def _missing_scores_error(scores: Scores, rows: Rows, gaps: np.ndarray) -> InputError:
    """Return the error for missing scores, with the first one as an example."""
    count = int(np.count_nonzero(np.isnan(rows.values)))
    record = int(np.flatnonzero(gaps)[0])
    metric = int(np.flatnonzero(np.isnan(rows.values[record]))[0])
    model, sample = int(rows.model[record]), int(rows.sample[record])
    of_sample = (scores.codes("model") == model) & (scores.codes("sample") == sample)
    at = np.flatnonzero(of_sample & (scores.codes("metric") == metric) & scores.invalid_mask())
    location = scores.location(int(at[0])) if at.size else scores.file_names()
    name = f"model '{scores.models[model]}'"
    name += f", sample '{scores.samples[sample]}'" if scores.notes.has_samples else ""
    unscored, reason = _list_unscored_models(scores), describe_missing(scores, count)
    hint, fixes = missing_score_hint(scores, rows)
    details = f"{count:,} missing of {rows.values.size:,} scores" + (f" ({reason})" if reason else "")
    details += f"; {unscored}" if unscored else ""
    message = f"{location}: no score for {name}, metric '{scores.metrics[metric]}'"
    return InputError(message, found=details, hint=hint, suggestions=fixes)


def missing_score_hint(scores: Scores, rows: Rows) -> tuple[str, Fixes]:
    """Return a hint about missing scores, and suggested fixes.

    Dropping samples is only suggested if some would remain.
    """
    if _list_unscored_models(scores):
        return _subset_hint(scores), []
    if isinstance(scores.options, GateReading):
        rule = option("missing", scores.options.missing)
        return f"remove {rule}: claims are then decided if no missing score can change them", []
    scored = ~np.isnan(rows.values)
    models = len(scores.models)

    def complete_samples(mask: np.ndarray) -> np.ndarray:
        """Return a mask of the samples on which every model has a row of the mask."""
        pairs = np.unique(rows.sample[mask] * models + rows.model[mask])
        return np.bincount(pairs // models, minlength=len(scores.samples)) == models

    if complete_samples(scored.all(axis=1)).any():
        of_model = np.bincount(rows.model, (~scored).sum(axis=1), minlength=models).astype(np.int64)
        from riskrank.scores.table.missing_reasons import missing_advice

        return missing_advice(scores, rows, of_model)
    for number, name in enumerate(scores.metrics):
        of_metric = scored[:, number]
        if of_metric.any() and complete_samples(of_metric)[rows.sample[of_metric]].all():
            hint = f"metrics have different samples: select one at a time, {option('metric', name)}"
            return hint, [(option("metric", name), {"metric": (name,)})]
    return _SELECT_HINT, []


def _subset_hint(scores: Scores) -> str:
    """Return the options that select complete metrics or models.

    Return an empty string unless some models lack a metric.
    """
    has = _score_mask(scores)
    metrics = [name for name, full in zip(scores.metrics, np.all(has, axis=0).tolist(), strict=True) if full]
    models = [name for name, full in zip(scores.models, np.all(has, axis=1).tolist(), strict=True) if full]
    hints = []
    if 0 < len(metrics) <= _MAX_LISTED:
        picked = " ".join(option("metric", name) for name in metrics)
        hints.append(f"{picked} compares all models on their common metrics")
    if 1 < len(models) <= _MAX_LISTED:
        hints.append(f"{option('models', join_commas(models))} compares these models on all metrics")
    return "; ".join(hints) or _SELECT_HINT


def _score_mask(scores: Scores) -> np.ndarray:
    """Return a mask of the metrics on which each model has any score, with shape (models, metrics)."""
    valid, shape = ~scores.invalid_mask(), (len(scores.models), len(scores.metrics))
    return crosstab(scores.codes("model")[valid], scores.codes("metric")[valid], shape) > 0


def _list_unscored_models(scores: Scores) -> str:
    """List the models without any score on some metric, or return an empty string."""
    empty = np.argwhere(~_score_mask(scores))
    pairs = [f"{scores.models[i]} has no {scores.metrics[j]}" for i, j in empty]
    return listing(pairs, 4) if pairs else ""
