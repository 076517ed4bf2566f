"""The JSON document and the other formats: their fields, provenance and unrounded numbers."""

import csv
import io
import itertools
import json

import polars
import pytest

from riskrank.shown.files import SUFFIXES

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


@pytest.mark.parametrize("command", ["rank", "check"])
@pytest.mark.parametrize(
    ("suffix", "format"),
    [(suffix, kind) for suffix, kind in SUFFIXES.items() if kind not in ("parquet", "junit")],
)
@pytest.mark.usefixtures("no_pictures")
def test_the_suffix_of_the_output_tells_the_format(call, tmp_path, command, suffix, format):
    path = tmp_path / f"result{suffix.upper()}"
    assert call(command, "--output", path).stdout == ""
    assert path.read_text(encoding="utf-8") == call(command, "--format", format).stdout


def test_format_goes_before_the_suffix(call, tmp_path):
    path = tmp_path / "result.json"
    call("rank", "--output", path, "--format", "csv")
    assert path.read_text().startswith("method,model,rank")


@pytest.mark.parametrize("name", ["result", "result.xlsx", "result.parquet", "json"])
def test_a_suffix_that_tells_nothing_is_refused(run, table, tmp_path, name):
    outcome = run("rank", table, "--output", tmp_path / name)
    assert outcome.status == 2
    assert outcome.stderr.splitlines()[2] == "hint: add --format table|json|jsonl|csv|markdown|html|latex"
    assert not (tmp_path / name).exists()


def test_settings_decide_the_result(call):
    settings = call("dominance", "--format", "json", "--weight", "acc=3", "--weight", "f1=1").document[
        "meta"
    ]["method"]
    assert settings["weights"] == {"acc": 0.75, "f1": 0.25}
    assert settings["thresholds"] == [0.08, 0.25, 0.4]
    assert (settings["alpha"], settings["correction"], settings["copula"]) == (
        0.05,
        "holm",
        "independent",
    )
    assert settings["test"] == ["direct", "absolute"]
    assert call("rank", "--format", "json").document["meta"]["method"]["test"] == ["relative"]


def test_dominance_has_a_row_for_every_ordered_pair(call):
    rows = call("dominance", "--format", "json").document["results"]
    tests = [(order, tau) for order in (1, 2) for tau in (0.08, 0.25, 0.4, 0.5)]
    pairs = list(itertools.permutations("ABC", 2))
    found = sorted((row["order"], row["threshold"], row["winner"], row["loser"]) for row in rows)
    assert found == sorted((*test, *pair) for test in tests for pair in pairs)
    assert all((row["test"] == "direct") == (row["threshold"] == 0.5) for row in rows)
    for test in tests:
        family = [row for row in rows if (row["order"], row["threshold"]) == test]
        family.sort(key=lambda row: row["p_value"])
        largest = 0.0
        for place, row in enumerate(family):
            largest = max(largest, min(1, row["p_value"] * (len(family) - place)))  # Holm, step by step
            assert row["p_adjusted"] == pytest.approx(largest)
            assert row["dominates"] == (row["p_adjusted"] <= 0.05)
            assert row["difference_low"] <= row["mean_difference"] <= row["difference_high"]
    ratio = {(r["order"], r["winner"], r["loser"]): r["violation_ratio"] for r in rows}
    for (order, winner, loser), value in ratio.items():
        assert value + ratio[order, loser, winner] == pytest.approx(1, abs=1e-12)


def test_rank_names_its_methods_as_the_paper_does(call):
    def methods(*options):
        rows = call("rank", "--format", "json", *options).document["results"]
        return list(dict.fromkeys(row["method"] for row in rows))

    rates = ["MWR@P(IC)", "MWR(sample)@P(IC)", "MWR(pairwise)@P(IC)"]
    assert methods() == ["R-FSD@P(IC)", "R-SSD@P(IC)", *rates]
    absolute = [f"{order}({tau})@P(IC)" for order in ("FSD", "SSD") for tau in (0.08, 0.25, 0.4)]
    assert methods("--test", "absolute") == [*absolute, *rates]
    assert methods("--threshold", "0.25")[2:4] == ["FSD(0.25)@P(IC)", "SSD(0.25)@P(IC)"]
    assert {name.split("@")[1] for name in methods("--copula", "empirical")} == {"P(EC)"}


def test_rank_orders_by_ratio_with_rank_sets(call):
    rows = call("rank", "--format", "json", "--test", "all").document["results"]
    for row in rows:
        same = [other for other in rows if other["method"] == row["method"]]
        if row["method"].startswith("R-"):
            assert row["rank"] == 1 + sum(other["score"] < row["score"] for other in same)
            assert (row["rank_low"], row["rank_high"]) == (1 + row["losses"], 3 - row["wins"])
            assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        elif row["wins"] is not None:
            assert row["rank"] == 1 + sum(other["wins"] > row["wins"] for other in same)
        else:
            assert row["rank"] == 1 + sum(other["score"] > row["score"] for other in same)
            assert row["tier"] is row["rank_low"] is row["losses"] is row["decided"] is None


def test_wins_rank_as_the_paper_does(call):
    for row in call("rank", "--rank-by", "wins", "--format", "json").document["results"]:
        if row["method"].startswith("R-"):
            assert row["rank"] <= 3 - row["wins"]


def test_top_keeps_the_best_of_every_method(call):
    rows = call("rank", "--top", "1", "--format", "json").document["results"]
    assert [row["rank"] for row in rows] == [1] * 5
    assert len(call("rank", "--top", "1", "--format", "csv").stdout.splitlines()) == 6


def test_differences_are_to_the_first_in_units_of_the_file(call, table):
    """Plain means of the file, with the sign a reader of the file expects."""
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


def test_markdown_is_a_pipe_table(call):
    text = call("rank", "--format", "markdown").stdout
    assert "| rank | model | rank set | beats | beaten by | tier |" in text
    assert text.startswith("**Verdict:** ")
    assert "**Hidden risks:**" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)


def test_summary(call):
    rows = call("portfolio", "--summary", "--format", "json").document["results"]
    assert [row["model"] for row in rows] == ["A", "B", "C"]
    for row in rows:
        assert list(row) == ["model", "n", "mean", "sd", "quantiles", "tvar"]
        assert list(row["quantiles"]) == list(row["tvar"]) == ["0.01", "0.05", "0.1", "0.25", "0.5", "0.75"]
        assert all(row["tvar"][level] <= row["quantiles"][level] + 1e-12 for level in row["tvar"])
    levels = call("portfolio", "--summary", "--level", "0.2", "--level", "1", "--format", "json").document[
        "results"
    ]
    assert list(levels[0]["tvar"]) == ["0.2", "1"]
    assert levels[0]["tvar"]["1"] == pytest.approx(levels[0]["mean"])
    written = list(csv.DictReader(io.StringIO(call("portfolio", "--summary", "--format", "csv").stdout)))
    assert json.loads(written[0]["tvar"]) == rows[0]["tvar"]


def test_check_describes_the_table(call):
    document = call("check", "--format", "json").document
    assert document["meta"]["table"]["paired"] is True
    assert document["meta"]["table"]["rows"] == 240
    assert document["meta"]["problems"] == []
    assert [row["n"] for row in document["results"]] == [120, 120]
