"""Tables that are refused: what is missing, in the words of the file, and what no test may rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import written
from riskrank.scores.layouts.leaderboard import SPLITS
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.outcome_words import classify_outcomes
from riskrank.scores.names.vocabulary import vocabulary, has_word, parse_vocabulary, words
from riskrank.scores.table.columns import lacking_columns, named_columns, named_roles
from riskrank.scores.table.written_numbers import example, refuse_mixed

_ROLES = ("model", "sample", "metric", "score")
# What counts how far a training run is.
_STEPS = parse_vocabulary("global train training step steps epoch epochs iteration iterations iter")


def require_no_curves(columns: Columns, *, of_models: bool = False) -> None:
    """Refuse steps of training, which follow from each other and are no samples.

    Raises
    ------
    InputError
    """
    for name in (one for one in columns.names if words(one) and words(one) <= _STEPS):
        steps = columns.numbers(name) if columns.kind(name) == "number" else np.zeros(0)
        if steps.size > 1 and (of_models or np.all(np.diff(steps) > 0)):
            raise InputError(
                f"{columns.label}: steps of a training run follow from each other, and are no samples",
                found=f"a row a {name}, from {steps.min():g} to {steps.max():g}",
                hint="train each with several seeds, and write a row a run: model, seed and its last score",
            )


def no_reading(columns: Columns, given: Sequence[Source], options: ReadOptions) -> InputError:
    """Say which columns are missing."""
    source = given[0]
    text = [name for name in columns.of_kind("text") if names_a_metric(name)]
    refuse_mixed(source, columns.frame.select(text), "metric")
    asked = [name for name in columns.of_kind("text") if name in options.metric]
    if asked:
        return _text_asked(columns, asked[0])
    roles = named_columns(source, named_roles(options), _ROLES)
    numbers = columns.of_kind("number")
    lacking = [role for role in _ROLES[:2] if role not in roles]
    if "sample" in lacking:
        require_no_curves(columns, of_models=True)
    lacking += [] if options.wide or numbers else ["score"]
    lacking = lacking or ["metric", "score"]
    return lacking_columns(source, lacking, source.rewritten() or _hint(source, lacking, options.time))


def _text_asked(columns: Columns, name: str) -> InputError:
    held = columns.frame[name].unique().sort()
    return InputError(
        f"{columns.label}: column '{name}' is text, no score",
        found=f"{len(held):,} different texts, such as {example(held)}",
        hint="write a number in place of each; two words alone are read as 1 and 0: passed and failed",
    )


def too_many_columns(source: Source, readings: Sequence[ReadOptions], options: ReadOptions) -> InputError:
    """Say that nobody means each of so many columns."""
    hint = f"name the metrics, {option('metric', 'NAME')}, or the models, {option('models', 'A,B')}"
    ways = [(way, None) for one in readings if (way := written(one, options))]  # not what was asked
    return source.refused(f"{len(source.columns):,} columns, and what they are has to be said", hint, ways)


def _hint(source: Source, lacking: Sequence[str], time: str | None) -> str:
    known = {"sample": time} if time in source.columns else {}  # what orders samples tells them apart
    asked = ",".join(f"{role}={known.get(role, '…')}" for role in lacking)
    told = f"say which columns they are: {option('columns', asked)}" if lacking else "name the metrics"
    if lacking == ["model"] and Path(source.label).is_file():
        told += f"; or name the only model of this file: NAME={source.label}"
    return f"{told}; single values and summaries cannot be tested"


_PARTS = frozenset({"split", "partition", "fold", "set", "subset"})


def require_alike(columns: Columns, model: str, free: Sequence[str], options: ReadOptions) -> None:
    """Refuse rows of training beside those of test, and samples a model may have seen beside others.

    Raises
    ------
    InputError
    """
    for name in (one for one in free if has_word(one, "seen") or words(one) & _PARTS):
        if name in (options.task, options.cluster, *options.metric):
            continue
        held = sorted(columns.frame[name].cast(pl.String).unique().drop_nulls())
        kept, what = _last_part(columns, name, held), "names parts of the data, which are not samples alike"
        seen = has_word(name, "seen") and len(held) == 2
        if seen and not kept and not (model and columns.constant_within(name, [model])):
            kept, what = _unseen(held), "says what was seen in training, of which scores tell nothing"
        if kept:
            raise _of_two_kinds(columns, name, held, kept, what, options)


def _last_part(columns: Columns, name: str, held: Sequence[str]) -> list[str]:
    """The part that is kept for the end, where all are parts of one model's data."""
    known_parts = [one for one in SPLITS for text in held if one == text.casefold()]
    if not words(name) & _PARTS or columns.kind(name) != "text" or len(known_parts) < max(len(held), 2):
        return []
    return [next(text for text in held if text.casefold() == known_parts[0])]


