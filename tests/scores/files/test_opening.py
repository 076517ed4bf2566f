"""The same scores in any format, order or compression give the same table, bit for bit."""

import hashlib
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import escape_table
from riskrank.scores.files.source import OpenOptions
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables

FORMATS = ["jsonl.gz", "jsonl.zst", "parquet", "parquet.gz", "parquet.zst", "jsonl"]
FORMATS += ["csv", "csv.gz", "csv.zst", "tsv", "tsv.gz", "tsv.zst"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_table(write, long_frame, suffix):
    expected = read_scores([write("reference.csv", long_frame)])
    path = write(f"t.{suffix}", long_frame.sample(fraction=1.0, shuffle=True, seed=3))
    table = read_scores([path])
    assert_equal_tables(table, expected)
    assert table.rows == table.inputs[0].rows == 24
    assert table.inputs[0].path == path
    assert table.inputs[0].sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_values_against_a_dictionary(write, long_frame):
    table = read_scores([write("t.csv", long_frame)], ReadOptions(lower=("loss",)))
    assert table.models == ("A", "B", "C")
    assert table.samples == ("s1", "s10", "s2", "s3")
    assert [spec.name for spec in table.metrics] == ["acc", "loss"]
    assert not table.has_repeats
    assert table.paired
    expected = {(m, s, t): v for m, s, t, v in long_frame.rows()}
    for i, model in enumerate(table.models):
        assert table.clusters[i].tolist() == [0, 1, 2, 3]
        for row, sample in enumerate(table.samples):
            assert table.values[i][row, 0] == expected[model, sample, "acc"]
            assert table.values[i][row, 1] == -expected[model, sample, "loss"]
    assert table.score_array().shape == (3, 4, 1, 2)
    assert table.column(1)[2].tolist() == table.values[2][:, 1].tolist()
    assert table.raw(0)[2, 1] == expected["A", "s2", "loss"]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0][0, 0] = 1.0


def test_wide_equals_long(write, long_frame):
    wide = long_frame.pivot("metric", index=["model", "sample"], values="score")
    wide = wide.with_columns(note=pl.lit("free text"))
    expected = read_scores([write("long.csv", long_frame)])
    for suffix in ("csv", "parquet", "jsonl"):
        assert_equal_tables(read_scores([write(f"w.{suffix}", wide)], ReadOptions(wide=True)), expected)


def test_files_and_patterns_are_concatenated(write, long_frame, tmp_path):
    expected = read_scores([write("whole.csv", long_frame)])
    first = write("part1.csv", long_frame.filter(pl.col("model") == "B"))
    second = write("part2.parquet", long_frame.filter(pl.col("model") != "B"))
    table = read_scores([first, second])
    assert_equal_tables(table, expected)
    assert [(file.path, file.rows) for file in table.inputs] == [(first, 8), (second, 16)]
    table = read_scores([str(tmp_path / "part*")])
    assert_equal_tables(table, expected)
    assert [file.path for file in table.inputs] == [first, second]


def test_exact_file_name_takes_precedence_over_pattern(write, long_frame):
    write("a1.csv", "model,sample,metric,score\nX,1,m,1\n")
    table = read_scores([write("a[1].csv", long_frame)])
    assert table.models == ("A", "B", "C")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "jsonl"])
def test_standard_input(write, long_frame, suffix):
    path = Path(write(f"t.{suffix}", long_frame))
    options = ReadOptions(input_format=suffix.split(".")[0])
    table = read_scores(["-"], options, stdin=io.BytesIO(path.read_bytes()))
    assert_equal_tables(table, read_scores([str(path)]))
    assert table.inputs[0].path == "-"


def test_a_spreadsheet_export(write):
    """Semicolons, decimal commas, a byte order mark, CRLF, quotes, blanks in the header, a blank line."""
    text = (
        '\ufeffmodel; sample ;"metric";score\r\n"A; the first";1;acc;0,5\r\n"A; the first";2;acc;,25\r\n\r\n'
    )
    text = text.replace(";,25", ";0,25") + "B;1;acc;1\r\nB;2;acc;1,5e-1\r\n\r\n"
    table = read_scores([write("t.csv", text)])
    assert table.models == ("A; the first", "B")
    assert table.values[0].ravel().tolist() == [0.5, 0.25]
    assert table.values[1].ravel().tolist() == [1.0, 0.15]
    assert table.rows == 4


