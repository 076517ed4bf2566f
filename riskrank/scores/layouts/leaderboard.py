"""Tables with one row per model: leaderboards of tasks, Optuna studies, and tables of means."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, interface_text, listing
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.layouts.column_profiles import Columns, ColumnSplit, format_excluded
from riskrank.scores.layouts.layout import Reading, set_roles
from riskrank.scores.names.directions import (
    looks_like_a_cost,
    looks_like_an_amount,
    looks_like_errors,
    names_a_metric,
)
from riskrank.scores.names.vocabulary import (
    INDEX,
    column_for_role,
    has_word,
    is_spread,
    is_unfinished,
    names_tasks,
    split_words,
    strip_accents,
)

# Minimum number of tasks for a test over tasks.
MIN_TASKS = 6
# Columns whose magnitudes differ by a larger factor are not on one scale.
MAX_SCALE_RATIO = 30.0
# Names of data splits, evaluation splits first.
SPLITS = ("test", "dev", "val", "valid", "validation", "train", "training")
# With more rows, an unspecific name column names samples.
_MAX_MODELS = 50


def read_leaderboard(
    columns: Columns, model: str, metric: str, free: Names, options: ReadOptions
) -> list[Reading]:
    """Return the possible readings of a leaderboard as a matrix of tasks.

    Return an empty list if the caller accepts a table with one row per model as it is.

    Parameters
    ----------
    columns : Columns
    model, metric : str
        Columns that name the models and the metrics; empty if there is no such column.
    free : sequence of str
        Columns without a role.
    options : ReadOptions

    Raises
    ------
    InputError
        If the table contains only summary statistics.
    """
    if options.sample_optional:
        return []
    tasks, excluded = task_columns(columns, free)
    n_metrics = sum(names_a_metric(name) for name in tasks)
    shared = common_metric(tasks) if len(tasks) >= MIN_TASKS else ""
    are_tasks = 2 * n_metrics <= len(tasks) or shared or _are_tasks_with_metrics(tasks)
    if metric or len(tasks) < MIN_TASKS or not are_tasks:
        raise _means_only_error(columns, tasks, model)
    metric = options.matrix or shared or columns.file_metric or "score"
    summary = f"a leaderboard of {len(tasks)} tasks: one row per model ({model}), one column per task "
    summary += f"({listing(tasks, 4)})" + (f"; ignored: {format_excluded(excluded)}" if excluded else "")
    changes = {"matrix": metric, **missing_scores_option(options)}
    values = np.concatenate([columns.numbers(name) for name in tasks])
    unclear = options.tests and metric == "score" and not {metric, "*"} & {*options.lower, *options.higher}
    directions: list[dict[str, Any]] = [{}]
    if unclear and not are_task_names(tasks) and looks_like_errors(values[~np.isnan(values)]):
        directions = [{side: (*getattr(options, side), metric)} for side in ("lower", "higher")]
    return [
        Reading(summary=summary, options=set_roles(options, {"model": model}, **changes, **direction))
        for direction in directions
    ]


def task_columns(columns: Columns, names: Names) -> ColumnSplit:
    """Split the numeric columns of a leaderboard into tasks and other columns.

    If at least `MIN_TASKS` column names contain the same metric, the tasks are the columns of the most common
    metric. Otherwise, they are the columns of similar magnitude that are not costs.

    Returns
    -------
    tasks : list of str
    excluded : dict of str to str
        Reason for excluding each of the other columns.
    """
    tasks, excluded = columns.split_scores(names)
    groups = {word: [name for name in tasks if word in split_words(name)] for word in _words_of(tasks)}
    metric = max(filter(names_a_metric, groups), key=lambda word: len(groups[word]), default="")
    if metric and len(groups[metric]) >= MIN_TASKS and common_metric(groups[metric]):
        others = {name: f"no {metric}" for name in tasks if name not in groups[metric]}
    else:
        sizes = dict(zip(tasks, magnitudes(columns, tasks), strict=True))
        usual = float(np.median([*sizes.values()] or [1]))
        n_costs = sum(map(looks_like_an_amount, tasks))
        others = {
            name: "another range"
            for name, size in sizes.items()
            if not usual / MAX_SCALE_RATIO <= size <= usual * MAX_SCALE_RATIO
        }
        others |= {
            name: "a cost" for name in tasks if looks_like_an_amount(name) and 3 * n_costs < len(tasks)
        }
    return [name for name in tasks if name not in others], excluded | others


def _words_of(names: Names) -> dict[str, None]:
    """Return the words of all names, each once, in order."""
    return dict.fromkeys(word for name in names for word in split_words(name))


def missing_scores_option(options: ReadOptions) -> dict[str, str]:
    """Return the option that compares models on shared tasks, unless the user chose another treatment."""
    return {"missing": SHARED} if isinstance(options, RankReading) and options.missing == "error" else {}


def rows_may_be_models(columns: Columns, column: str, names: Names) -> bool:
    """Return True if a matrix may be a leaderboard.

    This is the case if its row names are not clearly names of samples.
    """
    if column not in columns.names or columns.kind(column) != "text" or not columns.is_key(column):
        return False
    if len(names) < MIN_TASKS or not have_similar_scale(columns, names):
        return False
    by_name = column_for_role("model", [column]) is not None or column_for_role("sample", [column]) is None
    return by_name and (are_task_names(names) or columns.height <= _MAX_MODELS)


def are_task_names(names: Names) -> bool:
    """Return True if more than half of the names are known task names."""
    return 2 * sum(map(names_tasks, names)) > len(names)


def have_similar_scale(columns: Columns, names: Names) -> bool:
    """Return True if columns have values of similar magnitude, so that they may contain the same metric."""
    sizes = [size for size in magnitudes(columns, names) if size > 0]
    return not sizes or max(sizes) <= MAX_SCALE_RATIO * min(sizes)


def common_metric(names: Names) -> str:
    """Return the metric that is part of all column names, or an empty string.

    The rest of each name must be distinct.
    """
    parts = [re.findall(r"[^\W\d_]+\d*", strip_accents(name).casefold()) for name in names]
    common = [word for word in parts[0] if all(word in part for part in parts)]
    extras = [{*part} - {*common} for part in parts]
    are_distinct = all(extras) and len({*map(frozenset, extras)}) == len(names)
    is_metric = any(names_a_metric(word) or word in SPLITS for extra in extras for word in extra)
    return "_".join(common) if any(map(names_a_metric, common)) and are_distinct and not is_metric else ""


def _are_tasks_with_metrics(names: Names) -> bool:
    """Return True if each name consists of a distinct task and a higher-is-better metric."""
    tasks = []
    for name in names:
        parts = split_words(name)
        while parts and names_a_metric(parts[-1]):
            parts.pop()
        tasks.append(tuple(parts))
    excluded = any(word in SPLITS for task in tasks for word in task) or any(map(looks_like_a_cost, names))
    return all(tasks) and len({*tasks}) == len(names) and not excluded


def magnitudes(columns: Columns, names: Names) -> list[float]:
    """Return the 0.9 quantile of each column's absolute values, or 1 if all its values are in [0, 1]."""
    values = [columns.numbers(name) for name in names]
    observed = [x[~np.isnan(x)] for x in values]
    beyond = [x.size and (x.min() < 0 or x.max() > 1) for x in observed]
    return [float(np.quantile(np.abs(x), 0.9)) if b else 1.0 for x, b in zip(observed, beyond, strict=True)]


