"""What is true beside what was predicted: no scores, and refused with the query that makes scores of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.words import known, looks_like_an_identifier, words
from riskrank.scores.table.shapes.board import on_one_scale
from riskrank.scores.table.shapes.columns import Columns

_TRUTH = known("truth")
_PREDICTED = known("predicted")


def require_scores(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> None:
    """Refuse predictions beside what is true, which as scores would say nothing.

    Raises
    ------
    InputError
    """
    told = options.metric or options.matrix or options.sql or "score" in named
    fit = [name for name in columns.names if columns.kind(name) in ("text", "number")]
    # A letter more is a unit.
    true = [
        name for name in fit if (said := {word for word in words(name) if len(word) > 1}) and said <= _TRUTH
    ]
    true = true or _outcome(columns, fit)
    predicted = [name for name in fit if words(name) & _PREDICTED] or _like(columns, true, fit)
    if told or len(true) != 1 or not predicted:
        return
    predicted = [name for name in predicted if name not in true]
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


def _outcome(columns: Columns, fit: Sequence[str]) -> list[str]:
    """The only column of 0 and 1 among shares of one that name no metric, which are probabilities of it."""
    numbers = [name for name in fit if columns.kind(name) == "number" and name not in columns.written]
    held = {name: columns.numbers(name) for name in numbers}
    held = {name: values for name, values in held.items() if values.min() >= 0 and values.max() <= 1}
    ends = [name for name, values in held.items() if np.isin(values, (0, 1)).all()]
    told = any(map(names_a_metric, held))
    return ends if len(ends) == 1 and len(held) > 2 and not told else []


def _like(columns: Columns, true: Sequence[str], fit: Sequence[str]) -> list[str]:
    """Columns that hold what the truth may be, where each row is of another thing and names no model."""
    if len(true) != 1:
        return []
    others = [name for name in fit if name != true[0] and columns.kind(name) == columns.kind(true[0])]
    if columns.kind(true[0]) == "text":
        classes, *held = ({*columns.frame[name].drop_nulls()} for name in (*true, *others))
        alike = (2 * len(values & classes) >= len(values | classes) for values in held)
        return [name for name, found in zip(others, alike, strict=True) if found]
    others = [name for name in others if not looks_like_an_identifier(name, columns.frame[name])]
    told = any(map(names_a_metric, others)) or len(others) < 2 or not on_one_scale(columns, [*true, *others])
    rows = all(columns.tell_apart(name) for name in columns.names if columns.kind(name) == "text")
    return others if rows and not told else []


def _score_of(columns: Columns, true: str, predicted: Sequence[str]) -> tuple[str, str]:
    """What predictions are scored by, and how: equal or not, or how far off."""
    every = [true, *predicted]
    texts = any(columns.kind(name) == "text" or name in columns.written for name in every)
    if texts or all(map(columns.whole, every)):
        return "correct", "CASE WHEN {0} = {1} THEN 1 ELSE 0 END"
    ends = [(np.nanmin(values), np.nanmax(values)) for values in map(columns.numbers, every)]
    if columns.whole(true) and all(low >= 0 and high <= 1 for low, high in ends):
        return "brier", "({0} - {1}) * ({0} - {1})"
    return "abs_error", "ABS({0} - {1})"