def test_carriage_return_line_breaks(write):
    table = read_scores([write("t.csv", "model,sample,metric,score\rA,1,m,0.5\rB,1,m,1\r")])
    assert [values.item() for values in table.values] == [0.5, 1.0]


def test_identifiers_keep_their_text(write):
    """007 differs from 7; 10 as Parquet integer, pandas float and text is one sample."""
    scores = [0.1, 0.2, 0.3, 0.4]
    as_int = pl.DataFrame({"model": ["A", "A", "B", "B"], "sample": [9, 10, 9, 10], "score": scores})
    as_int = as_int.with_columns(metric=pl.lit("m"))
    tables = [
        read_scores([write(f"{name}.{suffix}", frame)])
        for name, frame in {
            "int": as_int,
            "float": as_int.with_columns(pl.col("sample").cast(pl.Float64)),
            "text": as_int.with_columns(pl.col("sample").cast(pl.String)),
            "categorical": as_int.with_columns(pl.col("model").cast(pl.Categorical)),
        }.items()
        for suffix in ("csv", "parquet", "jsonl")
    ]
    for table in tables:
        assert table.samples == ("10", "9")
        assert_equal_tables(table, tables[0])
    zeros = read_scores(
        [write("z.csv", "model,sample,metric,score\nA,007,m,1\nA,7,m,2\nB,007,m,3\nB,7,m,4\n")]
    )
    assert zeros.samples == ("007", "7")


def test_models_and_metrics_with_numeric_names(write):
    text = "model,sample,metric,score\n1.0,1,7,1\n1.0,2,7,2\n2.0,1,7,3\n2.0,2,7,4\n"
    table = read_scores([write("t.csv", text)])
    assert table.models == ("1.0", "2.0")
    assert table.metrics[0].name == "7"


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_booleans_are_binary_scores(write, suffix):
    frame = pl.DataFrame(
        {"model": ["A", "A", "B", "B"], "sample": ["1", "2", "1", "2"], "correct": [True, False, True, True]}
    )
    table = read_scores([write(f"t.{suffix}", frame)], ReadOptions(wide=True))
    assert [values.ravel().tolist() for values in table.values] == [[1.0, 0.0], [1.0, 1.0]]


def test_json_lines_as_python_writes_them(write):
    """Mixed types, a field that occurs late, NaN, blank lines."""
    lines = [
        '{"model": "A", "sample": 1, "acc": true}',
        "",
        '{"model": "A", "sample": 2, "acc": NaN, "late": 3}',
        '{"model": "B", "sample": 1, "acc": 0.5, "late": "1e2"}',
        '{"model": "B", "sample": "2", "acc": 0.25, "late": 0.1}',
    ]
    table = read_scores([write("t.jsonl", "\n".join(lines))], ReadOptions(wide=True, missing="keep"))
    np.testing.assert_array_equal(table.values[0], [[1.0, np.nan], [np.nan, 3.0]])
    np.testing.assert_array_equal(table.values[1], [[0.5, 100.0], [0.25, 0.1]])


