"""Read files of any kind into one typed data frame: open, reshape, assign roles, and parse rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from riskrank.errors import UNTESTED, InputError, RiskrankError, listing, option
from riskrank.options.reading import NO_COLUMN, SHARED, RankReading, ReadOptions
from riskrank.options.values import misplaced_option_error
from riskrank.scores.exports.catalogue import is_export_table
from riskrank.scores.files.guards import BeyondLimitError, Budget
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import EXACT
from riskrank.scores.files.source import OpenOptions, Paths, Source
from riskrank.scores.layouts.layout import READ, LayoutError, WarningText, format_options
from riskrank.scores.table import preparation
from riskrank.scores.table.columns import FileRoles, assign_roles, option_columns
from riskrank.scores.table.dependence import declare_dependence, read_repeats
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.metric_specs import read_directions, requested_metrics
from riskrank.scores.table.scores import FileRead, Notes, Scores
from riskrank.scores.table.suite import qualify_samples
from riskrank.scores.table.typed_rows import TypedRows, categories, long_rows, wide_rows
from riskrank.scores.table.validate import UndeclaredDirectionError

if TYPE_CHECKING:
    from riskrank.scores.exports.reader import Export
    from riskrank.scores.table.baseline import Baseline


# Check of scores or of reading options, with changes of the study's settings.
Check = Callable[[Any, Mapping[str, Any]], object]


def read_frame(
    paths: Paths,
    options: ReadOptions,
    stdin: BinaryIO | None = None,
    *,
    baseline: Baseline | None = None,
    check: Check | None = None,
) -> Scores:
    """Read all inputs, and optionally a baseline, into one typed data frame.

    Only the names of models, samples and metrics are checked, and no rows are selected.

    Parameters
    ----------
    paths, options, stdin
        See `riskrank.scores.table.score_table.read_scores`.
    baseline : Baseline, optional
        Saved scores whose rows are appended.
    check : callable, optional
        Function of scores and changed settings that raises an error if a command cannot use them. Errors only
        suggest options for which it succeeds.

    Raises
    ------
    InputError
        If a file is unreadable, a column is missing, or a model, sample or metric name is empty.
    UsageError
        If options are invalid or name metrics that the table does not have.
    """
    sources, export, resolved, messages = _open_and_infer(paths, options, stdin, check)
    requested, options = options, resolved.file_options
    named = option_columns(options)
    named |= fold_columns(sources, named) if options.matrix is None else {}
    prepared = preparation.prepare_sources(sources, named, options)
    layouts = preparation.layout_options(prepared, options)
    read = [(pair[0], assign_roles(*pair, layout)) for pair, layout in zip(prepared, layouts, strict=True)]
    # Hints refer to the columns of the first file, so files with samples come first.
    read.sort(key=lambda pair: pair[1].sample is None)
    typed = [long_rows(*pair) if pair[1].score is not None else wide_rows(*pair, options) for pair in read]
    sampled = [roles for _, roles in read if roles.sample is not None] or [roles for _, roles in read]
    pooled = options.task == NO_COLUMN
    if not pooled:
        _require_consistent_task_columns(read[: len(sampled)])
    heights = [part.height for part in typed]
    starts = [*accumulate(heights, initial=0)]
    draw_column = all(roles.draw is not None for roles in sampled)
    placed = zip((part.frame for part in typed), starts, strict=False)
    frames = [part.with_columns(pl.col("row") + start) if start else part for part, start in placed]
    if options.wide and not draw_column:
        frames = [part.with_columns(draw="row") for part in frames]
    frame = preparation.merge_model_rows(read, frames, options)
    frame, renamed, warnings = _qualify_samples(frame, starts[-1], baseline, pooled=pooled)
    notes = Notes(
        files=tuple(FileRead(*pair, start) for pair, start in zip(read, starts, strict=False)),
        inputs=tuple(chain(*(pair[0].input_files(n) for pair, n in zip(read, heights, strict=True)))),
        sources=() if export else tuple(sources),
        rows=starts[-1],
        has_samples=read[0][1].sample is not None,
        tasks_named="task" in named,
        draw_column=draw_column,
        all_metrics=_selectable_metrics(read, frame, options),
        directions={} if options.wide else read_directions(read, options),
        bounds=_binary_bounds(typed),
        warnings=(
            *messages,
            *chain(*(source.notes for source, _ in read), *(part.warnings for part in typed)),
            *(_pooling_note(read) if pooled else warnings),
            *_rounding_note(frame),
        ),
        samples_renamed=renamed,
        resolved=resolved,
        requested=requested,
    )
    if baseline is not None:
        notes = _add_baseline(notes, baseline)
    if export is not None:
        notes = _add_export(notes, export, sources[0].label)
    for role in ("human", "judge") if resolved.corrects_judge else ():
        requested_metrics([str(getattr(resolved, role))], notes.all_metrics, (), parameter=role)
    return declare_dependence(Scores(frame, notes, options))


def opening_settings(options: ReadOptions, stdin: BinaryIO | None = None) -> OpenOptions:
    """Return the options that determine how files are opened."""
    return OpenOptions(
        input_format=options.input_format,
        stdin=stdin,
        sql=options.sql,
        sheet=options.sheet,
        skip_rows=options.skip_rows or 0,
        budget=Budget(options.max_bytes),
    )


def _open(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> tuple[list[Source], Export | None]:
    """Open score files; return the sources and None.

    The files of a harness become a single source, which is returned with their export.
    """
    if options.from_ is None:
        return open_sources(paths, opening_settings(options, stdin)), None
    from riskrank.scores.exports.registry import read_export
    from riskrank.scores.table.export_rows import ExportSource

    files = [path for path in paths if isinstance(path, str)]
    if len(files) < len(paths):
        problem = f"{option('from', options.from_)} reads files, not a frame"
        raise misplaced_option_error(problem, "data in memory", "from", ", or name files")
    read = partial(read_export, options.from_, files, options)
    export = read()
    return [ExportSource(listing(files, 3), export, read)], export


def _open_and_infer(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None, check: Check | None
) -> tuple[list[Source], Export | None, ReadOptions, tuple[str, ...]]:
    """Open the files, and infer which columns hold models, samples, metrics and scores.

    The parameters are those of `read_frame`.

    Returns
    -------
    sources : list of Source
    export : Export or None
        Export, if a known harness wrote the files.
    options : ReadOptions
        Complete options: kind of table or harness, and columns.
    messages : tuple of str
        Messages about inferred options.
    """
    sources: list[Source] = []
    try:
        sources, export = _open(paths, options, stdin)
        if export is not None:
            return sources, export, _average_options(options, export), ()
        # Metrics may be joined by commas, if the parts are columns and the whole is not.
        known = {*sources[0].columns}
        names = tuple(chain(*([name] if name in known else name.split(",") for name in options.metric)))
        options = replace(options, metric=names) if {*names} <= known else options
        is_export = options.where is None and all(is_export_table(source.columns) for source in sources)
        writer = _detect_harness(paths, options) if is_export else None
        if writer is None:
            sources = [preparation.add_path_columns(file, option_columns(options)) for file in sources]
            if not preparation.roles_missing(sources, options):
                return sources, None, *read_repeats(sources, options)
            from riskrank.scores.layouts.inference import infer_layout

            sources, options, messages = infer_layout(sources, options)
            return sources, None, options, messages
    except InputError as error:
        writer = _detect_harness(paths, options)
        if writer is None:
            if inputs := file_models(paths, sources):
                with suppress(RiskrankError):
                    sources, export, resolved, messages = _open_and_infer(inputs, options, stdin, check)
                    message = f"Read each file as a model: {listing(inputs, 4)}"
                    return sources, export, resolved, (WarningText(message, READ), *messages)

            def read(choice: ReadOptions, settings: Mapping[str, Any]) -> object:
                """Read and check the sources with other options and settings of the command."""
                scores = _read_again(sources, choice) if sources else read_frame(paths, choice)
                return scores if check is None else check(scores, settings)

            error = verify_suggestions(error, options, options, read)
            raise suggest_templates(error, paths, sources, options) from None
    options = replace(options, from_=writer)
    sources, export = _open(paths, options, stdin)
    messages = (WarningText(f"Read as an export of {writer}: {option('from', writer)}", READ),)
    return sources, export, _average_options(options, export), messages


def _average_options(options: ReadOptions, export: Export | None) -> ReadOptions:
    """Adapt the options to an export that has only task averages.

    Metrics are already selected by the reader, and each pair of models may share only some tasks.
    """
    if export is None or not export.has_task_averages:
        return options
    ranked = isinstance(options, RankReading) and options.missing == "error"
    return replace(options, metric=(), missing=SHARED if ranked else options.missing)


def _detect_harness(paths: Paths, options: ReadOptions) -> str | None:
    """Return the name of the evaluation harness that wrote the files.

    Return None if it is unknown, or if the options determine how to read the files.
    """
    from riskrank.scores.exports.registry import detect_format, parse_path_argument

    settings = (options.from_, options.columns, options.matrix, options.sql, options.input_format)
    if options.wide or settings != (None,) * len(settings):
        return None
    try:
        files = [file for path in paths if isinstance(path, str) for file in parse_path_argument(path)]
        return detect_format(files)
    except RiskrankError:  # files are missing, or their format is unknown
        return None


def _qualify_samples(
    frame: pl.DataFrame, rows: int, baseline: Baseline | None, *, pooled: bool
) -> tuple[pl.DataFrame, bool, tuple[str, ...]]:
    """Append the rows of a baseline; if tasks share sample names, prefix the names with their task.

    A baseline without tasks has no prefixes, so they are removed from the new scores before it is appended.

    Parameters
    ----------
    frame : DataFrame
        Typed rows of the new scores.
    rows : int
        Number of rows in the files.
    baseline : Baseline or None
    pooled : bool
        True if tasks only distinguish samples with the same name and are otherwise ignored.

    Returns
    -------
    frame : DataFrame
    renamed : bool
        True if samples are named by task and sample.
    warnings : tuple of str
    """
    append_last = pooled and baseline is not None and not baseline.has_tasks
    if baseline is not None and not append_last:
        frame = baseline.append_to(frame, rows, pooled=pooled)
    qualified, warnings = qualify_samples(frame)
    if not pooled:
        return qualified, qualified is not frame, warnings
    frame = qualified.with_columns(task=pl.lit(None, dtype=pl.Null))
    if baseline is not None and append_last:
        frame = baseline.append_to(frame, rows, pooled=pooled)
    return frame, False, warnings


def _require_consistent_task_columns(read: FileRoles) -> None:
    """Raise InputError if only some of the files that were read have a task column."""
    has_task = [roles.task is not None for _, roles in read]
    if any(has_task) and not all(has_task):
        mixed = read[has_task.index(not has_task[0])][0]
        hint = "add the task column to every file, read the files separately, or ignore the tasks: "
        problem = "some files have a task column and some have none"
        raise mixed.error_with_columns(problem, hint + option("task", NO_COLUMN))


def _add_baseline(notes: Notes, baseline: Baseline) -> Notes:
    """Add the notes of a baseline to those of new scores; directions in the new files take precedence."""
    entry = baseline.input_file()
    return replace(
        notes,
        files=(*notes.files, FileRead(baseline.source, baseline.roles, notes.rows)),
        inputs=(*notes.inputs, entry),
        rows=notes.rows + entry.rows,
        all_metrics=tuple(dict.fromkeys((*notes.all_metrics, *baseline.specs))),
        directions={**baseline.directions, **notes.directions},
        baseline=baseline,
    )


def _add_export(notes: Notes, export: Export, label: str) -> Notes:
    """Add the directions, bounds and primary metrics that a harness states to the notes."""
    return replace(
        notes,
        directions={**notes.directions, **export.directions},
        bounds=export.bounds,
        primary=export.primary,
        warnings=(*export.notes, *notes.warnings),
        origin=label,
    )


def _binary_bounds(typed: Sequence[TypedRows]) -> dict[str, tuple[float, float]]:
    """Return the bounds (0, 1) for each metric that is boolean in all files; `typed` holds their rows."""
    binary = {name for part in typed for name in part.binary}
    mixed = {name for part in typed for name in categories(part.frame["metric"]) if name not in part.binary}
    return {name: (0.0, 1.0) for name in binary if name not in mixed}


def _pooling_note(read: FileRoles) -> tuple[str, ...]:
    """Return a note that the samples of all tasks are pooled, if any file that was read has tasks."""
    if all(roles.task is None for _, roles in read):
        return ()
    return (f"{option('task', NO_COLUMN)}: all samples are pooled and weighted equally",)


def _rounding_note(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return a note about metrics whose integers are too large to be stored exactly as floats."""
    large = frame.filter(pl.col("score").abs().is_between(EXACT, 2.0**64))
    names = [str(name) for name in large["metric"].unique(maintain_order=True)]
    return (f"{listing(names)}: whole numbers beyond 2^53 are rounded; subtract a constant",) if names else ()