def _means_only_error(columns: Columns, names: Names, model: str) -> InputError:
    """Return the error for a table that has one row per model and no samples."""
    several = sum(not is_spread(name) for name in names) > 1
    copa = f"; {interface_text('the command copa', 'copa')} can choose a model from one row per model"
    spread = [name for name in columns.names if is_spread(name)]
    subject = "a table of means and spreads" if spread else "a table with one row per model"
    return InputError(
        f"{subject} has no samples, so nothing can be tested",
        found=f"columns: {listing(columns.names, 20)}; {columns.height} rows, one per model ({model})",
        hint=f"write one row per model and sample, with one column per metric{copa if several else ''}",
    )


def reject_means(columns: Columns) -> None:
    """Raise InputError if the rows of an index contain means with their spreads."""
    if INDEX not in columns.names or not columns.is_key(INDEX):
        return
    numbers, excluded = columns.split_scores([name for name in columns.names if name != INDEX])
    if columns.kind(INDEX) == "text" and any(map(is_spread, excluded)) and any(map(names_a_metric, numbers)):
        raise _means_only_error(columns, numbers, INDEX)


_OPTUNA_COLUMNS = {"number", "state", "datetime_start"}
_OBJECTIVE = re.compile(r"values?(_.+)?")


def read_optuna_study(columns: Columns, options: ReadOptions) -> Reading | None:
    """Return the reading of an Optuna study, with trials as models, or None for other tables.

    Raises
    ------
    InputError
        If the caller needs samples for a test, because a study has only one value per trial.
    """
    objectives = [name for name in columns.names if _OBJECTIVE.fullmatch(name)]
    if not objectives or not {*columns.names} >= _OPTUNA_COLUMNS:
        return None
    if not options.sample_optional:
        copa_hint = f"; {interface_text('riskrank copa', 'copa')} can choose a trial by several objectives"
        raise InputError(
            f"{columns.label}: an Optuna study has one value per trial, so nothing can be tested",
            found=f"{columns.height} trials, with {listing(objectives)}",
            hint="repeat the best trials with several seeds or folds, and write one row per trial and seed"
            + (copa_hint if len(objectives) > 1 else ""),
        )
    changes = {"where": "state = 'COMPLETE'"} if options.where is None else {}
    metrics = options.metric or tuple(objectives)
    return Reading(
        summary=f"an Optuna study: one row per trial (number); objectives {listing(objectives)}",
        options=set_roles(options, {"model": "number"}, wide=True, metric=metrics, **changes),
    )


def describe_unfinished(columns: Columns, scores: Collection[str]) -> str:
    """Describe the rows whose status is unfinished, unless the status column is a score."""
    for name in columns.names:
        if not has_word(name, "status") or name in scores or column_kind(columns.frame[name]) != "text":
            continue
        states = columns.frame[name].cast(pl.String).str.strip_chars()
        unfinished = [state for state in sorted(states.drop_nulls().unique()) if is_unfinished(state)]
        rows = int(states.is_in(unfinished).sum())
        if 0 < rows < columns.height:
            # Excluding these rows is not suggested, because failures are informative about the model.
            return f"; includes {rows} rows with {name} {listing(unfinished)}"
    return ""
