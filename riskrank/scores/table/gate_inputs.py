"""Inputs of a gate: tables by metric, comparison with a baseline, new baselines, and prices of models."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import BinaryIO

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Names
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.options.reading import ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files import parsing
from riskrank.scores.files.guards import reject_too_many
from riskrank.scores.files.source import Paths
from riskrank.scores.layouts.layout import IGNORED, WarningText
from riskrank.scores.table.baseline import (
    FILTER_OPTIONS,
    KEY,
    SCHEMA,
    SCHEMA_VERSION,
    Baseline,
    Overlap,
    UnmatchedSamples,
    bless_command,
    frame_digest,
    read_baseline,
)
from riskrank.scores.table.imputation import FILL_RULES
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.missing_reasons import is_shifted, shift_hint
from riskrank.scores.table.reading import read_frame, verify_on_scores
from riskrank.scores.table.rows import different_samples_error, require_every_metric, sample_mask
from riskrank.scores.table.score_table import ScoreTable, Trial, build_table, require_usable_table
from riskrank.scores.table.scores import NEGLIGIBLE, Scores, select
from riskrank.version import __version__


def read_selected(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None, trial: Trial, baseline: str | None = None
) -> Scores:
    """Read the requested models and metrics, and those of a baseline, without checking the scores.

    Parameters
    ----------
    paths, options, stdin, trial
        See `read_scores`.
    baseline : str, optional
        Path of the baseline.
    """
    saved = None if baseline is None else read_baseline(baseline, options.max_bytes)
    if saved is not None and options.corrects_judge:
        contradict(option("judge", options.judge), option("baseline", saved.path))
    check = partial(require_usable_table, trial=trial)
    scores = read_frame(paths, options, stdin, baseline=saved, check=check)
    models = scores.options.models
    if saved is not None and models and BASELINE not in models:
        scores = scores.with_options(models=(*models, BASELINE))
    return select(scores)


def tables_by_metric(scores: Scores, *, choose: Callable[[Names], Names]) -> tuple[ScoreTable, ...]:
    """Return one table of all metrics or, if their samples differ, one table per metric.

    Parameters
    ----------
    scores : Scores
        Result of `read_selected`.
    choose : callable
        Selects from the available metrics. The other metrics are not checked.

    Returns
    -------
    tuple of ScoreTable
        One table of all metrics if they share their samples; otherwise one per metric, with the same models.
    """
    options = scores.notes.resolved
    if options.corrects_judge:
        choose((str(options.human),))
        return (build_table(scores),)
    names, scores = _common_metrics(scores, choose)
    reject_too_many(scores.file_names(), "metric", names)
    if options.missing == "auto" and scores.has_role("noise"):  # a level may lack some samples
        options, scores = replace(options, missing="error"), scores.with_options(missing="error")
    scores = compare_with_baseline(scores, names)

    def build(*metrics: str) -> ScoreTable:
        """Return the checked table of the given metrics."""
        return replace(build_table(scores.with_options(metric=metrics)), options=options)

    try:
        return (build(*names),)
    except InputError as error:
        if len(names) < 2:
            raise verify_on_scores(error, scores, require_usable_table) from None
        tables = tuple(map(build, names))
        if any(table.models != tables[0].models for table in tables):
            raise
        return tables


def _common_metrics(scores: Scores, choose: Callable[[Names], Names]) -> tuple[Names, Scores]:
    """Return the metrics to test, and the scores with a note about ignored metrics.

    A metric that some model lacks is ignored unless the user or a claim names it. `choose` returns those of
    the given metrics that the claims use.
    """
    pairs = set(scores.frame.select("model", "metric").cast(pl.String).unique().rows())
    common = tuple(name for name in scores.metrics if all((model, name) in pairs for model in scores.models))
    names = used = tuple(choose(scores.metrics))
    if common and not ({*scores.metrics} - {*common}) & {*scores.options.metric}:
        with suppress(UsageError):
            used = tuple(choose(common))
    ignored = [name for name in names if name not in used]
    lacking = [model for model in scores.models if any((model, name) not in pairs for name in ignored)]
    return used, scores.with_warnings(_ignored_note(ignored, listing(lacking))) if ignored else scores


def _ignored_note(metrics: Sequence[str], without: str) -> WarningText:
    """Return a warning about metrics that no claim tests, because some scores lack them."""
    return WarningText(
        f"ignored: no claim tests {listing(metrics, _MAX_NAMES)} (absent from {without})", IGNORED
    )


def require_parquet_name(path: str) -> None:
    """Raise UsageError unless a path ends in .parquet or .pq."""
    if not path.lower().endswith((".parquet", ".pq")):
        problem = f"{option('bless', path)}: a baseline must be a Parquet file"
        hint = option("bless", f"{path.rpartition('.')[0] or path}.parquet")
        raise UsageError(problem, found="the name does not end in .parquet", hint=hint)


def read_model(paths: Paths, reading: GateReading, stdin: BinaryIO | None = None) -> tuple[Scores, str]:
    """Read the scores of the single model to be saved as a baseline.

    Parameters
    ----------
    paths, stdin
        See `read_scores`.
    reading : GateReading
        Reading options of a gate.

    Returns
    -------
    scores : Scores
    model : str
        Name of the model.

    Raises
    ------
    UsageError
        If the files contain several models.
    InputError
        If the scores could not be used in a gate.
    """
    missing = "error" if reading.missing == "auto" else reading.missing
    scores = read_selected(paths, replace(reading, min_models=1, missing=missing), stdin, None)
    models = [name for name in scores.models if name != BASELINE or scores.notes.baseline is None]
    if len(models) != 1:
        problem = f"{option('bless')} saves the scores of exactly one model"
        hint = f"select one model: {option('models', models[0])}"
        raise UsageError(problem, found=f"{len(models)} models: {listing(models)}", hint=hint)
    # Only scores that a gate could use become a baseline.
    tables_by_metric(scores, choose=lambda names: names)
    return scores, models[0]


def baseline_bytes(scores: Scores, model: str) -> bytes:
    """Return the contents of the baseline file for a model.

    The file contains the scores as read, before any samples or metrics are excluded.

    Parameters
    ----------
    scores : Scores
    model : str
        Name of the model.
    """
    specs, _ = resolve_metrics(scores)
    rows = scores.filter(pl.col("model") == model)
    directions = {spec.name: spec.direction for spec in specs if spec.declared}
    frame = _baseline_rows(rows, directions)
    present = set(frame["metric"].unique())
    metrics = {}
    for s in (spec for spec in specs if spec.name in present):
        described = {"direction": directions.get(s.name), "transform": s.transform, "bounds": s.bounds}
        metrics[s.name] = described
    old_files = () if scores.notes.baseline is None else (scores.notes.baseline.input_file(),)
    metadata = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "model": model,
        "metrics": metrics,
        "samples": len(rows.samples),
        "has_samples": scores.notes.has_samples,
        # Readers of exports always use the same name.
        "sample_column": "" if scores.options.from_ else scores.notes.files[0].roles.sample or "",
        "rules": {name: [*getattr(scores.options, name)] for name in FILTER_OPTIONS},
        "inputs": [
            {"path": file.path, "sha256": file.sha256, "rows": file.rows}
            for file in scores.notes.inputs
            if file not in old_files
        ],
        "sha256": frame_digest(frame),
    }
    data = io.BytesIO()
    frame.write_parquet(data, statistics=False, metadata={KEY: json.dumps(metadata, ensure_ascii=False)})
    return data.getvalue()


def _baseline_rows(scores: Scores, directions: dict[str, str]) -> pl.DataFrame:
    """Return the scores as a long table with standard column names, sorted in a fixed order.

    `directions` holds the declared direction of each metric.
    """
    frame = scores.frame
    if scores.notes.samples_renamed:
        # Restore the sample names within each task, which the new scores will use: remove the task prefix.
        task = parsing.escape_plus(pl.col("task").cast(pl.String))
        name = pl.col("sample").cast(pl.String).str.slice(task.str.len_chars() + 1)
        name = name.str.replace_all("\\+", "+", literal=True).str.replace_all("\\\\", "\\", literal=True)
        frame = frame.with_columns(sample=name if scores.notes.has_samples else pl.lit(""))
    columns = [name for name in ("model", "sample", "task", "metric", "draw") if scores.has_role(name)]
    texts = [pl.col(name).cast(pl.String) for name in columns if name != "draw"]
    score = pl.col("score")
    if scores.has_role("state"):
        score = pl.when(pl.col("state") == parsing.MISSING).then(None).otherwise(score)
    long = frame.select(*texts, score.alias("score"), *(["draw"] if "draw" in columns else []))
    keys = [name for name in columns if name != "draw"]
    if "draw" in columns:
        # Without repeats, the run numbers carry no information.
        repeated = long.select(keys).is_duplicated().any()
        number = pl.col("draw").to_physical().cast(pl.String)
        long = long.with_columns(draw=number) if repeated else long.drop("draw")
    direction = pl.col("metric").replace_strict(
        [*directions], [*directions.values()], default=None, return_dtype=pl.String
    )
    return long.with_columns(direction=direction).sort(*keys, *(set(long.columns) & {"draw"}), "score")


def read_prices(path: str, limit: int | None = None) -> dict[str, float]:
    """Read the price of every model from a file of at most `limit` bytes.

    Raises
    ------
    InputError
        If the file does not have exactly one price column, or a price is missing, negative or duplicated.
    """
    options = ReadOptions(wide=True, sample_optional=True, min_models=1, max_bytes=limit)
    scores = read_frame([path], options)
    metrics = scores.metrics
    if len(metrics) != 1:
        problem = f"{option('price', path)}: a price file needs one model column and one price column"
        hint = "keep one numeric column, such as model,price"
        raise InputError(problem, found=f"numeric columns: {listing(metrics)}", hint=hint)
    models = scores.frame["model"].cast(str).to_list()
    prices = dict(zip(models, scores.values.tolist(), strict=True))
    invalid = [model for model, price in prices.items() if not (np.isfinite(price) and price >= 0)]
    invalid += [model for model in prices if models.count(model) > 1]
    if invalid:
        texts = scores.notes.files[0].source.load(metrics)[metrics[0]].gather(scores.frame["row"])
        problem = f"{option('price', path)}: the price of {invalid[0]} is invalid or repeated"
        detail = listing(str(texts[at]) for at, model in enumerate(models) if model == invalid[0])
        raise InputError(problem, found=detail, hint="write one price of at least 0 per model")
    return prices


# Names listed in a message.
_MAX_NAMES = 4


def compare_with_baseline(scores: Scores, metrics: Sequence[str]) -> Scores:
    """Check that new scores match their baseline, and record what both have in common.

    Without a baseline, scores are returned unchanged except that samples not shared by all models are
    excluded.

    Parameters
    ----------
    scores : Scores
        The options `missing` and `unpaired` determine whether different samples are rejected.
    metrics : sequence of str
        Metrics that occur in claims.

    Returns
    -------
    Scores
        Scores with `overlap` and warnings about differences in their notes.

    Raises
    ------
    InputError
        If the new scores lack a metric, a task or samples of the baseline, or have additional ones.
    """
    rule, paired = scores.options.missing, not scores.options.unpaired
    baseline = scores.notes.baseline
    if baseline is None:
        return keep_shared_samples(scores, metrics) if rule == "auto" and paired else scores
    _require_same_filters(baseline, scores.options)
    old = scores.codes("model") == scores.models.index(BASELINE)
    removed, added = _metric_differences(scores, old, metrics, baseline)
    relevant = np.isin(scores.codes("metric"), [scores.metrics.index(name) for name in metrics])
    if rule != "drop" and paired:
        _require_tasks(scores, old, relevant, baseline)
    # A row without a score is a failed sample, and does not count if failed samples are excluded.
    present = relevant if rule == "auto" else relevant & ~scores.invalid_mask()
    old_samples, new_samples = (np.unique(scores.codes("sample")[present & side]) for side in (old, ~old))
    common = np.intersect1d(old_samples, new_samples).size
    overlap = Overlap(
        path=baseline.path,
        model=baseline.model,
        samples=old_samples.size,
        common=common,
        missing=old_samples.size - common,
        added=new_samples.size - common,
        metrics_missing=removed,
        metrics_added=added,
        same_files=_same_files(scores, baseline),
    )
    scores = scores.with_warnings(*_overlap_warnings(overlap, scores))
    scores = replace(scores, notes=replace(scores.notes, overlap=overlap))
    grows = isinstance(scores.options, GateReading) and scores.options.grows
    expected = overlap.common + overlap.added if grows else overlap.samples
    if rule == "drop" and paired and 2 * overlap.common <= expected:
        others = f", and {overlap.added:,} others" if overlap.added else ""
        raise InputError(
            f"{overlap.path}: {option('missing', 'drop')} leaves too few samples to decide a claim",
            found=f"new scores of {overlap.common:,} of the {overlap.samples:,} baseline samples{others}; a "
            "gate needs more than half",
            hint="score the missing samples; or, if the sample set has changed, bless new scores: "
            + bless_command(overlap.path),
        )
    if rule in ("auto", "error") and paired:
        scores = keep_shared_samples(scores, metrics)
    elif rule in FILL_RULES and paired:
        # Filling new samples as gaps of the baseline would favour the new model.
        scores = scores.filter(np.isin(scores.codes("sample"), scores.codes("sample")[relevant & old]))
    scores = _drop_ungrouped(scores, baseline)
    if scores.options.unpaired or not scores.has_role("task"):
        return scores
    old, task = scores.codes("model") == scores.models.index(BASELINE), scores.codes("task")
    in_both = np.isin(task, np.intersect1d(task[old], task[~old]))
    return scores if in_both.all() or not in_both.any() else scores.filter(in_both)


def _require_same_filters(baseline: Baseline, options: ReadOptions) -> None:
    """Raise InputError if the filter options have changed since the baseline was saved.

    They would select other rows of an export.
    """
    for name in FILTER_OPTIONS:
        current, blessed = sorted(getattr(options, name)), sorted(baseline.filters[name])
        if current != blessed:
            hint = " ".join(option(name, value) for value in blessed) or f"no {option(name)}"
            hint += " compares the same scores"
            if options.from_ is None:
                hint = f"read the export itself, {option('from', 'auto')}"
            problem = f"{baseline.path}: {option(name)} has changed since these scores were blessed"
            detail = f"{listing(blessed)} in the baseline, {listing(current)} now"
            hint = f"{hint}; or bless the current scores: {bless_command(baseline.path)}"
            raise InputError(problem, found=detail, hint=hint)


def _metric_differences(
    scores: Scores, old: Booleans, claimed: Sequence[str], baseline: Baseline
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the metrics that only the baseline has, and those that only the new scores have.

    Parameters
    ----------
    scores : Scores
    old : ndarray of bool, shape (rows,)
        Rows of the baseline.
    claimed : sequence of str
        Metrics that occur in claims.
    baseline : Baseline

    Raises
    ------
    InputError
        If a claim refers to one of these metrics.
    """
    then, now = (set(scores.frame.filter(pl.Series(side))["metric"].cast(pl.String)) for side in (old, ~old))
    removed, added = sorted(then - now), sorted(now - then)
    conflicts = [name for name in (*removed, *added) if name in claimed]
    if conflicts:
        shared = [name for name in scores.metrics if name in then & now]
        claims = " ".join(option("metric", name) for name in shared[:_MAX_NAMES])
        raise _mismatch_error(
            baseline,
            f"metric '{conflicts[0]}'",
            "score it; or, if it was renamed, " if conflicts[0] in removed else "",
            f"scores with {'the new name' if conflicts[0] in removed else 'this metric'}",
            {"in both": shared, "only in the baseline": removed, "only in the new scores": added},
            f"; or use the common metrics: {claims}" if claims else "",
        )
    return tuple(removed), tuple(added)


