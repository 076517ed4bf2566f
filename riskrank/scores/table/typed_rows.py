"""Convert the columns of one file to typed rows: parse scores, and encode names as categories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import parsing
from riskrank.scores.files.guards import reject_too_many, require_short
from riskrank.scores.files.parsing import DOT_ZERO
from riskrank.scores.files.query import quote_column
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns, format_excluded
from riskrank.scores.names.vocabulary import has_word, is_unnamed
from riskrank.scores.table import written_numbers
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.metric_specs import declared_metrics

# Columns of the frame, described at `riskrank.scores.table.scores.Scores`.
COLUMNS = (
    *("model", "sample", "metric", "score", "state", "draw"),
    *("task", "cluster", "group", "time", "noise", "row"),
)

# Roles whose columns hold names.
_NAME_ROLES = ("model", "sample", "draw", "cluster", "group", "task", "time", "noise")


@dataclass(frozen=True)
class TypedRows:
    """Rows of one file, their number in the file, warnings, and the binary metrics."""

    frame: pl.DataFrame
    height: int
    warnings: tuple[str, ...] = ()
    binary: tuple[str, ...] = ()


def long_rows(source: Source, roles: Roles) -> TypedRows:
    """Return the rows of a long table, which has one score per row. `roles` holds the columns of the file.

    Raises
    ------
    InputError
        If a column of names cannot be read as text.
    """
    assert roles.score is not None  # guaranteed by role assignment
    assert roles.metric is not None
    # Names as text dominate memory use, so at most one column is expanded at a time.
    table = None if source.columnar else source.load(_columns(roles, roles.metric, roles.score))

    def column(name: str) -> pl.Series:
        """Return the values of a column as read from the file."""
        return (source.load([name]) if table is None else table)[name]

    height = source.height() if table is None else table.height
    coded = _encode_roles(source, roles, column, height)
    coded["metric"] = encode_names(source, roles, "metric", column(roles.metric))
    scores = column(roles.score)
    values, state = parsing.parse_scores(scores, source.decimal_comma)
    truths = tuple(categories(coded["metric"])) if scores.dtype == pl.Boolean else ()
    row = np.arange(height, dtype=np.uint32)
    notes = _truth_notes(source, coded["metric"], scores, values)
    return TypedRows(_build_frame(coded, values, state, row), height, notes, truths)


def wide_rows(source: Source, roles: Roles, options: ReadOptions) -> TypedRows:
    """Return the rows of a wide table, which has one column per metric, in long format.

    `roles` holds the columns of the file.

    Raises
    ------
    InputError
        If a requested metric is not numeric, a column mixes numbers and text, or no metric is left.
    """
    # Metrics requested as TASK=NAME are included only if plain names are requested as well.
    suffixes = [text[at + 1 :] for text in options.metric for at, sign in enumerate(text) if sign == "="]
    plain = [name for name in options.metric if name in roles.values]
    of_tasks = [name for name in suffixes if name in roles.values]
    requested = [*dict.fromkeys([*plain, *of_tasks])] if plain else []
    # A column without a name, or with pandas' default name, is the index of a saved frame.
    values = requested or [name for name in roles.values if not is_unnamed(name)]
    frame = source.load(_columns(roles, *values))
    reject_too_many(source.label, "metric", values)
    declared = sorted(options.mentioned_metrics.intersection(values))
    metrics = _metric_columns(source, frame[values], requested, () if options.metric else declared)
    excluded: dict[str, str] = {}
    if not requested:
        columns = Columns(frame[list(metrics)], metrics, decimal_comma=source.decimal_comma)
        fixed = {*declared, *declared_metrics(options)[1]}
        remaining, reasons = columns.split_scores(metrics, fixed, allow_constant=options.allow_constant)
        excluded = reasons if remaining else {}
    metrics = tuple(name for name in metrics if name not in excluded)
    if not metrics and not options.metric:
        hint = "a wide table needs a numeric column in addition to model and sample"
        raise source.error_with_columns("no column can be a metric", hint)
    parsed = [parsing.parse_scores(frame[name], source.decimal_comma) for name in metrics]
    scores = np.stack([part for part, _ in parsed], axis=1) if parsed else np.empty((frame.height, 0))
    state = None
    if any(part is not None for _, part in parsed):
        clean = np.zeros(frame.height, dtype=np.int8)
        state = np.stack([clean if part is None else part for _, part in parsed], axis=1).ravel()
    row = np.repeat(np.arange(frame.height, dtype=np.uint32), len(metrics))
    coded, rows = _encode_roles(source, roles, frame.get_column, frame.height), pl.Series(row)
    coded = {role: names[rows] for role, names in coded.items()}
    every = pl.Series(metrics, dtype=pl.Enum(metrics))
    coded["metric"] = every[pl.Series(np.tile(np.arange(len(metrics), dtype=np.uint32), frame.height))]
    warnings = [f"{source.label}: ignored, not scores: {format_excluded(excluded)}"] if excluded else []
    for name, (part, _) in zip(metrics, parsed, strict=True):
        warnings += _truth_notes(source, pl.repeat(name, part.size, eager=True), frame[name], part)
    binary = tuple(
        name
        for name, (values, _) in zip(metrics, parsed, strict=True)
        if frame[name].dtype == pl.Boolean
        or (has_word(name, "truths") and not set(np.unique(values[~np.isnan(values)])) - {0.0, 1.0})
    )
    return TypedRows(_build_frame(coded, scores.ravel(), state, row), frame.height, tuple(warnings), binary)


def _truth_notes(source: Source, metrics: pl.Series, cells: pl.Series, values: np.ndarray) -> tuple[str, ...]:
    """Return a note on metrics that mix the words true and false with numbers other than 0 and 1.

    Parameters
    ----------
    source : Source
    metrics : polars.Series
        Metric of each cell.
    cells : polars.Series
        Scores as they were read.
    values : ndarray of float64
        Scores as numbers, NaN if missing or invalid.
    """
    binary = np.isin(values, (0.0, 1.0))
    if cells.dtype != pl.String or (binary | np.isnan(values)).all():
        return ()
    words = cells.filter(binary).str.strip_chars().str.to_lowercase().is_in(["true", "false"])
    numeric = metrics.filter(~binary & ~np.isnan(values))
    names = metrics.filter(binary).filter(words).unique(maintain_order=True)
    mixed = [str(name) for name in names if name in numeric]
    note = f"{source.label}: true and false count as 1 and 0 among the numbers of {listing(mixed)}"
    return (note,) if mixed else ()


def concat_rows(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate the rows of all files, one data frame each. Their names share one list of categories."""
    if len(frames) == 1:
        return frames[0]
    return pl.DataFrame([_concat_column([frame[name] for frame in frames]) for name in COLUMNS])


