"""Read-only queries on SQLite and DuckDB files in their own SQL."""

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
from riskrank.errors import InputError, RiskrankError, listing, nearest, option
from riskrank.scores.files import guards, query
from riskrank.scores.files.parsing import build_column
from riskrank.scores.files.source import FrameInMemory, missing_package_error

# Maximum rows per batch, and the size in bytes above which batches shrink.
_MAX_ROWS = 65_536
_LARGE_BATCH = 1 << 24
_CELL_SIZE = 8

_PLAIN_TYPES: dict[type | None, Any] = {float: pl.Float64, str: pl.String, int: pl.Int64}

Piece = pl.Series | tuple[object, ...]

# Header bytes 18 and 19 have these values if the file uses a write-ahead log.
_VERSIONS, _WAL_VERSIONS = slice(18, 20), b"\x02\x02"

_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
_DUCKDB_TABLES = (
    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END "
    "FROM information_schema.tables ORDER BY ALL"
)


class DatabaseSource(FrameInMemory):
    """The result of a query on a database, or the rows of its only table.

    Parameters
    ----------
    path : str
        Database file.
    kind : {"sqlite", "duckdb"}
    sha256 : str
        Digest of the file.
    sql : str, optional
        Query in the SQL dialect of the database.
    budget : Budget
        Limit on the size of the result in bytes.
    """

    def __init__(
        self, path: str, kind: str, sha256: str, *, sql: str | None = None, budget: guards.Budget
    ) -> None:
        """Run the query, or read the only table."""
        super().__init__(path, b"", sha256)
        self.native_sql = True
        self.queried = sql is not None
        files = [path + ending for ending in ("", "-wal", ".wal")]
        sizes = (os.path.getsize(file) for file in files if os.path.isfile(file))  # noqa: PTH113, PTH202 (any text)
        watch = guards.QueryLimits(path, sum(sizes), budget)
        hint = "check that the file is complete and that no program is writing to it"
        with guards.translate_errors(f"{path}: the database", _NAMES[kind], hint):
            result = (_query_sqlite if kind == "sqlite" else _query_duckdb)(path, sql, watch)
        if not result.rows:
            raise query.no_rows_error(path, sql) if sql else self._empty_error("a table without rows")
        self._name_columns(result.names)
        self._frame = pl.DataFrame(list(map(_concat_pieces, self.columns, result.pieces)))


class _Result:
    """Query result stored by column, which needs much less memory than Python rows.

    Attributes
    ----------
    names : list of str
        Column names.
    pieces : list of list
        Batches of values for each column.
    rows : int
        Number of rows.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """Create a result without rows that has the named columns."""
        self.names = list(names)
        self.pieces: list[list[Piece]] = [[] for _ in names]
        self.rows = 0

    def add(self, rows: Sequence[tuple[object, ...]]) -> int:
        """Append rows and return their size in bytes."""
        size = 0
        for pieces, values in zip(self.pieces, zip(*rows, strict=True), strict=True):
            piece = _to_series(values)
            pieces.append(piece)
            if isinstance(piece, tuple):
                size += sum(_CELL_SIZE + len(v) if isinstance(v, str | bytes) else _CELL_SIZE for v in piece)
            else:
                size += int(piece.estimated_size())
        self.rows += len(rows)
        return size


Run = Callable[[str], _Result]


def _concat_pieces(name: str, pieces: Sequence[Piece]) -> pl.Series:
    """Concatenate the pieces (batches of values) of the named column.

    Mixed types are converted by `parsing.build_column`.
    """
    series = [piece for piece in pieces if isinstance(piece, pl.Series)]
    if len(series) == len(pieces) and len({piece.dtype for piece in series}) == 1:
        return pl.concat(series).alias(name)
    return build_column(name, list(chain.from_iterable(pieces)))


def _to_series(values: tuple[object, ...]) -> Piece:
    """Convert values to a series if they all have one basic type; otherwise return them unchanged."""
    kinds = set(map(type, values)) - {type(None)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind in _PLAIN_TYPES:
        with suppress(OverflowError, TypeError):
            return pl.Series(values, dtype=_PLAIN_TYPES[kind])
    return values


def _read_only_uri(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return a URI that opens an SQLite file without writing to disk, and the pragmas to set first.

    A plain read-only connection to a file with a write-ahead log creates ``-wal`` and ``-shm`` files
    alongside it. Changes that are only in the log must be read, too. If another process is connected, its log
    and index are shared. Otherwise the index is kept in memory; an empty log is ignored.
    """
    uri = f"{path.as_uri()}?mode=ro"
    log, index = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "shm"))
    if os.path.exists(log):  # noqa: PTH110 (of any length) # a log may repair the header
        if index.exists():
            return uri, ()
        if log.stat().st_size:
            return f"{uri}&vfs=unix-none", ("locking_mode = EXCLUSIVE",)
        return f"{uri}&immutable=1", ()
    with path.open("rb") as file:
        has_wal = file.read(20)[_VERSIONS] == _WAL_VERSIONS
    return (f"{uri}&immutable=1" if has_wal else uri), ()


