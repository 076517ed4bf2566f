"""Long tables, which have a metric column, and wide tables, which have one column per metric."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import listing
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.query import exclude_values
from riskrank.scores.layouts.column_profiles import ROW_IDENTIFIER, Columns, ColumnSplit, format_excluded
from riskrank.scores.layouts.layout import Reading, describe_assumed, lower_by_file_name, set_roles
from riskrank.scores.layouts.leaderboard import (
    MIN_TASKS,
    missing_scores_option,
    read_leaderboard,
    task_columns,
)
from riskrank.scores.layouts.refusals import common_totals, reject_mixed_splits, reject_selected_rows
from riskrank.scores.layouts.row_keys import RowKeys, find_keys, key_options
from riskrank.scores.names.directions import clearly_higher_is_better, names_a_metric
from riskrank.scores.names.vocabulary import (
    column_for_role,
    has_word,
    may_name_samples,
    names_tasks,
    vocabulary,
    words,
)
from riskrank.scores.table.metric_specs import declared_metrics

# Maximum number of metrics in a column recognised by content.
_MAX_METRICS = 100
# Minimum number of distinct values, and of rows per model, to recognise a metric as constant within models.
_MIN_VALUES, _MIN_ROWS = 3, 5
# Options, and notes about these options.
_Noted = tuple[ReadOptions, list[str]]


def read_rows(columns: Columns, model: str, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Return the possible readings of a table whose models are named by a column or by the files.

    Parameters
    ----------
    columns : Columns
    model : str
        Column that names the models; empty if the files do.
    named : mapping of str to str
        Columns that the user assigned to roles, by role.
    options : ReadOptions

    Raises
    ------
    InputError
        If the table has only one row per model, or mixes data splits.
    """
    free = _unassigned(columns, model, named)
    metric, score = _metric_and_score(columns, model, named, free, options)
    pooled_note: list[str] = []
    if not options.metric and _has_metric_per_task(columns, model, metric, score, free):
        options, pooled_note = _pool_metrics(score, options)
        metric = score = ""
    free = [name for name in free if name not in (metric, score)]
    by = columns.parts(model)
    metric_names = [metric] if metric else []
    if columns.is_key(*by, *metric_names) and "sample" not in named:
        if boards := read_leaderboard(columns, model, metric, free, options):
            return boards
        keys = RowKeys()
    else:
        keys = _row_keys(columns, named, by, metric_names, free)
    if not keys.sample and not options.sample_optional:
        return []
    reject_mixed_splits(columns, model, [name for name in free if name != keys.task], options)
    if "sample" not in named:
        reject_selected_rows(columns, model, keys.sample)
    groups = (keys.cluster, named.get("cluster", ""), keys.task, *keys.averaged)
    used = {part for column in (keys.sample, keys.draw, *groups) for part in column.split("+")}
    roles = {"model": model, "sample": keys.sample, "draw": keys.draw, "metric": metric, "score": score}
    original = options
    options = set_roles(options, roles, **key_options(keys, named, options))
    if names_tasks(keys.sample) and _is_incomplete(columns, by, metric_names, keys.sample):
        options = replace(options, **missing_scores_option(options))  # type: ignore[arg-type]
    options, totals = _exclude_totals(columns, keys.sample, [*by, *metric_names], options)
    if score:
        metrics, excluded = _select_metric_values(columns, metric, score, options)
        options = replace(options, metric=tuple(metrics)) if excluded else options
        options, notes = _infer_directions(columns, metrics, excluded, options)
        details = [f"score in column {score}", *notes, *totals]
        return [Reading(summary=_summarize("a long table", model, keys, details, metric), options=options)]
    sample = keys.sample if model and not keys.unpaired else ""
    free = [name for name in free if name not in used]
    metrics, excluded = _select_metrics(columns, free, options, sample, by)
    if not metrics and len(excluded) == 1 and ROW_IDENTIFIER not in excluded.values():
        # A bookkeeping column is accepted as the metric if there is no other candidate.
        metrics = [*excluded]
        options = replace(options, metric=tuple(metrics))
        excluded = {}
    if not metrics:
        return []
    if (labels := _find_judge_columns(columns, metrics, options)) is not None:
        # Human labels calibrate the judge on all samples jointly.
        keys = replace(keys, task="", notes=())
        options = set_roles(original, roles, **key_options(keys, named, original), where=options.where)
        options = replace(options, wide=True, human=labels[0], judge=labels[1], metric=())
        totals = [labels[2], *totals]
    else:
        chosen = tuple(metrics) if excluded or keys.averaged else ()
        options = replace(options, wide=True, metric=options.metric or chosen)
    options, notes = _infer_directions(columns, metrics, excluded, options)
    details = [f"one column per metric ({listing(metrics)})", *pooled_note, *notes, *totals]
    return [
        Reading(summary=_summarize("a wide table", model, keys, [*details, *direction]), options=choice)
        for choice, direction in _outcome_directions(columns, metrics, options)
    ]


