"""Sources become flat coded entries: one entry is one score of one model on one sample under one metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np
import polars as pl

from riskrank.errors import InputError, UsageError, listing, nearest, option
from riskrank.scores import parsing
from riskrank.scores.columns import Roles, assign_roles
from riskrank.scores.guesses import (
    column_of_repeats,
    hint_for_repeats,
    looks_like_an_identifier,
    numbers_runs,
    typed,
)
from riskrank.scores.metrics import read_metrics_file
from riskrank.scores.options import ReadOptions
from riskrank.scores.preparation import prepared
from riskrank.scores.readers.derived import WHOLE_FLOAT
from riskrank.scores.readers.exports import ExportSource
from riskrank.scores.readers.files import InputFile, Source, open_sources

# A text column with at least this share of numbers may be a metric with failures in it.
_DOUBTFUL_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Entries:
    """Scores as they were read, coded.

    Attributes
    ----------
    models, samples, metrics : tuple of str
        Names; models and samples sorted, metrics in the order of the result.
    model, sample, metric : ndarray of int, shape (n,)
        Index of each entry into the names.
    value : ndarray of float64, shape (n,)
        Raw scores; NaN where the state is not valid.
    state : ndarray of int8, shape (n,), or None
        See `riskrank.scores.parsing`; None if every score is valid.
    draw : ndarray of int64, shape (n,), or None
        Label that links the metrics of one draw: of the draw column, or the row of a wide table.
    draw_column : bool
        Whether `draw` comes from a column.
    cluster : ndarray of int64, shape (n,), or None
        Index into `clusters` of what the sample of each entry belongs to; None where nobody named a column.
    clusters : tuple of str
        Names of the clusters, sorted.
    has_samples : bool
        Whether the table has a sample column.
    known_metrics : tuple of str
        Every metric of the files, selected or not.
    inputs : tuple of InputFile
    rows : int
        Input rows read.
    where : callable
        Maps an entry to (file, row number, column); slow, for messages.
    text : callable
        Maps an entry to the text of its score; slow, for messages.
    directions : mapping of str to str
        Which way is better, of the metrics an export tells it of.
    notes : tuple of str
        What the reader of an export left out.
    repeats_hint : callable
        How to read repeated rows that a column tells apart, or an empty text; slow, for messages.
    origin : str
        What messages call the inputs, where the files themselves are too many.
    position : ndarray of int64, shape (n,), or None
        Entry number before a selection, what `where` and `text` want; None for no selection.
    """

    models: tuple[str, ...]
    samples: tuple[str, ...]
    metrics: tuple[str, ...]
    model: np.ndarray
    sample: np.ndarray
    metric: np.ndarray
    value: np.ndarray
    state: np.ndarray | None
    draw: np.ndarray | None
    draw_column: bool
    has_samples: bool
    known_metrics: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    rows: int
    where: Callable[[int], tuple[str, int, str]]
    text: Callable[[int], str]
    directions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    origin: str = ""
    cluster: np.ndarray | None = None
    clusters: tuple[str, ...] = ()
    repeats_hint: Callable[[], str] = str
    position: np.ndarray | None = None

    def place(self, entry: int) -> str:
        """Describe where an entry stands: file, row and column."""
        label, row, column = self.where(self._original(entry))
        return f"{label}: row {row}, column {column}"

    def near(self, entry: int, other: int) -> str:
        """Describe where an entry stands to somebody who knows where the other one does."""
        label, row, _ = self.where(self._original(entry))
        return f"in row {row}" if label == self.where(self._original(other))[0] else f"in {label}, row {row}"

    def cell(self, entry: int) -> str:
        """Describe what an entry is the score of."""
        parts = [f"model '{self.models[self.model[entry]]}'"]
        if self.has_samples:
            parts.append(f"sample '{self.samples[self.sample[entry]]}'")
        return ", ".join([*parts, f"metric '{self.metrics[self.metric[entry]]}'"])

    def score_text(self, entry: int) -> str:
        """Return the text of a score as it stands in the file."""
        return self.text(self._original(entry))

    def files(self) -> str:
        """Return the names of the input files."""
        return self.origin or listing((file.path for file in self.inputs), 3)

    def invalid(self) -> np.ndarray:
        """Return a mask of the entries that hold no usable score, shape (n,)."""
        return np.zeros(self.value.size, dtype=bool) if self.state is None else self.state != parsing.VALID

    def _original(self, entry: int) -> int:
        return int(entry if self.position is None else self.position[entry])


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """The entries of one file, before names are coded; `width` is the number of entries a row has."""

    source: Source
    rows: int
    model: pl.Series
    sample: pl.Series | None
    draw: pl.Series | None
    cluster: pl.Series | None
    metric: pl.Series | None
    metrics: tuple[str, ...]
    value: np.ndarray
    state: np.ndarray | None
    roles: Roles
    doubts: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return 1 if self.metric is not None else len(self.metrics)


def read_entries(
    paths: Sequence[str | Source], options: ReadOptions, stdin: BinaryIO | None = None
) -> Entries:
    """Read every input and code its names; nothing is selected or checked but the names themselves.

    Raises
    ------
    InputError
        For an unreadable file, a missing column, or an empty model, sample or metric name.
    UsageError
        For options that make no sense, or that name metrics the table does not have.
    """
    if options.from_ is not None:
        return _read_exports(paths, options)
    sources = open_sources(paths, input_format=options.input_format, stdin=stdin, sql=options.sql)
    return _entries(sources, options)


def _entries(sources: Sequence[Source], options: ReadOptions) -> Entries:
    sources, options = prepared(sources, options)
    roles = [assign_roles(source, options) for source in sources]
    read = _read_wide if options.wide else _read_long
    return _code([read(source, role, options) for source, role in zip(sources, roles, strict=True)], options)


def _read_exports(paths: Sequence[str | Source], options: ReadOptions) -> Entries:
    from riskrank.scores.readers.table import AUTO, read_export

    named = [path for path in paths if isinstance(path, str)]
    if len(named) < len(paths):
        raise UsageError(
            f"{option('from', options.from_)} reads files, and a frame was given",
            found="data in memory",
            hint=f"leave out {option('from')}, or name files",
        )
    export = read_export(options.from_ or AUTO, named, options.rules)
    source = ExportSource(listing(named, 3), export)
    entries = _entries([source], options)
    return replace(
        entries, directions=export.directions, notes=(*export.notes, *entries.notes), origin=source.label
    )


def select(entries: Entries, options: ReadOptions) -> Entries:
    """Keep the models and metrics that were asked for, the metrics in the order asked for.

    Raises
    ------
    UsageError
        If a model or metric that was asked for is not in the table.
    InputError
        If nothing is left.
    """
    for name in options.models:
        if name not in entries.models:
            close = nearest(name, entries.models)
            raise UsageError(
                f"--models {name}: there is no such model",
                found=f"the scores hold {listing(entries.models)}",
                hint=f"did you mean --models {close}?" if close else "name one of these models",
            )
    for name in options.metrics:
        if name not in entries.known_metrics:
            raise _unknown_metric(name, entries.known_metrics)
    models = tuple(name for name in entries.models if not options.models or name in options.models)
    metrics = tuple(dict.fromkeys(options.metrics)) or entries.metrics
    if models == entries.models and metrics == entries.metrics:
        return entries
    model_map = _renumbering(entries.models, models)
    metric_map = _renumbering(entries.metrics, metrics)
    model, metric = model_map[entries.model], metric_map[entries.metric]
    kept = np.flatnonzero((model >= 0) & (metric >= 0))
    if kept.size == 0:
        raise InputError(
            f"{entries.files()}: no rows are left after the selection",
            found=f"models {listing(models)}; metrics {listing(metrics)}",
            hint="check --models and --metric: the models selected have no scores for these metrics",
        )
    used = np.zeros(len(entries.samples), dtype=bool)
    used[entries.sample[kept]] = True
    samples = tuple(name for name, keep in zip(entries.samples, used, strict=True) if keep)
    state = None if entries.state is None else entries.state[kept]
    return replace(
        entries,
        models=models,
        metrics=metrics,
        samples=samples,
        model=model[kept],
        metric=metric[kept],
        sample=(np.cumsum(used) - 1)[entries.sample[kept]],
        value=entries.value[kept],
        state=state if state is not None and state.any() else None,
        draw=None if entries.draw is None else entries.draw[kept],
        cluster=None if entries.cluster is None else entries.cluster[kept],
        position=kept,
    )


def _read_long(source: Source, roles: Roles, options: ReadOptions) -> _Piece:
    wanted = [roles.model, roles.sample, roles.metric, roles.score, roles.draw, roles.cluster]
    frame = source.load([column for column in wanted if column is not None])
    assert roles.score is not None
    assert roles.metric is not None  # a long table without them was refused
    value, state = parsing.parse_scores(frame[roles.score], source.decimal_comma)
    return _piece(source, roles, frame, value, state, metric=frame[roles.metric])


def _read_wide(source: Source, roles: Roles, options: ReadOptions) -> _Piece:
    asked = [name for name in options.metrics if name in roles.values]
    id_roles = (roles.model, roles.sample, roles.draw, roles.cluster)
    ids = [column for column in id_roles if column is not None]
    # A column without a name, or called as pandas calls one, is the index of the frame that was saved.
    values = asked or [c for c in roles.values if c and not c.startswith("Unnamed: ")]
    frame = source.load([*ids, *values])
    kinds = {name: parsing.column_kind(frame[name], source.decimal_comma) for name in values}
    named = [name for name in (*options.lower, *options.higher, *options.weights) if name in kinds]
    for name in (*asked, *(() if options.metrics else named)):
        if kinds[name] in ("text", "other"):
            raise InputError(
                f"{source.label}: column '{name}' is not numeric and cannot be a metric",
                found=f"values such as {_example(frame[name])}",
                hint="pick numeric or boolean columns with --metric",
            )
    for name in () if asked else values:
        share = parsing.numeric_share(frame[name], source.decimal_comma) if kinds[name] == "text" else 0
        if share >= _DOUBTFUL_SHARE:
            raise InputError(
                f"{source.label}: column '{name}' holds numbers and text",
                found=f"{share:.0%} numbers, and values such as {_example(frame[name])}",
                hint="clean it if it is a metric, or pick the metrics with --metric",
            )
    metrics = tuple(asked or sorted(name for name in values if kinds[name] == "number"))
    if not metrics and not options.metrics:
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
        others = [name for name in metrics if name not in strange][:6]
        picked = " ".join(option("metric", name) for name in others or ["NAME"])
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
) -> _Piece:
    return _Piece(
        source=source,
        rows=frame.height,
        model=_model_names(source, roles, frame),
        sample=None if roles.sample is None else _names(source, frame[roles.sample]),
        draw=None if roles.draw is None else _names(source, frame[roles.draw]),
        cluster=None if roles.cluster is None else _names(source, frame[roles.cluster]),
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


def _names(source: Source, series: pl.Series) -> pl.Series:
    """Turn a column of names into text; a NaN among numbers is a gap."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    try:
        return series if series.dtype == pl.String else series.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{source.label}: column {series.name} cannot be used as names",
            found=f"a column of type {series.dtype}",
            hint="name a column of text or whole numbers with --columns",
        ) from None


