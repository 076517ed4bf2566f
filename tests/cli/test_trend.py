"""``riskrank trend``: exit statuses, errors of three lines, and the same document as in Python."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr

CHANCE = np.random.default_rng(5).beta(0.8, 0.2, 150)


@pytest.fixture
def weeks(tmp_path):
    """Twelve runs; a fifth of the cases fails from the ninth run on."""
    rng = np.random.default_rng(6)
    for week in range(1, 13):
        lost = (np.arange(150) < 30) & (week > 8)
        score = (rng.random(150) < np.where(lost, 0.0, CHANCE)).astype(int)
        rows = {"model": "bot", "sample": [f"s{at}" for at in range(150)], "metric": "acc", "score": score}
        pl.DataFrame(rows).write_csv(tmp_path / f"run{week}.csv")
    return str(tmp_path / "run*.csv")


def test_exit_statuses_are_those_of_a_gate(run, weeks, tmp_path):
    equal = [str(tmp_path / f"run{week}.csv") for week in range(1, 9)]
    assert run("trend", weeks).status == 0
    assert run("trend", *equal, "--fail-on", "worse").status == 0
    failed = run("trend", weeks, "--fail-on", "worse", "--output", tmp_path / "t.json")
    assert failed.status == 1
    assert failed.stderr.startswith(
        "error: trend --fail-on worse failed on acc of bot\nfound: bot is significantly worse"
    )
    assert (tmp_path / "t.json").exists()


def test_run_column_is_proposed(run, weeks, tmp_path):
    runs = [
        pl.read_csv(tmp_path / f"run{week}.csv").with_columns(build=pl.lit(week)) for week in range(1, 13)
    ]
    pl.concat(runs).write_csv(tmp_path / "all.csv")
    refused = run("trend", tmp_path / "all.csv")
    assert refused.stderr.endswith("or name the run column: --columns run=build\n")
    assert run("trend", tmp_path / "all.csv", "--columns", "run=build").status == 0


def test_command_line_and_python_agree(run, weeks, tmp_path):
    paths = [str(tmp_path / f"run{week}.csv") for week in (10, 2, 1)]
    assert run("trend", *paths, "--format", "json").stdout == rr.trend(paths).to_json()
    assert run("trend", *reversed(paths), "--format", "json").stdout == rr.trend(paths).to_json()


def test_a_screen_shows_a_year(run, weeks):
    screen = run("trend", weeks, tty=True, variables={"COLUMNS": "80"}).stdout
    assert len(screen.splitlines()) <= 25
    assert "significantly worse on acc" in screen.replace("\n", " ")


def test_runs_and_fixed_sets_may_lack_a_metric(run, refused, weeks, tmp_path):
    first, second = (pl.read_csv(tmp_path / f"run{at}.csv") for at in (1, 2))
    pl.concat([second, second.with_columns(metric=pl.lit("usd"))]).write_csv(tmp_path / "run2.csv")
    fixed = pl.concat([first.with_columns(run=pl.lit(f"run{at}")) for at in (1, 2)])
    fixed.write_csv(tmp_path / "fixed.csv")
    (tmp_path / "metrics.toml").write_text('[acc]\ndirection = "higher"\n[usd]\ndirection = "lower"\n')
    both = (tmp_path / "run1.csv", tmp_path / "run2.csv", "--anchor", f"acc={tmp_path / 'fixed.csv'}")
    for directions in (("--lower", "usd"), ("--metrics-file", tmp_path / "metrics.toml")):
        rows = run("trend", *both, *directions, "--format", "json").results
        assert [(row["run"], row["metric"], row["direction"]) for row in rows] == [
            ("run1", "acc", "higher"),
            ("run2", "acc", "higher"),
            ("run2", "usd", "lower"),
        ]
    assert "there is no metric 'usdd'" in refused("trend", *both, "--lower", "usdd")[0]


def test_github_gets_annotations(run, weeks, tmp_path):
    summary = tmp_path / "summary.md"
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    for options, level, status in ((("--fail-on", "worse"), "error", 1), ((), "warning", 0)):
        outcome = run("trend", weeks, *options, variables=variables)
        annotation = f"::{level} title=riskrank trend::fail: bot is significantly worse on acc in run12"
        assert (outcome.status, outcome.stderr.startswith(annotation)) == (status, True)
    assert summary.read_text().count("**Verdict:** bot is significantly worse on acc") == 2
