"""Infer how to read score files: return the only plausible layout, or raise an error."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import PurePath

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, interface_text, listing
from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import flatten, name_index
from riskrank.scores.files.guards import BeyondLimitError
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.files.source import Source
from riskrank.scores.layouts import refusals
from riskrank.scores.layouts.column_profiles import Columns, profile_columns
from riskrank.scores.layouts.layout import (
    IGNORED,
    READ,
    UNPAIRED,
    LayoutError,
    Reading,
    WarningText,
    format_options,
    set_roles,
)
from riskrank.scores.layouts.long_and_wide import (
    MIN_TASKS,
    have_similar_scale,
    means_only_error,
    missing_scores_option,
    read_rows,
    task_columns,
)
from riskrank.scores.layouts.matrix import read_matrix
from riskrank.scores.layouts.preferences import read_preferences
from riskrank.scores.layouts.row_keys import find_keys
from riskrank.scores.names.directions import is_metric_name, looks_like_an_amount
from riskrank.scores.names.vocabulary import (
    INDEX,
    column_for_role,
    has_word,
    is_task_name,
    split_words,
    suggests_role,
    vocabulary,
    words,
)
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
    """Infer from column names and contents which columns hold models, samples, metrics and scores.

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
        A description of the inferred layout, and warnings about votes. Empty if nothing had to be inferred.

    Raises
    ------
    InputError
        If no layout fits the files, or several do.
    """
    named = option_columns(options)
    has_index = INDEX in named.values()
    missing = [has_index or is_role_missing(source, named, options) for source in sources]
    opened = [name_index(flatten(s)) if lacks else s for s, lacks in zip(sources, missing, strict=True)]
    if not all(is_role_missing(source, named, options) for source in opened):
        return opened, options, ()
    names = {*filter_rows(opened[:1], options)[0].columns}
    if any(part not in names for name in named.values() if name not in names for part in name.split("+")):
        return opened, options, ()
    used = [join_columns(source, named, options.group_by) for source in filter_rows(opened, options)]
    columns, totals, user_filter = profile_columns(used, options.metric), "", options.where
    if len(used) == 1:
        condition, totals = refusals.exclude_totals(columns, options.where)
        options = replace(options, where=condition)
        if totals:
            used = [join_columns(source, named, options.group_by) for source in filter_rows(opened, options)]
            columns = profile_columns(used, options.metric)
    refusals.reject_predictions(columns, named, options)
    votes = read_preferences(columns, used[0], options) if len(used) == 1 and not options.columns else None
    if votes is not None:
        note = WarningText(f"Read as {votes[1].summary}", READ)
        return [votes[0]], votes[1].options, (note, *votes[1].checks)
    study = _read_optuna_study(columns, options) if not options.columns and options.matrix is None else None
    readings = [study] if study else []
    if not study:
        readings = _possible_readings(columns, named | fold_columns(used, named), options)
    if not readings and "sample" not in named and options.time in {*columns.names} - {"sample"}:
        return infer_layout(sources, set_roles(options, {"sample": options.time}))
    if not readings and (files := _label_by_file(sources, named, options)):
        return infer_layout(files, options)
    if not readings:
        raise _unreadable_error(columns, used, named, options)
    if not (columns.is_complete or options.models or options.metric):
        candidates = [replace(r.options, metric=options.metric, models=options.models) for r in readings]
        raise refusals.too_many_error(used[0], candidates, options)
    if len(readings) > 1:
        has_metrics = any(map(is_metric_name, columns.names))
        if not has_metrics and not any(reading.options.matrix for reading in readings):
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
    warning = WarningText(f"Read as {summary}{counts}{_describe_unfinished(columns, count_notes)}", READ)
    warnings = (warning, *reading.checks, *_comparison_notes(columns, used, options, reading))
    return opened, reading.options, warnings


def _comparison_notes(
    columns: Columns, sources: Sequence[Source], options: ReadOptions, reading: Reading
) -> list[WarningText]:
    """Return warnings about models without common samples, and metrics that only some of the files have."""
    notes = []
    if reading.options.unpaired and not options.unpaired:
        text = f"unpaired: the {'files' if columns.by_file else 'models'} share no sample"
        notes.append(WarningText(f"{text} ({option_columns(reading.options).get('sample')})", UNPAIRED))
    shared = set.intersection(*({*source.columns} for source in sources))
    files: dict[str, list[str]] = {}
    for source in sources:
        for name in source.columns:
            if name not in shared and (is_metric_name(name) or looks_like_an_amount(name)):
                files.setdefault(name, []).append(source.label)
    if not files:
        return notes
    text = "ignored: " + listing(
        (f"{name} (only in {listing(labels, 2)})" for name, labels in files.items()), 4
    )
    stems = [tuple(word for word in split_words(name) if word not in vocabulary("units")) for name in files]
    twins = [name for name, stem in zip(files, stems, strict=True) if stem and stems.count(stem) > 1]
    if twins:
        text += f"; if {' and '.join(twins[:2])} are one metric in two units, convert one of them"
    return [*notes, WarningText(text, IGNORED if isinstance(options, GateReading) else "")]


def _unreadable_error(
    columns: Columns, sources: Sequence[Source], named: Mapping[str, str], options: ReadOptions
) -> InputError:
    """Return the error for a table without a possible reading. `named` maps roles to the user's columns."""
    refusals.reject_unstacked_columns(columns, named, options)
    error = _single_rows_error(columns, named, options)
    doubtful = [] if error else _doubtful_readings(columns, named, options)
    error = error or refusals.no_reading_error(columns, sources, options, doubtful)
    may_have_roles = columns.is_complete or any(map(suggests_role, columns.names))
    kind = LayoutError if may_have_roles else BeyondLimitError
    return kind(error.problem, found=error.found, hint=error.hint, suggestions=error.suggestions)


