"""SQLite and DuckDB files: a single table or the result of a query, opened read-only."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import guards
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import build_column
from riskrank.scores.table.score_table import read_scores
from tests.memory import memory_below
from tests.pace import at_most
from tests.scores.comparison import assert_equal_tables

KINDS = ["sqlite", "duckdb"]


@pytest.fixture
def database(tmp_path, request):
    """Write frames as tables of a database and return its path."""

    def to_file(kind, name=None, **tables):
        path = tmp_path / (name or f"t.{kind}")
        path.unlink(missing_ok=True)
        connect = sqlite3.connect if kind == "sqlite" else pytest.importorskip("duckdb").connect
        with closing(connect(str(path))) as connection:
            for table, frame in tables.items():
                columns = ", ".join(
                    f'"{column}" {"DOUBLE" if frame[column].dtype.is_float() else "VARCHAR"}'
                    for column in frame.columns
                )
                connection.execute(f'CREATE TABLE "{table}" ({columns})')
                marks = ", ".join("?" * frame.width)
                connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', frame.rows())
            connection.commit()
        return str(path)

    return to_file


@pytest.mark.parametrize("kind", KINDS)
def test_single_table_is_read(write, long_frame, database, tmp_path, kind):
    path = database(kind, **{"my runs": long_frame})
    table = read_scores([path])
    assert_equal_tables(table, read_scores([write("t.csv", long_frame)]))
    assert table.inputs[0].sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert_equal_tables(read_scores([database(kind, "other.db", t=long_frame)]), table)
    if kind == "sqlite":  # beside a name this long there can be no log
        assert_equal_tables(read_scores([str(Path(path).rename(tmp_path / f"{'x' * 248}.sqlite"))]), table)


@pytest.mark.parametrize("kind", KINDS)
def test_queries_select_and_join_tables(write, long_frame, database, kind):
    other = long_frame.select("model").unique()
    path = database(kind, runs=long_frame, models=other)
    with pytest.raises(InputError, match="2 tables") as caught:
        read_scores([path])
    assert "models (model)" in caught.value.found
    assert "runs (model, sample, metric, score)" in caught.value.found
    assert 'sql="SELECT * FROM "runs""' in str(caught.value)
    query = "SELECT runs.* FROM runs JOIN models USING (model) WHERE metric = 'acc'"
    expected = read_scores([write("t.csv", long_frame)], ReadOptions(metric=("acc",)))
    assert_equal_tables(read_scores([path], ReadOptions(sql=query)), expected)
    everything = ReadOptions(sql="SELECT * FROM runs", where="metric = 'acc'")
    assert_equal_tables(read_scores([path], everything), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT * FROM run", InputError, "did you mean the table runs"),
        ("SELECT nothing FROM runs", InputError, "fails"),
        ("SELECT run FROM runs", InputError, "fails"),
        ("SELEC", UsageError, "needs a query that returns rows"),
        ("DROP TABLE runs", UsageError, "needs a query that returns rows"),
        ("WITH x AS (SELECT 1) DELETE FROM runs", InputError, "fails"),
        ("SELECT * FROM runs WHERE model = 'nobody'", InputError, "the query returns no rows"),
        ("", UsageError, "needs a query"),
    ],
)
def test_invalid_queries_are_refused(long_frame, database, kind, query, error, message):
    path = database(kind, runs=long_frame)
    before = Path(path).read_bytes()
    with pytest.raises(error, match=message) as caught:
        read_scores([path], ReadOptions(sql=query))
    assert "did you mean the table" in message or "did you mean the table" not in caught.value.hint
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_invalid_database_files_are_refused(tmp_path, long_frame, database, kind):
    complete = database(kind, runs=long_frame)
    broken = tmp_path / f"cut.{kind}"
    broken.write_bytes(Path(complete).read_bytes()[:3000])
    with pytest.raises(InputError, match="cannot be read"):
        read_scores([str(broken)])
    broken.write_bytes(b"model,score\n" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        read_scores([str(broken)])
    with pytest.raises(InputError, match="no such file"):
        read_scores([str(tmp_path / f"none.{kind}")])
    assert not (tmp_path / f"none.{kind}").exists()
    with pytest.raises(InputError, match="the file is empty"):
        read_scores([database(kind, f"empty.{kind}")])


def test_duckdb_cannot_read_other_files(tmp_path, long_frame, database):
    path = database("duckdb", runs=long_frame)
    secret = tmp_path / "secret.csv"
    secret.write_text("model,sample,metric,score\n")
    with pytest.raises(InputError, match="fails"):
        read_scores([path], ReadOptions(sql=f"SELECT * FROM read_csv('{secret}')"))


def test_values_of_any_kind(tmp_path):
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (model, sample, metric, score)")
        rows = [("a", 1, "m", 1), ("a", "1.5", "m", 0.25), ("b", 1, "m", None), ("b", "1.5", "m", 2)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    table = read_scores([str(path)], ReadOptions(missing="keep", allow_constant=True))
    assert table.samples == ("1", "1.5")
    assert table.values[0].ravel().tolist() == [1.0, 0.25]


ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT {} FROM r{}"
ROWS = "'a' AS model, i AS sample, 'm' AS metric, i AS score"


def _with_view(path, kind, view):
    connect = sqlite3.connect if kind == "sqlite" else pytest.importorskip("duckdb").connect
    with closing(connect(str(path))) as connection:
        connection.execute(f"CREATE VIEW scores AS {view}")
        connection.commit()
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [ROWS, pytest.param("count(*) AS n", marks=pytest.mark.slow)])
@pytest.mark.parametrize("queried", [pytest.param(False, marks=pytest.mark.slow), True])
def test_endless_view_times_out(tmp_path, monkeypatch, kind, columns, queried):
    monkeypatch.setattr(guards, "_SECONDS", 0.05)
    path = _with_view(tmp_path / f"t.{kind}", kind, ENDLESS.format(columns, ""))
    options = ReadOptions(sql="SELECT * FROM scores ORDER BY 1" if queried else None)
    # DuckDB may fill its memory before the time is over.
    with pytest.raises(
        InputError, match=r"did not finish within ([01] seconds|\S+ bytes of memory)"
    ) as caught:
        read_scores([path], options)
    assert "sql" in caught.value.hint
    assert [entry.name for entry in tmp_path.iterdir()] == [f"t.{kind}"]


@pytest.mark.slow
def test_nested_views_are_listed_within_the_time_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(guards, "_SECONDS", 0.2)
    path = _with_view(tmp_path / "t.sqlite", "sqlite", f"SELECT {ROWS} FROM (SELECT 1 AS i)")
    with closing(sqlite3.connect(path)) as connection:
        for at, of in enumerate(("scores", *(f"v{at}" for at in range(15)))):
            connection.execute(f"CREATE VIEW v{at} AS SELECT a.* FROM {of} AS a, {of} AS b")
    with at_most(500), pytest.raises(InputError, match="has 17 tables"):
        read_scores([path])


@pytest.mark.parametrize("kind", KINDS)
def test_large_query_result_is_limited(tmp_path, kind):
    series = "range(10000000000) AS r(i)"
    view = ENDLESS.format(ROWS, "") if kind == "sqlite" else f"SELECT {ROWS} FROM {series}"
    path = _with_view(tmp_path / f"t.{kind}", kind, view)
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read_scores([path], ReadOptions(max_bytes=1_000_000))


def test_result_size_is_limited_by_file_size(tmp_path, monkeypatch):
    monkeypatch.setattr(guards, "_MIN_RESULT", 1_000_000)
    monkeypatch.setattr(guards, "_MAX_RESULT_RATIO", 10)
    path = _with_view(tmp_path / "t.sqlite", "sqlite", ENDLESS.format(ROWS, ""))
    with pytest.raises(InputError, match="did not finish within 1,0") as caught:
        read_scores([path])
    assert "max_bytes" not in caught.value.hint


def test_large_cells_are_fetched_in_small_batches(tmp_path):
    path = _with_view(tmp_path / "t.sqlite", "sqlite", ENDLESS.format("zeroblob(3000000) AS score", ""))
    with memory_below(600_000_000), pytest.raises(InputError, match="more than 50,000,000 bytes"):
        read_scores([path], ReadOptions(max_bytes=50_000_000))


# Batches double in size, up to 65,536 rows.
@pytest.mark.parametrize("small", [0, pytest.param(140_000, marks=pytest.mark.slow)])
def test_oversized_values_are_never_created(tmp_path, small):
    view = ENDLESS.format(f"CASE WHEN i < {small} THEN 1 ELSE zeroblob(50000000) END AS score", "")
    path = _with_view(tmp_path / "t.sqlite", "sqlite", view)
    message = "a value of more than 16,777,216 bytes"
    with memory_below(100_000_000), pytest.raises(InputError, match=message) as caught:
        read_scores([path])
    assert "select the relevant columns" in caught.value.hint


MEASURE_REFUSAL = """
import sys, tracemalloc
from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import guards
from riskrank.scores.table.score_table import read_scores