def _code(pieces: Sequence[_Piece], options: ReadOptions) -> Entries:
    ends = np.cumsum([piece.rows * piece.width for piece in pieces])
    widths = [piece.width for piece in pieces]
    spread = max(widths) > 1 or min(widths) == 0

    def per_entry(codes: np.ndarray) -> np.ndarray:
        if not spread:
            return codes
        starts = np.cumsum([0, *(piece.rows for piece in pieces)])
        parts = [
            np.repeat(codes[start:stop], width)
            for start, stop, width in zip(starts[:-1], starts[1:], widths, strict=True)
        ]
        return np.concatenate(parts)

    models, model = _encode(pieces, "model")
    has_samples = pieces[0].sample is not None
    mixed = next((piece for piece in pieces if (piece.sample is not None) != has_samples), None)
    if mixed is not None:
        raise InputError(
            f"{mixed.source.label}: some files have a sample column and some have none",
            found=f"columns: {listing(mixed.source.columns, 20)}",
            hint="name it in every file, or read the files one by one",
        )
    total = sum(piece.rows for piece in pieces)
    samples, sample = _encode(pieces, "sample") if has_samples else (("",), np.zeros(total, dtype=np.int64))
    metrics, metric, known = _code_metrics(pieces, options)
    draw_column = all(piece.draw is not None for piece in pieces)
    draw = None
    if draw_column:
        draw = per_entry(_encode(pieces, "draw")[1])
    elif options.wide:
        draw = per_entry(np.arange(total))
    clusters: tuple[str, ...] = ()
    cluster = None
    if pieces[0].cluster is not None:  # a named column is in every file, or there was an error
        clusters, codes = _encode(pieces, "cluster")
        cluster = per_entry(codes)
    states = None
    if any(piece.state is not None for piece in pieces):
        states = [
            np.zeros(piece.value.size, dtype=np.int8) if piece.state is None else piece.state
            for piece in pieces
        ]
    single = len(pieces) == 1

    def locate(entry: int) -> tuple[_Piece, int, str]:
        which = int(np.searchsorted(ends, entry, side="right"))
        piece = pieces[which]
        offset = entry - (int(ends[which - 1]) if which else 0)
        if piece.metric is not None:
            return piece, offset, piece.roles.score or ""
        return piece, offset // piece.width, piece.metrics[offset % piece.width]

    def where(entry: int) -> tuple[str, int, str]:
        piece, position, column = locate(entry)
        source = piece.source
        return source.label, source.row_number(position), source.column_of(column, position)

    def text(entry: int) -> str:
        piece, position, column = locate(entry)
        return str(piece.source.load([column])[column][position])

    return Entries(
        models=models,
        samples=samples,
        metrics=metrics,
        model=per_entry(model),
        sample=per_entry(sample),
        metric=metric,
        value=pieces[0].value if single else np.concatenate([piece.value for piece in pieces]),
        state=states if states is None else states[0] if single else np.concatenate(states),
        draw=draw,
        draw_column=draw_column,
        cluster=cluster,
        clusters=clusters,
        has_samples=has_samples,
        known_metrics=known,
        inputs=tuple(file for piece in pieces for file in piece.source.input_files(piece.rows)),
        rows=total,
        where=where,
        text=text,
        repeats_hint=lambda: _repeats_hint(pieces, model, sample, options),
        notes=tuple(doubt for piece in pieces for doubt in piece.doubts),
    )