def _mismatch_error(
    baseline: Baseline,
    item: str,
    score: str,
    scores: str,
    sides: Mapping[str, Sequence[str]],
    further_hint: str = "",
) -> InputError:
    """Return the error for a metric or task that only the baseline or only the new scores have.

    Parameters
    ----------
    baseline : Baseline
    item : str
        The metric or task, for messages.
    score : str
        Hint on how to score a missing item; empty if the item is new.
    scores : str
        Description of the scores to save as the baseline.
    sides : mapping of str to sequence of str
        Names that occur in both, and names that occur in only one of them.
    further_hint : str
        Text appended to the hint.
    """
    parts = [f"{side}: {listing(names)}" for side, names in sides.items() if names or side == "in both"]
    missing = f"the new scores lack the {item} of the baseline"
    problem = f"{baseline.path}: {missing if score else f'the baseline has no {item}'}"
    hint = f"{score}bless {scores}: {bless_command(baseline.path)}{further_hint}"
    return InputError(problem, found="; ".join(parts), hint=hint)


def _require_tasks(scores: Scores, old: Booleans, relevant: Booleans, baseline: Baseline) -> None:
    """Raise InputError if a task occurs only in the baseline or only in the new scores.

    Parameters
    ----------
    scores : Scores
    old, relevant : ndarray of bool, shape (rows,)
        Rows of the baseline, and rows of metrics that occur in claims.
    baseline : Baseline
    """
    if not scores.has_role("task"):
        return
    tasks, names = scores.codes("task"), scores.names("task")
    old_tasks, new_tasks = ({names[at] for at in np.unique(tasks[relevant & side])} for side in (old, ~old))
    removed, added = sorted(old_tasks - new_tasks), sorted(new_tasks - old_tasks)
    if removed or added:
        sides = {"in both": sorted(old_tasks & new_tasks), "only in the baseline": removed}
        sides["only in the new scores"] = added
        item, score = f"task '{[*removed, *added][0]}'", "run it; or " if removed else ""
        raise _mismatch_error(baseline, item, score, "scores of these tasks", sides)


