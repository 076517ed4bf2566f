"""Columns that SQL reads of a table: only those that it names."""

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.scores.files import query
from riskrank.scores.files.opening import open_sources

CONDITIONS = [
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


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_on_a_folder_equal_those_on_a_file(columns_of_all_kinds, condition, tmp_path):
    for (split,), rows in columns_of_all_kinds.group_by("split", maintain_order=True):
        (tmp_path / "t" / f"split={split}").mkdir(parents=True)
        rows.drop("split").write_parquet(tmp_path / "t" / f"split={split}" / "0.parquet")
    columns_of_all_kinds.write_parquet(tmp_path / "t.parquet")
    results = []
    for name in ("t", "t.parquet"):
        (source,) = query.where(open_sources([str(tmp_path / name)]), condition)
        results.append(source.load(["sample", "score"]).sort("sample"))
    assert results[0].equals(results[1])


def test_conditions_read_only_named_columns(columns_of_all_kinds, tmp_path, loads):
    columns_of_all_kinds.write_parquet(tmp_path / "t.parquet")
    (source,) = open_sources([str(tmp_path / "t.parquet")])
    query.where([source], "split = 'test' AND code = '007' AND score > 0.5")
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
        query.select(source, text)
        assert set(loads[0]) <= set(expected), text
        assert set(loads[0]) >= set(expected) - {"metric"}, text
    with pytest.raises(InputError) as caught:
        query.select(source, "SELECT modell FROM scores")
    assert caught.value.hint == "did you mean model?"
