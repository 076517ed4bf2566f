"""A row a model and no samples: a leaderboard, whose tasks are columns, trials of Optuna, or means alone."""

import re
from collections.abc import Collection

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, by_door, listing
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import Reading, with_roles
from riskrank.scores.names.directions import looks_like_a_cost, names_a_metric
from riskrank.scores.names.score_columns import format_excluded
from riskrank.scores.names.vocabulary import (
    is_spread,
    split_words,
    names_tasks,
    strip_accents,
    has_word,
    column_for_role,
    is_unfinished,
)

# Tasks that a test over tasks takes.
FEWEST_TASKS = 6
# Columns whose sizes differ by more are not on one scale.
ONE_SCALE = 30.0
# Parts of one model's data, which are no models: first those that are kept for the end.
SPLITS = ("test", "dev", "val", "valid", "validation", "train", "training")
# More rows are samples, where the column that names them does not say what it names.
_MOST_MODELS = 50


def as_board(columns: Columns, model: str, metric: str, free: Names, options: ReadOptions) -> Reading | None:
    """A leaderboard as a matrix of tasks; None where the caller does with a row a model.

    Raises
    ------
    InputError
        If there are means alone.
    """
    if options.sample_optional:
        return None
    tasks, gone = columns.measures(free)
    named = sum(names_a_metric(name) for name in tasks)
    measured = measured_by_all(tasks) if len(tasks) >= FEWEST_TASKS else ""
    told = 2 * named <= len(tasks) or measured or _each_by_its_metric(tasks)
    no_tasks = metric or len(tasks) < FEWEST_TASKS or not told
    if no_tasks or not on_one_scale(columns, tasks):
        raise _means_only(columns, tasks, model)
    said = f"a leaderboard: a row a model ({model}), a column a task ({listing(tasks, 4)}), {len(tasks)} "
    said += f"tasks; left out: {format_excluded(gone)}" if gone else "tasks"
    more = {"matrix": options.matrix or measured or columns.measured or "score", **pair_by_pair(options)}
    return Reading(said=said, options=with_roles(options, {"model": model}, **more))


def pair_by_pair(options: ReadOptions) -> dict[str, str]:
    """The rule for holes of a board, where the caller has it and nobody asked for another one."""
    return {"missing": SHARED} if isinstance(options, RankReading) and options.missing == "error" else {}


def rows_may_be_models(columns: Columns, rows: str, across: Names) -> bool:
    """Whether a matrix may be a leaderboard: its rows have names, and nothing says that these are samples."""
    if rows not in columns.names or columns.kind(rows) != "text" or not columns.tell_apart(rows):
        return False
    if len(across) < FEWEST_TASKS or not on_one_scale(columns, across):
        return False
    told = column_for_role("model", [rows]) is not None or column_for_role("sample", [rows]) is None
    return told and (tasks_across(across) or columns.height <= _MOST_MODELS)


def tasks_across(names: Names) -> bool:
    """Whether columns are called as tasks are."""
    return 2 * sum(map(names_tasks, names)) > len(names)


def on_one_scale(columns: Columns, names: Names) -> bool:
    """Whether columns may be of one metric: their sizes are alike."""
    found = [size for size in sizes(columns, names) if size > 0]
    return not found or max(found) <= ONE_SCALE * min(found)


def measured_by_all(names: Names) -> str:
    """What names of columns say alike that is measured, where all of them say something else beside it."""
    parts = [re.findall(r"[^\W\d_]+\d*", strip_accents(name).casefold()) for name in names]
    alike = [word for word in parts[0] if all(word in part for part in parts)]
    rests = [{*part} - {*alike} for part in parts]
    told = any(map(names_a_metric, alike)) and all(rests) and len({*map(frozenset, rests)}) == len(names)
    said = any(names_a_metric(word) or word in SPLITS for rest in rests for word in rest)
    return "_".join(alike) if told and not said else ""


def _each_by_its_metric(names: Names) -> bool:
    """Whether names are those of tasks, each with a metric behind it of which more is better."""
    rests = []
    for name in names:
        parts = split_words(name)
        while parts and names_a_metric(parts[-1]):
            parts.pop()
        rests.append(tuple(parts))
    said = any(word in SPLITS for rest in rests for word in rest) or any(map(looks_like_a_cost, names))
    return all(rests) and len({*rests}) == len(names) and not said


def sizes(columns: Columns, names: Names) -> list[float]:
    """How large the scores of columns are: 1 where all are shares, however small."""
    values = [columns.numbers(name) for name in names]
    filled = [one[~np.isnan(one)] for one in values]
    return [
        float(np.quantile(np.abs(one), 0.9)) if one.size and (one.min() < 0 or one.max() > 1) else 1.0
        for one in filled
    ]


def _means_only(columns: Columns, names: Names, model: str) -> InputError:
    several = sum(not is_spread(name) for name in names) > 1
    copa = f"; among objectives {by_door('the command copa', 'copa')} chooses by a row a model"
    spread = [name for name in columns.names if is_spread(name)]
    what = "means and their spreads" if spread else "one row per model"
    return InputError(
        f"{what} alone: nothing can be tested from means, a summary has no samples",
        found=f"columns: {listing(columns.names, 20)}; {columns.height} rows, each a model ({model})",
        hint=f"write the scores of each sample: model, sample and a column a metric{copa if several else ''}",
    )


_TRIALS = {"number", "state", "datetime_start"}
_VALUES = re.compile(r"values?(_.+)?")


def as_study(columns: Columns, options: ReadOptions) -> Reading | None:
    """The trials of an Optuna study as models that are chosen by their objectives; None for other tables.

    Raises
    ------
    InputError
        If something is to be tested, which one value a trial does not allow.
    """
    objectives = [name for name in columns.names if _VALUES.fullmatch(name)]
    if not objectives or not {*columns.names} >= _TRIALS:
        return None
    if not options.sample_optional:
        several = f"; {by_door('riskrank copa', 'copa')} chooses among trials by several objectives"
        raise InputError(
            f"{columns.label}: an Optuna study has one value a trial, from which nothing can be tested",
            found=f"{columns.height} trials, with {listing(objectives)}",
            hint="run the best trials again with several seeds or folds, and write a row a trial and seed"
            + (several if len(objectives) > 1 else ""),
        )
    more = {"where": "state = 'COMPLETE'"} if options.where is None else {}
    metrics = options.metric or tuple(objectives)
    return Reading(
        said=f"an Optuna study: a row a trial (number), its objectives {listing(objectives)}",
        options=with_roles(options, {"model": "number"}, wide=True, metric=metrics, **more),
    )


def of_unfinished(columns: Columns, scores: Collection[str]) -> str:
    """What is said of rows whose run did not end as it should, where that is none of the scores."""
    for name in columns.names:
        if not has_word(name, "status") or name in scores or column_kind(columns.frame[name]) != "text":
            continue
        plain = columns.frame[name].cast(pl.String).str.strip_chars()
        ends = [end for end in sorted(plain.drop_nulls().unique()) if is_unfinished(end)]
        rows = int(plain.is_in(ends).sum())
        if 0 < rows < columns.height:
            # No way to leave them out is offered: what failed says something of who failed.
            return f"; {rows} rows whose {name} is {listing(ends)} are among them"
    return ""
