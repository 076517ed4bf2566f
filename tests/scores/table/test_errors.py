"""Every bad input gives three lines that name the file and the next step."""

import gzip
import io

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"
GOOD = HEAD + "A,1,m,0.1\nA,2,m,0.2\nB,1,m,0.3\nB,2,m,0.4\n"


def refusal(path, kind=InputError, stdin=None, **options):
    """Return the error of reading a path, after checking its three lines."""
    with pytest.raises((InputError, UsageError)) as caught:
        read_scores([path], ReadOptions(**options), stdin)
    error = caught.value
    assert isinstance(error, kind)
    assert error.found
    assert error.hint
    assert len(error.lines()) == 3
    assert all(line.startswith("  ") for line in str(error).splitlines()[3:])
    if kind is InputError:
        assert path in error.lines(flags=True)[0]
    return error


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_row_numbers_without_a_header(write, suffix):
    frame = pl.DataFrame(
        {"model": ["A", "B"], "sample": ["1", "1"], "metric": ["m", "m"], "score": ["1", "x"]}
    )
    assert "row 2, column score: the score is not a number" in refusal(write(f"t.{suffix}", frame)).problem


def test_selection_may_exclude_bad_rows(write):
    path = write("t.csv", GOOD + "A,1,label,yes\nC,9,m,nan\n")
    table = read_scores([path], ReadOptions(models=("A", "B"), metric=("m",)))
    assert table.samples == ("1", "2")


def test_nan_is_not_a_name(write):
    frame = pl.DataFrame({"model": ["A", "B"], "sample": [1.0, float("nan")], "m": [1.0, 2.0]})
    assert (
        "row 2, column sample: the sample has no name"
        in refusal(write("t.parquet", frame), wide=True).problem
    )


def test_constant_metric_on_request(write):
    path = write("t.csv", HEAD + "A,1,m,1\nB,1,m,1\n")
    assert read_scores([path], ReadOptions(allow_constant=True)).metrics[0].name == "m"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.csv.gz", "t.jsonl.zst"])
def test_empty_file(write, name):
    assert "the file is empty" in refusal(write(name, b"")).problem
    if "parquet" not in name:
        assert "the file is empty" in refusal(write(name, b"\n\n")).problem


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_table_without_rows(write, name):
    frame = pl.DataFrame(schema=dict.fromkeys(["model", "sample", "metric", "score"], pl.String))
    assert "the file is empty" in refusal(write(name, frame)).problem


def test_ambiguous_standard_input_needs_a_format():
    error = refusal("-", UsageError, io.BytesIO(b"model sample\nA 1\n"))
    assert "input_format" in error.lines()[2]


def test_unreadable_parquet(write, long_frame):
    buffer = io.BytesIO()
    long_frame.write_parquet(buffer)
    data = buffer.getvalue()
    for content in (data[:-20], data[: len(data) // 2], b"PAR1 but not really PAR1", b"hello"):
        assert "cannot be read as Parquet" in refusal(write("t.parquet", content)).problem
    broken = data[:60] + bytes(len(data[60:200])) + data[200:]
    assert "t.parquet" in refusal(write("t.parquet", broken)).problem
    assert "cannot be read as Parquet" in refusal(write("t.parquet.gz", b"hello")).problem
    assert "cannot be decompressed" in refusal(write("t.parquet.zst", b"\x28\xb5\x2f\xfd" + data)).problem


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl.gz", "parquet.gz"])
def test_broken_gzip(write, suffix):
    packed = gzip.compress(GOOD.encode() * 50)
    for content in (
        packed[: len(packed) // 2],
        packed[:-6] + b"\x00" * 6,
        packed[:12] + b"junk" + packed[16:],
    ):
        assert "cannot be decompressed" in refusal(write(f"t.{suffix}", content)).problem


def test_broken_zstd(write, long_frame, tmp_path):
    path = write("t.csv.zst", pl.concat([long_frame] * 50))
    data = (tmp_path / "t.csv.zst").read_bytes()
    (tmp_path / "t.csv.zst").write_bytes(data[: len(data) // 2])
    assert "cannot be decompressed" in refusal(path).problem


def test_text_that_is_not_utf8(write):
    line = '{"model": "Ä", "sample": 1, "metric": "m", "score": 1}\n'
    error = refusal(write("t.jsonl", line.encode("latin1")))
    assert "not UTF-8" in error.lines(flags=True)[0]
    assert "0xc4 in line" in error.found
    assert "iconv" in error.lines(flags=True)[2]


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace("A", "Модель").encode("cp1251"),
        GOOD.replace("A", "模型甲").encode("gbk"),
        GOOD.replace("A", "Ä").encode() + "Ö,1,m,1\n".encode("latin1"),
        GOOD.replace("A", "\x81").encode("latin1"),
    ],
    ids=["Cyrillic", "Chinese", "half UTF-8", "no letter"],
)
def test_text_in_an_unknown_encoding_is_refused(write, data):
    assert "not UTF-8" in refusal(write("u.csv", data)).lines(flags=True)[0]


@pytest.mark.parametrize("letters", [("A", "Ä"), ("sample", "Muster für Größe")])
def test_windows_encoding_is_read_and_reported(write, letters):
    """Non-ASCII names in rows and header equal those of the same file in UTF-8."""
    text = GOOD.replace(*letters)
    options = ReadOptions(columns="sample=Muster für Größe") if letters[0] == "sample" else ReadOptions()
    there, here = (
        read_scores([str(write(name, data))], options)
        for name, data in (("w.csv", text.encode("cp1252")), ("u.csv", text.encode()))
    )
    assert there.models == here.models
    assert any("read as Windows-1252" in warning for warning in there.warnings)
    assert not any("Windows" in warning for warning in here.warnings)
