"""``rr.convert`` returns what ``riskrank convert`` writes, from files and from frames."""

import inspect
import json
from pathlib import Path

import polars as pl
import pytest

import riskrank as rr
from tests.cli.conftest import run_command

ROOT = Path(__file__).resolve().parents[1]
VERDICTS = str(ROOT / "sample_data" / "verdicts.csv")


@pytest.fixture
def export(tmp_path):
    """Return an MLflow table, which does not name its model."""
    rows = [[f"q{n}", n / 7, n % 2] for n in range(12)]
    path = tmp_path / "eval_results_table.json"
    path.write_text(json.dumps({"columns": ["inputs", "latency", "rouge1/v1/score"], "data": rows}))
    return path


@pytest.mark.parametrize("from_", [None, "auto", "mlflow"])
def test_an_export_becomes_a_table_that_every_command_reads(export, from_):
    table = rr.convert([f"a={export}", f"b={export}"], from_=from_)
    assert table.frame.columns == ["model", "sample", "metric", "score", "direction"]
    assert table.frame.height == 48
    scores = rr.read(table.frame, metric="latency")
    assert scores.table().metrics[0].direction == "lower"
    assert rr.convert(f"a={export}", metric="latency").frame["metric"].unique().to_list() == ["latency"]


def test_verdicts_become_scores_from_files_and_frames(tmp_path):
    from_file = rr.convert(VERDICTS, from_="verdicts", metric_name="judge")
    assert from_file.document.schema == "convert-verdicts"
    assert set(from_file.frame["metric"]) == {"judge"}
    renamed = pl.read_csv(VERDICTS).rename({"sample": "question"})
    from_frame = rr.convert(
        renamed,
        from_="verdicts",
        metric_name="judge",
        columns={"sample": "question"},
        models="lda,logistic,naive_bayes",
    )
    assert from_frame.frame.equals(from_file.frame)
    from_file.save(tmp_path / "scores.parquet")
    assert rr.rank(tmp_path / "scores.parquet", no_test=True).rows


def test_convert_matches_the_command_line():
    outcome = run_command("convert", "verdicts", VERDICTS, "--quiet", "--format", "json")
    assert rr.convert(VERDICTS, from_="verdicts").to_json() == outcome.stdout


def test_help_names_the_options_of_both_commands():
    names = inspect.signature(rr.convert).parameters
    assert {"from_", "filter", "model_from_path", "models", "metric_name", "columns"} <= set(names)
    assert {"resamples", "lower", "jobs"}.isdisjoint(names)
    assert "\nmetric_name : str\n" in rr.convert.__doc__
