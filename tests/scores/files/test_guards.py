"""Oversized or sparse files are refused in linear time; valid ones are read."""

import json
import os
from dataclasses import replace

import polars as pl
import pytest
from polars.exceptions import PanicException

import riskrank as rr
from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import delimited, guards, opening
from riskrank.scores.files.guards import Budget, suppress_panics
from riskrank.scores.files.json_tables import JsonLinesSource
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores
from tests.pace import at_most

WIDE = 10_000


def _rows(columns, suffix):
    row = {f"c{at}": at % 7 / 7 for at in range(columns)}
    if suffix == "csv":
        return f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"
    return json.dumps([row] if suffix == "json" else row)


@pytest.mark.parametrize(
    "suffix", ["csv", *(pytest.param(name, marks=pytest.mark.slow) for name in ("jsonl", "json", "parquet"))]
)
def test_wide_file_without_roles_is_refused_quickly(write, suffix):
    columns = {f"c{at}": [at % 7 / 7] for at in range(WIDE)}
    path = write(f"t.{suffix}", pl.DataFrame(columns) if suffix == "parquet" else _rows(WIDE, suffix))
    with at_most(600), pytest.raises(InputError, match="missing columns 'model', 'sample'") as caught:
        read_scores([path])
    assert caught.value.found.startswith("columns: c0, c1, c2,")
    assert "name these columns" in caught.value.hint


@pytest.mark.slow
def test_roles_are_guessed_among_very_many_columns(write):
    names = [*(f"c{at}" for at in range(WIDE)), "system", "doc_id"]
    cells = [
        ",".join([*(str(at % 3) for at in range(WIDE)), model, f"d{at}"]) for model in "ab" for at in (1, 2)
    ]
    path = write("t.csv", "\n".join([",".join(names), *cells]))
    with pytest.raises(InputError) as caught:
        read_scores([path])
    assert 'columns="model=system,sample=doc_id" wide=True' in str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_too_many_columns_are_refused(write, suffix):
    path = write(f"t.{suffix}", _rows(100_001, suffix))
    with (
        at_most(300),
        pytest.raises(
            InputError, match="more than 100,000 columns, too many for a table of scores"
        ) as caught,
    ):
        read_scores([path])
    assert caught.value.found.startswith("columns: c0, c1,")


@pytest.mark.slow
def test_too_many_metrics_are_refused(write):
    names = [f"m{at}" for at in range(5_001)]
    frame = pl.DataFrame({"model": ["a", "b"], "sample": ["s", "s"]} | {name: [0.5, 0.6] for name in names})
    wide, long = (
        write("w.csv", frame),
        write(
            "l.csv",
            frame.unpivot(names, index=["model", "sample"], variable_name="metric", value_name="score"),
        ),
    )
    with at_most(600):
        for path, options in ((wide, ReadOptions(wide=True)), (long, ReadOptions())):
            for read in (read_scores, inspect_scores):
                with pytest.raises(InputError, match="more than 5,000 metrics") as caught:
                    read([path], options)
                assert caught.value.hint.startswith("select some of them")
                assert read([path], replace(options, metric=("m0", "m7"))).metrics
        with pytest.raises(InputError, match="more than 5,000 metrics"):
            rr.gate(long, better=[("a", "b")])


def test_too_many_models_are_refused(write):
    frame = pl.DataFrame({"model": [f"m{at}" for at in range(10_001)]})
    path = write(
        "t.csv", frame.with_columns(sample=pl.lit("s"), metric=pl.lit("acc"), score=pl.int_range(10_001) / 7)
    )
    with pytest.raises(InputError, match="more than 10,000 models"):
        read_scores([path])
    assert read_scores([path], ReadOptions(models=("m0", "m9"))).models == ("m0", "m9")


@pytest.mark.parametrize("column", ["model", "metric", "task"])
def test_long_names_are_refused(write, long_frame, column):
    for length in (10_000, 10_001):
        frame = long_frame.with_columns(pl.lit("t").alias("task"))
        frame = frame.with_columns(pl.col(column).replace(frame[column][0], "x" * length))
        path = write("t.csv", frame)
        if length == 10_000:
            assert read_scores([path]).rows == frame.height
    with pytest.raises(
        InputError, match=f"a name of 10,001 characters in column {column}; the maximum is 10,000"
    ):
        read_scores([path])
    wide = write("t.csv", long_frame.select("model", "sample", pl.col("score").alias("x" * 10_001)))
    with pytest.raises(InputError, match="for a metric"):
        read_scores([wide], ReadOptions(wide=True))


CELLS = ["x" * 3_000, f'"{"x,y " * 500}"', '"' + "x,\n" * 900 + '"']
CSV = ["model,{},score\nA,1,1\n", "model,sample,metric,score\nA,1,{},1\n"]
LONG = [("t.csv", text.format(cell)) for text in CSV for cell in CELLS]
LONG += [("t.jsonl", '{"model": "A"}\n' * 200 + '{"x": "' + "x" * 3_000 + '"}\n')]


@pytest.mark.parametrize(("name", "text"), LONG)
def test_long_lines_and_fields_are_refused(write, monkeypatch, name, text):
    monkeypatch.setattr(guards, "MAX_FIELD", 1_000)
    with pytest.raises(InputError, match=r"cannot be read as CSV|row 201 is not valid JSON"):
        read_scores([write(name, text)])


