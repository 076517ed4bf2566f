"""Parquet files whose pages are damaged are bad input, however Polars says so."""

import polars as pl
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.table.score_table import read_scores


def test_a_page_that_makes_polars_panic(tmp_path, monkeypatch):
    path = str(tmp_path / "t.parquet")
    pl.DataFrame({"model": ["A"], "sample": ["s"], "metric": ["a"], "score": [1.0]}).write_parquet(path)

    def panic(*_args, **_options):
        raise pl.exceptions.PanicException("assertion failed: offset + length <= self.length\nmore")

    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(InputError, match="cannot be read as Parquet") as caught:
        read_scores([path], ReadOptions())
    assert caught.value.found == "assertion failed: offset + length <= self.length"