def _concat_column(parts: Sequence[pl.Series]) -> pl.Series:
    """Concatenate the parts of one column, one per file; the result is null unless all files have it."""
    dtypes = [part.dtype for part in parts]
    if pl.Null in dtypes and parts[0].name == "state":  # files in which all scores are valid have no states
        return pl.concat([part.fill_null(parsing.VALID).cast(pl.Int8) for part in parts])
    if pl.Null in dtypes:  # a role is usable only if all files have it
        return pl.repeat(None, sum(map(len, parts)), dtype=pl.Null, eager=True).alias(parts[0].name)
    if isinstance(dtypes[0], pl.Enum):
        lists = [categories(part) for part in parts]
        every = pl.Enum(pl.concat(lists).unique().sort())
        parts = [
            names.cast(every)[part.to_physical()].alias(part.name)
            for names, part in zip(lists, parts, strict=True)
        ]
    return pl.concat(parts, rechunk=True)


def _columns(roles: Roles, *values: str) -> list[str]:
    """Return the columns to load: those that have a role, followed by `values`."""
    named = [getattr(roles, role) for role in _NAME_ROLES]
    return [*dict.fromkeys(column for column in (*named, *values) if column is not None)]


def _build_frame(
    coded: Mapping[str, pl.Series], scores: np.ndarray, state: np.ndarray | None, row: np.ndarray
) -> pl.DataFrame:
    """Build the typed data frame, with null columns for missing roles.

    Parameters
    ----------
    coded : mapping of str to Series
        Encoded names by role.
    scores, state, row : ndarray
        Scores, their states (None if all are valid), and the row number of each score.
    """
    columns = {**coded, "score": pl.Series(scores), "row": pl.Series(row)}
    if state is not None:
        columns["state"] = pl.Series(state)
    empty = pl.Series([None], dtype=pl.Null).new_from_index(0, row.size)
    return pl.DataFrame([columns.get(name, empty).alias(name) for name in COLUMNS])