guards._MIN_MEMORY = 200_000_000
tracemalloc.start()
try:
    read_scores([sys.argv[1]], ReadOptions(max_bytes=20_000_000))
except InputError as error:
    print(tracemalloc.get_traced_memory()[1], error)
"""


@pytest.mark.slow
def test_large_values_after_small_ones_use_bounded_memory(tmp_path):
    """The limit is on address space, of which a process that ran other tests has free parts."""
    view = ENDLESS.format("CASE WHEN i < 140000 THEN 1 ELSE randomblob(900000) END AS score", "")
    path = _with_view(tmp_path / "t.sqlite", "sqlite", view)
    program = [sys.executable, "-c", MEASURE_REFUSAL, str(path)]
    peak, _, error = subprocess.check_output(program, text=True).partition(" ")
    assert "did not finish within" in error
    assert int(peak) < 600_000_000


@pytest.mark.slow
def test_working_memory_is_limited(tmp_path, monkeypatch):
    """Sorting holds all rows before it returns the first."""
    monkeypatch.setattr(guards, "_MIN_MEMORY", 30_000_000)
    path = _with_view(tmp_path / "t.sqlite", "sqlite", ENDLESS.format(ROWS, " ORDER BY i"))
    with pytest.raises(InputError, match=r"did not finish within (30,000,000 bytes|5 seconds)"):
        read_scores([path], ReadOptions(max_bytes=1_000_000))


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells no address space")
@pytest.mark.parametrize("text", ["repeat('x', 4 * n)", "len(range(n))"])
def test_uncounted_memory_is_limited_by_the_system(tmp_path, text):
    resource = pytest.importorskip("resource")
    view = f"SELECT 'a' AS model, {text} AS sample, 1 AS score FROM (VALUES (500000000)) AS long(n)"
    path = _with_view(tmp_path / "t.duckdb", "duckdb", view)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(InputError, match=r"did not finish within [0-9,]+ bytes"):
        read_scores([path])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrlimit(resource.RLIMIT_AS)
    assert after[0] - before[0] < 900_000
    assert after[1] == before[1]


@pytest.mark.parametrize("late", [0.5, "text", 2**70, None, b"\x01", 7])
def test_column_types_hold_for_all_rows(tmp_path, late):
    """The pieces of a column end in a common type, for any late value."""
    values = [*range(500), late, *range(3)]
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (model, n)")
        stored = [str(value) if value == 2**70 else value for value in values]
        connection.executemany("INSERT INTO t VALUES ('a', ?)", [(value,) for value in stored])
        connection.commit()
    source = open_sources([str(path)])[0]
    assert source.load(["n"])["n"].to_list() == build_column("n", stored).to_list()
    assert source.load(["n"])["n"].dtype == build_column("n", stored).dtype


@pytest.mark.parametrize("state", ["closed", "connected", "idle", "crashed", "mended", "emptied"])
def test_write_ahead_log_is_read_and_left_unchanged(tmp_path, long_frame, write, state):
    home, place = tmp_path / "home", tmp_path / "place"
    home.mkdir()
    place.mkdir()
    expected = read_scores([write("t.csv", long_frame)])
    rows = long_frame.rows()
    with closing(sqlite3.connect(home / "t.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("CREATE TABLE t (model, sample, metric, score)")
        writer.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows[:-5])
        writer.commit()
        if state in ("idle", "emptied"):
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows[-5:])
        writer.commit()
        if state in ("idle", "emptied"):
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if state in ("connected", "idle"):
            place = home
        elif state != "closed":
            for kind in ("", "-wal"):
                shutil.copy(home / f"t.db{kind}", place)
        else:
            writer.close()
            shutil.copy(home / "t.db", place)
        if state == "mended":  # the log holds the first page too
            (place / "t.db").write_bytes(b"\xef\xbb\xbf" + (place / "t.db").read_bytes())
        before = {path.name: path.read_bytes() for path in place.iterdir() if not path.name.endswith("-shm")}
        names = {path.name for path in place.iterdir()}
        place.chmod(0o500)
        assert_equal_tables(read_scores([str(place / "t.db")]), expected)
        place.chmod(0o700)
        assert {path.name for path in place.iterdir()} == names
        assert {name: (place / name).read_bytes() for name in before} == before
