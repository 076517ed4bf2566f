"""Columns without a role: candidates for repeats, clusters and groups.

They are only mentioned in messages, because the user has to decide what they mean.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import polars as pl

from riskrank.engine.sampling.design import MIN_LEVELS
from riskrank.errors import listing, option
from riskrank.options.option import options_of
from riskrank.scores.files.parsing import UNSCORED
from riskrank.scores.files.query import quote_column, quote_text
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import Reading, format_options, set_roles
from riskrank.scores.layouts.row_keys import MAX_KINDS, extra_keys, is_partition, is_per_sample
from riskrank.scores.names.vocabulary import has_word, is_cluster_name, to_numeric, vocabulary, words
from riskrank.scores.table.metric_specs import DIRECTION
from riskrank.scores.table.scores import Scores

# Reserved columns, which describe metrics and missing scores instead of samples.
_RESERVED = (DIRECTION, UNSCORED)
# Columns with more distinct values hold names, times or measurements instead of runs or groups.
_MAX_VALUES = 20
# Inspecting more columns of larger tables would take as long as reading them.
_MAX_ROWS = 5_000_000
_MAX_COLUMNS = 20
# The first rows rule out most columns, so that long texts need not be loaded.
_HEAD_ROWS = 1000
# Maximum number of clusters, as a share of the samples and of the first rows.
MAX_CLUSTER_SHARE, _MAX_UNIQUE_SHARE = 0.5, 0.8
# Possible meanings of duplicate rows that a column distinguishes, for messages.
_MODELS, _RUNS, _TASKS = "for separate models use", "for repeats use", "for tasks use"
_SAMPLES, _METRICS, _SINGLE = "for samples use", "for metrics use", "to keep only one of them use"
# Helper columns for the cell and sample of a row, with names that no file uses.
_CELL, _SAMPLE = "\0cell", "\0sample"


def repeats_hint(scores: Scores) -> tuple[str, list[Reading]]:
    """Return a hint about columns that distinguish duplicate rows, and the possible meanings of one column.

    The hint and the list are empty if there are no such columns.
    """
    metrics = {name for name in scores.metrics if name in scores.options.metric or not has_word(name, "run")}
    columns = _load_columns(scores, _unassigned_columns(scores, metrics))
    # Measurements and names of single rows do not distinguish repeats.
    few = [name for name in columns.names if 1 < columns.n_unique(name) < columns.height]
    is_float = {name: columns.frame[name].dtype.is_float() for name in few}
    candidates = [name for name in few if columns.n_unique(name) <= _MAX_VALUES or not is_float[name]]
    sufficient = {name: columns.is_key(_CELL, name) for name in candidates}
    candidates.sort(
        key=lambda name: (not sufficient[name], not has_word(name, "run"), columns.n_unique(name), name)
    )
    single = [name for name in candidates[:1] if sufficient[name]]
    keys = single or extra_keys(columns, [_CELL], candidates)
    if not keys or not columns.is_key(_CELL, *keys):
        text = f"{listing(map(repr, keys))} {'differs' if len(keys) == 1 else 'differ'} between duplicates: "
        text += f"select rows with {option('where')}; {format_repeats_option(scores)} all as repeats"
        return text if keys else "", []
    if len(keys) > 1:
        text = f"columns {' and '.join(map(repr, keys))} distinguish the duplicates: set their roles ("
        text += _format_meanings(scores, _possible_meanings(scores, "NAME"))
        text += f"), or select rows, {option('where')}"
        return text, []
    (name,), alternatives = keys, [column for column in candidates[1:] if sufficient[column]]
    several = f" (also {listing(map(repr, alternatives))})" if alternatives else ""
    # If only rows with a value that occurs in every cell are kept, every cell still has a row.
    cells = columns.frame.group_by(name).agg(pl.col(_CELL).n_unique())
    common = cells.filter(pl.col(_CELL) == columns.n_unique(_CELL)).drop_nulls().sort(name)[name]
    is_text = columns.frame[name].dtype == pl.String and not has_word(name, "run")
    readings = _possible_meanings(scores, name, common.first(), is_text=is_text)
    text = f"column {name!r} distinguishes the duplicates{several}: {_format_meanings(scores, readings)}"
    return text, readings


def repeats_choice(scores: Scores) -> tuple[str, str]:
    """Return the best value of the option `repeats` for independent runs, and a verb for its effect.

    Commands that cannot keep repeats average them.
    """
    choices = next(item for item in options_of(type(scores.options)) if item.name == "repeats").spec.choices
    return ("draws", "keeps") if "draws" in choices else ("mean", "averages")


def format_repeats_option(scores: Scores) -> str:
    """Format the best ``--repeats`` option with its effect, such as ``--repeats mean averages``."""
    choice, effect = repeats_choice(scores)
    return f"{option('repeats', choice)} {effect}"


def _format_meanings(scores: Scores, readings: Sequence[Reading]) -> str:
    """Format the possible meanings of a column, each followed by the options that declare it."""
    return ", ".join(f"{r.summary} {format_options(r.options, scores.notes.resolved)}" for r in readings)


def _possible_meanings(
    scores: Scores, name: str, value: object = None, *, is_text: bool = False
) -> list[Reading]:
    """Return what a column that distinguishes duplicates may mean, the most likely first.

    Parameters
    ----------
    scores : Scores
    name : str
        The column.
    value : object
        A value of the column that occurs for each model, sample and metric, if there is one.
    is_text : bool
        Whether the values are names, such as those of prompts, rather than numbers of repeats.

    Returns
    -------
    list of Reading
        Each with options that declare this meaning.
    """
    base, roles, parts = scores.notes.resolved, scores.notes.files[0].roles, words(name)
    joined = {
        role: f"{column}+{name}" for role in ("model", "sample", "metric") if (column := getattr(roles, role))
    }
    clusters = {} if roles.cluster else {"cluster": roles.sample}
    is_task = bool(parts & vocabulary("whole")) and roles.task is None
    is_sample = "sample" in joined and not is_task
    names_settings = is_text and value is not None and "model" in joined
    cases = {
        _MODELS: set_roles(base, {"model": joined["model"]}) if names_settings else None,
        _RUNS: None if names_settings else set_roles(base, {"draw": name}, repeats=repeats_choice(scores)[0]),
        _TASKS: replace(base, task=name) if is_task else None,
        _SAMPLES: set_roles(base, {"sample": joined["sample"]}, **clusters) if is_sample else None,
        _METRICS: set_roles(base, {"metric": joined["metric"]}) if "metric" in joined else None,
        _SINGLE: None if value is None else replace(base, where=filter_condition(name, value, base.where)),
    }
    order = [*cases]
    # Scores of two judges or settings are not exchangeable repeats.
    if parts & vocabulary("judge", "setting"):
        order = [_SINGLE, _METRICS]
    elif parts & vocabulary("within", "whole") and not has_word(name, "run"):
        order = [_TASKS, _SAMPLES, _RUNS, _METRICS, _SINGLE]
    return [Reading(summary=text, options=options) for text in order if (options := cases[text]) is not None]


def candidate_clusters(scores: Scores, *, named: bool = False) -> list[tuple[str, pl.DataFrame]]:
    """Return columns without a role that may contain clusters of samples.

    Parameters
    ----------
    scores : Scores
    named : bool
        Whether the column names must suggest clusters.

    Returns
    -------
    list of (str, DataFrame)
        Name of the column, and its value for each sample.
    """
    excluded = vocabulary("whole", "setting", "properties", "answer") - vocabulary("topics")
    names = [name for name in _sample_columns(scores, set(scores.metrics)) if not words(name) & excluded]
    names = [name for name in names if is_cluster_name(name)] if named else names
    columns, candidates = _low_cardinality_columns(scores, names, _MAX_UNIQUE_SHARE * _HEAD_ROWS), []
    for name in columns.names:
        count, most = columns.n_unique(name), MAX_CLUSTER_SHARE * columns.n_unique(_SAMPLE)
        values = columns.frame[name].unique()
        numbered = values.dtype == pl.String and values.str.contains(r"\d").all()
        # Columns of few short words may be categories instead.
        least = MIN_LEVELS if numbered or values.dtype.is_temporal() else MAX_KINDS + 1
        least = 2 if is_cluster_name(name) else least
        if least <= count <= most and is_per_sample(columns, name, [_SAMPLE]):
            clusters = columns.frame.select(cluster=name, sample=pl.col(_SAMPLE).cast(pl.String))
            candidates.append((name, clusters.unique("sample")))
    return candidates


def dividing_columns(scores: Scores) -> tuple[str, ...]:
    """Return the columns that divide the samples into groups of sufficient size, in file order."""
    values = {name for file in scores.notes.files for name in file.roles.values}
    columns = _low_cardinality_columns(scores, _sample_columns(scores, values), _MAX_VALUES)
    return tuple(name for name in columns.names if is_partition(columns, name, [_SAMPLE]))


def is_sorted_by_group(scores: Scores) -> bool:
    """Return True if the rows of each model are sorted by a column that divides the samples into groups."""
    names, most = dividing_columns(scores), len(scores.models)
    files = (file.source.load(names) for file in scores.notes.files)
    return bool(names) and any(series.rle().len() <= most * series.n_unique() for series in pl.concat(files))


def _low_cardinality_columns(scores: Scores, names: Sequence[str], limit: float) -> Columns:
    """Load the columns that have at most `limit` distinct values in the first rows, and no fractions.

    Only the first columns are examined.
    """

    def in_first_rows(name: str) -> int:
        """Count the distinct values in the first rows of each file; return the largest count."""
        heads = (file.source.scan([name]) for file in scores.notes.files)
        return max(0 if scan is None else scan.head(_HEAD_ROWS).collect()[name].n_unique() for scan in heads)

    columns = _load_columns(scores, [name for name in names[:_MAX_COLUMNS] if in_first_rows(name) <= limit])
    discrete = [name for name in columns.names if not columns.frame[name].dtype.is_float()]
    return Columns(columns.frame, discrete)


def _sample_columns(scores: Scores, metrics: set[str]) -> list[str]:
    """Return the columns without a role that may describe samples.

    `metrics` are the columns with scores. The list is empty if the table is too large to inspect.
    """
    if scores.notes.rows > _MAX_ROWS or not scores.notes.has_samples:
        return []
    return _unassigned_columns(scores, metrics)


def _unassigned_columns(scores: Scores, metrics: set[str]) -> list[str]:
    """Return the columns common to all files that have neither a role nor scores, in file order.

    `metrics` are the columns with scores in a wide table.
    """
    files = scores.notes.files
    spare = set.intersection(*(set(file.source.columns) for file in files))
    for file in files:
        roles = [getattr(file.roles, role.name) for role in fields(file.roles)]
        used = [column for column in roles if isinstance(column, str) and column]
        spare -= {part for column in used for part in (column, *column.split("+"))}
    if _is_wide(scores):
        spare -= metrics
    return [name for name in files[0].source.columns if name and name in spare and name not in _RESERVED]


def _is_wide(scores: Scores) -> bool:
    """Return True if the first file is a wide table."""
    return scores.notes.files[0].roles.score is None


def _load_columns(scores: Scores, names: Sequence[str]) -> Columns:
    """Load some columns of the files, excluding nested ones.

    Two helper columns hold the sample of each row, and a number for its combination of model, sample and
    metric.
    """
    if not names:  # saves seconds on tables with millions of rows
        return Columns(pl.DataFrame(), [])
    frames = [file.source.load(names) for file in scores.notes.files]
    plain = [name for name in names if not any(frame[name].dtype.is_nested() for frame in frames)]
    rows, cell = scores.frame.select("row", "model", "sample", "metric"), ["model", "sample", "metric"]
    if _is_wide(scores):  # the metrics share their row
        rows, cell = rows.unique("row", keep="first", maintain_order=True), cell[:2]
    ids = [rows["sample"].alias(_SAMPLE), rows.select(pl.struct(cell).rank("dense")).to_series().alias(_CELL)]
    if not plain:
        return Columns(pl.DataFrame(ids), [])
    texts = pl.concat([frame.select(pl.col(plain).cast(pl.String, strict=False)) for frame in frames])
    return Columns(pl.DataFrame([*map(to_numeric, texts[rows["row"]]), *ids]), plain)


def filter_condition(column: str, value: object, existing: str | None = None) -> str:
    """Return an SQL condition for the rows in which a column has a given value.

    Parameters
    ----------
    column : str
    value : object
    existing : str, optional
        Existing condition to combine with.
    """
    number = isinstance(value, int | float)
    clause = f"{quote_column(column)} = {repr(value) if number else quote_text(str(value))}"
    return clause if existing is None else f"({existing}) AND {clause}"