def _selectable_metrics(read: FileRoles, frame: pl.DataFrame, options: ReadOptions) -> tuple[str, ...]:
    """Return the metrics that options may name.

    In a wide table, these include columns that are not selected. `frame` holds the rows that were read.
    """
    if not (options.wide and options.metric):
        return tuple(categories(frame["metric"]))
    return tuple(dict.fromkeys(name for _, roles in read for name in roles.values if name))


# Numbered files that are parts of one table, or repeats.
_PART = re.compile(
    r"(^|[\W_])(fold|seed|run|split|part|batch|shard|chunk|iter|epoch|trial|rep|cv)?s?[\W_]*\d+$"
)

# Verifying a suggestion takes as long as reading the table.
_MAX_ROWS = 2_000_000
# Maximum number of readings to choose from, of further questions to answer, and of suggestions to try.
_MAX_READINGS, _MAX_DEPTH, _MAX_TRIED = 3, 3, 12
# Options that select the columns and rows to read.
_COLUMNS = ("columns", "task", "cluster", "where", "sql", "wide", "noise")


def _read_again(sources: Sequence[Source], options: ReadOptions, baseline: Baseline | None = None) -> Scores:
    """Read opened files with other options, without those that selected a part of each file."""
    return read_frame(sources, replace(options, sheet=None, skip_rows=None), baseline=baseline)


