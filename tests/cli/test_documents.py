"""The JSON document and the other formats: their fields, provenance and unrounded numbers."""

import csv
import io
import json

import polars
import pytest

from riskrank.render.files import SUFFIXES

COMMANDS = ["portfolio", "dominance", "rank", "check"]


@pytest.fixture
def call(run, table, quick):
    """Run one of the four commands on the small table."""

    def run_command(command, *args):
        outcome = run(command, table, *(quick if command in ("rank", "dominance") else ()), *args)
        assert outcome.status == 0, outcome.stderr
        return outcome

    return run_command


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_and_json_lines_hold_the_same_numbers_as_json(call, command):
    rows = call(command, "--format", "json").document["results"]
    lines = call(command, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(call(command, "--format", "csv").stdout)))
    assert len(table) == len(rows)
    for written, row in zip(table, rows, strict=True):
        assert set(written) == set(row)
        for name, value in row.items():
            if value is None:
                assert written[name] == ""
            elif isinstance(value, bool):
                assert written[name] == ("true" if value else "false")
            elif isinstance(value, float):
                assert float(written[name]) == value
            else:
                assert written[name] == str(value)


def test_numbers_are_not_rounded(call):
    scores = [row["score"] for row in call("portfolio", "--format", "json").document["results"]]
    assert any(len(repr(score)) > 12 for score in scores)


@pytest.mark.parametrize(
    ("suffix", "format"),
    [(suffix, kind) for suffix, kind in SUFFIXES.items() if kind not in ("parquet", "junit")],
)
@pytest.mark.usefixtures("no_pictures")
def test_the_suffix_of_the_output_selects_the_format(call, tmp_path, suffix, format):
    path = tmp_path / f"result{suffix.upper()}"
    assert call("check", "--output", path).stdout == ""
    assert path.read_text(encoding="utf-8") == call("check", "--format", format).stdout


def test_format_goes_before_the_suffix(call, tmp_path):
    path = tmp_path / "result.json"
    call("rank", "--output", path, "--format", "csv")
    assert path.read_text().startswith("method,model,rank")


@pytest.mark.parametrize("name", ["result", "result.xlsx", "result.parquet", "json"])
def test_an_unknown_suffix_is_refused(run, table, tmp_path, name):
    outcome = run("rank", table, "--output", tmp_path / name)
    assert outcome.status == 2
    assert (
        outcome.stderr.splitlines()[2]
        == "hint: add --format table|json|jsonl|csv|markdown|html|latex|methods"
    )
    assert not (tmp_path / name).exists()


def test_rank_names_its_methods_as_the_paper_does(call):
    def methods(*options):
        rows = call("rank", "--format", "json", *options).document["results"]
        return list(dict.fromkeys(row["method"] for row in rows))

    rates = ["MWR@P(IC)", "MWR(sample)@P(IC)", "MWR(pairwise)@P(IC)"]
    assert methods() == ["R-FSD@P(IC)", "R-SSD@P(IC)", *rates]
    assert methods("--method", "SSD(0.25)") == ["SSD(0.25)@P(IC)"]
    assert {name.split("@")[1] for name in methods("--copula", "empirical")} == {"P(EC)"}


def test_wins_rank_as_the_paper_does(call):
    for row in call("rank", "--rank-by", "wins", "--format", "json").document["results"]:
        if row["method"].startswith("R-"):
            assert row["rank"] <= 3 - row["wins"]


def test_top_keeps_the_best_of_every_method(call):
    rows = call("rank", "--top", "1", "--format", "json").document["results"]
    assert [row["rank"] for row in rows] == [1] * 5
    assert len(call("rank", "--top", "1", "--format", "csv").stdout.splitlines()) == 6


def test_differences_are_to_the_first_in_units_of_the_file(call, table):
    """Differences are plain means of the file, with the sign that its units imply."""
    frame = polars.read_csv(table).filter(polars.col("metric") == "acc")
    means = dict(frame.group_by("model").agg(polars.col("score").mean()).iter_rows())
    for lower in ([], ["--lower", "acc"]):
        options = ("--metric", "acc", *lower, "--format", "json")
        rows = [row for row in call("rank", *options).document["results"] if row["method"] == "R-SSD@acc"]
        first = rows[0]["model"]
        for row in rows:
            assert row["mean"] == pytest.approx(means[row["model"]])
            assert row["difference"] == pytest.approx(means[row["model"]] - means[first])
            assert row["difference_low"] <= row["difference"] <= row["difference_high"]
            worst = frame.filter(polars.col("model") == row["model"])["score"].sort(descending=bool(lower))
            assert row["tvar"] == pytest.approx(worst[:5].mean())  # 5 of 40 samples