def _overlap_warnings(overlap: Overlap, scores: Scores) -> list[str]:
    """Return warnings about differences between the new scores and a baseline, given their overlap."""
    warnings, rule = [], scores.options.missing
    if rule not in ("auto", "error") and (overlap.missing or overlap.added):
        added = f"; ignored: {overlap.added:,} new" if overlap.added and not scores.options.unpaired else ""
        lacking = f"{overlap.missing:,} of the {overlap.samples:,} samples of {overlap.path}"
        warnings.append(f"{option('missing', rule)}: the new scores lack {lacking}{added}")
    if overlap.metrics_missing:
        warnings.append(_ignored_note(overlap.metrics_missing, "the new scores"))
    if overlap.metrics_added:
        warnings.append(_ignored_note(overlap.metrics_added, overlap.path))
    if overlap.same_files:
        same = f"the new scores are identical to the files of {overlap.path}"
        warnings.append(f"{same}: were the models scored again?")
    return warnings


def _same_files(scores: Scores, baseline: Baseline) -> bool:
    """Return True if the new scores come from the same files and model as the baseline."""
    digests = [file.sha256 for file in scores.notes.inputs if file != baseline.input_file()]
    if not digests or not all(digest is not None and digest in baseline.digests for digest in digests):
        return False
    cells = scores.frame.select("model", pl.col("sample", "metric").cast(pl.String), "score")
    by_model = [cells.filter(pl.col("model") == name).drop("model").sort(pl.all()) for name in scores.models]
    return all(frame.equals(by_model[0]) for frame in by_model)


