"""Infer the layout of score files: return the only possible reading, or raise an error."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import flatten, name_index
from riskrank.scores.files.guards import BeyondLimitError
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns, profile_columns
from riskrank.scores.layouts.layout import (
    READ,
    VOTES,
    LayoutError,
    Reading,
    WarningText,
    format_options,
    set_roles,
)
from riskrank.scores.layouts.leaderboard import describe_unfinished, read_optuna_study
from riskrank.scores.layouts.long_and_wide import read_rows
from riskrank.scores.layouts.matrix import read_matrix
from riskrank.scores.layouts.model_column import model_columns
from riskrank.scores.layouts.preferences import read_preferences
from riskrank.scores.layouts.refusals import no_reading_error, reject_predictions, too_many_error
from riskrank.scores.layouts.total_rows import exclude_totals
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import INDEX, column_for_role, has_word, suggests_role
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.preparation import filter_rows, is_role_missing, join_columns
from riskrank.scores.table.written_numbers import conversion_query

# Words for columns that group or repeat samples.
_NO_MODELS = ("whole", "benchmark", "run", "within", "role sample", "judge")
# A column with more distinct values does not name models.
_MAX_MODELS = 50


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
    names = {*filter_rows(opened[:1], options)[0].columns}
    if any(part not in names for name in named.values() if name not in names for part in name.split("+")):
        return opened, options, ()
    used = [join_columns(source, named) for source in filter_rows(opened, options)]
    columns, totals, user_filter = profile_columns(used, options.metric), "", options.where
    if len(used) == 1:
        condition, totals = exclude_totals(columns, options.where)
        options = replace(options, where=condition)
        if totals:
            used = [join_columns(source, named) for source in filter_rows(opened, options)]
            columns = profile_columns(used, options.metric)
    reject_predictions(columns, named, options)
    votes = read_preferences(columns, used[0], options) if len(used) == 1 and not options.columns else None
    if votes is not None:
        checks = (WarningText(check, VOTES) for check in votes[1].checks)
        return [votes[0]], votes[1].options, (WarningText(f"Read as {votes[1].summary}", READ), *checks)
    study = read_optuna_study(columns, options) if not options.columns and options.matrix is None else None
    readings = [study] if study else []
    if not study:
        readings = _possible_readings(columns, named | fold_columns(used, named), options)
    if not readings:
        error = no_reading_error(columns, used, options, _doubtful_readings(columns, named, options))
        if not columns.is_complete and not any(map(suggests_role, columns.names)):
            raise BeyondLimitError(
                error.problem, found=error.found, hint=error.hint, suggestions=error.suggestions
            )
        raise LayoutError(error.problem, found=error.found, hint=error.hint, suggestions=error.suggestions)
    if not (columns.is_complete or options.models or options.metric):
        candidates = [replace(r.options, metric=options.metric, models=options.models) for r in readings]
        raise too_many_error(used[0], candidates, options)
    if len(readings) > 1:
        if not any(reading.options.matrix for reading in readings) and not any(
            map(names_a_metric, columns.names)
        ):
            matrices = [r for r in _doubtful_readings(columns, named, options) if r.options.matrix]
            readings = [*matrices, *readings]
        problem = f"{sources[0].label}: the table has several possible readings"
        detail = "; or ".join(reading.summary for reading in readings[:4])
        fixes = [(format_options(reading.options, options), reading.options) for reading in readings]
        raise LayoutError(problem, found=detail, hint="copy the correct line", suggestions=fixes)
    (reading,) = readings
    metrics = reading.options.metric or reading.options.models or columns.names
    count_notes = {name: w.rule for name, w in columns.text_scores.items() if name in metrics and w.rule}
    counts = "".join(f"; {summary}" for summary in dict.fromkeys(count_notes.values()))
    filter_note = f"only rows where {user_filter}" if user_filter else ""
    summary = "; ".join(filter(None, [reading.summary, totals, filter_note]))
    warning = WarningText(f"Read as {summary}{counts}{describe_unfinished(columns, count_notes)}", READ)
    return opened, reading.options, (warning,)


def _possible_readings(columns: Columns, named: dict[str, str], options: ReadOptions) -> list[Reading]:
    """Return every possible reading of a table.

    Readings supported by column names take precedence over other readings.
    """
    writings = columns.text_scores
    if writings and options.sql is None:
        options = replace(options, sql=conversion_query(writings))
    models = [] if options.matrix is not None else model_columns(columns, named, options)
    if options.matrix is None and (models or columns.by_file):
        readings = [r for model in models or [""] for r in read_rows(columns, model, named, options)]
        # Models usually share samples.
        return sorted(readings, key=lambda reading: reading.options.unpaired)
    only = column_for_role("model", columns.by_kind("text"))  # there is only one model
    return read_matrix(columns, named, options) or (read_rows(columns, only, named, options) if only else [])


def _doubtful_readings(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Return uncertain readings, which the user has to confirm.

    Either numeric columns are models, or a column with few distinct values names the models.
    """
    if options.matrix is not None or options.wide or "model" in named:
        return []
    readings = _readings_of_rows(columns, named, options)
    with suppress(InputError):
        matrix = read_matrix(columns, named, options, doubtful=True)
        readings = [*matrix, *readings] if _are_alike(columns, matrix) else [*readings, *matrix]
    return readings


def _are_alike(columns: Columns, matrix: Sequence[Reading]) -> bool:
    """Return True if there are at least three numeric columns, and none has the name of a metric."""
    numbers = columns.split_scores(columns.names, columns_are_models=True)[0]
    return bool(matrix) and len(numbers) > 2 and not any(map(names_a_metric, numbers))


def _readings_of_rows(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Return readings in which one key column names models, and the other key columns name samples."""
    free = [name for name in columns.names if name not in named.values()]
    dimensions = [name for name in free if _is_dimension(columns, name)]
    metrics = [name for name in columns.split_scores(free)[0] if name not in dimensions]
    if not metrics or len(dimensions) < 2 or not columns.is_key(*dimensions):
        return []
    settings = [name for name in dimensions if columns.kind(name) == "number" and not has_word(name, "run")]
    texts = [name for name in dimensions if columns.kind(name) == "text" and not has_word(name, *_NO_MODELS)]
    readings = []
    for model in column_for_role("model", texts), *texts, "+".join(settings):
        parts = model.split("+") if model else []
        sample = [name for name in dimensions if name not in parts]
        is_crossed = columns.n_unique(*parts) * columns.n_unique(*sample) == columns.height
        if parts and sample and is_crossed and 2 <= columns.n_unique(*parts) <= _MAX_MODELS:
            roles = {"model": str(model), "sample": "+".join(sample)}
            summary = f"a wide table: model = {model}, sample = {roles['sample']}"
            choice = set_roles(options, roles, wide=True, metric=options.metric or tuple(metrics))
            readings.append(Reading(summary=summary, options=choice))
    # The usual name of a model decides.
    return readings[:1] if column_for_role("model", texts) else readings


def _is_dimension(columns: Columns, name: str) -> bool:
    """Return True if a column may identify rows together with other columns.

    Such a column has few distinct values, each of which occurs in several rows.
    """
    few = 2 <= columns.n_unique(name) < columns.height and not columns.n_missing(name)
    if columns.kind(name) == "number":
        return few and columns.n_unique(name) <= _MAX_MODELS and not names_a_metric(name)
    return few and columns.kind(name) == "text" and not has_word(name, "answer", "status")
