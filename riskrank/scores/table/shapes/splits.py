"""Rows of samples that models were trained on, which say nothing of others: refused."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.judgements import judgement
from riskrank.scores.names.words import known, words
from riskrank.scores.table.shapes.board import SPLITS
from riskrank.scores.table.shapes.columns import Columns

_PARTS = frozenset({"split", "partition", "fold", "set", "subset"})
# Words for samples that models may have been trained on.
_SEEN = known("seen")


def require_alike(columns: Columns, model: str, free: Sequence[str], options: ReadOptions) -> None:
    """Refuse rows of training beside those of test, and samples a model may have seen beside others.

    Raises
    ------
    InputError
    """
    for name in (one for one in free if words(one) & (_PARTS | _SEEN)):
        if name in (options.task, options.cluster, *options.metric):
            continue
        held = sorted(columns.frame[name].cast(pl.String).unique().drop_nulls())
        kept, what = _last_part(columns, name, held), "names parts of the data, which are not samples alike"
        if (
            not kept
            and words(name) & _SEEN
            and len(held) == 2
            and not (model and columns.constant_within(name, [model]))
        ):
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
    found = judgement(*(text.strip().casefold() for text in held))
    no = {"0", "0.0", "false", *(found.no if found else ())}
    return [text for text in held if text.strip().casefold() in no] or [*held]


def _of_two_kinds(
    columns: Columns, name: str, held: Sequence[str], kept: Sequence[str], what: str, options: ReadOptions
) -> InputError:
    text = columns.frame[name].dtype == pl.String
    column = quoted_column(name) if text else f"CAST({quoted_column(name)} AS VARCHAR)"
    ways: list[tuple[str, object]] = []
    for value in kept:
        where = f"{column} = {quoted_text(value)}"
        where = f"({options.where}) AND {where}" if options.where else where
        ways.append((option("where", where), replace(options, where=where)))
    return InputError(
        f"{columns.label}: {name} {what}",
        found=f"{name}: {listing(held)}",
        hint=f"{ways[0][0]} takes the rows of {kept[0]} alone",
        ways=ways,
    )
