"""SQLite and DuckDB files, asked in their own SQL and never written to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, RiskrankError, UsageError, listing, nearest, option
from riskrank.scores.files.guards import (
    LONGEST_FIELD,
    BeyondLimitError,
    Budget,
    Watch,
    decoding,
    empty,
    reason_of,
)
from riskrank.scores.files.json_objects import column
from riskrank.scores.files.query import no_rows, require_select
from riskrank.scores.files.source import FrameInMemory, lacks_package
from riskrank.scores.files.sql_names import likeliest, with_columns

# Rows asked for at a time at most, as long as they are small; and bytes from which they are not.
_MOST = 65_536
_LARGE = 1 << 24
_CELL = 8

_PLAIN: dict[type | None, Any] = {float: pl.Float64, str: pl.String, int: pl.Int64}

Piece = pl.Series | tuple[object, ...]

# Bytes 18 and 19 of the header: the file is written and read by way of a log.
_VERSIONS, _LOGGED = slice(18, 20), b"\x02\x02"

_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
_DUCKDB_TABLES = (
    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END "
    "FROM information_schema.tables ORDER BY ALL"
)


class DatabaseSource(FrameInMemory):
    """Rows a query gives, or the only table there is.

    Parameters
    ----------
    path : str
        File of the database.
    kind : {"sqlite", "duckdb"}
    sha256 : str
    sql : str, optional
        Query in the database's own SQL.
    budget : Budget
        Bytes its rows may have.
    """

    def __init__(self, path: str, kind: str, sha256: str, *, sql: str | None = None, budget: Budget) -> None:
        super().__init__(path, b"", sha256)
        self.own_sql = True
        self.queried = sql is not None
        files = [path + ending for ending in ("", "-wal", ".wal")]
        sizes = (os.path.getsize(file) for file in files if os.path.isfile(file))  # noqa: PTH113, PTH202 (any text)
        watch = Watch(path, sum(sizes), budget)
        hint = "check that it is a whole file of that kind, and that nobody is writing to it"
        with decoding(f"{path}: the database", _NAMES[kind], hint):
            answer = (_ask_sqlite if kind == "sqlite" else _ask_duckdb)(path, sql, watch)
        if not answer.rows:
            raise no_rows(path, sql) if sql else self._empty("a table without rows")
        self._name_columns(answer.names)
        self._frame = pl.DataFrame(list(map(_whole_column, self.columns, answer.pieces)))


class _Answer:
    """Rows as they come, held as columns: far smaller than what Python makes of them.

    Attributes
    ----------
    names : list of str
    pieces : list of list
        The pieces of each column.
    rows : int
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.pieces: list[list[Piece]] = [[] for _ in names]
        self.rows = 0

    def add(self, rows: Sequence[tuple[object, ...]]) -> int:
        """Take some more rows, and return their bytes."""
        size = 0
        for pieces, values in zip(self.pieces, zip(*rows, strict=True), strict=True):
            piece = _compact(values)
            pieces.append(piece)
            size += sum(map(_size, values)) if isinstance(piece, tuple) else int(piece.estimated_size())
        self.rows += len(rows)
        return size


Run = Callable[[str], _Answer]


def _whole_column(name: str, pieces: Sequence[Piece]) -> pl.Series:
    """Return pieces of a column as `json_objects.column` makes one of all their values."""
    series = [piece for piece in pieces if isinstance(piece, pl.Series)]
    if len(series) == len(pieces) and len({piece.dtype for piece in series}) == 1:
        return pl.concat(series).alias(name)
    return column(name, list(chain.from_iterable(pieces)))


def _compact(values: tuple[object, ...]) -> Piece:
    """Return values of one plain kind as a series, from which they come back as they are; others stay."""
    kinds = set(map(type, values)) - {type(None)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind in _PLAIN:
        with suppress(OverflowError, TypeError):
            return pl.Series(values, dtype=_PLAIN[kind])
    return values


def _size(value: object) -> int:
    return _CELL + len(value) if isinstance(value, str | bytes) else _CELL


def _quiet_address(path: Path) -> tuple[str, tuple[str, ...]]:
    """Address under which a file is read and nothing is written, and what to set first.

    Whoever opens a file with a write-ahead log as it is makes ``-wal`` and ``-shm`` beside it, also to read.
    What is in the log and not yet in the file counts. Where somebody is connected, log and index are there
    and shared with them; where nobody is, the index is held in memory, or there is nothing to hold.
    """
    address = f"{path.as_uri()}?mode=ro"
    log, index = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "shm"))
    if os.path.exists(log):  # noqa: PTH110 (of any length) # whatever the header says: a log may mend it
        if index.exists():
            return address, ()
        if log.stat().st_size:
            return f"{address}&vfs=unix-none", ("locking_mode = EXCLUSIVE",)
        return f"{address}&immutable=1", ()
    with path.open("rb") as file:
        logged = file.read(20)[_VERSIONS] == _LOGGED
    return (f"{address}&immutable=1" if logged else address), ()


