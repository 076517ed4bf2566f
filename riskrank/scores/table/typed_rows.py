"""The columns of one file become rows of the typed frame: scores parsed, names as numbers into a list."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import parsing
from riskrank.scores.files.limits import require_few, require_short
from riskrank.scores.files.parsing import WHOLE_FLOAT
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import quoted_column
from riskrank.scores.names.score_columns import format_excluded
from riskrank.scores.names.vocabulary import is_unnamed, has_word
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.metrics_file import described_metrics

COLUMNS = (
    *("model", "sample", "metric", "score", "state", "draw"),
    *("task", "cluster", "group", "time", "noise", "row"),
)
"""Columns of the frame; what each holds is said at `riskrank.scores.table.scores.Scores`."""

# Columns of names that a file has by its roles.
_NAMED = ("model", "sample", "draw", "cluster", "group", "task", "time", "noise")


@dataclass(frozen=True)
class TypedRows:
    """Rows of one file, its height, what looks strange there, and which metrics are true or false."""

    frame: pl.DataFrame
    height: int
    doubts: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()


def long_rows(source: Source, roles: Roles) -> TypedRows:
    """Rows of a table of one score a row.

    Raises
    ------
    InputError
        If names cannot be read as names.
    """
    assert roles.score is not None  # a long table without them was refused
    assert roles.metric is not None
    # Millions of names as text need more memory than all the rest: at most one column is text at a time.
    whole = None if source.columnar else source.load(_columns(roles, roles.metric, roles.score))

    def column(name: str) -> pl.Series:
        return (source.load([name]) if whole is None else whole)[name]

    height = source.height() if whole is None else whole.height
    coded = _of_roles(source, roles, column, height)
    coded["metric"] = coded_names(source, roles, "metric", column(roles.metric))
    scores = column(roles.score)
    values, state = parsing.parse_scores(scores, source.decimal_comma)
    truths = tuple(list_of(coded["metric"])) if scores.dtype == pl.Boolean else ()
    row = np.arange(height, dtype=np.uint32)
    return TypedRows(_laid(coded, values, state, row), height, truths=truths)


def wide_rows(source: Source, roles: Roles, options: ReadOptions) -> TypedRows:
    """Rows of a table of one metric a column, the metrics of a row after each other.

    Raises
    ------
    InputError
        If a metric that was asked for is not numeric, a column holds numbers and text, or none is left.
    """
    asked = _picked(options.metric, roles.values)
    # A column without a name, or called as pandas calls one, is the index of the frame that was saved.
    values = asked or [name for name in roles.values if not is_unnamed(name)]
    frame = source.load(_columns(roles, *values))
    require_few(source.label, "metric", values)
    declared = [name for name in (*options.lower, *options.higher, *options.weight) if name in values]
    metrics = _metrics(source, frame[values], asked, () if options.metric else declared)
    gone = {} if asked else _bookkeeping(source, frame[list(metrics)], declared, options)
    metrics = tuple(name for name in metrics if name not in gone)
    if not metrics and not options.metric:
        hint = "a wide table needs at least one numeric column beside model and sample"
        raise source.refused("no column is left that could be a metric", hint)
    parsed = [parsing.parse_scores(frame[name], source.decimal_comma) for name in metrics]
    scores = np.stack([one for one, _ in parsed], axis=1) if parsed else np.empty((frame.height, 0))
    state = None
    if any(one is not None for _, one in parsed):
        clean = np.zeros(frame.height, dtype=np.int8)
        state = np.stack([clean if one is None else one for _, one in parsed], axis=1).ravel()
    row = np.repeat(np.arange(frame.height, dtype=np.uint32), len(metrics))
    coded, rows = _of_roles(source, roles, frame.get_column, frame.height), pl.Series(row)
    coded = {role: names[rows] for role, names in coded.items()}
    every = pl.Series(metrics, dtype=pl.Enum(metrics))
    coded["metric"] = every[pl.Series(np.tile(np.arange(len(metrics), dtype=np.uint32), frame.height))]
    doubts = (f"{source.label}: left out, no scores: {format_excluded(gone)}",) if gone else ()
    truths = tuple(
        name
        for name, (values, _) in zip(metrics, parsed, strict=True)
        if frame[name].dtype == pl.Boolean
        or (has_word(name, "truths") and not set(np.unique(values[~np.isnan(values)])) - {0.0, 1.0})
    )
    return TypedRows(_laid(coded, scores.ravel(), state, row), frame.height, doubts, truths)


def united(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows of all files one below the other, names as numbers into one list."""
    if len(frames) == 1:
        return frames[0]
    return pl.DataFrame([_united([frame[name] for frame in frames]) for name in COLUMNS])


