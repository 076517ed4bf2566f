"""The column that names the models, found by name, by the options, or by its contents."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.leaderboard import MIN_TASKS, task_columns
from riskrank.scores.layouts.row_keys import find_keys
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import column_for_role, has_word, may_name_models, words

# Maximum number of models in a column recognised by content.
_MAX_NAMES = 20
# Minimum share of samples that all models have, in a column recognised by content.
_MIN_OVERLAP = 0.8


def model_columns(columns: Columns, roles: Mapping[str, str], options: ReadOptions) -> list[str]:
    """Return the columns that may name the models, with the best candidate first.

    If a column name determines the role, only that column is returned.
    """
    if "model" in roles:
        return [roles["model"]]
    assigned = {part for column in roles.values() for part in (column, *column.split("+"))}
    if "model" in columns.names and "model" not in assigned and columns.n_unique("model") > 1:
        return ["model"]
    free = [name for name in columns.names if name not in assigned]
    if preferred := [name for name in free if _contains_models(columns, name, options)]:
        return preferred[:1]
    fit = [name for name in free if _may_name_models(columns, name)]
    numbers = [name for name in fit if columns.kind(name) == "number"]
    # Several numeric columns with model names contain scores of one model each.
    fit = [c for c in fit if c not in numbers or (len(numbers) == 1 and not _has_subset(columns, c))]
    by_name = column_for_role("model", [name for name in fit if columns.n_unique(name) > 1] or fit)
    if by_name is None and "model" in free:
        return ["model"]
    if by_name is not None and (entry := _entry_column(columns, by_name, free)):
        return [entry]
    if by_name is not None or columns.by_file:
        return [] if by_name is None else [by_name]
    text = [c for c in fit if columns.kind(c) == "text" and 2 <= columns.n_unique(c) <= _MAX_NAMES]
    if not text and any(map(names_a_metric, columns.names)):  # judges take the place of models
        judges = [name for name in free if has_word(name, "graders") and columns.kind(name) == "text"]
        text = [c for c in judges if 2 <= columns.n_unique(c) <= _MAX_NAMES and not columns.n_missing(c)]
    matches, crossed = [], []
    # The content of fewer rows than text columns is not informative.
    for name in text if len(text) <= columns.height else ():
        remaining = [field for field in free if field != name]
        keys = find_keys(columns, [name], [], remaining)
        parts = [part for part in (*keys.sample.split("+"), keys.task) if part]
        runs = [keys.draw] if keys.draw else []
        unique = columns.is_key(name, *parts, *runs) and (bool(runs) or not keys.repeats)
        unique |= bool(keys.averaged) and columns.is_key(name, *parts, *keys.averaged)
        if parts and (keys.is_duplicated or unique):
            matches += [name] if columns.shared_proportion(parts[0], [name]) >= _MIN_OVERLAP else []
            crossed += (
                [name]
                if all(columns.shared_proportion(part, [name]) >= _MIN_OVERLAP for part in parts)
                else []
            )
    preferred = [
        name
        for name in matches
        if not has_word(name, "whole", "benchmark", "setting", "wording", "run", "role sample")
    ]
    preferred = [c for c in preferred if column_for_role("metric", [c]) is None] or preferred or matches
    # Prefer columns crossed with all samples over columns that describe samples.
    crossed = [name for name in preferred if name in crossed]
    compared = column_for_role("compared", crossed if matches else [c for c in text if not columns.is_key(c)])
    if compared:
        return [compared]
    return sorted(preferred, key=lambda name: (name not in crossed, columns.n_unique(name)))


def _entry_column(columns: Columns, group: str, free: Names) -> str:
    """Return the column that names the rows of a leaderboard, or an empty string.

    The column `group` describes models and does not identify the rows.
    """
    text = [name for name in free if columns.kind(name) == "text" and columns.is_key(name)]
    names = [
        name
        for name in text
        if column_for_role("sample", [name]) is None and not has_word(name, "identifier", "answer")
    ]
    if not names or group in text:
        return ""
    sample = find_keys(columns, [group], [], [name for name in free if name not in (group, *text)]).sample
    if sample and columns.shared_proportion(sample, [group]) >= _MIN_OVERLAP:
        return ""
    return names[0] if len(task_columns(columns, free)[0]) >= MIN_TASKS else ""


def _contains_models(columns: Columns, name: str, options: ReadOptions) -> bool:
    """Return True if a column contains all models that the user selects or compares."""
    pairs = options.compared if isinstance(options, GateReading) else ()
    if not (pairs or options.models) or columns.kind(name) not in ("text", "number"):
        return False
    # A table with one row per model does not contain scores of samples.
    if columns.is_key(name):
        return False
    values = {*columns.frame[name].cast(pl.String).unique().drop_nulls()}
    # Model names may also contain colons.
    splits = ([(pair[:i], pair[i + 1 :]) for i, char in enumerate(pair) if char == ":"] for pair in pairs)
    compared = all(any({*both} <= values for both in choices) for choices in splits)
    return {*options.models} <= values and compared


def _has_subset(columns: Columns, name: str) -> bool:
    """Return True if all values of another numeric column occur in this one.

    Both columns may then contain scores of models.
    """
    candidates = [c for c in columns.by_kind("number") if c != name]
    scores = columns.numbers(name)
    return columns.n_unique(name) > 1 and any(np.isin(columns.numbers(c), scores).all() for c in candidates)


def _may_name_models(columns: Columns, name: str) -> bool:
    # Cheap checks come first, because wide tables have many columns.
    """Return True if the name and values of a column allow it to name models."""
    if not may_name_models(name) or (has_word(name, "answer") and "model" not in words(name)):
        return False
    kind = columns.kind(name)
    if kind not in ("text", "number") or columns.frame[name].dtype.is_nested():
        return False
    # A number is a model name only if the column name says so.
    is_name = column_for_role("model", [name]) is not None and not names_a_metric(name)
    fits = kind == "text" or (
        is_name and columns.is_integer(name) and 2 <= columns.n_unique(name) <= _MAX_NAMES
    )
    return fits and not columns.n_missing(name)
