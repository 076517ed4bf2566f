"""Files with unusual separators or without a header are read as the same table."""

import pytest

import riskrank as rr
from riskrank.errors import InputError
from riskrank.scores.files.opening import open_sources

ROWS = [(model, f"q{at}", f"0.{at}") for model in "ab" for at in range(1, 5)]
NAMES = ("model", "sample", "acc")


def joined(sign, *, header=None):
    lines = [(header or sign).join(NAMES), *(sign.join(row) for row in ROWS)]
    return "\n".join(lines) + "\n"


DIALECTS = {
    "bars": joined("|"),
    "quoted bars": '"' + joined("|").replace("|", '"|"').replace("\n", '"\n"').removesuffix('"'),
    "colons": joined(":"),
    "spaces": joined(" "),
    "aligned": "".join(f"{a:<7} {b:<8}\t{c}\n" for a, b, c in (NAMES, *ROWS)),
    "markdown": f"| {' | '.join(NAMES)} |\n|---|---|---|\n"
    + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in ROWS),
    "semicolons above commas": joined(",", header=";"),
    "tabs above commas": joined(",", header="\t"),
    "psql": joined("|") + "(8 rows)\n",
    "line ends of Windows": joined("|").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_separators(write, dialect):
    (source,) = open_sources([str(write("t.csv", DIALECTS[dialect]))])
    assert source.columns == NAMES
    assert source.load(NAMES).rows() == ROWS


def test_questions_and_identifiers_below_the_names_of_a_survey_are_not_rows(write):
    lines = joined(",").splitlines(keepends=True)
    identifiers = ",".join(f'"{{""ImportId"":""QID{at}""}}"' for at in range(3))
    below = f'System,"Which\nitem?",Rating\n{identifiers}\n'
    (source,) = open_sources([str(write("t.csv", lines[0] + below + "".join(lines[1:])))])
    assert source.load(NAMES).rows() == ROWS


@pytest.mark.parametrize("sign", [",", "\t", " "])
def test_a_first_row_of_data_is_not_a_header(write, sign):
    (source,) = open_sources([str(write("t.csv", "".join(sign.join(row) + "\n" for row in ROWS)))])
    assert source.load(source.columns).rows() == ROWS
    assert source.columns == ("column 1", "column 2", "column 3")
    assert source.row_number(0) == 1
    assert "the first row contains data" in source.notes[0]


@pytest.mark.parametrize("header", ["model,0.5,0.75", "model,2023,2024", "q,1,2", "a,b,c"])
def test_numbers_in_a_header_are_names(write, header):
    (source,) = open_sources([str(write("t.csv", f"{header}\nx,1.5,2.5\ny,3.5,4.5\n"))])
    assert source.columns == tuple(header.split(","))


def test_a_file_that_ends_in_the_middle_of_a_line(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("model,sample,metric,score\nA,1,m,0.1\nB,1")
    with pytest.raises(InputError, match="row 3 has 2 fields") as refused:
        rr.rank(str(path))
    assert "ends in the middle of this line" in refused.value.hint


LONG = ("model", "metric", "sample", "score")
JOINED = ("model", "MMLU acc", "MMLU f1", "GSM8K acc", "GSM8K f1")


@pytest.mark.parametrize(
    ("above", "below", "columns"),
    [
        ("q,gcx,,tiny,", ",compile time (s),size (kB),compile time (s),size (kB)", LONG),
        ("q,Fluency,,Adequacy,", ",Nadir,Orbit,Nadir,Orbit", ("metric", "model", *LONG[2:])),
        (",MMLU,,GSM8K,", "model,acc,f1,acc,f1", JOINED),
        (",MMLU,,GSM8K,", ",acc,f1,acc,f1", JOINED),
        (",MMLU,,GSM8K,", ",acc,f1,acc,f1\nmodel,,,,", JOINED),
    ],
)
def test_two_header_rows(write, above, below, columns):
    """The header of metrics is known by its names; rows of a leaderboard of several tasks are models."""
    rows = "\n".join(f"r{i},{i},2.5,3.5,4.5" for i in range(5))
    (source,) = open_sources([str(write("t.csv", f"{above}\n{below}\n{rows}\n"))])
    assert source.columns == columns
    frame = source.load(source.columns)
    assert frame.height == (5 if columns == JOINED else 20)


def test_two_header_rows_without_a_metric_are_refused(write):
    text = "q,x,,y,\n,u,v,u,v\nr1,1,2,3,4\n"
    with pytest.raises(InputError, match="two header rows"):
        open_sources([str(write("t.csv", text))])
