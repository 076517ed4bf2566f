"""Arrange scores as rows of a complete matrix: reject, merge or keep repeats, then treat gaps."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import polars as pl

from riskrank.engine.types import Integers
from riskrank.errors import InputError, counted, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.reading import SHARED
from riskrank.scores.files.query import quote_column, quote_text
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.missing_reasons import drop_advice, missing_advice, require_majority, shift_hint
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.scores import (
    DROPPED,
    Fixes,
    Scores,
    absent_cells,
    crosstab,
    describe_missing,
    unique_inverse,
)
from riskrank.scores.table.unassigned_columns import format_repeats_option, repeats_choice, repeats_hint

# A column pairs samples if more than this share of its names occur in every model.
_MAJORITY = 0.5
# How several runs become one score, for messages. Scores are oriented: the minimum is the worst.
MERGING = {"mean": "averaged repeats", "min": "used the worst repeat", "max": "used the best repeat"}


def to_rows(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores as rows with one value per metric, for each model, sample and repeat.

    Parameters
    ----------
    scores : Scores
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.

    Returns
    -------
    rows : Rows
    notes : tuple of str
        Notes about merged repeats.

    Raises
    ------
    InputError
        If there are repeats and the options do not say how to treat them.
    """
    n_samples, n_metrics = len(scores.samples), len(scores.metrics)
    key = scores.codes("model") * n_samples + scores.codes("sample")
    # A record is a (model, sample) pair, or a (model, sample, repeat) triple.
    pairs, record = unique_inverse(key, len(scores.models) * n_samples)
    cell = record * n_metrics + scores.codes("metric")
    repeated = bool(np.bincount(cell, minlength=1).max() > 1)
    if repeated:
        if scores.options.repeats == "error":
            raise _repeat_error(scores, cell, "a second score", _duplicate_hint(scores))
        if scores.options.repeats == "draws":
            pairs, record = _number_repeats(scores, pairs, record)
            cell = record * n_metrics + scores.codes("metric")
    invalid = scores.invalid_mask()
    blank = cell[invalid]
    if blank.size:
        cell, values = cell[~invalid], values[~invalid]
    notes, n_cells = tuple[str, ...](), pairs.size * n_metrics
    if repeated and scores.options.repeats in MERGING:
        flat = _merge_repeats(cell, values, n_cells, scores.options.repeats)
        if scores.options.missing != "drop":
            flat[blank] = np.nan
        elif partial := int(np.count_nonzero(~np.isnan(flat[blank]))):
            notes = (f"{MERGING[scores.options.repeats]}, ignoring {partial:,} without a score",)
        if scores.options.repeats != "mean":
            notes += (_run_count_note(cell, scores.options.repeats),)
    else:
        flat = np.full(n_cells, np.nan)
        flat[cell] = values
    model, sample = pairs // n_samples, pairs % n_samples
    return Rows(model=model, sample=sample, values=flat.reshape(-1, n_metrics)), notes