def _query_sqlite(path: str, sql: str | None, watch: guards.QueryLimits) -> _Result:
    """Return the result of an SQL query on an SQLite file, or all rows of its only table without a query.

    `watch` limits time and memory.
    """
    uri, prepare = _read_only_uri(Path(path).resolve())
    with closing(sqlite3.connect(uri, uri=True)) as connection, watch.interrupt_late(connection.interrupt):
        for pragma in (*prepare, "query_only = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, guards.MAX_FIELD)
        # An interrupt does not stop a query during preparation.
        connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY if watch.timeout() else sqlite3.SQLITE_OK)
        return _run_query(path, sql, partial(_fetch_all, connection, path, watch), _SQLITE_TABLES)


def _query_duckdb(path: str, sql: str | None, watch: guards.QueryLimits) -> _Result:
    """Return the result of an SQL query on a DuckDB file, or all rows of its only table without a query.

    `watch` limits time and memory.
    """
    try:
        import duckdb
    except ImportError:
        hint = "pip install 'riskrank[duckdb]', or export the table as Parquet"
        raise missing_package_error(f"{path}: reading DuckDB files", "duckdb", hint) from None

    # Views in an untrusted file could otherwise read other files of this machine, and large results would be
    # written next to the file.
    config: dict[str, str | bool | int | float | list[str]]
    config = {"enable_external_access": "false", "temp_directory": "", "memory_limit": f"{watch.work}B"}
    with (
        closing(duckdb.connect(path, read_only=True, config=config)) as connection,
        watch.interrupt_late(connection.interrupt),
    ):
        return _run_query(path, sql, partial(_fetch_all, connection, path, watch), _DUCKDB_TABLES)


def _fetch_all(connection: Any, path: str, watch: guards.QueryLimits, sql: str) -> _Result:
    """Fetch the rows of an SQL query in batches.

    Parameters
    ----------
    connection : object
        Connection of the library of the database.
    path : str
        File, for messages.
    watch : QueryLimits
        Limits on time, memory and the size of the result.
    sql : str

    Raises
    ------
    InputError
        If a limit is exceeded.
    """
    try:
        with watch.limit_memory():
            cursor = connection.execute(sql)
        result = _Result([entry[0] for entry in cursor.description or ()])
        batch_size = 1  # a single row may be as large as the limit
        while True:
            with watch.limit_memory():
                rows = cursor.fetchmany(batch_size)
            if not rows:
                return result
            size = result.add(rows)
            watch.count(len(rows), size)
            batch_size = max(batch_size // 2, 1) if size > _LARGE_BATCH else min(2 * batch_size, _MAX_ROWS)
    except RiskrankError:
        raise
    except Exception as error:
        # Interrupted queries and failed allocations raise errors of the database library.
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_TOOBIG:
            problem = f"{path}: a value of more than {guards.MAX_FIELD:,} bytes"
            detail = "a text or blob that is too long for an answer"
            hint = f"select the relevant columns: {option('sql', 'SELECT model, ... FROM ...')}"
            raise guards.BeyondLimitError(problem, found=detail, hint=hint) from None
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            raise watch.limit_error(f"{watch.work:,} bytes of memory") from None
        if timeout := watch.timeout():
            raise timeout from None
        raise


def _run_query(path: str, sql: str | None, run: Run, list_tables: str) -> _Result:
    """Return the result of an SQL query, or all rows of the only table if no query is given.

    `run` executes a query on the database, and `list_tables` is the query for the names of its tables.
    """
    tables = [*map(str, chain.from_iterable(run(list_tables).pieces[0]))]
    if sql is not None:
        query.require_select(sql)
        try:
            return run(sql)
        except RiskrankError:
            raise
        except Exception as error:
            raise _query_error(path, sql, guards.error_reason(error), _table_columns(run, tables)) from None
    if not tables:
        raise guards.empty_error(path, "a database without tables")
    if len(tables) == 1:
        return run(_select_all(tables[0]))
    columns = _table_columns(run, tables)
    problem = f"{path}: the database has {len(tables)} tables; select one"
    raise query.several_tables_error(problem, columns, "sql", _select_all)


def _table_columns(run: Run, tables: Names) -> dict[str, list[str]]:
    """Return the column names of every table; `run` executes a query.

    A table that cannot be queried in time has no columns.
    """
    columns: dict[str, list[str]] = {}
    for table in tables:
        try:
            columns[table] = list(run(f"{_select_all(table)} LIMIT 0").names)
        except Exception:  # for example, a view on a missing table
            columns[table] = []
    return columns


def _select_all(table: str) -> str:
    """Return the SQL query that selects all rows of a table."""
    return "SELECT * FROM " + ".".join('"' + part.replace('"', '""') + '"' for part in table.split(".", 1))


def _query_error(path: str, sql: str, reason: str, tables: Mapping[str, Names]) -> InputError:
    """Return the error for a failed SQL query, with the reason and the tables of the database."""
    hint = "use the SQL dialect of the database"
    if "no such table" in reason or "Table with name" in reason:
        words = [word.strip("\"';") for word in sql.replace(",", " ").split()]
        match = next((name for word in words if word not in tables and (name := nearest(word, tables))), None)
        otherwise = f"choose: {option('sql', _select_all(query.most_likely_table(tables)))}"
        hint = f"did you mean the table {match}?" if match else otherwise
    detail = f"{reason}; tables: {listing(query.describe_tables(tables))}"
    return InputError(f"{path}: {option('sql', sql)} fails", found=detail, hint=hint)
