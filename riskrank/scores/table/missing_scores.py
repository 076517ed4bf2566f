"""Gaps: samples that not all models have, and scores that are missing, are refused, dropped or kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from riskrank.errors import InputError, counted, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.flags import among_commas
from riskrank.options.reading import SHARED
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.score_counts import counts_by, why_missing
from riskrank.scores.table.scores import Scores

if TYPE_CHECKING:
    from riskrank.scores.table.missing_reasons import Ways

_CHOOSE = (
    f"choose metrics and models that have samples in common, with {option('metric')} and {option('models')}"
)
# Metrics or models that are named one by one.
_MOST_NAMED = 8
# What a warning of samples that are not compared begins with.
DROPPED = "dropped "
# What else says so: notes on exports of harnesses, too.
_GONE = re.compile(
    rf"^{DROPPED}|left out|without (a )?scores?\b|no score|not scored|(could not|cannot) be read"
    r"|that failed|failed in|an error|fewer samples|new scores lack|the run ended|not finished"
)


def tells_of_gone(warning: str) -> bool:
    """Whether a warning tells that something was asked for and is not compared: that is no noise."""
    return _GONE.search(warning) is not None


def completed(scores: Scores, rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Refuse, drop or keep what is missing."""
    gaps = np.isnan(rows.values).any(axis=1)
    if scores.options.missing == "drop":
        return _drop(scores, rows, gaps)
    has = np.ones((1, 1), bool) if scores.options.unpaired else covered(scores, rows.model, rows.sample)
    if scores.options.missing in ("keep", SHARED):
        return (rows if has.all() else _with_empty_rows(rows, has)), ()
    _require_every_model(scores, rows.model)
    if not has.all():
        raise different_samples(scores, has)
    if gaps.any():
        raise _missing_cells(scores, rows, gaps)
    return rows, ()


def require_comparable(scores: Scores) -> None:
    """Refuse what no rule about gaps can mend: no score at all, and samples of another name.

    Raises
    ------
    InputError
    """
    require_every_metric(scores)
    if scores.options.unpaired:
        return
    from riskrank.scores.table.sample_alignment import hint_for_shift

    has = covered(scores, scores.codes("model"), scores.codes("sample"))
    shared = int(np.count_nonzero(has.all(axis=0)))
    if 2 * shared < has.shape[1] or (shared < has.shape[1] and hint_for_shift(scores, has)):
        raise different_samples(scores, has)


def require_every_metric(scores: Scores) -> None:
    """Refuse models that have no score at all of a metric.

    Raises
    ------
    InputError
    """
    lacking = _lacking_scores(scores)
    if lacking:
        # Where every call failed there is nothing to choose other metrics for.
        failed = isinstance(scores.options, GateReading) and bool(scores.invalid().any())
        rule = option("missing", scores.options.missing)
        what = f"{rule} stands for single scores, not for all of a metric"
        hint = "score what has no score" if failed else _in_common(scores)
        raise InputError(f"{scores.files()}: {what}", found=lacking, hint=hint)


def covered(scores: Scores, model: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Whether a model has a row of a sample, shape (models, samples), by the codes of its rows."""
    has = np.zeros((len(scores.models), len(scores.samples)), dtype=bool)
    has[model, sample] = True
    return has


def _with_empty_rows(rows: Rows, has: np.ndarray) -> Rows:
    absent = np.argwhere(~has)
    model = np.concatenate([rows.model, absent[:, 0]])
    sample = np.concatenate([rows.sample, absent[:, 1]])
    empty = np.full((len(absent), rows.values.shape[1]), np.nan)
    joined = Rows(model=model, sample=sample, values=np.concatenate([rows.values, empty]))
    return joined.take(np.lexsort((sample, model)))


def _drop(scores: Scores, rows: Rows, gaps: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Leave out incomplete draws, then what has no complete draw: the sample for all, or for one model."""
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
            f"{gone:,} of {all_:,} samples of {name}"
            for name, all_, gone in zip(scores.models, had, lost, strict=True)
            if gone
        ]
        if texts:
            warnings.append(f"{DROPPED}{listing(texts)}: they lack a score for some metric")
    else:
        whole = np.bincount(sample[good], minlength=len(scores.samples)) == len(scores.models)
        good &= whole[sample]
        without = int(np.count_nonzero(~whole))
        if without:
            warnings.append(
                f"{DROPPED}{without:,} of {whole.size:,} samples: they lack a score for some model or metric"
            )
    draws = int(np.count_nonzero(gaps & good[pair]))
    if draws:
        warnings.append(f"{DROPPED}{counted(draws, 'draw')} without a score for some metric")
    remaining = rows.take(good[pair] & ~gaps)
    _require_every_model(scores, remaining.model)
    from riskrank.scores.table.sample_alignment import require_most

    asked, left = (covered(scores, one.model, one.sample) for one in (rows, remaining))
    require_most(scores, asked, left)
    return remaining, tuple(warnings)


def _require_every_model(scores: Scores, model: np.ndarray) -> None:
    counts = np.bincount(model, minlength=len(scores.models))
    empty = [name for name, count in zip(scores.models, counts, strict=True) if count == 0]
    if not empty:
        return
    what = "no sample has a score for every selected model and metric"
    if len(empty) < len(scores.models):
        what = f"nothing is left of model{'s' if len(empty) > 1 else ''} {listing(empty)}"
    found = _lacking_scores(scores) or f"{len(scores.samples):,} samples, none of them complete"
    raise InputError(f"{scores.files()}: {what}", found=found, hint=_in_common(scores))


