"""Conditions and queries on any table: values keep their type, and only named columns are read."""

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import query
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.query import exclude_values, infer_types, keep_rows
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables

SUFFIXES = ["csv", "tsv.gz", "parquet", "jsonl", "json"]


@pytest.fixture
def extended(long_frame):
    """Return scores with extra columns: a split, a number, a flag, a name of two words."""
    place = pl.int_range(pl.len())
    return long_frame.with_columns(
        pl.when(pl.col("sample") == "s1").then(pl.lit("dev")).otherwise(pl.lit("test")).alias("split"),
        (place % 3 == 0).alias("ok"),
        (place * 10).alias("cost"),
        (place % 4 / 2).alias("time spent"),
    )


def write_as(write, frame, suffix):
    if suffix == "json":
        import json

        return write("t.json", json.dumps(frame.to_dicts()))
    return write(f"t.{suffix}", frame)


CONDITIONS = [
    ("split = 'test'", pl.col("split") == "test"),
    ('cost >= 90 AND "time spent" < 1.5', (pl.col("cost") >= 90) & (pl.col("time spent") < 1.5)),
    ("ok OR metric LIKE 'l%'", pl.col("ok") | pl.col("metric").str.starts_with("l")),
    ("score > (SELECT AVG(score) FROM scores)", pl.col("score") > pl.col("score").mean()),
    ("sample IN ('s2', 's3') -- a remark", pl.col("sample").is_in(["s2", "s3"])),
]


@pytest.mark.parametrize(
    ("suffix", "at"), [*(("csv", at) for at in range(5)), *((suffix, 1) for suffix in SUFFIXES[1:])]
)
def test_condition_selects_rows(write, extended, suffix, at):
    condition, expected = CONDITIONS[at]
    lenient = {"missing": "keep", "allow_constant": True, "min_models": 1}
    table = read_scores([write_as(write, extended, suffix)], ReadOptions(where=condition, **lenient))
    selected = extended.filter(expected).select("model", "sample", "metric", "score")
    assert table.rows == selected.height == table.inputs[0].rows
    assert_equal_tables(table, read_scores([write("kept.csv", selected)], ReadOptions(**lenient)))


def test_names_and_row_numbers_are_those_of_the_file(write):
    text = "model,sample,metric,score,split\n" + "".join(
        f"{model},{sample},m,{score},{split}\n"
        for model, sample, score, split in [
            ("007", "01", 1, "dev"),
            ("007", "02", 2, "test"),
            ("7", "01", 3, "dev"),
            ("7", "02", "x", "test"),
        ]
    )
    path = write("t.csv", text)
    options = ReadOptions(where="split = 'dev'", allow_constant=True)
    table = read_scores([path], options)
    assert table.models == ("007", "7")
    assert table.samples == ("01",)
    with pytest.raises(InputError, match=r"t\.csv: row 5, column score"):
        read_scores([path], ReadOptions(where="split = 'test'"))


def test_files_without_selected_rows_are_excluded(write, extended):
    first = write("a.csv", extended.filter(pl.col("split") == "dev"))
    second = write("b.csv", extended.filter(pl.col("split") == "test"))
    table = read_scores([first, second], ReadOptions(where="split = 'test'"))
    assert [entry.path for entry in table.inputs] == [second]
    with pytest.raises(InputError, match="no rows match") as caught:
        read_scores([first, second], ReadOptions(where="split = 'train'"))
    assert "column split contains dev" in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "error", "message", "hint"),
    [
        ("splt = 'dev'", InputError, "there is no column 'splt'", "did you mean split?"),
        ('split = "dev"', InputError, "there is no column 'dev'", "single quotes: 'dev'"),
        (
            "split=dev",
            InputError,
            "there is no column 'dev'",
            "put text in single quotes: where=\"split='dev'\"",
        ),
        ("cost > 1 AND split != dev", InputError, "there is no column 'dev'", "cost > 1 AND split != 'dev'"),
        ("Time_spent > 1", InputError, "there is no column 'Time_spent'", 'did you mean "time spent"?'),
        ("split = 'dev", InputError, "fails", "double quotes"),
        ("cost > 'a'", InputError, "fails", "numbers with numbers"),
        ("cost + 1", InputError, "fails", "numbers with numbers"),
        ("split = 'dev') OR (1 = 1", InputError, "", ""),
        ("", UsageError, "needs a condition", "split = 'test'"),
        ("nofun(cost) = 1", InputError, "fails", "names that contain spaces"),
    ],
)
def test_invalid_conditions_are_refused(write, extended, condition, error, message, hint):
    if message == "":
        # Parentheses around the condition balance; what is inside is the writer's own affair.
        assert read_scores([write("t.csv", extended)], ReadOptions(where=condition)).rows == 24
        return
    with pytest.raises(error) as caught:
        read_scores([write("t.csv", extended)], ReadOptions(where=condition))
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert message in lines[0]
    assert hint in lines[2]