def _number_repeats(scores: Scores, pairs: Integers, pair_of_score: Integers) -> tuple[Integers, Integers]:
    """Number the repeats of each model and sample; a repeat has at most one score per metric.

    Parameters
    ----------
    scores : Scores
    pairs : ndarray of int64, shape (pairs,)
        Codes of the pairs.
    pair_of_score : ndarray of int64, shape (scores,)
        Pair of each score, as an index into `pairs`.

    Returns
    -------
    pairs : ndarray of int64, shape (repeats,)
        Code of each repeat's pair.
    repeat_of_score : ndarray of int64, shape (scores,)
        Repeat of each score, as an index into the first array.

    Raises
    ------
    InputError
        If repeats cannot be matched across metrics, or occur twice.
    """
    if not scores.has_role("draw") and len(scores.metrics) > 1:
        raise InputError(
            f"{scores.file_names()}: scores of different metrics cannot be linked to the same repeat",
            found=f"several rows per model and sample, {len(scores.metrics)} metrics, but no draw column",
            hint=f"name the column that numbers the repeats ({option('columns', 'draw=…')}), "
            f"select one {option('metric')}, or use {option('repeats', 'mean')}",
        )
    draw = scores.codes("draw" if scores.has_role("draw") else "row")
    n_draws = int(draw.max()) + 1
    distinct, repeat_of_score = np.unique(pair_of_score * n_draws + draw, return_inverse=True)
    cell = repeat_of_score * len(scores.metrics) + scores.codes("metric")
    if np.bincount(cell).max() > 1:
        hint = f"remove the duplicates, or average the scores with {option('repeats', 'mean')}"
        raise _repeat_error(scores, cell, "the same repeat occurs twice, with a second score", hint)
    return pairs[distinct // n_draws], repeat_of_score


def _merge_repeats(cell: np.ndarray, values: np.ndarray, n_cells: int, rule: str) -> np.ndarray:
    """Return the mean, minimum or maximum of the repeated scores in each cell.

    The result does not depend on the order of rows.

    Parameters
    ----------
    cell : ndarray of int64, shape (n,)
        Cell of each score.
    values : ndarray of float64, shape (n,)
    n_cells : int
    rule : {"mean", "min", "max"}

    Returns
    -------
    ndarray of float64, shape (n_cells,)
        NaN for cells without a score.
    """
    flat = np.full(n_cells, np.nan)
    if not values.size:  # there is no valid score; a later check reports this
        return flat
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    stops = np.append(starts[1:], cell.size)
    if rule == "mean":
        merged = np.add.reduceat(values, starts) / (stops - starts)
        # Rounding must not move the mean of equal values away from them, which would break ties.
        merged = np.clip(merged, values[starts], values[stops - 1])
    else:
        merged = values[starts if rule == "min" else stops - 1]
    flat[cell[starts]] = merged
    return flat


def _run_count_note(cell: np.ndarray, rule: str) -> str:
    """Return a warning that the best or worst of several runs depends on their number.

    `cell` is the combination of model, sample and metric of each score; `rule` is ``min`` or ``max``.
    """
    counts = np.bincount(cell)
    few, many = int(counts[counts > 0].min()), int(counts.max())
    text, passes = {"min": ("worst run is worse", "pass^k"), "max": ("best run is better", "pass@k")}[rule]
    number = counted(few, "run") if few == many else f"{few:,} to {many:,} runs"
    passes += " (in gate and check) does not depend on the number"
    return f"{option('repeats', rule)} of {number}: with more runs, the {text}; {passes}"


def _duplicate_hint(scores: Scores) -> str:
    """Return a hint on how to treat several scores of the same model, sample and metric."""
    mean = option("repeats", "mean")
    hint = f"if the rows are repeats of a sample, average them with {mean}, use the worst or best "
    hint += "with min or max"
    if repeats_choice(scores)[0] == "draws":
        hint += f", or keep them as repeats with {option('repeats', 'draws')}"
    if scores.notes.draw_column:
        hint = f"a column numbers the runs: {format_repeats_option(scores)} them, min uses the worst"
    if not scores.notes.has_samples:
        hint = f"if a column names the samples, {option('columns', 'sample=…')}; otherwise {mean}"
    return hint


def _repeat_error(scores: Scores, cell: np.ndarray, problem: str, otherwise: str) -> InputError:
    """Return the error for two scores of the same model, sample and metric.

    It states their locations and the columns in which the rows differ.

    Parameters
    ----------
    scores : Scores
    cell : ndarray of int64, shape (n,)
        Cell of each score.
    problem : str
        Description of the problem.
    otherwise : str
        Hint if no column distinguishes the scores.
    """
    order = np.argsort(cell, kind="stable")
    duplicates = np.flatnonzero(np.diff(cell[order]) == 0) + 1
    position = duplicates[np.argmin(order[duplicates])]
    first, second = int(order[position - 1]), int(order[position])
    hint, readings = repeats_hint(scores)
    suggestions: list[tuple[str, object]] = [("", reading.options) for reading in readings]
    if scores.notes.draw_column and scores.options.repeats == "error":
        suggestions += [("", {"repeats": repeats_choice(scores)[0]})]
    if scores.file_row_column(first)[0] != scores.file_row_column(second)[0]:
        otherwise = (
            "if each file is a task or a run, add a column 'task' or 'draw', or put names in braces into "
            "the paths: 'runs/{model}/{task}.csv'; if a file is a duplicate, remove it"
        )
    problem = f"{scores.location(second)}: {problem} for {scores.cell_name(second)}"
    location = scores.relative_location(first, second)
    detail = f"the first score is {location}; duplicates in all: {duplicates.size:,}"
    return InputError(problem, found=detail, hint=hint or otherwise, suggestions=suggestions)


def assemble_rows(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores as rows, and drop, keep or reject rows with missing scores.

    Parameters
    ----------
    scores : Scores
        Selected scores; the options `repeats`, `missing` and `unpaired` determine how to treat irregular
        tables.
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.

    Returns
    -------
    rows : Rows
    warnings : tuple of str
        Notes about merged and dropped scores.

    Raises
    ------
    InputError
        If there are duplicate rows, different sets of samples or missing cells, unless the options say how to
        treat them.
    """
    rows, notes = to_rows(scores, values)
    rows, warnings = resolve_missing(scores, rows)
    if scores.options.repeats == "draws":
        rows = rows.with_sorted_repeats()
    return rows, (*notes, *warnings)


_SELECT_HINT = f"select metrics and models with common samples: {option('metric')}, {option('models')}"


def resolve_missing(scores: Scores, rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Reject, drop or keep rows with missing scores, as the option `missing` states.

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
    if scores.options.missing == SHARED:
        require_every_metric(scores)
    if scores.options.missing in ("keep", SHARED):
        # Samples that a model lacks become rows of NaN.
        lacking = np.argwhere(~has)
        model = np.concatenate([rows.model, lacking[:, 0]])
        sample = np.concatenate([rows.sample, lacking[:, 1]])
        values = np.pad(rows.values, ((0, len(lacking)), (0, 0)), constant_values=np.nan)
        joined = Rows(model=model, sample=sample, values=values)
        return joined.take(np.lexsort((sample, model))) if len(lacking) else rows, ()
    _require_every_model(scores, rows.model)
    if not has.all():
        raise different_samples_error(scores, has)
    if gaps.any():
        raise _missing_scores_error(scores, rows, gaps)
    if scores.options.missing == "error" and not scores.options.unpaired:
        require_repeats(scores)
    return rows, ()


def require_repeats(scores: Scores) -> None:
    """Raise InputError if a model in a gate has fewer repeats of a sample than another model."""
    if len(absent := absent_cells(scores)):
        problem = f"{scores.file_names()}: {scores.models[absent[0, 0]]} has fewer repeats than another model"
        hint = f"score the absent repeats; {option('missing', 'drop')} compares the others"
        raise InputError(problem, found=f"{counted(len(absent), 'absent repeat')}", hint=hint)


def require_comparable(scores: Scores) -> None:
    """Raise InputError if missing scores are too many to be imputed.

    A model then has no score on a metric, or the models share too few samples.
    """
    require_every_metric(scores)
    if scores.options.unpaired:
        return
    has = sample_mask(scores, scores.codes("model"), scores.codes("sample"))
    shared = int(np.count_nonzero(has.all(axis=0)))
    if 2 * shared < has.shape[1] or (shared < has.shape[1] and shift_hint(scores, has)):
        raise different_samples_error(scores, has)


def require_every_metric(scores: Scores) -> None:
    """Raise InputError if a model has no score at all on some metric."""
    unscored = _list_unscored_models(scores)
    if unscored:
        # If every call failed, restricting the metrics does not help.
        in_gate = isinstance(scores.options, GateReading)
        failed = in_gate and bool(scores.invalid_mask().any())
        subject = "a claim" if in_gate else option("missing", scores.options.missing)
        message = f"{scores.file_names()}: {subject} needs a score of every model on every metric"
        hint, fixes = ("run the samples without a score again", []) if failed else _subset_hint(scores)
        raise InputError(message, found=unscored, hint=hint, suggestions=fixes)


def sample_mask(scores: Scores, model: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return a mask of the samples for which each model has a row, shape (models, samples).

    Parameters
    ----------
    scores : Scores
    model, sample : ndarray of int, shape (rows,)
        Codes of each row's model and sample.
    """
    has = np.zeros((len(scores.models), len(scores.samples)), dtype=bool)
    has[model, sample] = True
    return has


def _drop_incomplete(scores: Scores, rows: Rows, gaps: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Drop incomplete repeats, then samples without a complete repeat.

    A sample is dropped for all models or, in an unpaired table, only for the incomplete model. `gaps` is a
    mask of the rows with missing scores.
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
        counts = zip(scores.models, had, lost, strict=True)
        texts = [f"{dropped:,} of {total:,} samples of {name}" for name, total, dropped in counts if dropped]
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
    before, after = (sample_mask(scores, part.model, part.sample) for part in (rows, remaining))
    require_majority(scores, before, after)
    return remaining, tuple(warnings)


def _require_every_model(scores: Scores, model: np.ndarray) -> None:
    """Raise InputError if a model has no complete sample.

    `model` holds the model code of each complete row.
    """
    counts = np.bincount(model, minlength=len(scores.models))
    empty = [name for name, count in zip(scores.models, counts, strict=True) if count == 0]
    if not empty:
        return
    message = "no sample has a score for every selected model and metric"
    if len(empty) < len(scores.models):
        message = f"no complete samples of model{'s' if len(empty) > 1 else ''} {listing(empty)}"
    details = _list_unscored_models(scores) or f"{len(scores.samples):,} samples, none of them complete"
    hint, fixes = _subset_hint(scores)
    raise InputError(f"{scores.file_names()}: {message}", found=details, hint=hint, suggestions=fixes)


def different_samples_error(scores: Scores, has_sample: np.ndarray) -> InputError:
    """Return the error for models with different samples.

    `has_sample` is a mask of shape (models, samples).
    """
    common = int(np.count_nonzero(has_sample.all(axis=0)))
    counts = has_sample.sum(axis=1)
    most = counts.max()
    fewest = most if most < has_sample.shape[1] else most - 1
    pairs = zip(scores.models, counts, strict=True)
    short = [f"{name} has {count:,}" for name, count in pairs if count <= fewest]
    model, sample = (int(index) for index in np.argwhere(~has_sample)[0])
    hint = f"{option('unpaired', True)} compares models with different samples"
    fixes: Fixes = [] if common else [(option("unpaired", True), {"unpaired": True})]
    if scores.options.paired_only:
        fixes, hint = [], "score all models on the same samples"
    for name in [] if common else _pairing_columns(scores)[:1]:
        roles = {**option_columns(scores.options), "sample": name}
        flag = ",".join(f"{role}={column}" for role, column in roles.items())
        hint = f"{option('columns', flag)} pairs the samples, as all models have the same {name}; {hint}"
        fixes = [(option("columns", flag), {"columns": flag}), *fixes]
    if common > 1:
        shift = shift_hint(scores, has_sample)
        hint, fixes = drop_advice(scores, has_sample.shape[1] - common)
        fixes = [] if shift else fixes
        if isinstance(scores.options, GateReading):
            hint, fixes = "score the missing samples, or use the same samples for all models", []
            if not shift:  # dropping would favour a model that failed on these samples
                hint += f"; if the sample set has changed, bless new scores: {option('bless', 'FILE')}"
        hint = f"{shift}{hint}"
    detail = f"{common:,} of {has_sample.shape[1]:,} samples have scores of every model; "
    detail += f"{listing(short, 4)}; for example {scores.models[model]} lacks '{scores.samples[sample]}'"
    problem = f"{scores.file_names()}: the models were not scored on the same samples"
    return InputError(problem, found=detail, hint=hint, suggestions=fixes)


def _pairing_columns(scores: Scores) -> list[str]:
    """Return the columns that would pair the samples: as many names, most of which every model has."""
    files, names = scores.notes.files, []
    assigned = {*scores.metrics, *(name for file in files for name in (file.roles.metric, file.roles.score))}
    shared = set.intersection(*({*file.source.columns} for file in files)) - assigned
    pairs = scores.frame.select("model", "sample").n_unique()
    for name in sorted(shared) if scores.notes.baseline is None else ():
        with suppress(InputError):  # a column that cannot be read pairs no samples
            columns = [file.source.load([name])[name].cast(pl.String, strict=False) for file in files]
            texts = pl.concat(columns).gather(scores.frame["row"])
            rows = scores.frame.select("model", name=texts).drop_nulls().unique()
            counts = rows.group_by("name").len()["len"].to_numpy()
            if rows.height == pairs and np.mean(counts == len(scores.models)) > _MAJORITY:
                names.append(name)
    return names


def _missing_scores_error(scores: Scores, rows: Rows, gaps: np.ndarray) -> InputError:
    """Return the error for missing scores, with the first one as an example.

    `gaps` is a mask of the rows with missing scores.
    """
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
    """Return a hint on how to treat missing scores, and suggested options.

    Dropping samples is only suggested if some would remain. `rows` holds the scores, NaN if missing.
    """
    if _list_unscored_models(scores):
        return _subset_hint(scores)
    if isinstance(scores.options, GateReading):
        rule = option("missing", scores.options.missing)
        return f"remove {rule}: claims are then decided if no missing score can change them", []
    scored = ~np.isnan(rows.values)
    models = len(scores.models)

    def complete_samples(mask: np.ndarray) -> np.ndarray:
        """Return a mask of the samples that all models have, given a mask by model and sample."""
        pairs = np.unique(rows.sample[mask] * models + rows.model[mask])
        return np.bincount(pairs // models, minlength=len(scores.samples)) == models

    if complete_samples(scored.all(axis=1)).any():
        of_model = np.bincount(rows.model, (~scored).sum(axis=1), minlength=models).astype(np.int64)
        return missing_advice(scores, rows, of_model)
    for number, name in enumerate(scores.metrics):
        of_metric = scored[:, number]
        if of_metric.any() and complete_samples(of_metric)[rows.sample[of_metric]].all():
            hint = f"metrics have different samples: select one at a time, {option('metric', name)}"
            fixes: Fixes = [(option("metric", name), {"metric": (name,)})]
            if parts := _metrics_as_tasks(scores, scored):
                alone = ("", {"metric": (name,), "missing": "drop"})
                return f"{hint}, or make each a task of one metric, {option('task', 'task')}", [*parts, alone]
            return hint, fixes
    return _SELECT_HINT, []


def _metrics_as_tasks(scores: Scores, scored: np.ndarray) -> Fixes:
    """Return the suggestion to read metrics with different samples as tasks of one metric, or no suggestion.

    Each row must have a score on one of the metrics, which share direction and bounds. `scored` is a mask of
    the rows by metric.
    """
    names, roles = scores.metrics, scores.notes.files[0].roles
    tops = [
        scores.values[(scores.codes("metric") == j) & ~scores.invalid_mask()].max() for j in range(len(names))
    ]
    alike = len({looks_like_a_cost(name) for name in names}) == 1 and len({top <= 1 for top in tops}) == 1
    is_partition = len(names) > 1 and bool((scored.sum(axis=1) == 1).all())
    used = {"score", "task"} & {*scores.notes.files[0].source.columns}
    if used or not alike or not is_partition or roles.score or scores.options.sql or scores.options.matrix:
        return []
    columns = {name: quote_column(name) for name in names}
    cases = " ".join(f"WHEN {column} IS NOT NULL THEN {quote_text(name)}" for name, column in columns.items())
    query = (
        f"SELECT *, COALESCE({', '.join(columns.values())}) AS score, CASE {cases} END AS task FROM scores"
    )
    return [("", {"sql": query, "metric": ("score",), "task": "task"})]


def _subset_hint(scores: Scores) -> tuple[str, Fixes]:
    """Return the options that select metrics or models without missing scores."""
    has = _score_mask(scores)
    metrics = [name for name, full in zip(scores.metrics, np.all(has, axis=0).tolist(), strict=True) if full]
    models = [name for name, full in zip(scores.models, np.all(has, axis=1).tolist(), strict=True) if full]
    selections = [{"metric": (*metrics,)}] * bool(metrics) + [{"models": (*models,)}] * (len(models) > 1)
    return _SELECT_HINT, [("", selection) for selection in selections]


def _score_mask(scores: Scores) -> np.ndarray:
    """Return a mask of the metrics on which each model has any score, with shape (models, metrics)."""
    valid, shape = ~scores.invalid_mask(), (len(scores.models), len(scores.metrics))
    return crosstab(scores.codes("model")[valid], scores.codes("metric")[valid], shape) > 0


def _list_unscored_models(scores: Scores) -> str:
    """List the models without any score on some metric as text; empty if there are none."""
    empty = np.argwhere(~_score_mask(scores))
    pairs = [f"{scores.models[i]} has no {scores.metrics[j]}" for i, j in empty]
    return listing(pairs, 4) if pairs else ""
