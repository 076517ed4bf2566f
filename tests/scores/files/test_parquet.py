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


DEEP = pl.lit(1)
for _ in range(40):
    DEEP = pl.struct(DEEP.alias("x"))
DENSE = pl.lit("x" * 100).repeat_by(1_200_000).list.join("").cast(pl.Categorical)


@pytest.mark.parametrize(
    ("sample", "says"),
    [
        (pl.lit(2_932_897, pl.Int32).cast(pl.Date), "beyond the years 1 to 9999"),
        (pl.lit(2**63 - 1).cast(pl.Datetime("us")), "beyond the years 1 to 9999"),
        (DEEP, "nested too deep"),
        (DENSE, "more densely than"),
        (DENSE.alias("text"), "not scored on the same samples"),  # though a hint would look into it
        (pl.lit(2_932_896, pl.Int32).cast(pl.Date), None),
    ],
)
def test_dates_nobody_can_write_and_types_nobody_can_decode_are_refused(tmp_path, sample, says):
    path = tmp_path / "t.parquet"
    named = sample if sample.meta.output_name() == "text" else sample.alias("sample")
    frame = pl.DataFrame({"model": ["A", "B"], "sample": ["1", "2"], "metric": "acc", "score": [1.0, 0.5]})
    frame.with_columns(named).write_parquet(path)
    if says is None:
        assert read_scores([str(path)], ReadOptions()).samples == ("9999-12-31",)
        return
    with pytest.raises(InputError, match=says):
        read_scores([str(path)], ReadOptions())
