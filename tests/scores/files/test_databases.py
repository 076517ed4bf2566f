"""SQLite and DuckDB files: the only table, or what a query in their own SQL gives; never written to."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError
from riskrank.scores.table.score_table import read_scores
from tests.scores.same import assert_same

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
def test_the_only_table(write, long_frame, database, kind):
    path = database(kind, **{"my runs": long_frame})
    table = read_scores([path])
    assert_same(table, read_scores([write("t.csv", long_frame)]))
    assert table.inputs[0].sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert_same(read_scores([database(kind, "other.db", t=long_frame)]), table)


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_chooses_and_joins(write, long_frame, database, kind):
    other = long_frame.select("model").unique()
    path = database(kind, runs=long_frame, models=other)
    with pytest.raises(UsageError, match="2 tables") as caught:
        read_scores([path])
    assert "models, runs" in str(caught.value) or "runs, models" in str(caught.value)
    query = "SELECT runs.* FROM runs JOIN models USING (model) WHERE metric = 'acc'"
    expected = read_scores([write("t.csv", long_frame)], ReadOptions(metric=("acc",)))
    assert_same(read_scores([path], ReadOptions(sql=query)), expected)
    everything = ReadOptions(sql="SELECT * FROM runs", where="metric = 'acc'")
    assert_same(read_scores([path], everything), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT * FROM run", InputError, "did you mean the table runs"),
        ("SELECT nothing FROM runs", InputError, "fails"),
        ("SELECT run FROM runs", InputError, "fails"),
        ("SELEC", UsageError, "needs a query that gives rows"),
        ("DROP TABLE runs", UsageError, "needs a query that gives rows"),
        ("WITH x AS (SELECT 1) DELETE FROM runs", InputError, "fails"),
        ("SELECT * FROM runs WHERE model = 'nobody'", InputError, "the query gives no rows"),
        ("", UsageError, "needs a query"),
    ],
)
def test_queries_that_fail(long_frame, database, kind, query, error, message):
    path = database(kind, runs=long_frame)
    before = Path(path).read_bytes()
    with pytest.raises(error, match=message) as caught:
        read_scores([path], ReadOptions(sql=query))
    assert "did you mean the table" in message or "did you mean the table" not in caught.value.hint
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_no_databases(tmp_path, long_frame, database, kind):
    whole = database(kind, runs=long_frame)
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(Path(whole).read_bytes()[:3000])
    with pytest.raises(InputError, match="cannot be read"):
        read_scores([str(cut)])
    cut.write_bytes(b"model,score\n" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        read_scores([str(cut)])
    with pytest.raises(InputError, match="no such file"):
        read_scores([str(tmp_path / f"none.{kind}")])
    assert not (tmp_path / f"none.{kind}").exists()
    with pytest.raises(InputError, match="the file is empty"):
        read_scores([database(kind, f"empty.{kind}")])


def test_a_duckdb_file_reads_no_other_file(tmp_path, long_frame, database):
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