def _drop_ungrouped(scores: Scores, baseline: Baseline) -> Scores:
    """Drop the baseline samples that the new scores lack, if samples have clusters or groups.

    Only the new scores state the cluster or group of a sample.

    Raises
    ------
    InputError
        If there are such samples and the options do not exclude unmatched samples.
    """
    unknown = np.zeros(scores.frame.height, dtype=bool)
    for role in ("cluster", "group"):
        if scores.has_role(role):
            unknown |= scores.frame[role].is_null().to_numpy()
    if not unknown.any():
        return scores
    if scores.options.missing != "drop" or scores.options.unpaired:
        problem = f"{baseline.path}: unknown groups or clusters of samples that the new scores lack"
        detail = f"{np.unique(scores.codes('sample')[unknown]).size:,} samples"
        raise InputError(problem, found=detail, hint=f"{option('missing', 'drop')} excludes these samples")
    return scores.filter(~unknown)


# Maximum share of the samples of one side that the other side may lack.
_MAX_UNSHARED = 0.2

_CHANGED = "if the sample set has changed, "


def keep_shared_samples(scores: Scores, metrics: Sequence[str]) -> Scores:
    """Exclude samples that some models lack because they were added, removed or renamed.

    Other absent scores count as missing.

    Parameters
    ----------
    scores : Scores
    metrics : sequence of str
        Metrics that occur in claims.

    Raises
    ------
    InputError
        If too large a proportion of a model's samples is unmatched, or sample numbers may be shifted by one.
    """
    options, baseline = scores.options, scores.notes.baseline
    assert isinstance(options, GateReading)
    sample, sides = scores.codes("sample"), _row_mask(scores)
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
    if share > limit or is_shifted(scores, _row_mask(scores)):
        raise _unmatched_error(scores, sides, baseline)
    excluded = tuple(
        UnmatchedSamples(
            name, tuple(scores.samples[sample] for sample in np.flatnonzero(mask)), int(present.sum())
        )
        for name, mask, present in zip(names, unmatched, sides, strict=True)
        if mask.any()
    )
    return replace(scores.filter(shared[sample]), notes=replace(scores.notes, unmatched=excluded))