def _label_by_file(sources: Sequence[Source], named: Collection[str], options: ReadOptions) -> list[Source]:
    """Return the files with their stems as model names; empty if a claim needs a pair or models are named.

    `named` has the roles that the user assigned to columns.
    """
    names = [PurePath(source.label).stem for source in sources]
    labelled = any(source.model_label is not None for source in sources)
    if options.min_models > 1 or options.matrix or "model" in named or labelled or len({*names}) < len(names):
        return []
    files = [copy(source) for source in sources]
    for source, name in zip(files, names, strict=True):
        source.model_label = name
    return files


_OPTUNA_COLUMNS = {"number", "state", "datetime_start"}
_OBJECTIVE = re.compile(r"values?(_.+)?")


def _read_optuna_study(columns: Columns, options: ReadOptions) -> Reading | None:
    """Return how to read an Optuna study, with trials as models, or None for other tables.

    Raises
    ------
    InputError
        If the caller needs samples for a test, because a study has only one value per trial.
    """
    objectives = [name for name in columns.names if _OBJECTIVE.fullmatch(name)]
    if not objectives or not {*columns.names} >= _OPTUNA_COLUMNS:
        return None
    if not options.sample_optional:
        problem = f"{columns.label}: an Optuna study has one value per trial, so nothing can be tested"
        hint = "repeat the best trials with several seeds or folds, and write one row per trial and seed"
        if len(objectives) > 1:
            hint += f"; {interface_text('riskrank copa', 'copa')} can choose a trial by several objectives"
        raise InputError(problem, found=f"{columns.height} trials, with {listing(objectives)}", hint=hint)
    changes = {"where": "state = 'COMPLETE'"} if options.where is None else {}
    metrics = options.metric or tuple(objectives)
    return Reading(
        summary=f"an Optuna study: one row per trial (number); objectives {listing(objectives)}",
        options=set_roles(options, {"model": "number"}, wide=True, metric=metrics, **changes),
    )


def _describe_unfinished(columns: Columns, scores: Collection[str]) -> str:
    """Return a note on rows whose status means that a run gave no answer.

    It is empty if there are none, or if the status column itself is one of the `scores`.
    """
    for name in columns.names:
        if not has_word(name, "status") or name in scores or column_kind(columns.frame[name]) != "text":
            continue
        states = columns.frame[name].cast(pl.String).str.strip_chars()
        named = (state for state in states.drop_nulls().unique() if has_word(state, "unfinished", "unasked"))
        unfinished = sorted(state for state in named if not has_word(state, "neither"))
        rows = int(states.is_in(unfinished).sum())
        if 0 < rows < columns.height:
            # Excluding these rows is not suggested, because failures are informative about the model.
            return f"; includes {rows} rows with {name} {listing(unfinished)}"
    return ""