def _ask_sqlite(path: str, sql: str | None, watch: Watch) -> _Answer:
    address, prepare = _quiet_address(Path(path).resolve())
    with closing(sqlite3.connect(address, uri=True)) as connection, watch.interrupting(connection.interrupt):
        for pragma in (*prepare, "query_only = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_FIELD)
        # An interrupt ends no query that is still being prepared.
        connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY if watch.late() else sqlite3.SQLITE_OK)
        return _query(path, sql, partial(_gathered, connection, path, watch), _SQLITE_TABLES)


def _ask_duckdb(path: str, sql: str | None, watch: Watch) -> _Answer:
    try:
        import duckdb
    except ImportError:
        hint = "pip install 'riskrank[duckdb]', or export the table as Parquet"
        raise lacks_package(f"{path}: reading DuckDB files", "duckdb", hint) from None

    # A view in a file from elsewhere could otherwise read any other file of this machine, and a large
    # result would be written beside the file.
    safe: dict[str, str | bool | int | float | list[str]]
    safe = {"enable_external_access": "false", "temp_directory": "", "memory_limit": f"{watch.work}B"}
    with (
        closing(duckdb.connect(path, read_only=True, config=safe)) as connection,
        watch.interrupting(connection.interrupt),
    ):
        return _query(path, sql, partial(_gathered, connection, path, watch), _DUCKDB_TABLES)


def _gathered(connection: Any, path: str, watch: Watch, query: str) -> _Answer:
    """Return the rows of a query, gathered piece by piece.

    Raises
    ------
    InputError
        If they are more than allowed, or take too long.
    """
    try:
        with watch.walled():
            cursor = connection.execute(query)
        answer = _Answer([entry[0] for entry in cursor.description or ()])
        asked = 1  # a row may be as large as all that is allowed
        while True:
            with watch.walled():
                rows = cursor.fetchmany(asked)
            if not rows:
                return answer
            size = answer.add(rows)
            watch.count(len(rows), size)
            asked = max(asked // 2, 1) if size > _LARGE else min(2 * asked, _MOST)
    except RiskrankError:
        raise
    except Exception as error:
        # An interrupted query, and one that got no memory, end in errors of the database's own.
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_TOOBIG:
            raise BeyondLimitError(
                f"{path}: a value of more than {LONGEST_FIELD:,} bytes",
                found="a text or a blob longer than any answer that is scored",
                hint=f"name the columns that count: {option('sql', 'SELECT model, ... FROM ...')}",
            ) from None
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            raise watch.over(f"{watch.work:,} bytes of memory") from None
        if late := watch.late():
            raise late from None
        raise


def _query(path: str, sql: str | None, run: Run, list_tables: str) -> _Answer:
    tables = [*map(str, chain.from_iterable(run(list_tables).pieces[0]))]
    if sql is not None:
        require_select(sql)
        try:
            return run(sql)
        except RiskrankError:
            raise
        except Exception as error:
            raise _failed(path, sql, reason_of(error), _columns(run, tables)) from None
    if not tables:
        raise empty(path, "a database without tables")
    if len(tables) == 1:
        return run(_all_of(tables[0]))
    columns = _columns(run, tables)
    raise UsageError(
        f"{path}: the database holds {len(tables)} tables, and which rows count has to be said",
        found=f"tables: {listing(with_columns(columns))}",
        hint=f"choose: {option('sql', _all_of(likeliest(columns)))}",
    )


def _columns(run: Run, tables: Names) -> dict[str, list[str]]:
    """Columns of every table, none of one that cannot be asked, or not in time."""
    found: dict[str, list[str]] = {}
    for table in tables:
        try:
            found[table] = list(run(f"{_all_of(table)} LIMIT 0").names)
        except Exception:  # a view on what is not there any more
            found[table] = []
    return found


def _all_of(table: str) -> str:
    """The query for all rows of a table."""
    return "SELECT * FROM " + ".".join('"' + part.replace('"', '""') + '"' for part in table.split(".", 1))


def _failed(path: str, sql: str, reason: str, tables: Mapping[str, Names]) -> InputError:
    hint = "write it in the database's own SQL"
    if "no such table" in reason or "Table with name" in reason:
        words = [word.strip("\"';") for word in sql.replace(",", " ").split()]
        close = next((near for word in words if word not in tables and (near := nearest(word, tables))), None)
        other = f"choose: {option('sql', _all_of(likeliest(tables)))}"
        hint = f"did you mean the table {close}?" if close else other
    found = f"{reason}; tables: {listing(with_columns(tables))}"
    return InputError(f"{path}: {option('sql', sql)} fails", found=found, hint=hint)
