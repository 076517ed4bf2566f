"""Sources become flat coded entries: one entry is one score of one model on one sample and metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, RiskrankError, UsageError, listing, option
from riskrank.scores.exports.export_source import ExportSource
from riskrank.scores.exports.interface import export_rules
from riskrank.scores.files.opening import Source, open_sources
from riskrank.scores.table.coding import code_metrics, encode
from riskrank.scores.table.columns import Roles, assign_roles
from riskrank.scores.table.entries import Entries
from riskrank.scores.table.pieces import Piece, read_long, read_wide
from riskrank.scores.table.preparation import prepared
from riskrank.scores.table.repeated_rows import repeats_hint
from riskrank.scores.table.sample_sets import parts_hint
from riskrank.scores.table.told_directions import told_directions


def read_entries(
    paths: Sequence[str | Source],
    options: ReadOptions,
    stdin: BinaryIO | None = None,
    *,
    seen: list[tuple[Source, Roles]] | None = None,
) -> Entries:
    """Read every input and code its names; nothing is selected or checked but the names themselves.

    What was read, with the roles of its columns, is added to `seen`, for a second look.

    Raises
    ------
    InputError
        For an unreadable file, a missing column, or an empty model, sample or metric name.
    UsageError
        For options that make no sense, or that name metrics the table does not have.
    """
    if options.from_ is not None:
        return _read_exports(options.from_, paths, options, seen)
    try:
        sources = open_sources(
            paths,
            input_format=options.input_format,
            stdin=stdin,
            sql=options.sql,
            max_bytes=options.max_bytes,
        )
        found = _with_roles(sources, options)
    except InputError as error:
        raise _of_a_harness(error, paths, options) from None
    return _read(*found, seen)


def _of_a_harness(error: InputError, paths: Sequence[str | Source], options: ReadOptions) -> InputError:
    """The same error; where a harness wrote the files, with the advice to say so."""
    from riskrank.scores.exports.registry import labelled, recognise

    told = (options.columns, options.matrix, options.sql, options.input_format)
    if options.wide or any(one is not None for one in told):
        return error
    try:
        harness = recognise([one for path in paths if isinstance(path, str) for one in labelled(path)]).NAME
    except RiskrankError:  # nothing is there, or no harness wrote it
        return error
    return InputError(
        error.what,
        found=error.found,
        hint=f"this looks like what {harness} wrote, not like a score table: add {option('from', harness)}",
    )


def _with_roles(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[list[Source], list[Roles], ReadOptions]:
    """Sources as they are read, what their columns are, and the options that fit them now."""
    found, options = prepared(sources, options)
    return found, [assign_roles(source, options) for source in found], options


def _read(
    sources: Sequence[Source],
    roles: Sequence[Roles],
    options: ReadOptions,
    seen: list[tuple[Source, Roles]] | None,
) -> Entries:
    if seen is not None:
        seen += zip(sources, roles, strict=True)
    if options.wide:
        return _code([read_wide(*both, options) for both in zip(sources, roles, strict=True)], options)
    entries = _code([read_long(*both, options) for both in zip(sources, roles, strict=True)], options)
    return replace(entries, directions=told_directions(zip(sources, roles, strict=True), options))


def _read_exports(
    harness: str,
    paths: Sequence[str | Source],
    options: ReadOptions,
    seen: list[tuple[Source, Roles]] | None,
) -> Entries:
    from riskrank.scores.exports.registry import read_export

    named = [path for path in paths if isinstance(path, str)]
    if len(named) < len(paths):
        raise UsageError(
            f"{option('from', harness)} reads files, and a frame was given",
            found="data in memory",
            hint=f"leave out {option('from')}, or name files",
        )
    export = read_export(harness, named, export_rules(options))
    source = ExportSource(listing(named, 3), export)
    entries = _read(*_with_roles([source], options), seen)
    return replace(
        entries,
        directions={**entries.directions, **export.directions},
        notes=(*export.notes, *entries.notes),
        origin=source.label,
    )


def _code(pieces: Sequence[Piece], options: ReadOptions) -> Entries:
    """Put the pieces together and code their names."""
    laid = _Layout.of(pieces)
    models, model = encode(pieces, "model")
    has_samples = _all_or_none_have_samples(pieces)
    samples: tuple[str, ...] = ("",)
    sample = np.zeros(laid.rows, dtype=np.int64)
    if has_samples:
        samples, sample = encode(pieces, "sample")
    metrics, metric, known = code_metrics(pieces, options)
    draw_column = all(piece.draw is not None for piece in pieces)
    draw = None
    if draw_column:
        draw = laid.per_entry(encode(pieces, "draw")[1])
    elif options.wide:
        draw = laid.per_entry(np.arange(laid.rows))
    clusters: tuple[str, ...] = ()
    cluster = None
    groups: tuple[str, ...] = ()
    group = None
    if pieces[0].cluster is not None:  # a named column is in every file, or there was an error
        clusters, codes = encode(pieces, "cluster")
        cluster = laid.per_entry(codes)
    if pieces[0].group is not None:
        groups, codes = encode(pieces, "group")
        group = laid.per_entry(codes)
    return Entries(
        models=models,
        samples=samples,
        metrics=metrics,
        model=laid.per_entry(model),
        sample=laid.per_entry(sample),
        metric=metric,
        value=_joined([piece.value for piece in pieces]),
        state=_states(pieces),
        draw=draw,
        draw_column=draw_column,
        cluster=cluster,
        clusters=clusters,
        group=group,
        groups=groups,
        has_samples=has_samples,
        known_metrics=known,
        inputs=tuple(file for piece in pieces for file in piece.source.input_files(piece.rows)),
        rows=laid.rows,
        where=laid.where,
        text=laid.text,
        repeats_hint=lambda: repeats_hint(pieces, model, sample, options),
        parts_hint=lambda: parts_hint(pieces, model, sample),
        notes=tuple(doubt for piece in pieces for doubt in piece.doubts),
    )


@dataclass(frozen=True)
class _Layout:
    """Which rows and entries are whose: entries stand piece by piece, row by row, a row's metrics in order.

    Attributes
    ----------
    pieces : tuple of Piece
    ends : ndarray of int
        Number of entries up to the end of each piece.
    rows : int
        Of all pieces.
    """

    pieces: tuple[Piece, ...]
    ends: np.ndarray
    rows: int

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> _Layout:
        ends = np.cumsum([piece.rows * piece.width for piece in pieces])
        return cls(tuple(pieces), ends, sum(piece.rows for piece in pieces))

    def per_entry(self, codes: np.ndarray) -> np.ndarray:
        """What is there a row, as one an entry."""
        widths = [piece.width for piece in self.pieces]
        if set(widths) == {1}:
            return codes
        starts = np.cumsum([0, *(piece.rows for piece in self.pieces)])
        parts = [
            np.repeat(codes[start:stop], width)
            for start, stop, width in zip(starts[:-1], starts[1:], widths, strict=True)
        ]
        return np.concatenate(parts)

    def where(self, entry: int) -> tuple[str, int, str]:
        """File, row number and column of an entry."""
        piece, position, column = self._locate(entry)
        source = piece.source
        return source.file_of(position), source.row_number(position), source.column_of(column, position)

    def text(self, entry: int) -> str:
        """The text of an entry's score as it stands in the file."""
        piece, position, column = self._locate(entry)
        return str(piece.source.load([column])[column][position])

    def _locate(self, entry: int) -> tuple[Piece, int, str]:
        which = int(np.searchsorted(self.ends, entry, side="right"))
        piece = self.pieces[which]
        offset = entry - (int(self.ends[which - 1]) if which else 0)
        if piece.metric is not None:
            return piece, offset, piece.roles.score or ""
        return piece, offset // piece.width, piece.metrics[offset % piece.width]


def _all_or_none_have_samples(pieces: Sequence[Piece]) -> bool:
    has_samples = pieces[0].sample is not None
    mixed = next((piece for piece in pieces if (piece.sample is not None) != has_samples), None)
    if mixed is not None:
        raise InputError(
            f"{mixed.source.label}: some files have a sample column and some have none",
            found=f"columns: {listing(mixed.source.columns, 20)}",
            hint="name it in every file, or read the files one by one",
        )
    return has_samples


def _states(pieces: Sequence[Piece]) -> np.ndarray | None:
    """States of all scores, None if every one is valid."""
    if all(piece.state is None for piece in pieces):
        return None
    return _joined(
        [
            np.zeros(piece.value.size, dtype=np.int8) if piece.state is None else piece.state
            for piece in pieces
        ]
    )


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """One array; millions of scores of a single file are not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
