"""SQLite and DuckDB files, asked in their own SQL and never written to."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, RiskrankError, UsageError, listing, nearest, option
from riskrank.scores.files.budget import Answer, Budget, whole_column
from riskrank.scores.files.limits import empty, lacks_package, unreadable
from riskrank.scores.files.query import no_rows, require_select
from riskrank.scores.files.source import FrameInMemory, first_line
from riskrank.scores.files.sql_names import likeliest, with_columns

Run = Callable[[str], Answer]

# Rows asked for at a time at most, as long as they are small; and bytes from which they are not.
_MOST = 65_536
_LARGE = 1 << 24
# Seconds between two looks at what a query has used up: so few that large values do not fill the memory.
_LOOK = 0.01
# Seconds for the columns of all tables, which a message names: views of views double with each.
_NAMING = 5.0

# Bytes 18 and 19 of the header: the file is written and read by way of a log.
_VERSIONS, _LOGGED = slice(18, 20), b"\x02\x02"

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
    limit : int
        Most bytes its rows may have.
    """

    def __init__(self, path: str, kind: str, sha256: str, *, sql: str | None = None, limit: int) -> None:
        super().__init__(path, b"", sha256)
        self.own_sql = True
        self.queried = sql is not None
        answer = (_ask_sqlite if kind == "sqlite" else _ask_duckdb)(path, sql, Budget(path, limit))
        if not answer.rows:
            raise no_rows(path, sql) if sql else self._empty("a table without rows")
        self._name_columns(answer.names)
        self._frame = pl.DataFrame(list(map(whole_column, self.columns, answer.pieces)))


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


def _ask_sqlite(path: str, sql: str | None, budget: Budget) -> Answer:
    address, prepare = _quiet_address(Path(path).resolve())
    try:
        with (
            closing(sqlite3.connect(address, uri=True)) as connection,
            _watched(connection.interrupt, budget),
        ):
            for pragma in (*prepare, "query_only = ON", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            longest = connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(budget.longest(), longest))
            # An interrupt ends no query that is still being prepared.
            connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY if budget.used_up else sqlite3.SQLITE_OK)
            return _query(path, sql, partial(_gathered, connection, budget), _SQLITE_TABLES, budget)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _failed(path, sql, str(error)) from None


def _ask_duckdb(path: str, sql: str | None, budget: Budget) -> Answer:
    try:
        import duckdb
    except ImportError:
        hint = "pip install 'riskrank[duckdb]', or export the table as Parquet"
        raise lacks_package(f"{path}: reading DuckDB files", "duckdb", hint) from None

    # A view in a file from elsewhere could otherwise read any other file of this machine, and a large
    # result would be written beside the file.
    safe: dict[str, str | bool | int | float | list[str]]
    safe = {"enable_external_access": "false", "temp_directory": "", "memory_limit": f"{budget.room()}B"}
    try:
        with (
            closing(duckdb.connect(path, read_only=True, config=safe)) as connection,
            _watched(connection.interrupt, budget),
        ):
            return _query(path, sql, partial(_gathered, connection, budget), _DUCKDB_TABLES, budget)
    except duckdb.Error as error:
        raise _failed(path, sql, first_line(error)) from None


@contextmanager
def _watched(interrupt: Callable[[], object], budget: Budget) -> Iterator[None]:
    """Interrupt a query that uses up its budget before it gives a row."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK):
            if budget.exceeded() is not None:
                interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _gathered(connection: Any, budget: Budget, query: str) -> Answer:
    """The rows a query gives, piece by piece.

    Raises
    ------
    InputError
        If they are more than allowed, or take too long.
    """
    try:
        if (problem := budget.exceeded()) is not None:
            raise problem
        with budget.walled():
            cursor = connection.execute(query)
        answer = Answer([entry[0] for entry in cursor.description or ()], budget)
        asked = 1  # a row may be as large as all that is allowed
        while True:
            with budget.walled():
                rows = cursor.fetchmany(asked)
            if not rows:
                return answer
            size = answer.add(rows)
            asked = max(asked // 2, 1) if size > _LARGE else min(2 * asked, _MOST)
    except Exception as error:
        # Then the error only tells that it was interrupted, or that a value is longer than all may be.
        found: InputError | None
        if _is_too_long(connection, budget, error):
            found = budget.too_long()
        elif isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            found = budget.no_memory()
        else:
            found = budget.exceeded()
        if found is None or error is found:
            raise
        raise found from None


def _is_too_long(connection: Any, budget: Budget, error: Exception) -> bool:
    return (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_TOOBIG
        and connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == budget.longest()
    )


def _query(path: str, sql: str | None, run: Run, list_tables: str, budget: Budget) -> Answer:
    tables = [*map(str, chain.from_iterable(run(list_tables).pieces[0]))]
    if sql is not None:
        require_select(sql)
        try:
            return run(sql)
        except RiskrankError:
            raise
        except Exception as error:
            raise _failed(path, sql, first_line(error), _columns(run, tables, budget)) from None
    if not tables:
        raise empty(path, "a database without tables")
    if len(tables) == 1:
        return run(_all_of(tables[0]))
    columns = _columns(run, tables, budget)
    raise UsageError(
        f"{path}: the database holds {len(tables)} tables, and which rows count has to be said",
        found=f"tables: {listing(with_columns(columns))}",
        hint=f"choose: {option('sql', _all_of(likeliest(columns)))}",
    )


def _columns(run: Run, tables: Names, budget: Budget) -> dict[str, list[str]]:
    """Columns of every table, none of one that cannot be asked, or not in time."""
    budget.end_within(_NAMING)
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


def _failed(path: str, sql: str | None, reason: str, tables: Mapping[str, Names] | None = None) -> InputError:
    if "'pytz'" in reason:
        found = "times with a zone, which DuckDB hands over by means of the package pytz"
        as_text = option("sql", "SELECT …, CAST(t AS TEXT) AS t …")
        hint = f"pip install pytz, or ask for them as text: {as_text}"
        return unreadable(f"{path}: the database", found, hint)
    if sql is None:
        hint = "check that it is a whole file of that kind, and that nobody is writing to it"
        return unreadable(f"{path}: the database", reason, hint)
    hint = "write it in the database's own SQL"
    if tables and ("no such table" in reason or "Table with name" in reason):
        words = [word.strip("\"';") for word in sql.replace(",", " ").split()]
        close = next((near for word in words if word not in tables and (near := nearest(word, tables))), None)
        other = f"choose: {option('sql', _all_of(likeliest(tables)))}"
        hint = f"did you mean the table {close}?" if close else other
    return InputError(
        f"{path}: {option('sql', sql)} fails",
        found=f"{reason}; tables: {listing(with_columns(tables))}" if tables else reason,
        hint=hint,
    )