def verify_suggestions(
    error: InputError, requested: ReadOptions, resolved: ReadOptions, read: Check
) -> InputError:
    """Try the suggestions of an error, and return the error with only those that work.

    Each suggestion then has all options that it requires. If a suggestion leads to another question, it is
    replaced by the possible answers.

    Parameters
    ----------
    error : InputError
        Its suggestions are options, changes of options or of the study's settings, or fixed text.
    requested : ReadOptions
        Options as given by the user.
    resolved : ReadOptions
        Options to which changes are applied.
    read : callable
        The step that failed, called with changed options and settings.
    """
    working: list[tuple[str, object]] = []
    failures: list[InputError] = []
    # A suggestion that fails may lead to one that works.
    queue: list[tuple[str, Any, Mapping[str, Any], int]]
    queue = [(text, change, {}, _MAX_DEPTH) for text, change in error.suggestions]
    for text, change, settings, depth in queue:
        if change is None:
            working.append((text, None))
            continue
        try:
            options = change if isinstance(change, ReadOptions) else replace(resolved, **change)
            flags = (format_options(options, requested), *(option(*item) for item in settings.items()))
            line = " ".join(filter(None, flags))
            read(options, settings)
            working.append((line, None))
        except RiskrankError as failure:
            further = failure.suggestions if depth and len(queue) <= _MAX_TRIED else ()
            if {"no_test": True} in [change for _, change in further] or (UNTESTED, None) in further:
                detail = f"{failure.found}, with {line}"
                failures.append(type(error)(failure.problem, found=detail, hint=failure.hint))
            # All directions are suggested; of other answers for a reading, the first is sufficient.
            if isinstance(error, LayoutError) and not isinstance(failure, UndeclaredDirectionError):
                further = further[:1]
            for change in (change for _, change in further if isinstance(change, dict)):
                reading = {name: value for name, value in change.items() if hasattr(options, name)}
                more = {name: value for name, value in change.items() if name not in reading}
                queue.append(("", replace(options, **reading), {**settings, **more}, depth - (not more)))
    suggestions = [*dict.fromkeys(working)]
    if isinstance(error, LayoutError):
        suggestions = suggestions[:_MAX_READINGS]
        if failures and all(option("no_test", True) in line for line, _ in working):
            error = failures[0]
    return type(error)(error.problem, found=error.found, hint=error.hint, suggestions=suggestions)


