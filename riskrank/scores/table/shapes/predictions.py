"""What is true beside what was predicted: no scores, and refused with the query that makes scores of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column
from riskrank.scores.names.words import TRUE, known, words
from riskrank.scores.table.shapes.columns import Columns

_PREDICTED = known("predicted")


def require_scores(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> None:
    """Refuse predictions beside what is true, which as scores would say nothing.

    Raises
    ------
    InputError
    """
    told = options.metric or options.matrix or options.sql or "score" in named
    fit = [name for name in columns.names if columns.kind(name) in ("text", "number")]
    true = [name for name in fit if words(name) and words(name) <= TRUE]
    predicted = [name for name in fit if words(name) & _PREDICTED]
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