def _possible_readings(columns: Columns, named: dict[str, str], options: ReadOptions) -> list[Reading]:
    """Return every plausible way to read a table, those with paired samples first.

    Layouts that column names support take precedence. `named` maps roles to the columns that the user chose.
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
    """Return uncertain ways to read a table, which the user has to confirm.

    Either numeric columns are models, or a column with few distinct values names the models. `named` maps
    roles to the columns that the user chose.
    """
    if options.matrix is not None or options.wide or "model" in named:
        return []
    readings = _factorial_readings(columns, named, options)
    with suppress(InputError):
        matrix = read_matrix(columns, named, options, doubtful=True)
        numbers = columns.split_scores(columns.names, columns_are_models=True)[0]
        is_likely = len(numbers) > 2 and not any(map(is_metric_name, numbers))
        readings = [*matrix, *readings] if is_likely else [*readings, *matrix]
    return readings


def _single_rows_error(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> InputError | None:
    """Return the error for a table with one row per model, or per model and setting, or None.

    A column called "name" may name the models. `named` maps roles to the columns that the user chose.
    """
    if named or options.matrix or options.sample_optional or columns.by_file:
        return None
    names = [name for name in columns.by_kind("text") if "name" in words(name) and not is_task_name(name)]
    model = next(iter([*model_columns(columns, named, options), *names]), "")
    numbers, _ = columns.split_scores(columns.names)
    if not model or len(numbers) < 2:
        return None
    if np.median(columns.frame.group_by(model).len()["len"].to_numpy()) > 1:
        return None
    others = [name for name in columns.names if name not in (model, *numbers) and columns.is_key(model, name)]
    settings = [] if columns.is_key(model) else sorted(others, key=columns.n_unique)
    key = "+".join([model, *settings[:1]])
    return means_only_error(columns, key, options)


def _factorial_readings(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Return ways to read a table whose rows combine the values of a few columns.

    One of these columns, or all numeric ones jointly, names models; the others name samples. `named` maps
    roles to the columns that the user chose.
    """
    free = [name for name in columns.names if name not in named.values()]
    dimensions = [name for name in free if _is_dimension(columns, name)]
    numbers, _ = columns.split_scores(free, allow_constant=options.allow_constant)
    metrics = [name for name in numbers if name not in dimensions]
    if not metrics or len(dimensions) < 2 or not columns.is_key(*dimensions):
        return []
    settings = [name for name in dimensions if columns.kind(name) == "number" and not has_word(name, "run")]
    texts = [name for name in dimensions if columns.kind(name) == "text" and not has_word(name, *_NO_MODELS)]
    texts = [name for name in texts if column_for_role("metric", [name]) is None]
    readings = []
    for model in column_for_role("model", texts), *texts, "+".join(settings):
        parts = columns.parts(model or "")
        sample = [name for name in dimensions if name not in parts]
        n_cells = columns.n_unique(*parts) * columns.n_unique(*sample)
        if parts and sample and 2 * columns.height > n_cells and 2 <= columns.n_unique(*parts) <= _MAX_MODELS:
            roles = {"model": str(model), "sample": "+".join(sample)}
            summary = f"a wide table: model = {model}, sample = {roles['sample']}"
            gaps = missing_scores_option(options) if columns.height < n_cells else {}
            choice = set_roles(options, roles, wide=True, metric=options.metric or tuple(metrics), **gaps)
            readings.append(Reading(summary=summary, options=choice))
    # The usual name of a model decides.
    return readings[:1] if column_for_role("model", texts) else readings


def _is_dimension(columns: Columns, name: str) -> bool:
    """Return True if a column may be one of several that identify rows together.

    Such a column has few distinct values, each of which occurs in several rows.
    """
    few = 2 <= columns.n_unique(name) < columns.height and not columns.n_missing(name)
    if columns.kind(name) == "number":
        return few and columns.n_unique(name) <= _MAX_MODELS and not is_metric_name(name)
    return few and columns.kind(name) == "text" and not has_word(name, "answer", "status")


# Maximum number of models in a column recognised by content.
_MAX_NAMES = 20
# Minimum share of samples that all models have, in a column recognised by content.
_MIN_OVERLAP = 0.8