def _unassigned(columns: Columns, model: str, named: Mapping[str, str]) -> list[str]:
    """Return the columns without a role.

    A cluster column that the user named is included, because it may also be part of the sample name.
    """
    roles = {name for role, name in named.items() if role != "cluster"}
    assigned = {model, *roles, *(part for name in roles for part in name.split("+"))}
    return [name for name in columns.names if name not in assigned]


def _exclude_totals(columns: Columns, sample: str, by: Names, options: ReadOptions) -> _Noted:
    """Return options that exclude each model's rows with totals, and a note about these rows."""
    totals = common_totals(columns, sample, by)
    if not totals:
        return options, []
    where = exclude_values(sample, totals, columns.frame[sample].to_list(), options.where)
    note = f"excluding the row{'s' if len(totals) > 1 else ''} {listing(totals)}"
    return replace(options, where=where), [note]


def _outcome_directions(columns: Columns, metrics: Names, options: ReadOptions) -> list[_Noted]:
    """Return options for both directions of ambiguous outcome words, the likelier direction first."""
    unclear = [name for name in metrics if columns.word_direction(name) == "ambiguous"]
    unclear = [name for name in unclear if name not in (*options.lower, *options.higher)]
    if not unclear:
        return [(options, [])]
    names = listing(unclear)
    choices = [
        (replace(options, higher=(*options.higher, *unclear)), [f"higher {names} is better"]),
        (replace(options, lower=(*options.lower, *unclear)), [f"lower {names} is better"]),
    ]
    outcomes = [columns.text_scores[name].outcomes for name in unclear]
    return choices if all(pair is None or pair.is_likely for pair in outcomes) else choices[::-1]


def _infer_directions(
    columns: Columns, names: Names, excluded: Mapping[str, str], options: ReadOptions
) -> _Noted:
    """Return options with inferred directions, and notes about directions and excluded columns."""
    names = [name for name in names if columns.word_direction(name) not in ("ambiguous", "explicit")]
    options, file_notes = lower_by_file_name(names, options, columns.file_metric)
    excluded_notes = [f"ignored: {format_excluded(excluded)}"] if excluded else []
    return options, [*describe_assumed(names, options), *file_notes, *excluded_notes]


def _is_incomplete(columns: Columns, model: Names, metric: Names, sample: str) -> bool:
    """Return True if some models lack tasks of other models.

    The table must have one metric and one score per model and task.
    """
    single_scores = columns.n_unique(*metric) == 1 and bool(model) and columns.is_key(*model, sample)
    return single_scores and columns.height < columns.n_unique(*model) * columns.n_unique(sample)


def _metric_and_score(
    columns: Columns, model: str, roles: Mapping[str, str], free: Names, options: ReadOptions
) -> tuple[str, str]:
    """Return the metric and score columns of a long table, or empty strings for a wide table."""
    if options.wide:
        return "", ""
    text = [name for name in free if columns.kind(name) == "text" and columns.n_unique(name) <= _MAX_METRICS]
    numbers = [name for name in free if columns.kind(name) == "number" and not may_name_samples(name)]
    metric = roles.get("metric") or ("metric" if "metric" in free else column_for_role("metric", text))
    score = roles.get("score") or ("score" if "score" in free else column_for_role("score", numbers))
    if metric and not score and len(numbers) == 1:
        score = numbers[0]
    return (metric, score) if metric and score else ("", "")


def _has_metric_per_task(columns: Columns, model: str, metric: str, score: str, free: Names) -> bool:
    """Return True if each task has its own higher-is-better metric, with one score per model.

    The metrics must have the same scale: either none of them exceeds 1, or all of them do.
    """
    tasks = [name for name in free if metric and has_word(name, "whole") and columns.is_key(model, name)]
    if not tasks or columns.n_unique(metric) < 2 or not columns.is_constant_within(metric, tasks[:1]):
        return False
    scores = columns.frame.select(pl.col(metric).cast(pl.String), score=columns.numbers(score))
    maxima = scores.group_by(metric).agg(pl.col("score").max())
    on_one_scale = len({*(maxima["score"] <= 1)}) == 1
    return on_one_scale and all(map(clearly_higher_is_better, maxima[metric].drop_nulls()))


def _pool_metrics(score: str, options: ReadOptions) -> _Noted:
    """Return options that read the scores of all tasks as one metric, and a note about it."""
    higher = () if score in options.lower else (score,)
    notes = ["each task has its own metric, and higher is better"]
    return replace(options, metric=(score,), higher=(*options.higher, *higher)), notes


def _row_keys(columns: Columns, roles: Mapping[str, str], by: Names, metric: Names, free: Names) -> RowKeys:
    """Return the keys of rows, with the sample column chosen by the user, by name, or by inference."""
    if "sample" not in roles and "sample" not in columns.names:
        return find_keys(columns, by, metric, free)
    default = RowKeys(sample=roles.get("sample", "sample"), task=roles.get("task", ""))
    if "sample" in roles or columns.is_key(*by, *metric, "sample"):
        return default
    keys = find_keys(columns, by, metric, ["sample", *(name for name in free if name != "sample")])
    return keys if keys.sample == "sample" else default