def _united(parts: Sequence[pl.Series]) -> pl.Series:
    dtypes = [part.dtype for part in parts]
    if pl.Null in dtypes and parts[0].name == "state":  # of a file in which every score is one
        return pl.concat([part.fill_null(parsing.VALID).cast(pl.Int8) for part in parts])
    if pl.Null in dtypes:  # what some files lack links nothing
        return pl.repeat(None, sum(map(len, parts)), dtype=pl.Null, eager=True).alias(parts[0].name)
    if isinstance(dtypes[0], pl.Enum):
        lists = [list_of(part) for part in parts]
        every = pl.Enum(pl.concat(lists).unique().sort())
        parts = [
            names.cast(every)[part.to_physical()].alias(part.name)
            for names, part in zip(lists, parts, strict=True)
        ]
    return pl.concat(parts, rechunk=True)


def _columns(roles: Roles, *values: str) -> list[str]:
    named = [getattr(roles, role) for role in _NAMED]
    return [*dict.fromkeys(column for column in (*named, *values) if column is not None)]


def _laid(
    coded: Mapping[str, pl.Series], scores: np.ndarray, state: np.ndarray | None, row: np.ndarray
) -> pl.DataFrame:
    found = {**coded, "score": pl.Series(scores), "row": pl.Series(row)}
    if state is not None:
        found["state"] = pl.Series(state)
    nothing = pl.Series([None], dtype=pl.Null).new_from_index(0, row.size)
    return pl.DataFrame([found.get(name, nothing).alias(name) for name in COLUMNS])


def _picked(asked: Names, columns: Names) -> list[str]:
    """Columns that are metrics by name; TASK=NAME beside them names more, by itself it leaves all."""
    plain = [name for name in dict.fromkeys(asked) if name in columns]
    ends = [text[at + 1 :] for text in asked for at, sign in enumerate(text) if sign == "="]
    return [*dict.fromkeys([*plain, *(name for name in ends if name in columns)])] if plain else []


def _metrics(source: Source, frame: pl.DataFrame, asked: Names, declared: Names) -> tuple[str, ...]:
    """Columns that are metrics: those asked for, else all of numbers."""
    from riskrank.scores.table.written_numbers import as_numbers, example, refuse_mixed, writing_of

    kinds = {name: parsing.column_kind(frame[name], source.decimal_comma) for name in frame.columns}
    for name in (*asked, *declared):
        if kinds[name] in ("text", "other"):
            writing = writing_of(frame[name])
            raise InputError(
                f"{source.label}: column '{name}' is not numeric and cannot be a metric",
                found=f"values such as {example(frame[name])}",
                hint=as_numbers([source], {name: writing})
                if writing
                else f"pick numeric or boolean columns with {option('metric')}",
            )
    if asked:
        return tuple(asked)
    text = (name for name, kind in kinds.items() if kind == "text")
    written = {name: writing for name in text if (writing := writing_of(frame[name])) is not None}
    if written:
        first = next(iter(written))
        names = f"column{'s' if len(written) > 1 else ''} {listing(map(repr, written))}"
        what = f"{source.label}: {names} would be left out: {written[first].what} as text"
        found, hint = f"values such as {example(frame[first])}", as_numbers([source], written)
        raise InputError(what, found=found, hint=hint)
    refuse_mixed(source, frame.select(name for name, kind in kinds.items() if kind == "text"), "metric")
    return tuple(sorted(name for name, kind in kinds.items() if kind == "number"))


def _bookkeeping(
    source: Source, frame: pl.DataFrame, declared: Names, options: ReadOptions
) -> dict[str, str]:
    """Columns nobody named that are no scores, with what they are; none where nothing else is left."""
    from riskrank.scores.layouts.column_profiles import Columns

    _, described = described_metrics(options)
    columns = Columns(frame, frame.columns, decimal_comma=source.decimal_comma)
    left, gone = columns.measures(frame.columns, {*declared, *described}, constant=options.allow_constant)
    return gone if left else {}


