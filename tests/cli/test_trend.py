"""``riskrank trend``: exit statuses, refusals in three lines, and the same document as in Python."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr

CHANCE = np.random.default_rng(5).beta(0.8, 0.2, 150)


@pytest.fixture
def weeks(tmp_path):
    """Twelve runs; from the ninth on a fifth of the cases is lost."""
    rng = np.random.default_rng(6)
    for week in range(1, 13):
        lost = (np.arange(150) < 30) & (week > 8)
        score = (rng.random(150) < np.where(lost, 0.0, CHANCE)).astype(int)
        rows = {"model": "bot", "sample": [f"s{at}" for at in range(150)], "metric": "acc", "score": score}
        pl.DataFrame(rows).write_csv(tmp_path / f"run{week}.csv")
    return str(tmp_path / "run*.csv")


def test_exit_statuses_are_those_of_a_gate(run, weeks, tmp_path):
    alike = [str(tmp_path / f"run{week}.csv") for week in range(1, 9)]
    assert run("trend", weeks).status == 0
    assert run("trend", *alike, "--fail-on", "worse").status == 0
    failed = run("trend", weeks, "--fail-on", "worse", "--output", tmp_path / "t.json")
    assert failed.status == 1
    assert failed.stderr.startswith(
        "error: trend --fail-on worse failed on acc of bot\nfound: bot is shown worse"
    )
    assert (tmp_path / "t.json").exists()


def test_both_doors_say_the_same(run, weeks, tmp_path):
    paths = [str(tmp_path / f"run{week}.csv") for week in (10, 2, 1)]
    assert run("trend", *paths, "--format", "json").stdout == rr.trend(paths).to_json()
    assert run("trend", *reversed(paths), "--format", "json").stdout == rr.trend(paths).to_json()


def test_a_screen_has_room_for_a_year(run, weeks):
    screen = run("trend", weeks, tty=True, variables={"COLUMNS": "80"}).stdout
    assert len(screen.splitlines()) <= 25
    assert "shown worse on acc" in screen.replace("\n", " ")


def test_refusals(refused, weeks, tmp_path):
    first = str(tmp_path / "run1.csv")
    other = tmp_path / "other.csv"
    pl.read_csv(first).with_columns(sample="x" + pl.col("sample")).write_csv(other)
    assert "two runs or more" in refused("trend", first)[0]
    assert "run1 is given twice" in refused("trend", first, weeks)[0]
    assert "share no model and metric" in refused("trend", first, other)[0]
    assert (
        "does not guess which way is better"
        in refused("trend", weeks, "--sql", "SELECT model, sample, 'cost' metric, score FROM scores")[0]
    )


def test_a_refused_run_leaves_no_answer_of_an_earlier_one(run, weeks, tmp_path):
    old = tmp_path / "old.json"
    assert run("trend", weeks, "--output", old).status == 0
    assert run("trend", weeks, "--baseline", "nowhere", "--output", old).status == 2
    assert not old.exists()
