"""SQL conditions and queries on tables of scores."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np
import polars as pl

from riskrank.errors import InputError, RiskrankError, UsageError, did_you_mean, listing, option
from riskrank.options.values import number_or_nan
from riskrank.scores.files.derived import DerivedSource, FilteredSource
from riskrank.scores.files.guards import error_reason, suppress_panics
from riskrank.scores.files.parsing import MISSING, MISSING_TEXT, TEXT, parse_scores
from riskrank.scores.files.source import FrameInMemory, Source
from riskrank.scores.names.vocabulary import column_for_role

TABLE = "scores"
_ROW = "__row__"

# 007 is a name; as a number it would lose its zeros.
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_INTEGER = r"^\s*[+-]?[0-9]{1,18}\s*$"

# Cells examined before a whole text column is parsed.
_HEAD_CELLS = 1000
# Queries that may use columns without naming them.
_ALL_COLUMNS = re.compile(r"\*|\bcolumns\s*\(|\bnatural\b|\busing\b|\btable\b", re.IGNORECASE)


class QueryResult(FrameInMemory, DerivedSource):
    """The result of a query on a source; row numbers refer to this result."""

    def __init__(self, inner: Source, frame: pl.DataFrame) -> None:
        """Set the rows that a query on the source `inner` returned."""
        super().__init__(inner)
        self.queried = True
        self.folder_columns = ()
        self.label = f"{inner.label} after SQL"
        self.decimal_comma = False
        self._set_frame(frame)

    def file_of(self, position: int) -> str:
        """Return the label of the result."""
        return self.label

    def row_number(self, position: int) -> int:
        """Return the row number in the result, counted from 1, of the row at a position."""
        return position + 1


class UnknownColumnError(InputError):
    """Error for a condition or query that refers to a column the table does not have."""


def keep_rows(sources: Sequence[Source], condition: str, *, optional: Sequence[Source] = ()) -> list[Source]:
    """Return the sources with only the rows that meet an SQL condition.

    Sources without such rows are excluded.

    Parameters
    ----------
    sources : sequence of Source
    condition : str
        SQL expression, as after WHERE.
    optional : sequence of Source
        Sources that are not filtered if they lack the columns in the condition.

    Raises
    ------
    InputError
        If the condition fails, or no row of any file meets it.
    """
    filtered: list[Source] = []
    for source in sources:
        try:
            rows = _matching_rows(source, condition)
        except UnknownColumnError:
            if source not in optional:
                raise
            filtered.append(source)
            continue
        if rows.size:
            filtered.append(FilteredSource(source, rows))
    if not filtered:
        files, detail = listing((source.label for source in sources), 3), "0 rows"
        for name in [name for name in sources[0].columns if name and name in condition][:1]:
            values = sources[0].load([name])[name].drop_nulls().unique(maintain_order=True)
            detail = f"column {name} contains {listing(values.to_list(), 6)}"
        problem = f"{files}: no rows match {option('where', condition)}"
        raise InputError(problem, found=detail, hint="relax the condition; texts must match exactly")
    return filtered


def run(source: Source, query: str) -> Source:
    """Return a source with the result of the query ``SELECT … FROM scores`` on another source.

    Raises
    ------
    InputError
        If the query fails or returns no rows.
    """
    require_select(query)
    names = [name for name in source.columns if name]
    needs_all = _ALL_COLUMNS.search(query) or "select" not in query.lower().split(None, 1)[0]
    needed = names if needs_all else _mentioned_columns(names, query)
    frame = infer_types(source.load(needed), source.decimal_comma)
    return QueryResult(source, run_sql({TABLE: frame}, query, label=source.label, columns=names))


def run_sql(
    tables: Mapping[str, pl.DataFrame], query: str, *, label: str, columns: Sequence[str] = ()
) -> pl.DataFrame:
    """Run a query on named tables.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    query : str
    label : str
        Name of the input in messages.
    columns : sequence of str
        All columns, for error messages.

    Raises
    ------
    InputError
        If the query fails or returns no rows.
    """
    require_select(query)
    reject_long_query(label, "sql", query)
    frame = _execute(tables, query, label, ("sql", query), columns)
    if frame.height == 0:
        raise no_rows_error(label, query)
    return frame


def require_select(query: str) -> None:
    """Raise UsageError if a query is not a SELECT statement."""
    words = re.sub(r"(--[^\n]*\n)|(/\*.*?\*/)", " ", query, flags=re.DOTALL).split()
    if not words or words[0].upper().lstrip("(") not in ("SELECT", "WITH", "FROM", "VALUES"):
        problem = f"{option('sql')} needs a query that returns rows"
        hint = f"write {option('sql', f'SELECT … FROM {TABLE}')}"
        raise UsageError(problem, found=query or "nothing", hint=hint)


def no_rows_error(label: str, query: str) -> InputError:
    """Return the error for a query that returns no rows."""
    hint = "relax its conditions; texts must match exactly"
    return InputError(f"{label}: the query returns no rows", found=query, hint=hint)


def infer_types(frame: pl.DataFrame, decimal_comma: bool = False) -> pl.DataFrame:
    """Convert text columns to numbers or booleans where possible, so that SQL compares numbers as numbers.

    A column is numeric if all its filled cells are numbers without a leading zero, and boolean if they are
    all ``true`` or ``false``. Other columns remain text. `decimal_comma` states that numbers may have one.
    """
    texts = frame.select(pl.col(pl.String))
    return frame.with_columns(_infer_type(column, decimal_comma) for column in texts)


def _infer_type(series: pl.Series, decimal_comma: bool) -> pl.Series:
    """Convert a text column to numbers or booleans if all filled cells are such values.

    `decimal_comma` states that numbers may have one.
    """
    # The first cells rule out most columns of text.
    head = series.head(_HEAD_CELLS)
    _, state = parse_scores(head, decimal_comma)
    if head.str.contains(_LEADING_ZERO).any() or (state is not None and (state == TEXT).any()):
        return series
    folded = series.str.strip_chars().str.to_lowercase()
    filled = folded.filter(folded.is_not_null() & ~folded.is_in(MISSING_TEXT))
    if filled.is_empty() or filled.str.contains(_LEADING_ZERO).any():
        return series
    if filled.is_in(["true", "false"]).all():
        absent = ~folded.is_in(["true", "false"])
        return (folded == "true").set(absent.fill_null(True), None).alias(series.name)
    values, state = parse_scores(series, decimal_comma)
    if state is not None and (state == TEXT).any():
        return series
    if filled.str.contains(_INTEGER).all():
        return series.str.strip_chars().cast(pl.Int64, strict=False)
    numbers = pl.Series(series.name, values)
    return numbers if state is None else numbers.set(pl.Series(state == MISSING), None)


def _mentioned_columns(names: Sequence[str], text: str) -> list[str]:
    """Return the columns whose names occur in an SQL text.

    If there are none, return the first column.
    """
    plain = text.replace('""', '"')
    return [name for name in names if name in plain] or list(names[:1])


def _matching_rows(source: Source, condition: str) -> np.ndarray:
    """Return the positions of the rows that meet an SQL condition.

    Only the columns in the condition are read.
    """
    if not condition.strip():
        example = "split = 'test'"
        hint = f"write {option('where', example)}"
        raise UsageError(f"{option('where')} needs a condition", found="nothing", hint=hint)
    names = [name for name in source.columns if name]
    mentioned = _mentioned_columns(names, condition)
    query = f"SELECT {_ROW} FROM {TABLE} WHERE ({condition}\n)"
    reject_long_query(source.label, "where", condition)
    frame = infer_types(source.load(mentioned), source.decimal_comma).with_row_index(_ROW)
    rows = _execute({TABLE: frame}, query, source.label, ("where", condition), names)
    return np.sort(rows[_ROW].to_numpy().astype(np.int64))


def _execute(
    tables: Mapping[str, pl.DataFrame], query: str, label: str, flag: tuple[str, str], columns: Sequence[str]
) -> pl.DataFrame:
    """Run an SQL query, and convert errors of Polars to user errors with a hint.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    query : str
    label : str
        Name of the input in messages.
    flag : tuple of (str, str)
        Name and value of the option that contains the query, for messages.
    columns : sequence of str
        All columns, for messages; by default those of the tables.
    """
    subject = f"{label}: {option(*flag)}"
    try:
        with suppress_panics(), pl.SQLContext(dict(tables)) as context:
            return context.execute(query, eager=True)
    except pl.exceptions.ColumnNotFoundError as error:
        columns = columns or [name for frame in tables.values() for name in frame.columns]
        raise _unknown_column(error_reason(error), columns, subject, *flag) from None
    except pl.exceptions.PanicException:
        reason = "an expression that Polars cannot compute, such as a function without arguments"
    except pl.exceptions.PolarsError as error:
        reason = error_reason(error).removeprefix("sql parser error: ")
    raise InputError(f"{subject} fails", found=reason, hint=_query_hint(reason, tables, flag[0]))


def _unknown_column(
    message: str, names: Sequence[str], head: str, parameter: str, text: str
) -> RiskrankError:
    """Return the error for a column that does not exist. The hint suggests quotes or similar names.

    Parameters
    ----------
    message : str
        Message of Polars, which names the column.
    names : sequence of str
        Existing columns.
    head : str
        Beginning of the error message.
    parameter, text : str
        Name and value of the option that contains the query.
    """
    match = re.search(r'"(.*?)"', message)
    name = match[1] if match else ""
    if f'"{name}"' in text:
        hint = f"put text in single quotes: '{name}'; double quotes are for columns"
    elif name and re.search(comparison := rf"((?:=|<>)\s*){re.escape(name)}\b", text):
        # The shell removes unescaped quotes in --where.
        corrected = re.sub(comparison, lambda match: f"{match[1]}'{name}'", text)
        hint = f"put text in single quotes: {option(parameter, corrected)}"
    else:
        otherwise = "use columns of this file, in double quotes if a name has several words"
        hint = did_you_mean(name, names, write=quote_column, fallback=otherwise)
    detail = f"columns: {listing(names, 20)}"
    return UnknownColumnError(f"{head}: there is no column '{name}'", found=detail, hint=hint)


def _query_hint(message: str, tables: Mapping[str, pl.DataFrame], parameter: str) -> str:
    """Return a hint on how to correct a failed query.

    `message` is the error of Polars, and `parameter` names the option that contains the query.
    """
    if "relation" in message:
        return f"the table is named {listing(tables)}"
    if "compare" in message or "predicate" in message:
        return "compare numbers with numbers, and text with text in single quotes"
    example = f"SELECT … FROM {TABLE}" if parameter == "sql" else "score > 0.5 AND split = 'test'"
    return f"write it as {option(parameter, example)}; put names that contain spaces in double quotes"


# Reserved words that need quotes as column names.
_RESERVED = {"current_user", "interval", "not", "select", "session_user", "user"}

# Maximum operators of a query; Polars nests them, and some thousands overflow its stack.
_MAX_STEPS = 400
# Maximum nesting of brackets; the Polars parser takes exponential time.
_MAX_DEPTH = 20
# Nested BETWEEN, as in x BETWEEN 0 AND 1 BETWEEN 0 AND 1, also takes exponential time.
_NESTED_BETWEEN = re.compile(
    r"\bbetween\b(?:(?!\b(?:and|or|between)\b).)*\band\b(?:(?!\b(?:and|or)\b).)*\bbetween\b", re.I | re.S
)
_STRINGS = re.compile(r"'[^']*'|\"[^\"]*\"")
_STEP = re.compile(
    r"[-+*/%~^&\[]|[|<>=!:]+|\b(?:and|or|not|when|is|in|i?like|between|join|union|except|intersect|select|collate)\b",
    re.IGNORECASE,
)


def quote_column(column: str) -> str:
    """Return a column name as an SQL identifier, in double quotes if necessary."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", column) and column.lower() not in _RESERVED
    return column if plain else '"' + column.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def exclude_values(column: str, values: Sequence[str], all_values: Sequence[str], where: str | None) -> str:
    """Return an SQL condition that excludes rows with certain values in a column.

    Parameters
    ----------
    column : str
    values : sequence of str
        Values to exclude.
    all_values : sequence of str
        All values of the column; they are compared as numbers if all of them are numeric.
    where : str or None
        Existing condition that the rows must also meet.
    """
    texts = values if all(map(is_number, all_values)) else map(quote_text, values)
    condition = f"{quote_column(column)} NOT IN ({', '.join(texts)})"
    return condition if where is None else f"({where}) AND {condition}"


