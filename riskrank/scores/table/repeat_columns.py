"""Which columns tell repeated rows apart, and what to do with each: for hints, never taken silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.table.guesses import JUDGE, RUN, SETTING, WHOLE, typed, words

# What a column is by the words of its name, the most telling first.
_KINDS = {"run": RUN, "judge": JUDGE, "whole": WHOLE}
_ORDER = (*_KINDS, "other")
# Columns looked at in pairs.
_MOST_PAIRED = 8


@dataclass(frozen=True)
class Repeats:
    """What differs between rows of the same model, sample and metric.

    Attributes
    ----------
    columns : tuple of str
        One or two columns that tell all such rows apart, or all that differ between some of them.
    complete : bool
        Whether they tell all apart.
    kept : mapping of str to object
        Values of these columns that rows of every key have, so that keeping them keeps every key; empty if
        there are none.
    """

    columns: tuple[str, ...]
    complete: bool
    kept: Mapping[str, object]


def columns_of_repeats(keys: pl.DataFrame, free: pl.DataFrame) -> Repeats | None:
    """Find what tells rows of the same key apart: columns of runs first, then of judges, then others.

    A column of measurements, or one that has another value in every row, explains nothing.

    Parameters
    ----------
    keys : DataFrame
        Model, sample and metric of every row.
    free : DataFrame
        All other columns, as text.
    """
    found = {name: typed(free[name]) for name in free.columns}
    found = {name: column for name, column in found.items() if _may_explain(name, column)}
    ordered = sorted(found, key=lambda name: (_ORDER.index(_kind(name)), found[name].n_unique(), name))
    number = keys.select(pl.struct(pl.all()).rank("dense")).to_series()
    rows = pl.DataFrame(list(found.values()))
    cells = number.n_unique()

    def groups(*names: str) -> int:
        return rows.select(number.alias(""), *names).n_unique()

    def kept(*names: str) -> dict[str, object]:
        of_cells = rows.select(*names, number.alias("")).group_by(names).agg(pl.col("").n_unique())
        whole = of_cells.filter(pl.col("") == cells).drop_nulls().sort(names)
        return dict(zip(names, whole.row(0), strict=False)) if whole.height else {}

    for name in ordered:
        if groups(name) == rows.height:
            return Repeats((name,), True, kept(name))
    varying = [name for name in ordered if groups(name) > cells]
    for pair in combinations(varying[:_MOST_PAIRED], 2):
        if groups(*pair) == rows.height:
            return Repeats(pair, True, kept(*pair))
    return Repeats(tuple(varying), False, {}) if varying else None


def _may_explain(name: str, column: pl.Series) -> bool:
    if column.dtype.is_nested() or (column.dtype.is_float() and not words(name) & SETTING):
        return False
    return 1 < column.n_unique() < column.len()


def _kind(name: str) -> str:
    return next((kind for kind, group in _KINDS.items() if words(name) & group), "other")


def hint_for_repeats(found: Repeats, *, sample: str | None, metric: str | None, columns: str | None) -> str:
    """How to read a table whose repeated rows some columns tell apart.

    Parameters
    ----------
    found : Repeats
    sample, metric : str or None
        Columns of these roles.
    columns : str or None
        Roles as they were given.
    """
    given = {
        role: name
        for role, _, name in (part.partition("=") for part in (columns or "").split(","))
        if role and name
    }

    def renamed(**roles: str) -> str:
        return option("columns", ",".join(f"{role}={name}" for role, name in (given | roles).items()))

    if not found.complete:
        return _partly(found.columns)
    if len(found.columns) == 1:
        return _by_one(found, renamed, sample, metric)
    return _by_two(found, renamed, sample, metric)


def _partly(columns: Sequence[str]) -> str:
    verb = "differs" if len(columns) == 1 else "differ"
    return (
        f"{listing(map(repr, columns))} {verb} between such rows: look at what that is, and choose with "
        f"{option('where')}; {option('repeats', 'draws')} keeps all as runs of the same thing"
    )


def _by_one(found: Repeats, renamed: Callable[..., str], sample: str | None, metric: str | None) -> str:
    (column,) = found.columns
    kind = _kind(column)
    draws = f"{renamed(draw=column)} {option('repeats', 'draws')}"
    if kind == "run":
        return f"column {column!r} numbers the runs: {draws} keeps them"
    start = f"column {column!r} tells them apart"
    if not found.kept:
        return f"{start}: if it dates or numbers runs of the same thing, {draws} keeps them"
    start += f": keep one with {_where(found.kept)}"
    if kind == "judge":
        return start + (
            f", or make metrics of them: {renamed(metric=f'{metric}+{column}')}" if metric else ""
        )
    if sample is None:
        return f"{start}, or name samples by it: {renamed(sample=column)}"
    joined = renamed(sample=f"{sample}+{column}")
    if kind == "whole":
        return f"{start}, or name samples by both: {joined}"
    return f"{start}, or name samples by both, and draw them together: {joined} {option('cluster', sample)}"


def _by_two(found: Repeats, renamed: Callable[..., str], sample: str | None, metric: str | None) -> str:
    start = f"columns {' and '.join(map(repr, found.columns))} tell them apart: "
    start += f"keep one with {_where(found.kept)}" if found.kept else f"choose with {option('where')}"
    kinds = {_kind(name): name for name in found.columns}
    if "run" not in kinds:
        return start
    draws = option("repeats", "draws")
    if "judge" in kinds and metric is not None:
        roles = renamed(metric=f"{metric}+{kinds['judge']}", draw=kinds["run"])
        return f"{start}, or make metrics of the one and keep the other as runs: {roles} {draws}"
    if "whole" in kinds and sample is not None:
        roles = renamed(sample=f"{sample}+{kinds['whole']}", draw=kinds["run"])
        return f"{start}, or name samples by the one and keep the other as runs: {roles} {draws}"
    return start


def _where(kept: Mapping[str, object]) -> str:
    return option("where", " AND ".join(condition(name, value) for name, value in kept.items()))


def condition(column: str, value: object) -> str:
    """SQL that keeps the rows with a value in a column."""
    quoted = '"' + column.replace('"', '""') + '"' if not column.isidentifier() else column
    if isinstance(value, int | float):
        return f"{quoted} = {value!r}"
    text = str(value).replace("'", "''")
    return f"{quoted} = '{text}'"