@pytest.mark.slow
@given(st.lists(st.floats(-1e149, 1e149), min_size=2, max_size=12, unique=True))
def test_scores_are_parsed_exactly(scores):
    rows = [(f"m{i % 2}", str(i // 2), "metric", x) for i, x in enumerate(scores)]
    text = "model,sample,metric,score\n" + "".join(f"{m},{s},{t},{x!r}\n" for m, s, t, x in rows)
    lines = "".join(f'{{"model":"{m}","sample":"{s}","metric":"{t}","score":{x!r}}}\n' for m, s, t, x in rows)
    for data, kind in ((text, "csv"), (lines, "jsonl")):
        options = ReadOptions(input_format=kind, unpaired=True)
        table = read_scores(["-"], options, stdin=io.BytesIO(data.encode()))
        for model in range(2):
            samples = (table.samples[code] for code in table.clusters[model])
            expected = [scores[2 * int(s) + model] + 0.0 for s in samples]
            assert table.values[model].ravel().tolist() == expected


# Not .filter(bool): lists of Hypothesis 6.100 do not apply the filter.
NAMES = st.text(alphabet="abcAÄ0.7 ,;\"'_-", min_size=1, max_size=6).map(lambda x: x.strip() or "a")
FLOATS = st.floats(min_value=-1e6, max_value=1e6).map(lambda x: x + 0.0)


@st.composite
def frames(draw):
    """Draw long tables with repeats, linked by a draw column."""
    models = draw(st.lists(NAMES, min_size=2, max_size=3, unique=True))
    samples = draw(
        st.lists(NAMES.filter(lambda x: not x.endswith(".0")), min_size=1, max_size=4, unique=True)
    )
    metrics = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    rows = [
        (model, sample, metric, str(k), draw(FLOATS))
        for model in models
        for sample in samples
        for k in range(draw(st.integers(1, 3)))
        for metric in metrics
    ]
    order = draw(st.permutations(range(len(rows))))
    schema = ["model", "sample", "metric", "draw", "score"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame, frame[order]


@pytest.mark.slow
@settings(max_examples=15)
@given(frames(), st.sampled_from(["mean", "min", "max", "draws"]))
def test_invariance_under_row_order_and_format(pair, repeats):
    frame, shuffled = pair
    tables = []
    for content in (frame, shuffled):
        for kind in ("csv", "parquet", "jsonl"):
            buffer = io.BytesIO()
            writers = {"parquet": content.write_parquet, "jsonl": content.write_ndjson}
            writers.get(kind, escape_table(content).write_csv)(buffer)
            buffer.seek(0)
            options = ReadOptions(input_format=kind, repeats=repeats, allow_constant=True)
            tables.append(read_scores(["-"], options, stdin=buffer))
    for table in tables[1:]:
        assert_equal_tables(table, tables[0])


@pytest.mark.slow
@given(frames())
def test_draws_against_a_dictionary(pair):
    frame, shuffled = pair
    buffer = io.BytesIO()
    shuffled.write_parquet(buffer)
    buffer.seek(0)
    options = ReadOptions(input_format="parquet", repeats="draws", allow_constant=True)
    table = read_scores(["-"], options, stdin=buffer)
    names = [spec.name for spec in table.metrics]
    for i, model in enumerate(table.models):
        expected = []
        for code, sample in enumerate(table.samples):
            cells = {}
            for m, s, t, k, x in frame.rows():
                if (m, s) == (model, sample):
                    cells.setdefault(k, {})[t] = x
            expected += sorted((code, *[cell[name] for name in names]) for cell in cells.values())
        result = [
            (code, *row)
            for code, row in zip(table.clusters[i].tolist(), table.values[i].tolist(), strict=True)
        ]
        assert result == expected


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "csv.gz", "jsonl.zst", "tsv"])
def test_format_of_standard_input_is_detected(write, long_frame, suffix):
    path = Path(write(f"t.{suffix}", long_frame))
    result = read_scores(["-"], ReadOptions(lower=("loss",)), stdin=io.BytesIO(path.read_bytes()))
    expected = read_scores([str(path)], ReadOptions(lower=("loss",)))
    assert all((a == b).all() for a, b in zip(result.values, expected.values, strict=True))


@pytest.mark.parametrize(
    ("header", "name"), [('mo,"qua\nlity",n', "qua lity"), ('mo,"qua\r\nlity",n', "qua lity")]
)
def test_line_breaks_in_column_names_become_spaces(tmp_path, header, name):
    (tmp_path / "t.csv").write_bytes(f'{header}\na,"x\ny",1\nb,z,2\n'.encode())
    (source,) = open_sources([str(tmp_path / "t.csv")], OpenOptions())
    assert list(source.columns) == ["mo", name, "n"]
    assert source.load([name])[name].to_list() == ["x\ny", "z"]
