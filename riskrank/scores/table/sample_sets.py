"""Why models have no samples in common: a column whose values are tables of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.errors import option
from riskrank.scores.table.pieces import Piece
from riskrank.scores.table.repeat_columns import condition

# More values than this are names, not parts of a benchmark.
_MOST_PARTS = 50


def parts_hint(pieces: Sequence[Piece], model: np.ndarray, sample: np.ndarray) -> str:
    """How to read the largest part of a table in which all models share the samples; empty if there is none.

    Parameters
    ----------
    pieces : sequence of Piece
    model, sample : ndarray of int, shape (rows,)
        Codes of every row.
    """
    roles = pieces[0].roles
    taken = {roles.model, roles.sample, roles.metric, roles.score, roles.draw, *pieces[0].metrics}
    for name in pieces[0].source.columns:
        if not name or name in taken or any(name not in piece.source.columns for piece in pieces):
            continue
        values = pl.concat(
            [piece.source.load([name])[name].cast(pl.String, strict=False) for piece in pieces]
        )
        if not 1 < values.n_unique() <= _MOST_PARTS:
            continue
        best = _largest(
            pl.DataFrame([pl.Series("model", model), pl.Series("sample", sample), values.alias("of")])
        )
        if best is not None:
            return (
                f"column {name!r} divides them: {option('where', condition(name, best))} compares the models "
                "that share its samples"
            )
    return ""


def _largest(rows: pl.DataFrame) -> str | None:
    """Value under which the most models, at least two, have the same samples."""
    parts = (
        rows.drop_nulls()
        .group_by("of")
        .agg(
            models=pl.col("model").n_unique(),
            samples=pl.col("sample").n_unique(),
            cells=pl.struct("model", "sample").n_unique(),
        )
        .filter((pl.col("models") > 1) & (pl.col("cells") == pl.col("models") * pl.col("samples")))
        .sort("models", "samples", "of", descending=[True, True, False])
    )
    return str(parts["of"][0]) if parts.height else None