def list_of(series: pl.Series) -> pl.Series:
    """The names a column of numbers points to."""
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories


def _of_roles(
    source: Source, roles: Roles, column: Callable[[str], pl.Series], height: int
) -> dict[str, pl.Series]:
    """Names of the roles that a file has columns for, or labels."""
    found: dict[str, pl.Series] = {}
    for role in _NAMED:
        name = getattr(roles, role)
        found |= of_role(source, roles, role, None if name is None else column(name), height)
    return found


def of_role(
    source: Source, roles: Roles, role: str, column: pl.Series | None, height: int
) -> dict[str, pl.Series]:
    """Names of a role, if the file has any; a label names the models, and no column the only sample."""
    if role == "sample" and column is None:
        return {role: _one_name("", height)}
    if role == "task" and column is not None and _names_no_task(source, roles, column):
        return {}
    label = source.model_label if role == "model" else None
    if label is None:
        return {} if column is None else {role: coded_names(source, roles, role, column)}
    if column is None or _text(source, column).drop_nulls().str.strip_chars().n_unique() <= 1:
        return {role: _one_name(label, height)}
    coded = coded_names(source, roles, role, column)
    names = pl.Series([f"{label}/"]) + list_of(coded)
    return {role: names.cast(pl.Enum(names))[coded.to_physical()]}


def _names_no_task(source: Source, roles: Roles, column: pl.Series) -> bool:
    """Whether no cell names a task, as harnesses write it, or some do not, where nobody asks for tasks."""
    named = _text(source, column).cast(pl.String).str.strip_chars().fill_null("") != ""
    return not (named.all() if roles.pools_tasks else named.any())


def _one_name(name: str, height: int) -> pl.Series:
    return pl.Series([name], dtype=pl.Enum([name])).new_from_index(0, height)


def _text(source: Source, series: pl.Series) -> pl.Series:
    """A column of names as text; a NaN among numbers is a gap."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    try:
        return series if isinstance(series.dtype, pl.Enum) else series.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{source.label}: column {series.name} cannot be used as names",
            found=f"a column of type {series.dtype}",
            hint=f"name a column of text or whole numbers with {option('columns')}",
        ) from None


def coded_names(source: Source, roles: Roles, role: str, series: pl.Series) -> pl.Series:
    """Names as numbers into the sorted list of those there are, cleaned of the blanks around them.

    Only the distinct names are cleaned, so that millions of rows cost one hash look-up each.
    """
    text = _text(source, series)
    if not isinstance(text.dtype, pl.Enum):
        text = text.cast(pl.Enum(text.to_frame().select(pl.first().unique().drop_nulls().sort()).to_series()))
    distinct = list_of(text)
    clean = distinct.to_frame("name").select(_cleaned(role)).to_series()
    if role != "sample":
        require_short(source.label, f"in column {series.name}", clean)
    if text.null_count() or (clean == "").any():
        raise _blank_name(source, role, str(getattr(roles, role)), text.cast(pl.String))
    if clean.equals(distinct) and clean.is_sorted():
        return text
    return clean.cast(pl.Enum(clean.unique().sort()))[text.to_physical()]


def _cleaned(role: str) -> pl.Expr:
    name = pl.col("name").str.strip_chars()
    return name if role in ("model", "metric") else name.str.replace(WHOLE_FLOAT, "$1")


def _blank_name(source: Source, role: str, column: str, text: pl.Series) -> InputError:
    blank = (text.is_null() | (text.str.strip_chars() == "")).arg_true()
    other = f"name another column: {option('columns', f'{role}=…')}"
    where = f"{quoted_column(column)} IS NOT NULL"
    if role != "model":
        other = f"leave such rows out: {option('where', where)}"
    if role == "task":
        other += f"; {option('task', 'none')} pools all samples"
    file, row = source.file_of(blank[0]), source.row_number(blank[0])
    what = f"{file}: row {row}, column {column}: the {role} has no name"
    found = f"an empty cell; {len(blank)} such row{'s' if len(blank) > 1 else ''} in all"
    ways = [] if role == "model" else [(option("where", where), {"where": where})]
    return InputError(what, found=found, hint=f"fill it in, or {other}", ways=ways)
