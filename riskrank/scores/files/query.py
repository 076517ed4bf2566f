"""SQL on tables before anything else: which rows count, and in what shape."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from riskrank.errors import InputError, RiskrankError, UsageError, did_you_mean, listing, option
from riskrank.scores.files.derived import DerivedSource, FilteredSource
from riskrank.scores.files.guards import panics_unsaid, reason_of
from riskrank.scores.files.parsing import MISSING, MISSING_TEXT, TEXT, parse_scores
from riskrank.scores.files.source import FrameInMemory, Source
from riskrank.scores.files.sql_names import quoted_column, refuse_long

TABLE = "scores"
_ROW = "__row__"

# 007 is a name: read as a number it would become another one.
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_WHOLE = r"^\s*[+-]?[0-9]{1,18}\s*$"

# Cells that are looked at before a column of text is read as a whole.
_LOOK = 1000
# Queries that need columns they do not name.
_ALL_COLUMNS = re.compile(r"\*|\bcolumns\s*\(|\bnatural\b|\busing\b|\btable\b", re.IGNORECASE)


class QueryResult(FrameInMemory, DerivedSource):
    """What a query made of a source; its rows are rows of the result."""

    def __init__(self, inner: Source, frame: pl.DataFrame) -> None:
        super().__init__(inner)
        self.queried = True
        self.folder_columns = ()
        self.label = f"{inner.label} after SQL"
        self.decimal_comma = False
        self._frame = frame
        self._name_columns(frame.columns)

    def file_of(self, position: int) -> str:
        """What the result is called."""
        return self.label

    def row_number(self, position: int) -> int:
        """The number of a row of the result."""
        return position + 1


class UnknownColumnError(InputError):
    """A condition or query names a column that the table does not have."""


def where(sources: Sequence[Source], condition: str, *, beside: Sequence[Source] = ()) -> list[Source]:
    """Keep the rows that meet a condition; files of which none does are left out.

    Parameters
    ----------
    sources : sequence of Source
    condition : str
        What could stand after WHERE, on any columns of the file.
    beside : sequence of Source
        Those of them that stay whole where the condition is on columns of the others.

    Raises
    ------
    InputError
        If the condition fails, or no row of any file meets it.
    """
    kept: list[Source] = []
    for source in sources:
        try:
            rows = _rows(source, condition)
        except UnknownColumnError:
            if source not in beside:
                raise
            kept.append(source)
            continue
        if rows.size:
            kept.append(FilteredSource(source, rows))
    if not kept:
        raise InputError(
            f"{listing((source.label for source in sources), 3)}: no row meets {option('where', condition)}",
            found=_examples(sources[0], condition),
            hint="loosen the condition; texts are compared letter by letter",
        )
    return kept


def select(source: Source, query: str) -> Source:
    """What a query ``SELECT … FROM scores`` makes of a source.

    Raises
    ------
    InputError
        If the query fails or gives no rows.
    """
    require_select(query)
    names = [name for name in source.columns if name]
    whole = _ALL_COLUMNS.search(query) or "select" not in query.lower().split(None, 1)[0]
    needed = names if whole else _mentioned(names, query)
    frame = typed(source.load(needed), source.decimal_comma)
    return QueryResult(source, run_sql({TABLE: frame}, query, label=source.label, columns=names))


def run_sql(
    tables: Mapping[str, pl.DataFrame], query: str, *, label: str, columns: Sequence[str] = ()
) -> pl.DataFrame:
    """Run a query on named tables, whose columns may be more than the query needs.

    Raises
    ------
    InputError
        If the query fails or gives no rows.
    """
    require_select(query)
    refuse_long(label, "sql", query)
    frame = _execute(tables, query, label, ("sql", query), columns)
    if frame.height == 0:
        raise no_rows(label, query)
    return frame


def require_select(query: str) -> None:
    """Refuse what does not ask for rows.

    Raises
    ------
    UsageError
    """
    words = re.sub(r"(--[^\n]*\n)|(/\*.*?\*/)", " ", query, flags=re.DOTALL).split()
    if not words or words[0].upper().lstrip("(") not in ("SELECT", "WITH", "FROM", "VALUES"):
        raise UsageError(
            f"{option('sql')} needs a query that gives rows",
            found=query or "nothing",
            hint=f"write {option('sql', f'SELECT … FROM {TABLE}')}",
        )


def no_rows(label: str, query: str) -> InputError:
    """Tell that a query ran and found nothing."""
    hint = "loosen its conditions; texts are compared letter by letter"
    return InputError(f"{label}: the query gives no rows", found=query, hint=hint)


def typed(frame: pl.DataFrame, decimal_comma: bool = False) -> pl.DataFrame:
    """Give the text columns of a file the types SQL needs to compare numbers as numbers.

    A column is numeric if all its filled cells are numbers, none with a leading zero; it is boolean if they
    are all ``true`` or ``false``. Anything else stays text, as it stands in the file.
    """
    return frame.with_columns(
        _typed(frame[name], decimal_comma) for name, dtype in frame.schema.items() if dtype == pl.String
    )


def _typed(series: pl.Series, decimal_comma: bool) -> pl.Series:
    if _stays_text(series.head(_LOOK), decimal_comma):
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
    if filled.str.contains(_WHOLE).all():
        return series.str.strip_chars().cast(pl.Int64, strict=False)
    numbers = pl.Series(series.name, values)
    return numbers if state is None else numbers.set(pl.Series(state == MISSING), None)


def _stays_text(some: pl.Series, decimal_comma: bool) -> bool:
    """Whether some cells of a column settle that all of it is text, whatever the others hold."""
    if some.cast(pl.String).str.contains(_LEADING_ZERO).any():
        return True
    _, state = parse_scores(some, decimal_comma)
    return state is not None and bool((state == TEXT).any())


def _mentioned(names: Sequence[str], text: str) -> list[str]:
    """Columns whose names occur in a condition or query; the first one where none does."""
    plain = text.replace('""', '"')
    return [name for name in names if name in plain] or list(names[:1])


def _rows(source: Source, condition: str) -> np.ndarray:
    """Positions of the rows that meet a condition; only columns it mentions are read."""
    if not condition.strip():
        example = "split = 'test'"
        hint = f"write {option('where', example)}"
        raise UsageError(f"{option('where')} needs a condition", found="nothing", hint=hint)
    names = [name for name in source.columns if name]
    mentioned = _mentioned(names, condition)
    query = f"SELECT {_ROW} FROM {TABLE} WHERE ({condition}\n)"
    refuse_long(source.label, "where", condition)
    frame = typed(source.load(mentioned), source.decimal_comma).with_row_index(_ROW)
    rows = _execute({TABLE: frame}, query, source.label, ("where", condition), names)
    return np.sort(rows[_ROW].to_numpy().astype(np.int64))


def _execute(
    tables: Mapping[str, pl.DataFrame], query: str, label: str, asked: tuple[str, str], known: Sequence[str]
) -> pl.DataFrame:
    what = f"{label}: {option(*asked)}"
    try:
        with panics_unsaid(), pl.SQLContext(dict(tables)) as context:
            return context.execute(query, eager=True)
    except pl.exceptions.ColumnNotFoundError as error:
        known = known or [name for frame in tables.values() for name in frame.columns]
        raise _no_column(reason_of(error), known, what, *asked) from None
    except pl.exceptions.PanicException:
        said = "something Polars cannot compute, such as a function without its arguments"
    except pl.exceptions.PolarsError as error:
        said = reason_of(error).removeprefix("sql parser error: ")
    raise InputError(f"{what} fails", found=said, hint=_advice(said, tables, asked[0]))


def _no_column(message: str, known: Sequence[str], what: str, parameter: str, text: str) -> RiskrankError:
    match = re.search(r'"(.*?)"', message)
    name = match[1] if match else ""
    if f'"{name}"' in text:
        hint = f"text goes in single quotes: '{name}'; double quotes are for columns"
    elif name and re.search(compared := rf"((?:=|<>)\s*){re.escape(name)}\b", text):
        # A shell takes the quotes of --where lang='en' for its own.
        meant = re.sub(compared, lambda match: f"{match[1]}'{name}'", text)
        hint = f"text goes in single quotes: {option(parameter, meant)}"
    else:
        otherwise = "name columns of this file, in double quotes where they are more than one word"
        hint = did_you_mean(name, known, write=quoted_column, otherwise=otherwise)
    return UnknownColumnError(
        f"{what} names '{name}', which is no column",
        found=f"columns: {listing(known, 20)}",
        hint=hint,
    )


def _advice(message: str, tables: Mapping[str, pl.DataFrame], parameter: str) -> str:
    if "relation" in message:
        return f"the table is called {listing(tables)}"
    if "compare" in message or "predicate" in message:
        return "compare numbers with numbers and texts with texts in single quotes"
    example = f"SELECT … FROM {TABLE}" if parameter == "sql" else "score > 0.5 AND split = 'test'"
    return f"write it as {option(parameter, example)}; names of more than one word in double quotes"


def _examples(source: Source, condition: str) -> str:
    """Values of the first column a condition mentions."""
    name = next((name for name in source.columns if name and name in condition), None)
    if name is None:
        return "0 rows"
    values = source.load([name])[name].drop_nulls().unique(maintain_order=True)
    return f"column {name} holds {listing(values.to_list(), 6)}"
