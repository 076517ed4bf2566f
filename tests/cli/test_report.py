"""riskrank report: all formats in one run, with identical bytes for any number of processes."""

import html
import json

import pytest

from riskrank.engine.dominance import bootstrap
from riskrank.render.figures import catalogue

FAST = ("--resamples", "40", "--set", "jobs=1", "--higher", "*")


@pytest.mark.usefixtures("no_pictures")
def test_formats_of_a_run(run, table, tmp_path):
    files = [tmp_path / name for name in ("r.html", "r.json", "r.md", "r.csv")]
    outcome = run("report", table, *FAST, "--copa", *(part for file in files for part in ("-o", file)))
    assert (outcome.status, outcome.stdout) == (0, "")
    text = html.unescape(files[0].read_text(encoding="utf-8"))
    document = json.loads(files[1].read_text(encoding="utf-8"))
    assert document["schema"] == "riskrank/report"
    assert document["meta"]["command"] == "report"
    assert list(document["meta"]["parts"]) == ["pairs", "risks", "methods", "metrics", "copa"]
    for sentence in document["meta"]["verdict"].split(". "):
        assert sentence.split(":")[0] in text
    assert "Hidden risks" in files[2].read_text(encoding="utf-8")


def test_sections_have_the_results_of_the_commands(run, table):
    report = run("report", table, *FAST, "--format", "json").document
    alone = run("rank", table, *FAST, "--format", "json").document
    assert report["results"] == alone["results"]
    assert report["meta"]["verdict"].startswith(alone["meta"]["verdict"])
    pairs = run("dominance", table, *FAST, "--test", "direct", "--format", "json").document
    assert report["meta"]["parts"]["pairs"]["results"] == pairs["results"]
    assert report["meta"]["parts"]["pairs"]["verdict"] == pairs["meta"]["verdict"]
    risks = run("mrm", table, *FAST, "--format", "json").document["results"]
    results = report["meta"]["parts"]["risks"]["results"]
    # Except tails, which so few samples cannot separate.
    assert results == [pytest.approx(row) for row in risks if row["level"] in (None, 0.25)]
    assert {row["level"] for row in risks} == {None, 0.05, 0.1, 0.25}
    metrics = run(
        "rank", table, "--higher", "*", "--no-test", "--per-metric", "--order", "2", "--format", "json"
    )
    rows = [row for row in metrics.document["results"] if row["method"].startswith("R-SSD")]
    assert report["meta"]["parts"]["metrics"]["results"] == rows


@pytest.mark.usefixtures("no_pictures")
def test_any_number_of_jobs(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "_PROCESS_THRESHOLD", 0)
    pages = []
    for jobs in (1, 2):
        file = tmp_path / f"{jobs}.html"
        options = ("--resamples", "60", "--higher", "*", "--set", f"jobs={jobs}")
        assert run("report", table, *options, "-o", file).status == 0
        pages.append(file.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
def test_requested_sections(run, write, make_scores):
    path = write("few.csv", make_scores(n=12))
    document = run("report", path, *FAST, "--gsd", "--copa", "--format", "json").document
    assert {"gsd", "copa"} <= set(document["meta"]["parts"])
    assert document["meta"]["method"]["gsd"] is True
    plain = run("report", path, "--no-test", "--higher", "*", "--format", "json").document
    assert {"gsd", "copa"} & set(plain["meta"]["parts"]) == set()
    assert plain["meta"]["resamples"] is None


@pytest.mark.usefixtures("no_pictures")
def test_groups(run, write, make_scores, tmp_path):
    import polars as pl

    frame = make_scores().with_columns(part=pl.col("sample").str.slice(1).cast(int) % 2)
    path, page = write("parts.csv", frame), tmp_path / "r.html"
    options = (*FAST, "--group-by", "part", "--format", "json")
    report, alone = run("report", path, *options).document, run("rank", path, *options).document
    assert report["meta"]["verdict"].startswith(alone["meta"]["verdict"])
    assert report["meta"]["parts"]["groups"]["results"] == alone["results"]
    plain = [
        {name: row[name] for name in row if name != "group"} for row in alone["results"] if not row["group"]
    ]
    assert report["results"] == plain
    assert run("report", path, *FAST, "--group-by", "part", "-o", page).status == 0
    assert "Groups by part" in page.read_text(encoding="utf-8")


def test_a_metric_and_weights(run, table):
    single = run("report", table, *FAST, "--metric", "acc", "--format", "json").document
    assert set(single["meta"]["parts"]) == {"pairs", "risks"}
    weighted = run("report", table, *FAST, "--weight", "acc=3", "--weight", "f1=1", "--format", "json")
    assert weighted.status == 0, weighted.stderr
    assert weighted.document["meta"]["method"]["weights"] == {"acc": 0.75, "f1": 0.25}


def test_unpaired_models_have_no_gsd(refused, table):
    assert "--gsd" in refused("report", table, "--unpaired", "--gsd", *FAST)[0]


def test_a_direction_is_missed_before_any_work(refused, write, make_scores, monkeypatch):
    import polars as pl

    monkeypatch.setattr("riskrank.studies.report.study.rank_by_dominance", None)
    path = write("levels.csv", make_scores(n=12).with_columns(pl.col("metric").replace("acc", "level")))
    assert "needs a direction for level" in refused("report", path, "--copa")[0]


@pytest.mark.parametrize("command", ["rank", "report"])
def test_without_packages_for_pages(refused, table, tmp_path, monkeypatch, command):
    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    monkeypatch.setattr("riskrank.scores.table.score_table.read_scores", None)
    lines = refused(command, table, "--format", "html")
    assert lines[2] == "hint: pip install 'riskrank[report]'"


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("command", ["portfolio", "check"])
def test_a_command_without_pictures_writes_a_page(run, table, command):
    outcome = run(command, table, "--format", "html")
    assert outcome.status == 0
    assert outcome.stdout.startswith("<!DOCTYPE html>")