def test_query_returns_the_table(write, extended):
    wide = extended.pivot("metric", index=["model", "sample"], values="score")
    unpivoted = read_scores(
        [write("w.csv", wide)],
        ReadOptions(
            sql="SELECT model, sample, 'acc' AS metric, acc AS score FROM scores UNION ALL "
            "SELECT model, sample, 'loss', loss FROM scores"
        ),
    )
    assert_equal_tables(unpivoted, read_scores([write("t.csv", extended)]))


def test_queries_run_per_file_after_the_condition(write, extended):
    files = [write(f"{name}.csv", extended.filter(model=name)) for name in ("A", "B", "C")]
    query = "SELECT model, sample, 'mean' AS metric, AVG(score) AS score FROM scores GROUP BY model, sample"
    options = ReadOptions(where="split = 'test'", sql=query)
    table = read_scores(files, options)
    expected = (
        extended.filter(split="test")
        .group_by("model", "sample")
        .agg(pl.col("score").mean(), metric=pl.lit("mean"))
    )
    assert_equal_tables(table, read_scores([write("e.csv", expected)]))
    assert [entry.path for entry in table.inputs] == files


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT * FROM score", InputError, "the table is named scores"),
        ("SELECT nothing FROM scores", InputError, "there is no column 'nothing'"),
        ("SELECT * FROM scores WHERE split = 'x'", InputError, "the query returns no rows"),
        ("DELETE FROM scores", UsageError, "needs a query that returns rows"),
        ("SELECT score, score FROM scores", InputError, "fails"),
        ("SELECT * FROM scores; SELECT 1", InputError, "fails"),
        ("", UsageError, "SELECT … FROM scores"),
    ],
)
def test_invalid_queries_are_refused(write, extended, query, error, message):
    with pytest.raises(error, match=message):
        read_scores([write("t.csv", extended)], ReadOptions(sql=query))


def test_infer_types_recognises_numbers():
    frame = pl.DataFrame(
        {
            "whole": ["1", " 20", None],
            "real": ["1.5", "n/a", "1e-3"],
            "name": ["007", "8", "9"],
            "flag": ["true", "False", ""],
            "text": ["1", "two", "3"],
            "empty": [None, None, None],
        },
        schema_overrides={"empty": pl.String},
    )
    inferred = infer_types(frame)
    assert inferred["whole"].to_list() == [1, 20, None]
    assert inferred["real"].to_list() == [1.5, None, 0.001]
    assert inferred["flag"].to_list() == [True, False, None]
    assert inferred["flag"].dtype == pl.Boolean
    assert inferred.select("name", "text", "empty").equals(frame.select("name", "text", "empty"))
    assert infer_types(pl.DataFrame({"x": ["1,5", "2,25"]}), decimal_comma=True)["x"].to_list() == [1.5, 2.25]


# SQL keywords, and names that need quotes.
UNUSUAL_NAMES = [
    "task",
    "group",
    "order",
    "user",
    "interval",
    "select",
    "not",
    "session_user",
    "language",
    "größe",
]
UNUSUAL_NAMES += ["2nd", "it's", "a-b", 'say"so']


@pytest.mark.parametrize("name", UNUSUAL_NAMES)
def test_suggested_conditions_quote_column_names(name):
    table = FrameSource(pl.DataFrame({name: ["it's", "b", "c"], "x": [1, 2, 3]}))
    (left,) = keep_rows([table], exclude_values(name, ["it's", "b"], ["it's", "b", "c"], "x > 1"))
    assert left.load(["x"])["x"].to_list() == [3]


def test_numbers_are_excluded_as_numbers():
    table = FrameSource(pl.DataFrame({"n": [1, 2, 3]}))
    (left,) = keep_rows([table], exclude_values("n", ["1", "2"], ["1", "2", "3"], None))
    assert left.load(["n"])["n"].to_list() == [3]