def is_number(name: str) -> bool:
    """Return True if a text is a finite number."""
    return math.isfinite(number_or_nan(name))


_ROLES = ("model", "sample", "metric", "score")


def most_likely_table(tables: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the table that most probably contains scores.

    It has the most columns named after a role, such as model or sample. `tables` holds the columns of each
    table.
    """
    return max(tables, key=lambda name: len({column_for_role(r, tables[name]) for r in _ROLES} - {None}))


def several_tables_error(
    problem: str, tables: Mapping[str, Sequence[str]], parameter: str, select: Callable[[str], str]
) -> InputError:
    """Return the error for a file with several tables.

    If all tables have the same columns, but no model column, each may contain the scores of one model.

    Parameters
    ----------
    problem : str
    tables : mapping of str to sequence of str
        Columns of each table.
    parameter : {"sheet", "sql"}
        Option that selects a table.
    select : callable
        Returns the query for all rows of a table.
    """
    likely = most_likely_table(tables)
    names = [likely, *(name for name in tables if name != likely)]
    values = names if parameter == "sheet" else [*map(select, names)]
    fixes: list[tuple[str, object]] = [("", {parameter: value}) for value in values]
    if len({*map(tuple, tables.values())}) == 1 and column_for_role("model", [*tables[likely]]) is None:
        parts = (select(name).replace("*", f"{quote_text(name)} AS model, *", 1) for name in tables)
        fixes.append(("", {"sql": " UNION ALL ".join(parts)}))
    found, hint = f"tables: {listing(describe_tables(tables))}", f"choose: {option(parameter, values[0])}"
    return InputError(problem, found=found, hint=hint, suggestions=fixes)


def describe_tables(tables: Mapping[str, Sequence[str]]) -> list[str]:
    """Describe each table by its name and first four columns, for use in messages."""
    return [
        f"{name} ({', '.join(columns[:4])}{', …' if len(columns) > 4 else ''})"
        for name, columns in tables.items()
    ]


def reject_long_query(label: str, parameter: str, text: str) -> None:
    """Raise InputError if a query is so long or nested that Polars could crash or never finish.

    `parameter` and `text` are the name and the value of the option that contains it.
    """
    plain = _STRINGS.sub(" ", text)
    steps = len(_STEP.findall(plain))
    depth = max(accumulate((char in "([") - (char in ")]") for char in plain), default=0)
    if depth > _MAX_DEPTH or _NESTED_BETWEEN.search(plain):
        nesting = f"{depth:,} nested brackets; the maximum is {_MAX_DEPTH}"
        problem = f"{label}: {option(parameter, text)} is nested too deeply"
        detail = nesting if depth > _MAX_DEPTH else "a nested BETWEEN"
        raise InputError(problem, found=detail, hint="simplify it, or select rows beforehand")
    if steps > _MAX_STEPS:
        problem = f"{label}: {option(parameter, text)} is too long"
        hint = "write several values as column IN (…), or select rows beforehand"
        raise InputError(problem, found=f"{steps:,} operators; the maximum is {_MAX_STEPS}", hint=hint)
