"""Files of any kind become one typed frame: opened, shaped, their columns given roles, their rows typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from riskrank.errors import InputError, RiskrankError, listing, option
from riskrank.options.reading import NO_COLUMN, SHARED, RankReading, ReadOptions
from riskrank.options.values import out_of_place
from riskrank.scores.files.limits import Room
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.source import MAX_TABLE_BYTES, How, InputFile, Paths, Source
from riskrank.scores.layouts.layout import READ, Warned
from riskrank.scores.names.vocabulary import detect_service
from riskrank.scores.table.columns import Assigned, assign_roles, named_roles
from riskrank.scores.table.designs import columns_of_folds
from riskrank.scores.table.model_properties import as_they_lie, beside_samples
from riskrank.scores.table.preparation import lacks_a_role, named_by_paths, prepared
from riskrank.scores.table.requested_metrics import metrics_asked, told_directions
from riskrank.scores.table.scores import FileRead, Notes, Scores
from riskrank.scores.table.tasks import told_apart
from riskrank.scores.table.typed_rows import TypedRows, list_of, long_rows, wide_rows

if TYPE_CHECKING:
    from riskrank.scores.exports.interface import Export
    from riskrank.scores.table.baseline import Baseline


def read_frame(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None = None, *, baseline: Baseline | None = None
) -> Scores:
    """Read every input, and a baseline below; nothing is selected or checked but the names themselves.

    Raises
    ------
    InputError
        For an unreadable file, a missing column, or an empty model, sample or metric name.
    UsageError
        For options that make no sense, or that name metrics the table does not have.
    """
    before = options
    given, export, asked, said = _understood(paths, options, stdin)
    options = asked.as_read
    named = named_roles(options)
    named |= columns_of_folds(given, named) if options.matrix is None else {}
    found = prepared(given, named, options)
    ways = as_they_lie(found, options)
    read = [(one[0], assign_roles(*one, way)) for one, way in zip(found, ways, strict=True)]
    # What hints say of the columns is said of files with samples: they come first.
    read.sort(key=lambda one: one[1].sample is None)
    typed = [long_rows(*one) if one[1].score is not None else wide_rows(*one, options) for one in read]
    of_samples = [roles for _, roles in read if roles.sample is not None] or [roles for _, roles in read]
    pooled = options.task == NO_COLUMN
    if not pooled:
        _require_all_or_none_in_tasks(read[: len(of_samples)])
    starts = [*accumulate((part.height for part in typed), initial=0)]
    draw_column = all(roles.draw is not None for roles in of_samples)
    placed = zip((part.frame for part in typed), starts, strict=False)
    frames = [part.with_columns(pl.col("row") + start) if start else part for part, start in placed]
    if options.wide and not draw_column:
        frames = [part.with_columns(draw="row") for part in frames]
    frame = beside_samples(read, frames, options)
    frame, apart, doubts = _in_tasks(frame, starts[-1], baseline, pooled=pooled)
    notes = Notes(
        files=tuple(FileRead(*one, start) for one, start in zip(read, starts, strict=False)),
        inputs=_inputs(read, typed),
        sources=() if export else tuple(given),
        rows=starts[-1],
        has_samples=read[0][1].sample is not None,
        tasks_named="task" in named,
        draw_column=draw_column,
        known_metrics=_known_metrics(read, frame, options),
        directions={} if options.wide else told_directions(read, options),
        bounds=_of_truths(typed),
        warnings=(
            *said,
            *chain(*(source.notes for source, _ in read), *(part.doubts for part in typed)),
            *(_pooled(read) if pooled else doubts),
        ),
        told_apart=apart,
        asked=asked,
        given=before,
    )
    if baseline is not None:
        notes = _beside(notes, baseline)
    if export is not None:
        notes = _of_export(notes, export, given[0].label)
    if asked.corrects_judge:
        for role, name in (("human", asked.human), ("judge", asked.judge)):
            metrics_asked([str(name)], notes.known_metrics, (), parameter=role)
    return Scores(frame, notes, options)


def how_to_open(options: ReadOptions, stdin: BinaryIO | None = None) -> How:
    """How files are to be opened."""
    return How(
        input_format=options.input_format,
        stdin=stdin,
        sql=options.sql,
        sheet=options.sheet,
        skip_rows=options.skip_rows or 0,
        room=Room(options.max_bytes or MAX_TABLE_BYTES),
    )


def _opened(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> tuple[list[Source], Export | None]:
    """Files of scores as they are; what a harness wrote as one table, with what it tells besides."""
    if options.from_ is None:
        return open_sources(paths, how_to_open(options, stdin)), None
    from riskrank.scores.exports.registry import read_export
    from riskrank.scores.table.export_rows import ExportSource

    files = [path for path in paths if isinstance(path, str)]
    if len(files) < len(paths):
        what = f"{option('from', options.from_)} reads files, and a frame was given"
        raise out_of_place(what, "data in memory", "from", ", or name files")
    read = partial(read_export, options.from_, files, options)
    export = read()
    return [ExportSource(listing(files, 3), export, read)], export


def _understood(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None
) -> tuple[list[Source], Export | None, ReadOptions, tuple[str, ...]]:
    """What was opened, and options that leave nothing open: what kind of table it is, or who wrote it."""
    given: list[Source] = []
    try:
        given, export = _opened(paths, options, stdin)
        if export is not None:
            return given, export, _of_board(options, export), ()
        told = options.where is None and all(detect_service(source.columns) for source in given)
        writer = _harness(paths, options) if told else None
        if writer is None:
            given = [named_by_paths(one, named_roles(options)) for one in given]
            if not lacks_a_role(given, options):
                return given, None, options, ()
            from riskrank.scores.layouts.inference import understood

            given, options, said = understood(given, options)
            return given, None, options, said
    except InputError as error:
        writer = _harness(paths, options)
        if writer is None:
            from riskrank.scores.table.suggestions import named_by_files, tried

            error = tried(error, options, options, partial(read_frame, given))
            raise named_by_files(error, paths, given, partial(_read_with, options)) from None
    options = replace(options, from_=writer)
    given, export = _opened(paths, options, stdin)
    said = (Warned(f"Read as what {writer} wrote: {option('from', writer)}", READ),)
    return given, export, _of_board(options, export), said


def _of_board(options: ReadOptions, export: Export | None) -> ReadOptions:
    """Options for averages of tasks: their reader chose the metrics, and each pair shares some tasks."""
    if export is None or not export.has_task_averages:
        return options
    ranked = isinstance(options, RankReading) and options.missing == "error"
    return replace(options, metric=(), missing=SHARED if ranked else options.missing)


def _read_with(options: ReadOptions, paths: Paths, more: Mapping[str, Any]) -> Scores:
    return read_frame(paths, replace(options, **more))


def _harness(paths: Paths, options: ReadOptions) -> str | None:
    """The harness that wrote the files, if one did and nobody says how to read them."""
    from riskrank.scores.exports.registry import detect_format, parse_path_argument

    said = (options.from_, options.columns, options.matrix, options.sql, options.input_format)
    if options.wide or said != (None,) * len(said):
        return None
    try:
        files = [file for path in paths if isinstance(path, str) for file in parse_path_argument(path)]
        return detect_format(files)
    except RiskrankError:  # nothing is there, or no harness wrote it
        return None


def _in_tasks(
    frame: pl.DataFrame, rows: int, baseline: Baseline | None, *, pooled: bool
) -> tuple[pl.DataFrame, bool, tuple[str, ...]]:
    """Rows with a baseline's below, whether samples are named by their tasks, and what to say of it.

    One that was blessed without its tasks stands beside new scores without theirs.
    """
    late = pooled and baseline is not None and not baseline.has_tasks
    if baseline is not None and not late:
        frame = baseline.below(frame, rows, pooled=pooled)
    named, doubts = told_apart(frame)
    if not pooled:
        return named, named is not frame, doubts
    frame = named.with_columns(task=pl.lit(None, dtype=pl.Null))
    if baseline is not None and late:
        frame = baseline.below(frame, rows, pooled=pooled)
    return frame, False, doubts


def _inputs(read: Assigned, typed: Sequence[TypedRows]) -> tuple[InputFile, ...]:
    pairs = zip(read, typed, strict=True)
    return tuple(file for (source, _), part in pairs for file in source.input_files(part.height))


def _beside(notes: Notes, baseline: Baseline) -> Notes:
    """What is known of a baseline beside what is known of the files; they know better."""
    entry = baseline.input_file()
    return replace(
        notes,
        files=(*notes.files, FileRead(baseline.source, baseline.roles, notes.rows)),
        inputs=(*notes.inputs, entry),
        rows=notes.rows + entry.rows,
        known_metrics=tuple(dict.fromkeys((*notes.known_metrics, *baseline.specs))),
        directions={**baseline.directions, **notes.directions},
        baseline=baseline,
    )


def _of_export(notes: Notes, export: Export, label: str) -> Notes:
    """What a harness tells besides its scores."""
    return replace(
        notes,
        directions={**notes.directions, **export.directions},
        bounds=export.bounds,
        primary=export.primary,
        warnings=(*export.notes, *notes.warnings),
        origin=label,
    )


def _of_truths(typed: Sequence[TypedRows]) -> dict[str, tuple[float, float]]:
    """Bounds of metrics that are true or false in all files that have them."""
    told = {name for part in typed for name in part.truths}
    others = {name for part in typed for name in list_of(part.frame["metric"]) if name not in part.truths}
    return {name: (0.0, 1.0) for name in told if name not in others}


def _require_all_or_none_in_tasks(read: Assigned) -> None:
    has = [roles.task is not None for _, roles in read]
    if any(has) and not all(has):
        mixed = read[has.index(not has[0])][0]
        pooled = option("task", NO_COLUMN)
        hint = f"name it in every file, or read the files one by one, or leave the tasks out: {pooled}"
        raise mixed.refused("some files have a task column and some have none", hint)


def _pooled(read: Assigned) -> tuple[str, ...]:
    """Say that tasks are out of sight, where there is a column of them."""
    if all(roles.task is None for _, roles in read):
        return ()
    return (f"{option('task', NO_COLUMN)}: all samples are pooled, and every one counts the same",)


def _known_metrics(read: Assigned, frame: pl.DataFrame, options: ReadOptions) -> tuple[str, ...]:
    """Names an option may mention: of a wide table all columns once some are picked."""
    if not (options.wide and options.metric):
        return tuple(list_of(frame["metric"]))
    return tuple(dict.fromkeys(name for _, roles in read for name in roles.values if name))