def verify_on_scores(error: InputError, scores: Scores, read: Check) -> InputError:
    """Try the suggestions of an error on given scores, and keep only those that work.

    The files are read again if a suggestion changes the columns or rows.

    Parameters
    ----------
    error : InputError
    scores : Scores
    read : callable
        The step that failed, called with scores and changed settings.
    """
    notes = scores.notes

    def attempt(options: ReadOptions, settings: Mapping[str, Any]) -> object:
        """Repeat the failed step with changed options and settings of the command."""
        if notes.rows > _MAX_ROWS:
            raise error
        if all(getattr(options, name) == getattr(notes.resolved, name) for name in _COLUMNS):
            updated = replace(notes, resolved=options, requested=options)
            return read(replace(scores, options=options.file_options, notes=updated), settings)
        if not notes.sources:
            raise error
        return read(_read_again(notes.sources, options, notes.baseline), settings)

    return verify_suggestions(error, notes.requested, notes.resolved, attempt)


def suggest_templates(
    error: InputError, paths: Paths, sources: Sequence[Source], options: ReadOptions
) -> InputError:
    """Add path templates to an error's suggestions, if file paths may name models.

    Parameters
    ----------
    error : InputError
    paths : sequence of str or Source
        Inputs as given by the user.
    sources : sequence of Source
    options : ReadOptions
        Options to which those of a template are added.
    """
    names = [path for path in paths if isinstance(path, str)]
    files = _unlabelled_files(paths, sources)
    if isinstance(error, BeyondLimitError) or not files:
        return error
    lines: list[tuple[str, object]] = []
    for inputs, args in preparation.path_templates(files):
        with suppress(RiskrankError):
            read_frame(inputs, replace(options, **args))  # type: ignore[arg-type]
            written = [preparation.format_inputs(inputs), *(option(*item) for item in args.items())]
            lines.append((" ".join(written), None))
    if not lines:
        return error
    case = "each file is a model" if len(lines) == 1 else "the paths name model and task, or model and run"
    hint = f"if {case}, copy the matching line"
    return type(error)(error.problem, found=error.found, hint=hint, suggestions=lines, replaces=names)


def file_models(paths: Paths, sources: Sequence[Source]) -> list[str]:
    """Return the inputs with a label for each file, so that each file is a model.

    The list is empty if file names or columns do not suggest one model per file, as for numbered folds.
    """
    files = _unlabelled_files(paths, sources)
    is_alike = len({source.columns for source in sources}) == 1 and files
    names = preparation.file_names(files) if is_alike else []
    is_clear = 1 < len({*names}) == len(names) and len(preparation.path_templates(files)) < 2
    pairs = zip(names, files, strict=True) if is_clear and not all(map(_PART.search, names)) else ()
    return [f"{name}={file}" for name, file in pairs]


def _unlabelled_files(paths: Paths, sources: Sequence[Source]) -> list[str]:
    """Return the files that the inputs denote.

    The list is empty if a file is labelled or cannot be read twice.
    """
    names = [path for path in paths if isinstance(path, str)]
    if len(names) < len(paths) or any("{" in name for name in names):
        return []
    files = [file.path for source in sources for file in source.input_files(0)]
    is_readable = len(files) > 1 and all(Path(file).is_file() for file in files)
    return files if is_readable and all(source.model_label is None for source in sources) else []
