"""Parquet files whose pages are damaged are bad input, however Polars says so."""

import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import limits
from riskrank.scores.files.limits import Room
from riskrank.scores.files.parquet import ParquetSource
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
for _ in range(65):
    DEEP = pl.struct(DEEP.alias("x"))
DENSE = pl.lit("x" * 100).repeat_by(12_000).list.join("").cast(pl.Categorical)


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
def test_dates_nobody_can_write_and_types_nobody_can_decode_are_refused(tmp_path, monkeypatch, sample, says):
    monkeypatch.setattr(limits, "_LEAST_BYTES", 1 << 20)
    path = tmp_path / "t.parquet"
    named = sample if sample.meta.output_name() == "text" else sample.alias("sample")
    frame = pl.DataFrame({"model": ["A", "B"], "sample": ["1", "2"], "metric": "acc", "score": [1.0, 0.5]})
    frame.with_columns(named).write_parquet(path)
    if says is None:
        assert read_scores([str(path)], ReadOptions()).samples == ("9999-12-31",)
        return
    with pytest.raises(InputError, match=says):
        read_scores([str(path)], ReadOptions())


def file_of(children):
    """A Parquet file that is nothing but its end: a schema of elements with so many others in each."""
    elements = b"".join(
        b"\x48\x01a" + (b"\x15%c" % (2 * count) if count else b"") + b"\0" for count in children
    )
    size = len(children)
    listed = b"\x19\xfc" + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + elements
    footer = b"\x15\x02" + listed + b"\x16\x02\x19\x0c\0"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    ("children", "says"),
    [
        ([1] * 5_000 + [0], "a column is nested too deep"),  # Polars overflows its stack
        ([2, *[1] * 64, 0, 0], "a column is nested too deep"),
        ([2, 0, *[1] * 64, 0], "a column is nested too deep"),
        ([1] * 64 + [0], "cannot be read as Parquet"),
        ([1] + [0] * 250_000, "more than 100,000 columns"),
        ([1, 60, *[0] * 3], "cannot be read as Parquet"),
        ([1, 0], "cannot be read as Parquet"),
    ],
)
def test_the_end_is_looked_at_before_polars_follows_it(children, says):
    with pytest.raises(InputError, match=says):
        ParquetSource("t.parquet", file_of(children), "", Room(10**9))


# A schema, and field 2 once more.
TWICE = b"\x15\x02\x19\x1c\x48\x01a\0\x09\x04\x1c\x48\x01a\0\0"


@pytest.mark.parametrize(
    "footer", [b"", b"\x19", b"\x29\xfc\xff\xff\xff\x7f", b"\x15\x02\x19\x1c\x58\0", bytes(9), TWICE]
)
def test_an_end_that_is_none(footer):
    end = footer + len(footer).to_bytes(4, "little")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        ParquetSource("t.parquet", b"PAR1" + end + b"PAR1", "", Room(10**9))


def test_an_end_longer_than_any_table_needs():
    with pytest.raises(InputError, match="longer than any table needs"):
        ParquetSource("t.parquet", bytes((1 << 24) + 1) + b"\1\0\0\1PAR1", "", Room(10**9))


def test_rows_of_nothing_are_counted_before_they_are_read(tmp_path, monkeypatch):
    """Also where only one column is asked for, of the few that a row of scores has."""
    monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: pytest.fail("read"))
    path = tmp_path / "t.parquet"
    pl.select(pl.repeat(None, 7_000_000, dtype=pl.Float64).alias("score")).write_parquet(path)
    with pytest.raises(InputError, match="packed more densely"):
        ParquetSource("t.parquet", path.read_bytes(), "", Room(10**9)).load(["score"])


def test_what_arrow_says_of_columns_counts_where_it_is_short(tmp_path, monkeypatch):
    """Polars follows it until its stack is full, too; without it columns are what Parquet says."""
    for values in (20, 2_000):
        kinds = pl.Enum([f"name {at}" for at in range(values)])
        pl.DataFrame({"model": ["name 1"]}, schema={"model": kinds}).write_parquet(tmp_path / "t.parquet")
        data = (tmp_path / "t.parquet").read_bytes()
        source = ParquetSource("t.parquet", data, "", Room(10**9))
        assert source.load(["model"]).item() == "name 1"
        assert (b"ARROW:schema" in source._data) == (values == 20)