BLANK = ["[" + " " * 2_000, "# a title\n#\n" * 300, "\ufeff{\n" + "\t\n" * 2_000]


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
@pytest.mark.parametrize("text", BLANK)
def test_text_without_a_beginning_is_refused_unparsed(write, monkeypatch, text, suffix):
    path = write(f"t.{suffix}", text)
    with pytest.raises(InputError) as small:
        read_scores([path])
    assert "in the first" not in small.value.found
    monkeypatch.setattr(guards, "MAX_FIELD", 1_000)
    monkeypatch.setattr(guards.Budget, "charge_text", lambda *_: pytest.fail("counted"))
    with pytest.raises(InputError, match="the file is empty") as large:
        read_scores([path])
    assert large.value.found == "only space and comments in the first 1,000 bytes"


def test_names_that_begin_with_a_hash_are_no_comments(write, monkeypatch, long_frame):
    monkeypatch.setattr(guards, "MAX_FIELD", 100)
    frame = long_frame.with_columns(pl.concat_str(pl.lit("#"), "model").alias("model"))
    path = write("t.csv", frame.rename({"model": "#model"}))
    table = read_scores([path], ReadOptions(columns="model=#model"))
    assert all(name.startswith("#") for name in table.models)


def test_short_rows_of_a_large_file_are_refused_before_parsing(write, monkeypatch):
    monkeypatch.setattr(guards, "MAX_FIELD", 1_000)
    monkeypatch.setattr(pl, "scan_csv", lambda *_, **__: pytest.fail("filled up"))
    path = write("t.csv", "model,sample,metric,score\n" + "# nothing\n" * 1_000)
    with pytest.raises(InputError, match="row 2 has 1 field, but the header has 4"):
        read_scores([path])


def test_damaged_files_are_read_once(write, monkeypatch):
    path, opened = write("t.jsonl", "null\n" * 3), []
    monkeypatch.setattr(opening, "decompress", lambda *args: opened.append(args) or args[1])
    with pytest.raises(InputError, match="row 1 is not a JSON object"):
        inspect_scores([path], ReadOptions())
    assert len(opened) == 1


@pytest.mark.parametrize(("row", "message"), [("#\n", "row 3 has 1 field"), ("\n", "more than 1,000 blank")])
def test_short_rows_are_refused_before_parsing(write, monkeypatch, row, message):
    monkeypatch.setattr(delimited, "_MAX_BLANK", 1_000)
    monkeypatch.setattr(pl, "scan_csv", lambda *_, **__: pytest.fail("filled up"))
    text = f"model,sample,metric,score\na,1,m,1\n{row * 3_000}b,1,m,1\n"
    with pytest.raises(InputError) as caught:
        read_scores([write("t.csv", text)])
    assert message in f"{caught.value.problem} {caught.value.found}"


SPARSE = {
    "lines.jsonl": "\n".join(f'{{"k{at}": 1}}' for at in range(20_000)),
    # A lone surrogate makes Python read the lines.
    "half.jsonl": "\n".join(f'{{"k{at}": "\\ud800"}}' for at in range(20_000)),
    "rows.json": "[" + ",".join(f'{{"k{at}": 1}}' for at in range(20_000)) + "]",
    "columns.json": "{" + ",".join(f'"c{at}": {{"{at}": 1}}' for at in range(20_000)) + "}",
    "short.csv": ",".join(f"c{at}" for at in range(20_000)) + "\n" + "1\n" * 20_000,
    "blank.csv": ",".join(f"c{at}" for at in range(20_000)) + "\n" + "\n" * 20_000 + "1\n",
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_tables_of_billions_of_cells_are_refused(write, name):
    path = write(name, SPARSE[name])
    with at_most(300), pytest.raises(InputError, match="almost all empty"):
        read_scores([path], ReadOptions(wide=True, columns="model=c0,sample=c1"))


@pytest.mark.slow
def test_nested_names_are_scanned_in_linear_time():
    lines = [json.dumps({"model": "a", "more": {f"k{at}": {f"l{at}": at}}}) for at in range(60_000)]
    with at_most(800):
        assert JsonLinesSource("t.jsonl", "\n".join(lines).encode(), "").columns == ("model", "more")


def test_columns_keep_the_order_of_the_lines():
    first = {f"c{at}": at for at in range(90, 0, -1)}
    lines = [first, first | {"z": 1, "b": 2}, {"a": 1} | first]
    lines += [first] * 500 + [{"far": 1}]
    source = JsonLinesSource("t.jsonl", "\n".join(map(json.dumps, lines)).encode(), "")
    assert source.columns == (*first, "z", "b", "a", "far")


def test_loading_no_columns_is_not_an_empty_file(write):
    path = write("t.parquet", pl.DataFrame({"a": [1]}))
    with open(path, "rb") as file:  # noqa: PTH123
        assert ParquetSource(path, file.read(), "", Budget(10**9)).load([]).width == 0


def _write_and_raise(text, error):
    os.write(2, text)
    raise error


def test_only_panic_output_is_suppressed(capfd):
    with suppress_panics():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"
    with pytest.raises(ValueError, match="x"), suppress_panics():
        _write_and_raise(b"why\n", ValueError("x"))
    assert capfd.readouterr().err == "why\n"
    with pytest.raises(PanicException), suppress_panics(), suppress_panics():
        _write_and_raise(b"thread panicked\n" * 9_000, PanicException("x"))
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


def test_output_is_not_suppressed_without_a_descriptor(capfd, monkeypatch):
    def none_left(_number):
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(os, "dup", none_left)
        with suppress_panics():
            os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"