LAZY_CONDITIONS = [
    "split = 'test'",
    "split <> 'test' AND score > 0.5",
    "(split = 'test' OR (score BETWEEN 0.2 AND 0.4)) AND NOT (fold = 2)",
    "split LIKE 't%' AND fold IN (0, 2)",
    "passed",
    "code = '007'",
    "late IS NULL",
    "UPPER(split) = 'TEST'",
    "score > (SELECT AVG(score) FROM scores)",
    "score > (SELECT score FROM scores ORDER BY score LIMIT 1)",
    "number > 7",
    '"a ""b""" = \'x\'',
]


@pytest.fixture
def columns_of_all_kinds():
    rng = np.random.default_rng(3)
    n = 3000
    return pl.DataFrame(
        {
            "model": rng.choice(["a", "b"], n),
            "sample": [str(i) for i in range(n)],
            "metric": ["m"] * n,
            "score": rng.random(n),
            "split": rng.choice(["test", "dev"], n),
            "fold": rng.integers(0, 3, n),
            "passed": rng.random(n) > 0.5,
            "code": [["007", "1"][i % 2] for i in range(n)],
            "late": [None] * 2000 + ["x"] * 1000,
            "number": [str(i % 10) for i in range(n)],
            'a "b"': ["x", "y"] * (n // 2),
        }
    )


@pytest.mark.parametrize("condition", LAZY_CONDITIONS)
def test_conditions_on_a_folder_equal_those_on_a_file(columns_of_all_kinds, condition, tmp_path):
    for (split,), rows in columns_of_all_kinds.group_by("split", maintain_order=True):
        (tmp_path / "t" / f"split={split}").mkdir(parents=True)
        rows.drop("split").write_parquet(tmp_path / "t" / f"split={split}" / "0.parquet")
    columns_of_all_kinds.write_parquet(tmp_path / "t.parquet")
    results = []
    for name in ("t", "t.parquet"):
        (source,) = query.keep_rows(open_sources([str(tmp_path / name)]), condition)
        results.append(source.load(["sample", "score"]).sort("sample"))
    assert results[0].equals(results[1])


def test_conditions_read_only_named_columns(columns_of_all_kinds, tmp_path, loads):
    columns_of_all_kinds.write_parquet(tmp_path / "t.parquet")
    (source,) = open_sources([str(tmp_path / "t.parquet")])
    query.keep_rows([source], "split = 'test' AND code = '007' AND score > 0.5")
    assert loads == [["score", "split", "code"]]


def test_types_are_inferred_from_all_cells():
    """Columns that begin like numbers are checked in full; those that begin like text are text."""
    numbers = pl.DataFrame({"x": ["1", "2"] * 1000})
    assert query.infer_types(numbers)["x"].dtype == pl.Int64
    assert query.infer_types(numbers[:-1].vstack(pl.DataFrame({"x": ["end"]})))["x"].dtype == pl.String
    assert query.infer_types(pl.DataFrame({"x": [None] * 2000 + ["5"]}))["x"].dtype == pl.Int64
    assert query.infer_types(pl.DataFrame({"x": ["true"] * 2000 + ["false"]}))["x"].dtype == pl.Boolean
    assert query.infer_types(pl.DataFrame({"x": ["true"] * 2000 + ["no"]}))["x"].dtype == pl.String
    assert query.infer_types(pl.DataFrame({"x": ["no", *["1"] * 2000]}))["x"].dtype == pl.String


def test_queries_read_only_named_columns(columns_of_all_kinds, tmp_path, loads):
    columns_of_all_kinds.write_parquet(tmp_path / "t.parquet")
    everything = columns_of_all_kinds.columns
    for text, expected in (
        ("SELECT model, sample, AVG(score) AS score FROM scores GROUP BY model, sample", everything[:4:1]),
        ("SELECT 1 AS score", ["score"]),
        ("SELECT * FROM scores", everything),
        ("FROM scores", everything),
        ("WITH s AS (FROM scores) SELECT model FROM s", everything),
    ):
        loads.clear()
        (source,) = open_sources([str(tmp_path / "t.parquet")])
        query.run(source, text)
        assert set(loads[0]) <= set(expected), text
        assert set(loads[0]) >= set(expected) - {"metric"}, text
    with pytest.raises(InputError) as caught:
        query.run(source, "SELECT modell FROM scores")
    assert caught.value.hint == "did you mean model?"
