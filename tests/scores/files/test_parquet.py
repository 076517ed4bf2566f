"""Damaged or unsafe Parquet files are refused as bad input, for any error of Polars."""

from datetime import timedelta
from decimal import Decimal

import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import guards, parquet
from riskrank.scores.files.guards import Budget
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores


def test_polars_panics_become_input_errors(tmp_path, monkeypatch):
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
    ("sample", "message"),
    [
        (pl.lit(2_932_897, pl.Int32).cast(pl.Date), "outside the years 1 to 9999"),
        (pl.lit(2**63 - 1).cast(pl.Datetime("us")), "outside the years 1 to 9999"),
        (DEEP, "nested too deep"),
        (DENSE, "compression ratio"),
        (DENSE.alias("text"), "not scored on the same samples"),  # though a hint would look into it
        (pl.lit(2_932_896, pl.Int32).cast(pl.Date), None),
    ],
)
def test_invalid_dates_and_types_are_refused(tmp_path, monkeypatch, sample, message):
    monkeypatch.setattr(guards, "_MIN_BYTES", 1 << 20)
    path = tmp_path / "t.parquet"
    named = sample if sample.meta.output_name() == "text" else sample.alias("sample")
    frame = pl.DataFrame({"model": ["A", "B"], "sample": ["1", "2"], "metric": "acc", "score": [1.0, 0.5]})
    frame.with_columns(named).write_parquet(path)
    if message is None:
        assert read_scores([str(path)], ReadOptions()).samples == ("9999-12-31",)
        return
    with pytest.raises(InputError, match=message):
        read_scores([str(path)], ReadOptions())


def test_decimals_of_256_bits_are_read_up_to_38_digits(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"model": ["A", "B"] * 5, "sample": [str(at // 2) for at in range(10)], "metric": ["acc"] * 10}
    for digits in (38, 39):
        scores = pa.array([Decimal(at) for at in range(10)], pa.decimal256(digits, 2))
        pq.write_table(pa.table({**columns, "score": scores}), tmp_path / f"{digits}.parquet")
    assert read_scores([str(tmp_path / "38.parquet")], ReadOptions()).models == ("A", "B")
    with pytest.raises(InputError, match="column 'score' has decimals of 39 digits"):
        read_scores([str(tmp_path / "39.parquet")], ReadOptions())


def varint(number):
    """Return the variable-length encoding of a number, seven bits per byte."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


# A group of one column, with its only page at the beginning.
GROUP = b"\x19\x1c\x3c\x56\2\x16\2\x16\2\x26\x08\0\0\x16\2\x16\2\0"


def file_of(children, groups=0):
    """Return a Parquet file that is only a footer: schema elements with the given numbers of children."""
    elements = [b"\x48\x01a" + (b"\x15" + varint(2 * count) if count else b"") + b"\0" for count in children]
    schema = b"\x19\xfc" + varint(len(children)) + b"".join(elements)
    footer = b"\x15\x02" + schema + b"\x16\x02\x19\xfc" + varint(groups) + GROUP * groups + b"\0"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    ("children", "message"),
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
def test_footer_is_checked_before_polars_parses_it(children, message):
    with pytest.raises(InputError, match=message):
        ParquetSource("t.parquet", file_of(children), "", Budget(10**9))


# A schema, and a repeated field 2.
TWICE = b"\x15\x02\x19\x1c\x48\x01a\0\x09\x04\x1c\x48\x01a\0\0"


@pytest.mark.parametrize(
    "footer", [b"", b"\x19", b"\x29\xfc\xff\xff\xff\x7f", b"\x15\x02\x19\x1c\x58\0", bytes(9), TWICE]
)
def test_invalid_footers_are_refused(footer):
    end = footer + len(footer).to_bytes(4, "little")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        ParquetSource("t.parquet", b"PAR1" + end + b"PAR1", "", Budget(10**9))


def test_oversized_footers_are_refused(monkeypatch):
    monkeypatch.setattr(parquet, "_MAX_VALUES", 10_000)
    with pytest.raises(InputError, match="more than 10,000 values in its footer"):
        ParquetSource("t.parquet", file_of([1, 0], groups=1_000), "", Budget(10**9))


def test_null_rows_are_counted_before_loading(tmp_path, monkeypatch):
    """The limit also holds when a single column is loaded."""
    monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: pytest.fail("read"))
    path = tmp_path / "t.parquet"
    pl.select(pl.repeat(None, 7_000_000, dtype=pl.Float64).alias("score")).write_parquet(path)
    with pytest.raises(InputError, match="compression ratio is too high"):
        ParquetSource("t.parquet", path.read_bytes(), "", Budget(10**9)).load(["score"])


def test_arrow_schema_is_used_only_if_short(tmp_path, monkeypatch):
    """A long Arrow schema would overflow the stack of Polars; the Parquet types are used instead."""
    for values in (20, 2_000):
        kinds = pl.Enum([f"name {at}" for at in range(values)])
        pl.DataFrame({"model": ["name 1"]}, schema={"model": kinds}).write_parquet(tmp_path / "t.parquet")
        data = (tmp_path / "t.parquet").read_bytes()
        source = ParquetSource("t.parquet", data, "", Budget(10**9))
        assert source.load(["model"]).item() == "name 1"
        assert (b"ARROW:schema" in source._data) == (values == 20)


def test_durations_are_seconds_and_bytes_are_text_or_digits(tmp_path):
    frame = pl.DataFrame(
        {"took": [timedelta(seconds=1.5), None], "text": [b"a", b"\xc3\x96"], "key": [b"\xff", b"\0"]}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    source = ParquetSource("t.parquet", (tmp_path / "t.parquet").read_bytes(), "", Budget())
    read = {"took": [1.5, None], "text": ["a", "Ö"], "key": ["ff", "00"]}
    assert source.load(["took", "text", "key"]).to_dict(as_series=False) == read
    assert FrameSource(frame).load(["took", "text", "key"]).to_dict(as_series=False) == read