def _repeats_hint(
    pieces: Sequence[_Piece], model: np.ndarray, sample: np.ndarray, options: ReadOptions
) -> str:
    """How to read repeated rows that a further column of every file tells apart; empty if none does."""
    roles = pieces[0].roles
    used = {
        name
        for name in (roles.model, roles.sample, roles.metric, roles.score, roles.draw, roles.cluster)
        if name
    }
    used |= {part for name in used for part in name.split("+")}
    used |= {name for name in pieces[0].metrics if name in options.metrics or not numbers_runs(name)}
    shared = [
        name
        for name in pieces[0].source.columns
        if name and name not in used and all(name in piece.source.columns for piece in pieces)
    ]
    if not shared:
        return ""
    text = [piece.source.load(shared).select(pl.all().cast(pl.String, strict=False)) for piece in pieces]
    free = text[0] if len(text) == 1 else pl.concat(text)
    keys = pl.DataFrame({"model": model, "sample": sample})
    if roles.metric is not None:
        keys = keys.with_columns(
            pl.concat([p.metric.rename("metric") for p in pieces if p.metric is not None])
        )
    column = column_of_repeats(keys, free)
    if column is None:
        return ""
    metric = roles.metric if pieces[0].metric is not None else None
    return hint_for_repeats(
        column,
        sample=roles.sample,
        metric=metric,
        columns=options.columns,
        example=typed(pieces[0].source.load([column])[column]).drop_nulls()[0],
    )


