"""Errors for tables that cannot be read, data to which no valid test applies, and rows with totals."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.files.query import exclude_values, quote_column, quote_text
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import Reading, format_options
from riskrank.scores.names.directions import classify_outcomes, is_metric_name
from riskrank.scores.names.vocabulary import (
    column_for_role,
    has_word,
    is_spread,
    parse_vocabulary,
    vocabulary,
    words,
)
from riskrank.scores.table.columns import columns_by_role, missing_columns_error, option_columns
from riskrank.scores.table.written_numbers import format_examples, reject_mixed_columns

_ROLES = ("model", "sample", "metric", "score")
# Names of data splits, evaluation splits first.
SPLITS = ("test", "dev", "val", "valid", "validation", "train", "training")
# Words for the progress of a training run.
_STEP_WORDS = parse_vocabulary("global train training step steps epoch epochs iteration iterations iter")


def reject_training_curves(columns: Columns, *, per_model: bool = False) -> None:
    """Raise InputError if rows are steps of a training run, which are not independent samples.

    Parameters
    ----------
    columns : Columns
    per_model : bool
        Whether to reject step columns in any order, not only in increasing order.
    """
    for name in (column for column in columns.names if words(column) and words(column) <= _STEP_WORDS):
        steps = columns.numbers(name) if columns.kind(name) == "number" else np.zeros(0)
        one_model = "" if columns.by_kind("text") else ", of one model"
        if steps.size > 1 and (np.ptp(steps) > 0 if per_model else np.all(np.diff(steps) > 0)):
            raise InputError(
                f"{columns.label}: steps of a training run depend on each other, so they are not samples",
                found=f"one row per {name}, from {steps.min():g} to {steps.max():g}{one_model}",
                hint="train with several seeds, and write one row per run: model, seed and final score",
            )


def no_reading_error(
    columns: Columns, sources: Sequence[Source], options: ReadOptions, readings: Sequence[Reading] = ()
) -> InputError:
    """Return the error for a table in which models, samples or scores cannot be identified.

    It lists the missing columns.

    Parameters
    ----------
    columns : Columns
    sources : sequence of Source
    options : ReadOptions
    readings : sequence of Reading
        Uncertain ways to read the table, which become suggestions.
    """
    source = sources[0]
    text = [name for name in columns.by_kind("text") if is_metric_name(name)]
    reject_mixed_columns(source, columns.frame.select(text), "metric")
    text_metrics = [name for name in columns.by_kind("text") if name in options.metric]
    if text_metrics:
        values = columns.frame[text_metrics[0]].unique().sort()
        problem = f"{columns.label}: column '{text_metrics[0]}' contains text, not scores"
        detail = f"{len(values):,} different texts, such as {format_examples(values)}"
        hint = "replace each text by a number; only two words such as passed and failed are 1 and 0"
        return InputError(problem, found=detail, hint=hint)
    roles = columns_by_role(source, option_columns(options), _ROLES)
    numbers = columns.by_kind("number")
    shared = set.intersection(*({*file.columns} for file in sources))
    unshared = [_numeric_columns(file, shared) for file in sources]
    if not numbers and all(unshared) and not options.metric:
        old, new = sources[0], sources[-1]
        return InputError(
            f"{listing((file.label for file in sources), 3)}: the files share no metric",
            found="; ".join(f"{x.label} has {listing(y, 4)}" for x, y in zip(sources, unshared, strict=True)),
            hint=f"use one name in all files; if {unshared[-1][0]} of {new.label} is {unshared[0][0]} of "
            f"{old.label}, rename it in one of them",
        )
    missing = [role for role in _ROLES[:2] if role not in roles]
    if "sample" in missing:
        reject_training_curves(columns, per_model=True)
    missing += [] if options.wide or numbers else ["score"]
    missing = missing or ["metric", "score"]
    fixes = [("", reading.options) for reading in readings if "model" in missing]
    if missing == ["sample"] and roles.get("model") in columns.names and options.sql is None:
        counts = columns.frame.group_by(roles["model"]).len()["len"].to_numpy()
        query = "SELECT *, ROW_NUMBER() OVER () AS sample FROM scores"
        repeated = not columns.by_file and bool(counts.min() > 1)
        fixes += [("", replace(options, sql=query, unpaired=True))] * repeated
    hint = f"name these columns: {option('columns', ','.join(f'{role}=…' for role in missing))}"
    if "model" in missing and Path(source.label).is_file():
        hint += f"; or name the only model in this file: NAME={source.label}"
    hint += "; if every row is an independent measurement, copy the line" * (
        missing == ["sample"] and bool(fixes)
    )
    hint += "; single values and summaries cannot be tested"
    return missing_columns_error(source, missing, hint, fixes)


def _numeric_columns(source: Source, without: Collection[str]) -> list[str]:
    """Return the columns of a file that contain numbers, except those in `without`."""
    names = (name for name in source.columns if name not in without)
    return [name for name in names if column_kind(source.load([name])[name]) == "number"]


def too_many_error(source: Source, readings: Sequence[ReadOptions], options: ReadOptions) -> InputError:
    """Return the error for a table with too many columns to use them all as metrics or models.

    `readings` are possible options, which become suggestions; `options` are those of the user.
    """
    hint = f"select the metrics, {option('metric', 'NAME')}, or the models, {option('models', 'A,B')}"
    # Omit readings that equal the requested options.
    fixes = [(flags, None) for reading in readings if (flags := format_options(reading, options))]
    problem = f"{len(source.columns):,} columns, too many to guess their roles"
    return source.error_with_columns(problem, hint, fixes)


def reject_selected_rows(columns: Columns, model: str, sample: str) -> None:
    """Raise InputError if a table has only the best or worst samples of each model.

    `model` and `sample` are the columns that name them.
    """
    if not model or not sample or columns.shared_proportion(sample, [model]) == 1:
        return
    for name in columns.by_kind("number"):
        if ranked := columns.ranked_column(name, [model]):
            problem = f"{columns.label}: the samples of each model were selected by their scores"
            hint = "write the scores of every model on all samples"
            raise InputError(problem, found=f"{name} ranks the rows of each {model} by {ranked}", hint=hint)


_SPLIT_WORDS = frozenset({"split", "partition", "fold", "set", "subset"})


def reject_mixed_splits(columns: Columns, model: str, free: Sequence[str], options: ReadOptions) -> None:
    """Raise InputError if a table mixes training and test data, or samples seen in training and new ones.

    The columns `free`, which have no role, are examined. `model` is the column that names models.
    """
    for name in (column for column in free if has_word(column, "seen") or words(column) & _SPLIT_WORDS):
        if name in (options.task, options.cluster, *options.metric):
            continue
        values = sorted(columns.frame[name].cast(pl.String).unique().drop_nulls())
        keep = _test_split(columns, name, values)
        fault = "separates splits of the data, which must not be mixed"
        seen = has_word(name, "seen") and len(values) == 2
        if seen and not keep and not (model and columns.is_constant_within(name, [model])):
            # If it is unknown which values mark unseen samples, all of them are proposed.
            outcomes = classify_outcomes(*(text.strip().casefold() for text in values))
            negatives = {"0", "0.0", "false", *(outcomes.negatives if outcomes else ())}
            keep = [text for text in values if text.strip().casefold() in negatives] or values
            fault = "marks samples seen in training, whose scores are not comparable"
        if keep:
            raise _mixed_splits_error(columns, name, values, keep, fault, options)


def _test_split(columns: Columns, name: str, values: Sequence[str]) -> list[str]:
    """Return the values of a column that name evaluation data, such as test.

    The list is empty unless all values name data splits.
    """
    splits = [split for split in SPLITS for text in values if split == text.casefold()]
    if not words(name) & _SPLIT_WORDS or columns.kind(name) != "text" or len(splits) < max(len(values), 2):
        return []
    return [next(text for text in values if text.casefold() == splits[0])]


def _mixed_splits_error(
    columns: Columns, name: str, values: Sequence[str], keep: Sequence[str], fault: str, options: ReadOptions
) -> InputError:
    """Return the error for a table that mixes data splits.

    It suggests filters that keep the values in `keep`. `fault` describes the problem.
    """
    text = columns.frame[name].dtype == pl.String
    column = quote_column(name) if text else f"CAST({quote_column(name)} AS VARCHAR)"
    prefix = f"({options.where}) AND " if options.where else ""
    filters = [f"{prefix}{column} = {quote_text(value)}" for value in keep]
    fixes = [(option("where", sql), replace(options, where=sql)) for sql in filters]
    hint, fault = f"{fixes[0][0]} keeps only the rows of {keep[0]}", f"{columns.label}: {name} {fault}"
    return InputError(fault, found=f"{name}: {listing(values)}", hint=hint, suggestions=fixes)


# Integers with more distinct values are amounts and not classes.
_MAX_CLASSES = 20
# Fewest rows of forecasts, and fewest distinct probabilities less one.
_MIN_FORECASTS, _FEWEST_LEVELS = 10, 10
# Largest ratio of the medians of forecasts and truth, and smallest correlation in standard errors.
_MAX_FORECAST_RATIO, _MIN_CORRELATION = 3.0, 2.5


def reject_predictions(columns: Columns, roles: Mapping[str, str], options: ReadOptions) -> None:
    """Raise InputError if a table contains predictions and true values instead of scores.

    `roles` maps roles to the columns that the user chose.
    """
    declared = options.metric or options.matrix or options.sql or "score" in roles
    readable = [name for name in columns.names if columns.kind(name) in ("text", "number")]
    truth = [name for name in readable if _is_truth(name)]
    predicted = [name for name in readable if has_word(name, "predicted", "probable") and not is_spread(name)]
    if len(truth) == 1 and not predicted and not declared and not roles:
        predicted = _columns_of_labels(columns, truth[0], readable) or _find_forecasts(columns, truth[0])
    if declared or len(truth) != 1 or not predicted:
        return
    metric, template = _prediction_score(columns, truth[0], predicted)
    scores = {name: template.format(quote_column(name), quote_column(truth[0])) for name in predicted}
    if len(predicted) == 1:
        query = f"SELECT *, {scores[predicted[0]]} AS {metric} FROM scores"
        suggestion = replace(options, sql=query, metric=(metric,))
    else:
        replacements = ", ".join(f"{score} AS {quote_column(name)}" for name, score in scores.items())
        query = f"SELECT * REPLACE ({replacements}) FROM scores"
        suggestion = replace(options, sql=query, matrix=metric, models=tuple(predicted))
    raise InputError(
        f"{columns.label}: {listing(predicted)} and {truth[0]} are predictions and true values, not scores",
        found=f"columns: {listing(columns.names, 20)}",
        hint=f"compute {metric}, or other scores, with {option('sql', 'QUERY')}",
        suggestions=[("", suggestion)],
    )


# Largest number of labels, and smallest number of rows per label, of a classification.
_MAX_LABELS, _LABEL_ROWS = 100, 2


def _columns_of_labels(columns: Columns, truth: str, names: Sequence[str]) -> list[str]:
    """Return the text columns with the same labels as the column of true labels, if there are several.

    They are predictions of several models, whatever their names are, unless a column names the models.
    """
    if columns.kind(truth) != "text" or column_for_role("model", columns.names) is not None:
        return []
    labels = {*columns.frame[truth].unique().drop_nulls()}
    if not 1 < len(labels) <= min(_MAX_LABELS, columns.frame.height / _LABEL_ROWS):
        return []
    others = [name for name in names if name != truth and columns.kind(name) == "text"]
    alike = [name for name in others if {*columns.frame[name].unique().drop_nulls()} <= labels]
    return alike if len(alike) > 1 else []


def _is_truth(name: str) -> bool:
    """Return True if a name consists of a word for the truth and possibly words such as value."""
    name_words = words(name)
    return bool(name_words & vocabulary("truth")) and name_words <= vocabulary("truth", "role score")


def _find_forecasts(columns: Columns, truth: str) -> list[str]:
    """Return at least two numeric columns that all predict the column `truth`, or an empty list.

    They have its scale, are significantly correlated with it, and most are not named like metrics. Labels
    of classes are predicted by probabilities.
    """
    if columns.kind(truth) != "number" or columns.height < _MIN_FORECASTS:
        return []
    values = columns.numbers(truth)
    names = columns.split_scores(columns.names, columns_are_models=True)[0]
    names = [name for name in names if name != truth]
    is_label = bool(np.isin(values, (0, 1)).all())
    if len(names) < 2 or 2 * sum(map(is_metric_name, names)) >= len(names) or np.isnan(values).any():
        return []
    for forecast in map(columns.numbers, names):
        low, high = np.fmin.reduce(forecast), np.fmax.reduce(forecast)
        continuous = np.unique(forecast).size > _FEWEST_LEVELS
        on_scale = low >= 0 and high <= 1 and continuous if is_label else np.ptp(values) > 0
        centres = np.abs(np.median(values)), np.abs(np.median(forecast))
        on_scale &= is_label or max(centres) <= _MAX_FORECAST_RATIO * min(centres)
        if not on_scale or np.isnan(forecast).any() or low == high:
            return []
        if np.corrcoef(values, forecast)[0, 1] < _MIN_CORRELATION / np.sqrt(columns.height):
            return []
    return names


def _prediction_score(columns: Columns, truth: str, predicted: Sequence[str]) -> tuple[str, str]:
    """Return the name of a score for predictions, and an SQL template that computes it.

    The score is correctness, the Brier score or the absolute error. `truth` and `predicted` are the columns
    with true values and predictions.
    """
    names = [truth, *predicted]
    texts = any(columns.kind(name) == "text" or name in columns.text_scores for name in names)
    are_classes = all(map(columns.is_integer, names)) and columns.n_unique(truth) <= _MAX_CLASSES
    if texts or are_classes:
        return "correct", "CASE WHEN {0} = {1} THEN 1 ELSE 0 END"
    ranges = [(np.fmin.reduce(values), np.fmax.reduce(values)) for values in map(columns.numbers, names)]
    if columns.is_integer(truth) and all(low >= 0 and high <= 1 for low, high in ranges):
        return "brier", "({0} - {1}) * ({0} - {1})"
    return "abs_error", "ABS({0} - {1})"


# A name that ends with a number.
_NUMBERED = re.compile(r"(.*?)[ _.-]?(\d+)")
# Fewest numbered columns that are repeats.
_MIN_REPEATS = 3


def reject_unstacked_columns(columns: Columns, roles: Mapping[str, str], options: ReadOptions) -> None:
    """Raise InputError if columns hold repeats of a score, or one metric of one model each.

    `roles` maps roles to the columns that the user chose.
    """
    if options.sql is None:
        _reject_numbered_repeats(columns, options)
        if "model" not in roles and not columns.by_file:
            _reject_columns_of_models(columns, options)


def _reject_numbered_repeats(columns: Columns, options: ReadOptions) -> None:
    """Raise InputError if numbered columns, such as seed_0 and seed_1, repeat the scores of a row."""
    matches = {name: match for name in columns.by_kind("number") if (match := _NUMBERED.fullmatch(name))}
    for stem in dict.fromkeys(match[1] for match in matches.values()):
        names = [name for name, match in matches.items() if match[1] == stem]
        free = [name for name in columns.names if name not in names]
        taken = {stem, "score"} & {*free} or not stem
        if len(names) < _MIN_REPEATS or not has_word(stem, "run") or taken:
            continue
        column, kept = quote_column(stem), "".join(f"{quote_column(name)}, " for name in free)
        cells = " ".join(f"WHEN {matches[name][2]} THEN {quote_column(name)}" for name in names)
        rows = ", ".join(f"({matches[name][2]})" for name in names)
        query = f"SELECT {kept}{column}, CASE {column} {cells} END AS score FROM scores"
        query += f" CROSS JOIN (VALUES {rows}) AS numbers({column})"
        raise InputError(
            f"{columns.label}: the columns of one {stem} each hold repeats of a score",
            found=f"{len(names)} columns: {listing(names, 4)}",
            hint=f"write one row per {stem}, here with {option('sql', 'QUERY')}",
            suggestions=[("", replace(options, sql=query))],
        )


# Separators of the parts of a column name, and words of names that are not models.
_SEPARATORS, _NO_MODELS = "_./:| -", ("spread", "totals", "run", "truth", "predicted", "statistics")


def _reject_columns_of_models(columns: Columns, options: ReadOptions) -> None:
    """Raise InputError if each column holds one metric of one model, such as gpt_score and gpt_seconds."""
    for models, metrics, names in _name_grids(columns.by_kind("number")):
        are_splits = {model.casefold() for model in models} <= {*SPLITS}
        if are_splits or any(has_word(model, *_NO_MODELS) or model.isdecimal() for model in models):
            continue
        if any(map(is_metric_name, models)) or not any(map(is_metric_name, metrics)):
            continue
        free = [name for name in columns.names if name not in names.values()]
        source = "scores" if free else "(SELECT *, ROW_NUMBER() OVER () AS sample FROM scores) AS numbered"
        kept = "".join(f"{quote_column(name)}, " for name in free or ["sample"])
        scores = [
            "CASE model "
            + " ".join(f"WHEN {quote_text(m)} THEN {quote_column(names[m, metric])}" for m in models)
            + f" END AS {quote_column(metric)}"
            for metric in metrics
        ]
        values = ", ".join(f"({quote_text(model)})" for model in models)
        query = f"SELECT {kept}model, {', '.join(scores)} FROM {source}"
        query += f" CROSS JOIN (VALUES {values}) AS models(model)"
        raise InputError(
            f"{columns.label}: each column seems to hold one metric of one model",
            found=f"models: {listing(models)}; metrics: {listing(metrics)}",
            hint=f"if this is so, write one row per model, here with {option('sql', 'QUERY')}",
            suggestions=[("", replace(options, sql=query))],
        )


def _name_grids(names: Sequence[str]) -> Iterator[tuple[list[str], list[str], dict[tuple[str, str], str]]]:
    """Yield the ways in which column names combine each of several first parts with each of several others.

    Each way has the parts that may be models, those that may be metrics, and the names by both parts.
    """
    for separator, last in product(_SEPARATORS, (False, True)):
        seconds: dict[str, dict[str, str]] = {}
        for name in names:
            first, sign, second = name.rpartition(separator) if last else name.partition(separator)
            if sign and first and second:
                seconds.setdefault(first, {})[second] = name
        groups: dict[tuple[str, ...], list[str]] = {}
        for first, parts in seconds.items():
            groups.setdefault(tuple(sorted(parts)), []).append(first)
        for sorted_parts, firsts in groups.items():
            if len(sorted_parts) > 1 and len(firsts) > 1:
                others = [*seconds[firsts[0]]]
                yield firsts, others, {(f, s): seconds[f][s] for f in firsts for s in others}
                yield others, firsts, {(s, f): seconds[f][s] for f in firsts for s in others}


_MAX_TOTALS = 3
_DIGIT = re.compile(r"\d")


def exclude_totals(columns: Columns, where: str | None) -> tuple[str | None, str]:
    """Return an SQL condition that excludes rows with totals at the end of a table, and a note.

    Parameters
    ----------
    columns : Columns
    where : str or None
        Existing condition to combine with.

    Returns
    -------
    where : str or None
        SQL condition that excludes the rows.
    note : str
        Description of the excluded rows.
    """
    for name in (column for column in columns.names if columns.frame[column].dtype == pl.String):
        if columns.raw_kind(name) == "number" and not np.isnan(columns.numbers(name)).any():
            continue
        values, text = columns.frame[name].str.strip_chars().to_list(), columns.kind(name) == "text"
        if totals := _trailing_totals(values) if text else _totals_among_numbers(values):
            plural = "s" if len(totals) > 1 else ""
            return exclude_values(name, totals, values, where), f"excluding the row{plural} {listing(totals)}"
        # An unnamed last row is a total.
        if text and not values[-1] and all(values[:-1]) and len(values) > _MAX_TOTALS:
            condition = f"{quote_column(name)} IS NOT NULL"
            combined = condition if where is None else f"({where}) AND {condition}"
            return combined, f"excluding the last row, which has no {name}"
    return where, ""


def common_totals(columns: Columns, sample: str, by: Sequence[str]) -> list[str]:
    """Return the names of the rows with totals that follow the samples of every model.

    Parameters
    ----------
    columns : Columns
    sample : str
        Column that names samples.
    by : sequence of str
        Columns that identify models.
    """
    if not sample or sample in by or "+" in sample or columns.frame[sample].dtype != pl.String or not by:
        return []
    by = [*dict.fromkeys(by)]
    parts = columns.frame.select(pl.col(sample).cast(pl.String), *by).partition_by(by)
    totals = [_trailing_totals(part[sample].to_list()) for part in parts]
    return totals[0] if all(names == totals[0] for names in totals) else []


def reject_totals(source: Source, sample: str, models: Sequence[str]) -> None:
    """Raise InputError if the last rows of a matrix are totals, which would be counted as samples.

    `sample` is the column that names the rows, and `models` are the columns with scores.
    """
    frame = source.load([sample, *models])
    where, note = exclude_totals(Columns(frame, frame.columns, decimal_comma=source.decimal_comma), None)
    if where is not None:
        problem = f"{source.label}: the last rows of {sample} are totals, not samples"
        detail = f"rows: {listing(frame[sample].tail(_MAX_TOTALS))}"
        hint = f"to read the table {note}: {option('where', where)}"
        raise InputError(
            problem, found=detail, hint=hint, suggestions=[(option("where", where), {"where": where})]
        )


def _totals_among_numbers(names: Sequence[str | None]) -> list[str]:
    """Return the names of totals in a sample column whose other values are integers.

    The integers may be topic numbers, for example.
    """
    texts = {name for name in names if name is not None}
    labels = [text for text in texts if not text.isdecimal()]
    if not 0 < len(labels) <= _MAX_TOTALS < len(texts):
        return []
    return sorted(labels) if all(map(_is_total, labels)) else []


def _is_total(name: str) -> bool:
    """Return True if a name consists of words for totals."""
    return bool(words(name)) and words(name) <= vocabulary("totals")


def _trailing_totals(names: Sequence[str | None]) -> list[str]:
    """Return the names at the end of a column that are words for totals."""
    totals: list[str] = []
    for name in reversed([str(name) for name in names[-_MAX_TOTALS:]]):
        if not _is_total(name) or names.count(name) > 1 or _DIGIT.search(name):
            break
        totals.append(name)
    return totals
