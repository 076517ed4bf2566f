"""SQLite and DuckDB files, asked in their own SQL and never written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, listing, nearest, option
from riskrank.scores.files.cells import column
from riskrank.scores.files.query import no_rows, require_select
from riskrank.scores.files.source import Source, first_line

Rows = tuple[list[str], list[tuple[object, ...]]]
Execute = Callable[[str], Rows]

_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
_DUCKDB_TABLES = (
    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END "
    "FROM information_schema.tables ORDER BY ALL"
)


class DatabaseSource(Source):
    """Rows a query gives, or the only table there is.

    Parameters
    ----------
    path : str
        File of the database.
    kind : {"sqlite", "duckdb"}
    sha256 : str
    sql : str, optional
        Query in the database's own SQL.
    """

    def __init__(self, path: str, kind: str, sha256: str, *, sql: str | None = None) -> None:
        super().__init__(path, b"", sha256)
        self.queried = sql is not None
        names, rows = (_ask_sqlite if kind == "sqlite" else _ask_duckdb)(path, sql)
        if not rows:
            raise no_rows(path, sql) if sql else self._empty("a table without rows")
        self._name_columns(names)
        self._frame = pl.DataFrame(
            [column(name, [row[at] for row in rows]) for at, name in enumerate(self.columns)]
        )

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        return self._frame.select(names)


def _ask_sqlite(path: str, sql: str | None) -> Rows:
    def run(query: str) -> Rows:
        cursor = connection.execute(query)
        return [entry[0] for entry in cursor.description or ()], cursor.fetchall()

    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            return _query(path, run, sql, _SQLITE_TABLES)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _failed(path, sql, str(error)) from None


def _ask_duckdb(path: str, sql: str | None) -> Rows:
    try:
        import duckdb
    except ImportError:
        raise UsageError(
            f"{path}: reading DuckDB files needs the package duckdb",
            found="it is not installed",
            hint="pip install 'riskrank[duckdb]', or export the table as Parquet",
        ) from None

    def run(query: str) -> Rows:
        cursor = connection.execute(query)
        return [entry[0] for entry in cursor.description or ()], cursor.fetchall()

    try:
        # A view in a file from elsewhere could otherwise read any other file of this machine.
        safe: dict[str, str | bool | int | float | list[str]] = {"enable_external_access": "false"}
        with closing(duckdb.connect(path, read_only=True, config=safe)) as connection:
            return _query(path, run, sql, _DUCKDB_TABLES)
    except duckdb.Error as error:
        raise _failed(path, sql, first_line(error)) from None


def _query(path: str, run: Execute, sql: str | None, list_tables: str) -> Rows:
    tables = [str(row[0]) for row in run(list_tables)[1]]
    if sql is not None:
        require_select(sql)
        try:
            return run(sql)
        except Exception as error:
            raise _failed(path, sql, first_line(error), tables) from None
    if not tables:
        raise InputError(
            f"{path}: the file is empty",
            found="a database without tables",
            hint="check the program that wrote it",
        )
    if len(tables) == 1:
        return run(f"SELECT * FROM {_quoted(tables[0])}")
    raise UsageError(
        f"{path}: the database holds {len(tables)} tables, and which rows count has to be said",
        found=f"tables: {listing(tables)}",
        hint=f"ask for them: {option('sql', f'SELECT … FROM {tables[0]}')}",
    )


def _quoted(table: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in table.split(".", 1))


def _failed(path: str, sql: str | None, reason: str, tables: Sequence[str] = ()) -> InputError:
    if sql is None:
        return InputError(
            f"{path}: the database cannot be read",
            found=reason,
            hint="check that it is a whole file of that kind, and that nobody is writing to it",
        )
    words = [word.strip("\"';") for word in sql.replace(",", " ").split()]
    close = next((near for word in words if word not in tables and (near := nearest(word, tables))), None)
    missing = "no such table" in reason or "Table with name" in reason
    return InputError(
        f"{path}: {option('sql', sql)} fails",
        found=f"{reason}; tables: {listing(tables)}" if tables else reason,
        hint=f"did you mean the table {close}?"
        if missing and close
        else "write it in the database's own SQL",
    )