def _unseen(held: Sequence[str]) -> list[str]:
    """What says that a sample was not seen, where the two values tell; else both."""
    found = classify_outcomes(*(text.strip().casefold() for text in held))
    no = {"0", "0.0", "false", *(found.negatives if found else ())}
    return [text for text in held if text.strip().casefold() in no] or [*held]


def _of_two_kinds(
    columns: Columns, name: str, held: Sequence[str], kept: Sequence[str], what: str, options: ReadOptions
) -> InputError:
    text = columns.frame[name].dtype == pl.String
    column = quoted_column(name) if text else f"CAST({quoted_column(name)} AS VARCHAR)"
    before = f"({options.where}) AND " if options.where else ""
    wheres = [f"{before}{column} = {quoted_text(value)}" for value in kept]
    ways = [(option("where", where), replace(options, where=where)) for where in wheres]
    hint, what = f"{ways[0][0]} takes the rows of {kept[0]} alone", f"{columns.label}: {name} {what}"
    return InputError(what, found=f"{name}: {listing(held)}", hint=hint, ways=ways)


def require_scores(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> None:
    """Refuse predictions beside what is true, which as scores would say nothing.

    Raises
    ------
    InputError
    """
    told = options.metric or options.matrix or options.sql or "score" in named
    fit = [name for name in columns.names if columns.kind(name) in ("text", "number")]
    true = [name for name in fit if words(name) and words(name) <= vocabulary("truth")]
    predicted = [name for name in fit if has_word(name, "predicted", "probable")]
    if told or len(true) != 1 or not predicted:
        return
    what, write = _score_of(columns, true[0], predicted)
    scores = {name: write.format(quoted_column(name), quoted_column(true[0])) for name in predicted}
    if len(predicted) == 1:
        query = f"SELECT *, {scores[predicted[0]]} AS {what} FROM scores"
        way = replace(options, sql=query, metric=(what,))
    else:
        made = ", ".join(f"{score} AS {quoted_column(name)}" for name, score in scores.items())
        query = f"SELECT * REPLACE ({made}) FROM scores"
        way = replace(options, sql=query, matrix=what, models=tuple(predicted))
    raise InputError(
        f"{columns.label}: {listing(predicted)} and {true[0]} are predictions and the truth, no scores",
        found=f"columns: {listing(columns.names, 20)}",
        hint=f"the line makes {what} of them; other scores are made with {option('sql', 'QUERY')}",
        ways=[("", way)],
    )


def _score_of(columns: Columns, true: str, predicted: Sequence[str]) -> tuple[str, str]:
    """What predictions are scored by, and how: equal or not, or how far off."""
    every = [true, *predicted]
    texts = any(columns.kind(name) == "text" or name in columns.written for name in every)
    if texts or all(map(columns.whole, every)):
        return "correct", "CASE WHEN {0} = {1} THEN 1 ELSE 0 END"
    ends = [(np.fmin.reduce(values), np.fmax.reduce(values)) for values in map(columns.numbers, every)]
    if columns.whole(true) and all(low >= 0 and high <= 1 for low, high in ends):
        return "brier", "({0} - {1}) * ({0} - {1})"
    return "abs_error", "ABS({0} - {1})"