def _row_mask(scores: Scores) -> Booleans:
    """Return a mask of the samples for which each model has a row, with or without a score.

    Returns
    -------
    ndarray of bool, shape (models, samples)
    """
    return sample_mask(scores, scores.codes("model"), scores.codes("sample"))


def _unmatched_error(scores: Scores, sides: Booleans, baseline: Baseline | None) -> InputError:
    """Return the error for models with different samples, or for new samples unlike those of the baseline.

    If there is a baseline, `sides` is a mask of its samples and of the new ones, shape (2, samples).
    """
    if baseline is None:
        return different_samples_error(scores, _row_mask(scores))
    old, new = sides
    common, removed, added = (np.flatnonzero(indices) for indices in (old & new, old & ~new, new & ~old))
    parts = [f"{common.size:,} of the {int(old.sum()):,} baseline samples"]
    for indices, word in ((removed, "missing"), (added, "new")):
        if indices.size:
            parts.append(f"{indices.size:,} {word}, such as '{scores.samples[indices[0]]}'")
    bless = f"{_CHANGED}bless new scores: {bless_command(baseline.path)}"
    shift = shift_hint(scores, _row_mask(scores))
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
    problem = f"{baseline.path}: the new scores have different samples than the baseline"
    return InputError(problem, found=", ".join(parts), hint=hint)
