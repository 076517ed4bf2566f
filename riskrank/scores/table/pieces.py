"""Each input becomes a piece: its columns by their role, names still text, scores parsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.opening import Source
from riskrank.scores.table import parsing
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.guesses import looks_like_an_identifier
from riskrank.scores.table.metrics_file import read_metrics_file

# Metrics that a warning names with the option that picks each.
_MOST_PICKED = 6
# A text column with at least this share of numbers may be a metric with failures in it.
_DOUBTFUL_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The entries of one file, before names are coded."""

    source: Source
    rows: int
    model: pl.Series
    sample: pl.Series | None
    draw: pl.Series | None
    cluster: pl.Series | None
    group: pl.Series | None
    metric: pl.Series | None
    metrics: tuple[str, ...]
    value: np.ndarray
    state: np.ndarray | None
    roles: Roles
    doubts: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Entries a row."""
        return 1 if self.metric is not None else len(self.metrics)


def read_long(source: Source, roles: Roles, options: ReadOptions) -> Piece:
    """Read a table of one score a row.

    Raises
    ------
    InputError
        If names cannot be read as names.
    """
    wanted = (roles.model, roles.sample, roles.metric, roles.score, roles.draw, roles.cluster, roles.group)
    columns = [*dict.fromkeys(column for column in wanted if column is not None)]
    if source.columnar and source.model_label is None:
        # Millions of names as text need more memory than all the rest: at most one column is text at a time.
        frame = pl.DataFrame([_compact(source.load([column])[column], roles) for column in columns])
    else:
        frame = source.load(columns)
    assert roles.score is not None
    assert roles.metric is not None  # a long table without them was refused
    value, state = parsing.parse_scores(frame[roles.score], source.decimal_comma)
    return _piece(source, roles, frame, value, state, metric=frame[roles.metric])


def read_wide(source: Source, roles: Roles, options: ReadOptions) -> Piece:
    """Read a table of one metric a column.

    Raises
    ------
    InputError
        If a metric that was asked for is not numeric, a column holds numbers and text, or none is left.
    """
    asked = [name for name in options.metric if name in roles.values]
    id_roles = (roles.model, roles.sample, roles.draw, roles.cluster, roles.group)
    ids = [*dict.fromkeys(column for column in id_roles if column is not None)]
    # A column without a name, or called as pandas calls one, is the index of the frame that was saved.
    values = asked or [c for c in roles.values if c and not c.startswith("Unnamed: ")]
    frame = source.load([*ids, *values])
    kinds = {name: parsing.column_kind(frame[name], source.decimal_comma) for name in values}
    named = [name for name in (*options.lower, *options.higher, *options.weight) if name in kinds]
    for name in (*asked, *(() if options.metric else named)):
        if kinds[name] in ("text", "other"):
            raise InputError(
                f"{source.label}: column '{name}' is not numeric and cannot be a metric",
                found=f"values such as {_example(frame[name])}",
                hint=f"pick numeric or boolean columns with {option('metric')}",
            )
    for name in () if asked else values:
        share = parsing.numeric_share(frame[name], source.decimal_comma) if kinds[name] == "text" else 0
        if share >= _DOUBTFUL_SHARE:
            raise InputError(
                f"{source.label}: column '{name}' holds numbers and text",
                found=f"{share:.0%} numbers, and values such as {_example(frame[name])}",
                hint=f"clean it if it is a metric, or pick the metrics with {option('metric')}",
            )
    metrics = tuple(asked or sorted(name for name in values if kinds[name] == "number"))
    if not metrics and not options.metric:
        raise InputError(
            f"{source.label}: no column is left that could be a metric",
            found=f"columns: {listing(source.columns, 20)}",
            hint="a wide table needs at least one numeric column beside model and sample",
        )
    parsed = [parsing.parse_scores(frame[name], source.decimal_comma) for name in metrics]
    value = np.stack([values for values, _ in parsed], axis=1) if parsed else np.empty((frame.height, 0))
    state = None
    if any(states is not None for _, states in parsed):
        clean = np.zeros(frame.height, dtype=np.int8)
        state = np.stack([clean if states is None else states for _, states in parsed], axis=1).ravel()
    piece = _piece(source, roles, frame, value.ravel(), state, metrics=metrics)
    return replace(piece, doubts=() if asked else tuple(_doubts(source, frame, metrics, named, options)))


def _doubts(
    source: Source, frame: pl.DataFrame, metrics: Sequence[str], named: Sequence[str], options: ReadOptions
) -> Iterator[str]:
    """Warn of metrics that nobody named and that look like something else."""
    strange = [n for n in metrics if n not in named and looks_like_an_identifier(n, frame[n])]
    if strange and options.metrics_file is not None:
        described = read_metrics_file(options.metrics_file)
        strange = [name for name in strange if name not in described]
    if strange:
        others = [name for name in metrics if name not in strange]
        picked = " ".join(option("metric", name) for name in others[:_MOST_PICKED] or ["NAME"])
        picked += " …" if len(others) > _MOST_PICKED else ""
        several = len(strange) > 1
        yield (
            f"{source.label}: column{'s' if several else ''} {listing(repr(name) for name in strange)} "
            f"{'look like identifiers' if several else 'looks like an identifier'}, yet "
            f"{'they are' if several else 'it is'} read as {'metrics' if several else 'a metric'}: "
            f"{picked} picks the metrics"
        )


def _piece(
    source: Source,
    roles: Roles,
    frame: pl.DataFrame,
    value: np.ndarray,
    state: np.ndarray | None,
    *,
    metric: pl.Series | None = None,
    metrics: tuple[str, ...] = (),
) -> Piece:
    return Piece(
        source=source,
        rows=frame.height,
        model=_model_names(source, roles, frame),
        sample=None if roles.sample is None else _names(source, frame[roles.sample]),
        draw=None if roles.draw is None else _names(source, frame[roles.draw]),
        cluster=None if roles.cluster is None else _names(source, frame[roles.cluster]),
        group=None if roles.group is None else _names(source, frame[roles.group]),
        metric=None if metric is None else _names(source, metric),
        metrics=metrics,
        value=value,
        state=state,
        roles=roles,
    )


def _model_names(source: Source, roles: Roles, frame: pl.DataFrame) -> pl.Series:
    """Names of the models of a file, under its label if it has one."""
    names = None if roles.model is None else _names(source, frame[roles.model])
    if source.model_label is None and names is not None:
        return names
    if names is None or names.drop_nulls().str.strip_chars().n_unique() <= 1:
        return pl.repeat(source.model_label, frame.height, dtype=pl.String, eager=True).alias("model")
    return (pl.Series([f"{source.model_label}/"]) + names.str.strip_chars()).alias(names.name)


def _compact(series: pl.Series, roles: Roles) -> pl.Series:
    """Names as numbers into the sorted list of those there are; scores as they are."""
    if series.dtype != pl.String or series.name == roles.score:
        return series
    return series.cast(pl.Enum(series.unique().drop_nulls().sort()))


def _names(source: Source, series: pl.Series) -> pl.Series:
    """Turn a column of names into text; a NaN among numbers is a gap."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    try:
        text = series.dtype == pl.String or isinstance(series.dtype, pl.Enum)
        return series if text else series.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{source.label}: column {series.name} cannot be used as names",
            found=f"a column of type {series.dtype}",
            hint=f"name a column of text or whole numbers with {option('columns')}",
        ) from None


def _example(series: pl.Series) -> str:
    return listing((repr(value) for value in series.drop_nulls().head(2).to_list()), 2)
