"""Tables of runs and trials, as Weights & Biases and Optuna write them: a row is one value of a model."""

import re
from collections.abc import Collection

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, by_door, listing
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.names.words import STATUS, vocabulary, words
from riskrank.scores.table.shapes.columns import Columns
from riskrank.scores.table.shapes.reading import Reading, with_roles

_TRIALS = {"number", "state", "datetime_start"}
_VALUES = re.compile(r"values?(_.+)?")
# How a run ends that has no last value.
_UNFINISHED = vocabulary(
    "crashed failed fail failure killed error errored timeout cancelled aborted running pruned"
)


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


def unfinished(columns: Columns, scores: Collection[str]) -> str:
    """What is said of rows whose run did not end as it should, where that is none of the scores."""
    for name in columns.names:
        if not words(name) & STATUS or name in scores or column_kind(columns.frame[name]) != "text":
            continue
        plain = columns.frame[name].cast(pl.String).str.strip_chars()
        ends = [end for end in sorted(plain.drop_nulls().unique()) if end.casefold() in _UNFINISHED]
        rows = int(plain.is_in(ends).sum())
        if 0 < rows < columns.height:
            # No way to leave them out is offered: what failed says something of who failed.
            return f"; {rows} rows whose {name} is {listing(ends)} are among them"
    return ""