def _metric_columns(source: Source, frame: pl.DataFrame, chosen: Names, declared: Names) -> tuple[str, ...]:
    """Return the columns that are metrics: the chosen ones, or otherwise all numeric ones.

    Parameters
    ----------
    source : Source
    frame : DataFrame
        Columns without another role.
    chosen, declared : sequence of str
        Metrics that the user requested, and metrics that other options mention.

    Raises
    ------
    InputError
        If a requested or declared column is not numeric, or numbers are written as text.
    """
    kinds = {name: parsing.column_kind(frame[name], source.decimal_comma) for name in frame.columns}
    for name in (*chosen, *declared):
        if kinds[name] in ("text", "other"):
            fmt = written_numbers.number_format(frame[name])
            hint = f"select numeric or boolean columns with {option('metric')}"
            hint = written_numbers.conversion_hint([source], {name: fmt}) if fmt else hint
            problem = f"{source.label}: column '{name}' is not numeric and cannot be a metric"
            detail = f"values such as {written_numbers.format_examples(frame[name])}"
            raise InputError(problem, found=detail, hint=hint)
    if chosen:
        return tuple(chosen)
    text = (name for name, kind in kinds.items() if kind == "text")
    formats = {name: fmt for name in text if (fmt := written_numbers.number_format(frame[name])) is not None}
    if formats:
        first = next(iter(formats))
        names = f"column{'s' if len(formats) > 1 else ''} {listing(map(repr, formats))}"
        problem = f"{source.label}: {names} would be ignored: {formats[first].description} stored as text"
        detail = f"values such as {written_numbers.format_examples(frame[first])}"
        hint = written_numbers.conversion_hint([source], formats)
        raise InputError(problem, found=detail, hint=hint)
    texts = frame.select(name for name, kind in kinds.items() if kind == "text")
    written_numbers.reject_mixed_columns(source, texts, "metric")
    return tuple(sorted(name for name, kind in kinds.items() if kind == "number"))


def categories(series: pl.Series) -> pl.Series:
    """Return the categories of a categorical column."""
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories


def _encode_roles(
    source: Source, roles: Roles, column: Callable[[str], pl.Series], height: int
) -> dict[str, pl.Series]:
    """Encode the names of all roles as categories; return the encoded columns by role.

    Only roles for which the file has a column or a label are included. `column` returns the values of a
    column by name, and `height` is the number of rows.
    """
    encoded: dict[str, pl.Series] = {}
    for role in _NAME_ROLES:
        name = getattr(roles, role)
        encoded |= encode_role(source, roles, role, None if name is None else column(name), height)
    return encoded


