"""Names become numbers: the sorted order of models, samples, draws and clusters, and of metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.scores.files.derived import WHOLE_FLOAT
from riskrank.scores.table.pieces import Piece


def code_metrics(
    pieces: Sequence[Piece], options: ReadOptions
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    """The metrics' names, the code of each entry, and every name an option may mention."""
    if not options.wide:
        names, codes = encode(pieces, "metric")
        return names, codes, names
    columns = tuple(dict.fromkeys(name for piece in pieces for name in piece.roles.values if name))
    for name in options.metric:
        if name not in columns:
            raise unknown_metric(name, columns)
    names = tuple(sorted({name for piece in pieces for name in piece.metrics}))
    index = {name: code for code, name in enumerate(names)}
    parts = [np.tile([index[name] for name in piece.metrics], piece.rows) for piece in pieces]
    known = columns if options.metric else names
    return names, np.concatenate(parts).astype(np.int64), known


def encode(pieces: Sequence[Piece], role: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Code a column of names by their sorted order.

    Only the distinct names are cleaned of blanks, so that millions of rows cost one hash look-up each.
    """
    parts = [getattr(piece, role) for piece in pieces]
    if len(parts) > 1:
        parts = [pl.concat([part.cast(pl.String).rename(role) for part in parts])]
    (series,) = parts
    if isinstance(series.dtype, pl.Enum):
        distinct = series.dtype.categories
    else:
        distinct = series.unique().drop_nulls().sort()
    clean = distinct.str.strip_chars()
    if role in ("sample", "draw", "cluster", "group"):
        clean = clean.str.replace(WHOLE_FLOAT, "$1")
    if series.null_count() or (clean == "").any():
        raise _blank_name(pieces, role, series)
    coded = series if isinstance(series.dtype, pl.Enum) else series.cast(pl.Enum(distinct))
    codes = coded.to_physical().to_numpy()
    names = clean.unique().sort()
    if names.len() != distinct.len() or not (names == distinct).all():
        codes = clean.cast(pl.Enum(names)).to_physical().to_numpy()[codes]
    return tuple(names.to_list()), codes.astype(np.int64)


def _blank_name(pieces: Sequence[Piece], role: str, series: pl.Series) -> InputError:
    series = series.cast(pl.String)
    blank = (series.is_null() | (series.str.strip_chars() == "")).to_numpy()
    position = int(np.flatnonzero(blank)[0])
    starts = np.cumsum([0, *(piece.rows for piece in pieces)])
    which = int(np.searchsorted(starts, position, side="right")) - 1
    piece = pieces[which]
    inside = position - int(starts[which])
    file, row = piece.source.file_of(inside), piece.source.row_number(inside)
    count = int(blank.sum())
    column = str(getattr(piece.roles, role))
    other = f"name another column: {option('columns', f'{role}=…')}"
    if role == "group":
        shown = column if column.isidentifier() else f'"{column}"'
        other = f"leave such rows out: {option('where', f'{shown} IS NOT NULL')}"
    return InputError(
        f"{file}: row {row}, column {column}: the {role} has no name",
        found=f"an empty cell; {count} such row{'s' if count > 1 else ''} in all",
        hint=f"fill it in, or {other}",
    )


def unknown_metric(name: str, known: Sequence[str]) -> UsageError:
    """The error of a metric that no file holds."""
    return UsageError(
        f"{option('metric', name)}: there is no such metric",
        found=f"the scores hold {listing(known)}",
        hint=did_you_mean(name, known, parameter="metric", otherwise="name one of these metrics"),
    )