def model_columns(columns: Columns, roles: Mapping[str, str], options: ReadOptions) -> list[str]:
    """Return the columns that may name the models, with the best candidate first.

    If a column name determines the role, only that column is returned. `roles` maps roles to the columns that
    the user chose.
    """
    if "model" in roles:
        return [roles["model"]]
    assigned = {part for column in roles.values() for part in (column, *column.split("+"))}
    if "model" in columns.names and "model" not in assigned and columns.n_unique("model") > 1:
        return ["model"]
    free = [name for name in columns.names if name not in assigned]
    if preferred := [name for name in free if _contains_models(columns, name, options)]:
        return preferred[:1]
    fit = [name for name in free if _may_be_model_column(columns, name)]
    numbers = [name for name in fit if columns.kind(name) == "number"]
    # Several numeric columns with model names contain scores of one model each.
    fit = [name for name in fit if name not in numbers or len(numbers) == 1]
    by_name = column_for_role("model", [name for name in fit if columns.n_unique(name) > 1] or fit)
    if by_name is None and "model" in free:
        return ["model"]
    if by_name is not None and (entry := _find_entry_column(columns, by_name, free)):
        return [entry]
    if by_name is not None or columns.by_file:
        return [] if by_name is None else [by_name]
    # Columns named after two versions, such as baseline and candidate, contain scores of one model each.
    if sum(columns.kind(name) == "number" and has_word(name, "versions") for name in free) > 1:
        return []
    # Levels of JSON keys have no names, so that more of them may be models.
    limits = {name: _MAX_MODELS if name.startswith("level_") else _MAX_NAMES for name in fit}
    text = [c for c in fit if columns.kind(c) == "text" and 2 <= columns.n_unique(c) <= limits[c]]
    if not text and any(map(is_metric_name, columns.names)):  # judges take the place of models
        judges = [name for name in free if has_word(name, "graders") and columns.kind(name) == "text"]
        text = [c for c in judges if 2 <= columns.n_unique(c) <= _MAX_NAMES and not columns.n_missing(c)]
    metric = [name for name in [column_for_role("metric", text)] if name]
    text = [name for name in text if name not in metric]
    matches, crossed = [], []
    # The content of fewer rows than text columns is not informative.
    for name in text if len(text) <= columns.height else ():
        keys = find_keys(columns, [name], metric, [n for n in free if n not in (name, *metric)])
        parts = [*columns.parts(keys.sample), *filter(None, [keys.task])]
        runs = [keys.draw] if keys.draw else []
        unique = columns.is_key(name, *metric, *parts, *runs) and (bool(runs) or not keys.repeats)
        unique |= bool(keys.averaged) and columns.is_key(name, *metric, *parts, *keys.averaged)
        if parts and (keys.is_duplicated or unique):
            matches += [name] if columns.shared_proportion(parts[0], [name]) >= _MIN_OVERLAP else []
            if all(columns.shared_proportion(part, [name]) >= _MIN_OVERLAP for part in parts):
                crossed.append(name)
    grouping = ("whole", "benchmark", "setting", "wording", "run", "role sample")
    preferred = [name for name in matches if not has_word(name, *grouping)]
    if not preferred and not _may_be_matrix(columns, free):
        preferred = matches
    # Prefer columns crossed with all samples over columns that describe samples.
    crossed = [name for name in preferred if name in crossed]
    compared = column_for_role("compared", crossed if matches else [c for c in text if not columns.is_key(c)])
    if compared:
        return [compared]
    return sorted(preferred, key=lambda name: (name not in crossed, columns.n_unique(name)))


def _may_be_matrix(columns: Columns, free: Names) -> bool:
    """Return True if numeric columns of one scale, not named after metrics, may hold one model each."""
    numbers = columns.split_scores(free, columns_are_models=True)[0]
    numbers = [name for name in numbers if not suggests_role(name)]
    return len(numbers) > 1 and have_similar_scale(columns, numbers) and not any(map(is_metric_name, numbers))


def _find_entry_column(columns: Columns, group: str, free: Names) -> str:
    """Return the column that names the rows of a leaderboard, or an empty string.

    The column `group` describes models, but does not identify the rows. `free` holds the columns without a
    role.
    """
    text = [name for name in free if columns.kind(name) == "text" and columns.is_key(name)]
    names = [name for name in text if not has_word(name, "identifier", "answer")]
    names = [name for name in names if column_for_role("sample", [name]) is None]
    if not names or group in text:
        return ""
    sample = find_keys(columns, [group], [], [name for name in free if name not in (group, *text)]).sample
    if sample and columns.shared_proportion(sample, [group]) >= _MIN_OVERLAP:
        return ""
    return names[0] if len(task_columns(columns, free)[0]) >= MIN_TASKS else ""


def _contains_models(columns: Columns, name: str, options: ReadOptions) -> bool:
    """Return True if a column contains all models that the options name."""
    pairs = options.compared if isinstance(options, GateReading) else ()
    if not (pairs or options.models) or columns.kind(name) not in ("text", "number"):
        return False
    # A table with one row per model does not contain scores of samples.
    if columns.is_key(name):
        return False
    values = {*columns.frame[name].cast(pl.String).unique().drop_nulls()}
    # Model names may also contain colons.
    splits = ([(pair[:i], pair[i + 1 :]) for i, char in enumerate(pair) if char == ":"] for pair in pairs)
    compared = all(any({*both} <= values for both in choices) for choices in splits)
    return {*options.models} <= values and compared


def _may_be_model_column(columns: Columns, name: str) -> bool:
    """Return True if the name and values of a column allow it to name models."""
    # Cheap checks come first, because wide tables have many columns.
    is_answer = has_word(name, "answer") and "model" not in words(name)
    if is_answer or has_word(name, "time", "judge", "status"):
        return False
    kind = columns.kind(name)
    if kind not in ("text", "number") or columns.frame[name].dtype.is_nested():
        return False
    # A number is a model name only if the column name says so.
    is_name = column_for_role("model", [name]) is not None and not is_metric_name(name)
    is_numbered = is_name and columns.is_integer(name) and 2 <= columns.n_unique(name) <= _MAX_NAMES
    return (kind == "text" or is_numbered) and not columns.n_missing(name)