def encode_role(
    source: Source, roles: Roles, role: str, column: pl.Series | None, height: int
) -> dict[str, pl.Series]:
    """Encode the names of one role, such as model or sample, as categories.

    A label names the model. Without a sample column, all rows belong to one sample.

    Parameters
    ----------
    source : Source
    roles : Roles
    role : str
    column : Series or None
        Column for the role, if the file has one.
    height : int
        Number of rows.

    Returns
    -------
    dict of str to Series
        Encoded names by role, with at most one entry.
    """
    if role == "sample" and column is None:
        return {role: _repeat_name("", height)}
    if role == "task" and column is not None:
        named = _as_text(source, column).cast(pl.String).str.strip_chars().fill_null("") != ""
        # Pooled tasks merely distinguish samples, and are ignored unless every row has one.
        if not (named.all() if roles.pools_tasks else named.any()):
            return {}
    label = source.model_label if role == "model" else None
    if label is None:
        return {} if column is None else {role: encode_names(source, roles, role, column)}
    if column is None or _as_text(source, column).drop_nulls().str.strip_chars().n_unique() <= 1:
        return {role: _repeat_name(label, height)}
    coded = encode_names(source, roles, role, column)
    names = pl.Series([f"{label}/"]) + categories(coded)
    return {role: names.cast(pl.Enum(names))[coded.to_physical()]}


def _repeat_name(name: str, height: int) -> pl.Series:
    """Return a categorical column of the given height in which one name is repeated."""
    return pl.Series([name], dtype=pl.Enum([name])).new_from_index(0, height)


def _as_text(source: Source, series: pl.Series) -> pl.Series:
    """Convert a column of names to text, with null for NaN among numbers."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    try:
        return series if isinstance(series.dtype, pl.Enum) else series.cast(pl.String)
    except pl.exceptions.PolarsError:
        problem = f"{source.label}: column {series.name} cannot be used as names"
        hint = f"name a column of text or integers with {option('columns')}"
        raise InputError(problem, found=f"type {series.dtype}", hint=hint) from None


def encode_names(source: Source, roles: Roles, role: str, series: pl.Series) -> pl.Series:
    """Encode names in a column with a role as sorted categories, without surrounding whitespace.

    Only the distinct names are cleaned, so the cost per row is a single hash look-up. `roles` holds the
    columns of the file.

    Raises
    ------
    InputError
        If a name is empty or too long.
    """
    text = _as_text(source, series)
    if not isinstance(text.dtype, pl.Enum):
        text = text.cast(pl.Enum(text.to_frame().select(pl.first().unique().drop_nulls().sort()).to_series()))
    distinct = categories(text)
    name = pl.col("name").str.strip_chars()
    # Convert 1.0 to 1, except in names of models and metrics.
    name = name if role in ("model", "metric") else name.str.replace(DOT_ZERO, "$1")
    clean = distinct.to_frame("name").select(name).to_series()
    if role != "sample":
        require_short(source.label, f"in column {series.name}", clean)
    if text.null_count() or (clean == "").any():
        raise _blank_name_error(source, role, str(getattr(roles, role)), text.cast(pl.String))
    if clean.equals(distinct) and clean.is_sorted():
        return text
    return clean.cast(pl.Enum(clean.unique().sort()))[text.to_physical()]


def _blank_name_error(source: Source, role: str, column: str, text: pl.Series) -> InputError:
    """Return the error for an empty name in a column with a role; `text` holds its cells."""
    blank = (text.is_null() | (text.str.strip_chars() == "")).arg_true()
    hint = f"name another column: {option('columns', f'{role}=…')}"
    condition = f"{quote_column(column)} IS NOT NULL"
    if role != "model":
        hint = f"exclude such rows: {option('where', condition)}"
    if role == "task":
        hint += f"; {option('task', 'none')} pools all samples"
    file, row = source.file_of(blank[0]), source.row_number(blank[0])
    problem = f"{file}: row {row}, column {column}: the {role} has no name"
    detail = f"an empty cell; {len(blank)} such row{'s' if len(blank) > 1 else ''} in total"
    suggestions = [] if role == "model" else [(option("where", condition), {"where": condition})]
    return InputError(problem, found=detail, hint=f"fill it in, or {hint}", suggestions=suggestions)
