"""Infer the layout of score files: return the only possible reading, or raise an error."""

from collections.abc import Sequence
from dataclasses import replace

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import flatten, name_index
from riskrank.scores.files.guards import BeyondLimitError
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns, profile_columns
from riskrank.scores.layouts.layout import READ, Reading, WarningText, format_options
from riskrank.scores.layouts.leaderboard import describe_unfinished, read_optuna_study
from riskrank.scores.layouts.long_and_wide import read_rows
from riskrank.scores.layouts.matrix import read_matrix
from riskrank.scores.layouts.model_column import model_columns
from riskrank.scores.layouts.preferences import read_preferences
from riskrank.scores.layouts.refusals import no_reading_error, reject_predictions, too_many_error
from riskrank.scores.layouts.total_rows import exclude_totals
from riskrank.scores.names.vocabulary import INDEX, column_for_role, suggests_role
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.preparation import filter_rows, is_role_missing
from riskrank.scores.table.written_numbers import conversion_query


def infer_layout(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[list[Source], ReadOptions, tuple[str, ...]]:
    """Infer the layout of files from the names and contents of their columns.

    Parameters
    ----------
    sources : sequence of Source
        The opened files.
    options : ReadOptions
        Options set by the user, which take precedence.

    Returns
    -------
    sources : list of Source
    options : ReadOptions
        Options that read the files without further inference.
    warnings : tuple of str
        At most one sentence that describes the reading.

    Raises
    ------
    InputError
        If there is no possible reading of the files, or several.
    """
    named = option_columns(options)
    opened = [
        name_index(flatten(source))
        if INDEX in named.values() or is_role_missing(source, named, options)
        else source
        for source in sources
    ]
    if not all(is_role_missing(source, named, options) for source in opened):
        return opened, options, ()
    used = filter_rows(opened, options)
    names = {*used[0].columns}
    if any(part not in names for name in named.values() if name not in names for part in name.split("+")):
        return opened, options, ()
    columns, totals, user_filter = profile_columns(used, options.metric), "", options.where
    if len(used) == 1:
        condition, totals = exclude_totals(columns, options.where)
        options = replace(options, where=condition)
        columns = profile_columns(used := filter_rows(opened, options), options.metric) if totals else columns
    reject_predictions(columns, named, options)
    votes = read_preferences(columns, used[0], options) if len(used) == 1 and not options.columns else None
    if votes is not None:
        return [votes[0]], votes[1].options, (WarningText(f"Read as {votes[1].summary}", READ),)
    study = read_optuna_study(columns, options) if not options.columns and options.matrix is None else None
    readings = [study] if study else []
    if not study:
        readings = _possible_readings(columns, named | fold_columns(used, named), options)
    if not readings:
        error = no_reading_error(columns, used, options)
        if not columns.is_complete and not any(map(suggests_role, columns.names)):
            raise BeyondLimitError(
                error.problem, found=error.found, hint=error.hint, suggestions=error.suggestions
            )
        raise error
    if not (columns.is_complete or options.models or options.metric):
        candidates = [replace(r.options, metric=options.metric, models=options.models) for r in readings]
        raise too_many_error(used[0], candidates, options)
    if len(readings) > 1:
        problem = f"{sources[0].label}: the table has several possible readings"
        detail = "; or ".join(reading.summary for reading in readings[:4])
        fixes = [(format_options(reading.options, options), reading.options) for reading in readings]
        raise InputError(problem, found=detail, hint="copy the correct line", suggestions=fixes)
    (reading,) = readings
    metrics = reading.options.metric or reading.options.models or columns.names
    count_notes = {name: w.rule for name, w in columns.text_scores.items() if name in metrics and w.rule}
    counts = "".join(f"; {summary}" for summary in dict.fromkeys(count_notes.values()))
    filter_note = f"only rows where {user_filter}" if user_filter else ""
    summary = "; ".join(filter(None, [reading.summary, totals, filter_note]))
    warning = WarningText(f"Read as {summary}{counts}{describe_unfinished(columns, count_notes)}", READ)
    return opened, reading.options, (warning,)


def _possible_readings(columns: Columns, named: dict[str, str], options: ReadOptions) -> list[Reading]:
    """Return every possible reading of a table; readings supported by column names take precedence."""
    writings = columns.text_scores
    if writings and options.sql is None:
        options = replace(options, sql=conversion_query(writings))
    models = [] if options.matrix is not None else model_columns(columns, named, options)
    if options.matrix is None and (models or columns.by_file):
        readings = [r for model in models or [""] for r in read_rows(columns, model, named, options)]
        # Models usually share samples.
        return sorted(readings, key=lambda reading: reading.options.unpaired)
    only = column_for_role("model", columns.names)  # a single model
    return read_matrix(columns, named, options) or (read_rows(columns, only, named, options) if only else [])