def _select_metrics(
    columns: Columns, free: Names, options: ReadOptions, sample: str = "", model: Names = ()
) -> ColumnSplit:
    """Return the metric columns, and the excluded columns with reasons.

    A column is excluded if it is constant within each model, or within each sample across all models.
    """
    if options.metric:
        return [name for name in free if name in options.metric and columns.kind(name) == "number"], {}
    declared = {*options.lower, *options.higher, *options.weight, *declared_metrics(options)[1]}
    metrics, excluded = columns.split_scores(free, declared, allow_constant=options.allow_constant)
    if model and columns.is_key(*model):
        tasks, extra = task_columns(columns, free)
        if len(tasks) >= MIN_TASKS:
            chosen = {*tasks, *declared, *filter(names_a_metric, metrics)}
            excluded |= {name: extra[name] for name in metrics if name not in chosen}
        return [name for name in metrics if name not in excluded], excluded
    for reason, applies in _NOT_COMPARED:
        fits = [name for name in metrics if name not in declared and applies(columns, name, sample, model)]
        if 0 < len(fits) < len(metrics):
            excluded |= dict.fromkeys(fits, reason)
            metrics = [name for name in metrics if name not in fits]
    return metrics, excluded


def _describes_models(columns: Columns, name: str, _sample: str, model: Names) -> bool:
    """Return True if a column is constant within each model.

    If the column has the name of a metric, the table must also have several rows per model, and the column
    several distinct values.
    """
    if not model or not columns.is_constant_within(name, model):
        return False
    few = columns.n_unique(name) < _MIN_VALUES or columns.height < _MIN_ROWS * columns.n_unique(*model)
    return not (few and names_a_metric(name))


# Tests for numeric columns that cannot be used to compare models, with the reason for exclusion.
_NOT_COMPARED: tuple[tuple[str, Callable[[Columns, str, str, Names], bool]], ...] = (
    ("a model setting", _describes_models),
    (
        "not for all models",
        lambda columns, name, _, model: (
            not names_a_metric(name) and columns.is_missing_for_groups(name, model)
        ),
    ),
    (
        "mixed numbers and text",
        lambda columns, name, sample, _: bool(sample) and not names_a_metric(name) and columns.is_mixed(name),
    ),
    (
        "a duration",
        lambda columns, name, _, model: (
            words(name) <= vocabulary("test times") and any(map(columns.word_direction, columns.names))
        ),
    ),
    (
        "the same for all models",
        lambda columns, name, sample, _: bool(sample) and columns.is_constant_within(name, [sample]),
    ),
)


def _select_metric_values(columns: Columns, metric: str, score: str, options: ReadOptions) -> ColumnSplit:
    """Return the metrics named in a long table that have scores, and the excluded ones with reasons."""
    names, values = columns.frame[metric].cast(pl.String), columns.numbers(score)
    metrics = names.drop_nulls().unique(maintain_order=True).to_list()
    by_metric = {name: values[(names == name).fill_null(False).to_numpy()] for name in metrics}
    if options.metric or len({scores.size for scores in by_metric.values()}) > 1:
        return metrics, {}
    frame = pl.DataFrame({name: pl.Series(scores, nan_to_null=True) for name, scores in by_metric.items()})
    selected, excluded = _select_metrics(Columns(frame, metrics), metrics, options)
    return (selected, excluded) if selected else (metrics, {})


def _find_judge_columns(
    columns: Columns, metrics: Names, options: ReadOptions
) -> tuple[str, str, str] | None:
    """Return the columns with human labels and with judge scores, and a note.

    Return None if there are no such columns. The human labels calibrate the judge scores.
    """
    if not options.judges or options.human or (options.metric and len(options.metric) != len(metrics)):
        return None
    human = [name for name in metrics if has_word(name, "human")]
    judges = [name for name in metrics if has_word(name, "automatic") and name not in human]
    if len(human) != 1 or len(judges) != 1 or not columns.n_missing(human[0]):
        return None
    labels = columns.height - columns.n_missing(human[0])
    note = f"human scores in {human[0]} ({labels:,} of {columns.height:,}) calibrate the judge {judges[0]}"
    return human[0], judges[0], note


def _summarize(kind: str, model: str, keys: RowKeys, notes: Names, metric: str = "") -> str:
    """Describe the reading of a table in one sentence."""
    columns = {"model": model, "sample": keys.sample, "metric": metric}
    *units, last = [f"{role} ({column})" for role, column in columns.items() if column] or [""]
    rows = f"one row per {', '.join(units)} and {last}" if units else f"one row per {last}" * bool(last)
    files = "" if model else "one file per model"
    return "; ".join([f"{kind}: {', '.join(filter(None, [files, rows]))}", *notes, *keys.notes])
