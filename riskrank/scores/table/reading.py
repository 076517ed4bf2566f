"""Files of any kind become one typed frame: opened, shaped, their columns given roles, their rows typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import BinaryIO

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, RiskrankError, UsageError, listing, option
from riskrank.scores.exports.export_source import ExportSource
from riskrank.scores.exports.interface import export_rules
from riskrank.scores.files.opening import Source, open_sources
from riskrank.scores.table.columns import Roles, assign_roles
from riskrank.scores.table.preparation import prepared
from riskrank.scores.table.scores import FileRead, Notes, Scores, unknown_metric
from riskrank.scores.table.told_directions import told_directions
from riskrank.scores.table.typed_rows import list_of, long_rows, united, wide_rows


def read_frame(paths: Sequence[str | Source], options: ReadOptions, stdin: BinaryIO | None = None) -> Scores:
    """Read every input; nothing is selected or checked but the names themselves.

    Raises
    ------
    InputError
        For an unreadable file, a missing column, or an empty model, sample or metric name.
    UsageError
        For options that make no sense, or that name metrics the table does not have.
    """
    if options.from_ is not None:
        return _of_export(options.from_, paths, options)
    try:
        sources = open_sources(
            paths,
            input_format=options.input_format,
            stdin=stdin,
            sql=options.sql,
            max_bytes=options.max_bytes,
        )
        read, shaped = _with_roles(sources, options)
    except InputError as error:
        raise _of_a_harness(error, paths, options) from None
    return _typed(read, shaped)


def _of_export(harness: str, paths: Sequence[str | Source], options: ReadOptions) -> Scores:
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
    scores = _typed(*_with_roles([source], options))
    notes = replace(
        scores.notes,
        directions={**scores.notes.directions, **export.directions},
        warnings=(*export.notes, *scores.notes.warnings),
        origin=source.label,
    )
    return replace(scores, notes=notes)


def _of_a_harness(error: InputError, paths: Sequence[str | Source], options: ReadOptions) -> InputError:
    """The same error; where a harness wrote the files, with the advice to say so."""
    from riskrank.scores.exports.registry import labelled, recognise

    said = (options.columns, options.matrix, options.sql, options.input_format)
    if options.wide or said != (None,) * len(said):
        return error
    try:
        files = [file for path in paths if isinstance(path, str) for file in labelled(path)]
        writer = recognise(files).NAME
    except RiskrankError:  # nothing is there, or no harness wrote it
        return error
    return InputError(
        error.what,
        found=error.found,
        hint=f"this looks like what {writer} wrote, not like a score table: add {option('from', writer)}",
    )


def _with_roles(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[list[tuple[Source, Roles]], ReadOptions]:
    """Sources as they are read with what their columns are, and the options that fit them now."""
    found, options = prepared(sources, options)
    return [(source, assign_roles(source, options, sources)) for source in found], options


def _typed(read: Sequence[tuple[Source, Roles]], options: ReadOptions) -> Scores:
    """The rows of all files as one frame."""
    typed = [wide_rows(*one, options) if options.wide else long_rows(*one) for one in read]
    _require_samples_of_all_or_none(read)
    starts = [*accumulate((part.height for part in typed), initial=0)]
    parts = zip(typed, starts, strict=False)
    frame = united([part.frame.with_columns(pl.col("row") + start) for part, start in parts])
    draw_column = all(roles.draw is not None for _, roles in read)
    if options.wide and not draw_column:
        frame = frame.with_columns(draw="row")
    return Scores(
        frame,
        Notes(
            files=tuple(FileRead(*one, start) for one, start in zip(read, starts, strict=False)),
            inputs=tuple(
                file
                for (source, _), part in zip(read, typed, strict=True)
                for file in source.input_files(part.height)
            ),
            rows=starts[-1],
            has_samples=read[0][1].sample is not None,
            draw_column=draw_column,
            known_metrics=_known_metrics(read, frame, options),
            directions={} if options.wide else told_directions(read, options),
            warnings=tuple(doubt for part in typed for doubt in part.doubts),
        ),
    )


def _require_samples_of_all_or_none(read: Sequence[tuple[Source, Roles]]) -> None:
    has_samples = read[0][1].sample is not None
    mixed = next((source for source, roles in read if (roles.sample is not None) != has_samples), None)
    if mixed is not None:
        raise InputError(
            f"{mixed.label}: some files have a sample column and some have none",
            found=f"columns: {listing(mixed.columns, 20)}",
            hint="name it in every file, or read the files one by one",
        )


def _known_metrics(
    read: Sequence[tuple[Source, Roles]], frame: pl.DataFrame, options: ReadOptions
) -> tuple[str, ...]:
    """Names an option may mention: of a wide table all columns once some are picked."""
    columns = tuple(dict.fromkeys(name for _, roles in read for name in roles.values if name))
    for name in options.metric if options.wide else ():
        if name not in columns:
            raise unknown_metric(name, columns)
    picked = options.wide and options.metric
    return columns if picked else tuple(list_of(frame["metric"]))