def different_samples(scores: Scores, has: np.ndarray) -> InputError:
    """Models that were scored on different samples."""
    common = int(np.count_nonzero(has.all(axis=0)))
    counts = has.sum(axis=1)
    most = counts.max()
    short = [
        f"{name} has {count:,}"
        for name, count in zip(scores.models, counts, strict=True)
        if count < most or most < has.shape[1]
    ]
    model, sample = (int(index) for index in np.argwhere(~has)[0])
    from riskrank.scores.table.missing_reasons import dropping
    from riskrank.scores.table.sample_alignment import hint_for_shift

    ways: Ways = []
    hint = f"{option('unpaired', True)} compares models that have samples of their own"
    if scores.options.paired_only:
        hint = "compare models that were scored on the same samples"
    if common > 1:
        shift = hint_for_shift(scores, has)
        hint, ways = dropping(scores, has.shape[1] - common)
        ways = [] if shift else ways
        if isinstance(scores.options, GateReading):
            hint, ways = "score the samples that a model lacks, or give all models the same ones", []
            if not shift:  # to leave out more of them would pass whoever lost them by failing
                hint += f"; if samples changed for good, bless new scores of them: {option('bless', 'FILE')}"
        hint = f"{shift}{hint}"
    return InputError(
        f"{scores.files()}: the models were not scored on the same samples",
        found=f"{common:,} of {has.shape[1]:,} samples are common to all {has.shape[0]} models; "
        f"{listing(short, 4)}; for example {scores.models[model]} lacks '{scores.samples[sample]}'",
        hint=hint,
        ways=ways,
    )


def _missing_cells(scores: Scores, rows: Rows, gaps: np.ndarray) -> InputError:
    """Scores that are missing."""
    count = int(np.count_nonzero(np.isnan(rows.values)))
    record = int(np.flatnonzero(gaps)[0])
    metric = int(np.flatnonzero(np.isnan(rows.values[record]))[0])
    model, sample = int(rows.model[record]), int(rows.sample[record])
    of_sample = (scores.codes("model") == model) & (scores.codes("sample") == sample)
    at = np.flatnonzero(of_sample & (scores.codes("metric") == metric) & scores.invalid())
    place = scores.place(int(at[0])) if at.size else scores.files()
    name = f"model '{scores.models[model]}'"
    name += f", sample '{scores.samples[sample]}'" if scores.notes.has_samples else ""
    lacking, why = _lacking_scores(scores), why_missing(scores, count)
    hint, ways = way_out(scores, rows)
    found = f"{count:,} missing of {rows.values.size:,} scores" + (f" ({why})" if why else "")
    found += f"; {lacking}" if lacking else ""
    what = f"{place}: no score for {name}, metric '{scores.metrics[metric]}'"
    return InputError(what, found=found, hint=hint, ways=ways)


def way_out(scores: Scores, rows: Rows) -> tuple[str, Ways]:
    """What to do about missing scores: dropping samples helps only if some are left."""
    if _lacking_scores(scores):
        return _in_common(scores), []
    if isinstance(scores.options, GateReading):
        rule = option("missing", scores.options.missing)
        return f"leave out {rule}: claims are then decided that hold whatever is missing", []
    scored = ~np.isnan(rows.values)
    models = len(scores.models)

    def whole(kept: np.ndarray) -> np.ndarray:
        """Samples on which every model has what is kept."""
        pairs = np.unique(rows.sample[kept] * models + rows.model[kept])
        return np.bincount(pairs // models, minlength=len(scores.samples)) == models

    if whole(scored.all(axis=1)).any():
        of_model = np.bincount(rows.model, (~scored).sum(axis=1), minlength=models).astype(np.int64)
        from riskrank.scores.table.missing_reasons import reason_for

        return reason_for(scores, rows, of_model)
    for number, name in enumerate(scores.metrics):
        of_metric = scored[:, number]
        if of_metric.any() and whole(of_metric)[rows.sample[of_metric]].all():
            hint = f"metrics were scored on different samples: take one at a time, {option('metric', name)}"
            return hint, [(option("metric", name), {"metric": (name,)})]
    return _CHOOSE, []


def _in_common(scores: Scores) -> str:
    """What to leave out where some models have no score for some metric, and what is compared then."""
    has = _scored(scores)
    metrics = [name for name, all_ in zip(scores.metrics, np.all(has, axis=0).tolist(), strict=True) if all_]
    models = [name for name, all_ in zip(scores.models, np.all(has, axis=1).tolist(), strict=True) if all_]
    ways = []
    if 0 < len(metrics) <= _MOST_NAMED:
        picked = " ".join(option("metric", name) for name in metrics)
        ways.append(f"{picked} compares all models on what all of them have")
    if 1 < len(models) <= _MOST_NAMED:
        ways.append(f"{option('models', among_commas(models))} compares these on everything")
    return "; ".join(ways) or _CHOOSE


def _scored(scores: Scores) -> np.ndarray:
    """Whether a model has any score for a metric."""
    valid, shape = ~scores.invalid(), (len(scores.models), len(scores.metrics))
    return counts_by(scores.codes("model")[valid], scores.codes("metric")[valid], shape) > 0


def _lacking_scores(scores: Scores) -> str:
    """Name the models that have no score at all for some metric."""
    empty = np.argwhere(~_scored(scores))
    pairs = [f"{scores.models[i]} has no {scores.metrics[j]}" for i, j in empty]
    return listing(pairs, 4) if pairs else ""
