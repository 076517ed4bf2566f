"""The column that names the models: by its name, by what was asked, or by what it holds."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.row_keys import keys_of
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import may_name_models, has_word, column_for_role, words

# Names of models are no more, where only content tells that they are.
_MOST_MODELS = 20
# Samples all models have, where only content tells what the models are.
_NEARLY_ALL = 0.8


def models_of(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[str]:
    """Columns that may name the models: one by its name, else all that may by what they hold."""
    if "model" in named:
        return [named["model"]]
    taken = {part for column in named.values() for part in column.split("+")}
    if "model" in columns.names and "model" not in taken and columns.count("model") > 1:
        return ["model"]
    free = [name for name in columns.names if name not in taken]
    if told := [name for name in free if _holds(columns, name, options)]:
        return told[:1]
    fit = [name for name in free if _may_name_models(columns, name)]
    numbers = [name for name in fit if columns.kind(name) == "number"]
    # Several columns of numbers that are called as models are a model each, and so is one beside its like.
    fit = [one for one in fit if one not in numbers or (len(numbers) == 1 and not _has_likes(columns, one))]
    by_name = column_for_role("model", [name for name in fit if columns.count(name) > 1] or fit)
    if by_name is None and "model" in free:
        return ["model"]
    if by_name is not None or columns.by_file:
        return [] if by_name is None else [by_name]
    text = [name for name in fit if columns.kind(name) == "text" and 2 <= columns.count(name) <= _MOST_MODELS]
    if not text and any(map(names_a_metric, columns.names)):  # graders that are compared
        judges = [name for name in free if has_word(name, "graders") and columns.kind(name) == "text"]
        text = [one for one in judges if 2 <= columns.count(one) <= _MOST_MODELS and not columns.gaps(one)]
    found, crossed = [], []
    # Fewer rows than columns of text tell nothing by what they hold.
    for name in text if len(text) <= columns.height else ():
        others = [other for other in free if other != name]
        keys = keys_of(columns, [name], [], others)
        parts = keys.sample.split("+") if keys.sample else []
        runs = [keys.draw] if keys.draw else []
        apart = columns.tell_apart(name, *parts, *runs) and (bool(runs) or not keys.repeats)
        apart |= bool(keys.averaged) and columns.tell_apart(name, *parts, *keys.averaged)
        if parts and (keys.copied or apart):
            found += [name] if columns.shared(parts[0], [name]) >= _NEARLY_ALL else []
            crossed += [name] if all(columns.shared(part, [name]) >= _NEARLY_ALL for part in parts) else []
    told = [name for name in found if not has_word(name, "whole", "setting", "wording", "run")]
    told = [name for name in told if column_for_role("metric", [name]) is None] or told or found
    # What all samples have each of is compared rather than what says of what kind they are.
    crossed = [name for name in told if name in crossed]
    compared = column_for_role(
        "compared", crossed if found else [one for one in text if not columns.tell_apart(one)]
    )
    if compared:
        return [compared]
    return sorted(told, key=lambda name: (name not in crossed, columns.count(name)))


def _holds(columns: Columns, name: str, options: ReadOptions) -> bool:
    """Whether a column holds all models somebody named: those asked for, and those that claims are about."""
    pairs = options.compared if isinstance(options, GateReading) else ()
    if not (pairs or options.models) or columns.kind(name) not in ("text", "number"):
        return False
    # A row a model is no table of their scores.
    if columns.tell_apart(name):
        return False
    held = {*columns.frame[name].cast(pl.String).unique().drop_nulls()}
    # Names may hold a colon themselves.
    splits = ([(pair[:at], pair[at + 1 :]) for at, sign in enumerate(pair) if sign == ":"] for pair in pairs)
    return {*options.models} <= held and all(any({*both} <= held for both in ways) for ways in splits)


def _has_likes(columns: Columns, name: str) -> bool:
    """Whether another column holds the same numbers: a score beside it, of a model with another name."""
    others = [one for one in columns.of_kind("number") if one != name]
    own = columns.numbers(name)
    return columns.count(name) > 1 and any(np.isin(columns.numbers(one), own).all() for one in others)


def _may_name_models(columns: Columns, name: str) -> bool:
    # Cheap questions come first: wide tables have many columns.
    if not may_name_models(name) or (has_word(name, "answer") and "model" not in words(name)):
        return False
    kind = columns.kind(name)
    if kind not in ("text", "number") or columns.frame[name].dtype.is_nested():
        return False
    # Only its name says of a number that it is a model's, and not how well a model did.
    called = column_for_role("model", [name]) is not None and not names_a_metric(name)
    fits = kind == "text" or (called and columns.whole(name) and columns.count(name) <= _MOST_MODELS)
    return fits and not columns.gaps(name)
