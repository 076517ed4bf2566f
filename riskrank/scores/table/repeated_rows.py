"""Rows that repeat a score: which column tells them apart, and how to read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.scores.table.guesses import numbers_runs
from riskrank.scores.table.pieces import Piece
from riskrank.scores.table.repeat_columns import columns_of_repeats, hint_for_repeats


def repeats_hint(pieces: Sequence[Piece], model: np.ndarray, sample: np.ndarray, options: ReadOptions) -> str:
    """How to read repeated rows that a further column of every file tells apart; empty if none does."""
    roles = pieces[0].roles
    used = {
        name
        for name in (roles.model, roles.sample, roles.metric, roles.score, roles.draw, roles.cluster)
        if name
    }
    used |= {part for name in used for part in name.split("+")}
    used |= {name for name in pieces[0].metrics if name in options.metric or not numbers_runs(name)}
    shared = [
        name
        for name in pieces[0].source.columns
        if name and name not in used and all(name in piece.source.columns for piece in pieces)
    ]
    if not shared:
        return ""
    text = [piece.source.load(shared).select(pl.all().cast(pl.String, strict=False)) for piece in pieces]
    free = text[0] if len(text) == 1 else pl.concat(text)
    keys = pl.DataFrame({"model": model, "sample": sample})
    if roles.metric is not None:
        keys = keys.with_columns(
            pl.concat([p.metric.cast(pl.String).rename("metric") for p in pieces if p.metric is not None])
        )
    found = columns_of_repeats(keys, free)
    if found is None:
        return ""
    metric = roles.metric if pieces[0].metric is not None else None
    return hint_for_repeats(found, sample=roles.sample, metric=metric, columns=options.columns)