def _code_metrics(
    pieces: Sequence[_Piece], options: ReadOptions
) -> tuple[tuple[str, ...], np.ndarray, tuple[str, ...]]:
    """Return the metrics' names, the code of each entry, and every name an option may mention."""
    if not options.wide:
        names, codes = _encode(pieces, "metric")
        return names, codes, names
    columns = tuple(dict.fromkeys(name for piece in pieces for name in piece.roles.values if name))
    for name in options.metrics:
        if name not in columns:
            raise _unknown_metric(name, columns)
    names = tuple(sorted({name for piece in pieces for name in piece.metrics}))
    index = {name: code for code, name in enumerate(names)}
    parts = [np.tile([index[name] for name in piece.metrics], piece.rows) for piece in pieces]
    known = columns if options.metrics else names
    return names, np.concatenate(parts).astype(np.int64), known


def _encode(pieces: Sequence[_Piece], role: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Code a column of names by their sorted order.

    Only the distinct names are cleaned of blanks, so that millions of rows cost one hash look-up each.
    """
    parts = [getattr(piece, role) for piece in pieces]
    series = parts[0] if len(parts) == 1 else pl.concat([part.rename(role) for part in parts])
    distinct = series.unique().drop_nulls().sort()
    clean = distinct.str.strip_chars()
    if role in ("sample", "draw", "cluster"):
        clean = clean.str.replace(WHOLE_FLOAT, "$1")
    if series.null_count() or (clean == "").any():
        raise _blank_name(pieces, role, series)
    codes = series.cast(pl.Enum(distinct)).to_physical().to_numpy()
    names = clean.unique().sort()
    if names.len() != distinct.len() or not (names == distinct).all():
        codes = clean.cast(pl.Enum(names)).to_physical().to_numpy()[codes]
    return tuple(names.to_list()), codes.astype(np.int64)


def _blank_name(pieces: Sequence[_Piece], role: str, series: pl.Series) -> InputError:
    blank = (series.is_null() | (series.str.strip_chars() == "")).to_numpy()
    position = int(np.flatnonzero(blank)[0])
    starts = np.cumsum([0, *(piece.rows for piece in pieces)])
    which = int(np.searchsorted(starts, position, side="right")) - 1
    piece = pieces[which]
    row = piece.source.row_number(position - int(starts[which]))
    count = int(blank.sum())
    return InputError(
        f"{piece.source.label}: row {row}, column {getattr(piece.roles, role)}: the {role} has no name",
        found=f"an empty cell; {count} such row{'s' if count > 1 else ''} in all",
        hint=f"fill it in, or name another column: --columns {role}=…",
    )


def _unknown_metric(name: str, known: Sequence[str]) -> UsageError:
    close = nearest(name, known)
    return UsageError(
        f"--metric {name}: there is no such metric",
        found=f"the scores hold {listing(known)}",
        hint=f"did you mean --metric {close}?" if close else "name one of these metrics",
    )


def _renumbering(old: Sequence[str], new: Sequence[str]) -> np.ndarray:
    index = {name: code for code, name in enumerate(new)}
    return np.array([index.get(name, -1) for name in old], dtype=np.int64)


def _example(series: pl.Series) -> str:
    return listing((repr(value) for value in series.drop_nulls().head(2).to_list()), 2)
