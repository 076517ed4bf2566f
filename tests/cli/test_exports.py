"""Harness exports on the command line: converted, piped, and read by every command."""

import json
import os
import tomllib
from pathlib import Path

import polars as pl
import pytest
import typer

from riskrank.cli.convert import convert
from riskrank.scores.exports.registry import READERS, load_reader


@pytest.fixture
def runs(tmp_path):
    """Two lm-eval models with thirty documents, two filters, and known directions."""
    for place, model in enumerate(("org/a", "org/b")):
        folder = tmp_path / "runs" / model.replace("/", "__")
        folder.mkdir(parents=True)
        rows = [
            {
                "doc_id": doc,
                "doc": {},
                "filter": name,
                "metrics": ["acc", "loss"],
                "acc": float((doc + place) % 3 == 0 or (name == "loose" and doc % 2 == 0)),
                "loss": 0.01 * ((doc * 7 + place * 5) % 31) + place,
            }
            for name in ("strict", "loose")
            for doc in range(30)
        ]
        (folder / "samples_sums_2026-01-01T00-00-00.0.jsonl").write_text("\n".join(map(json.dumps, rows)))
        results = {
            "results": {"sums": {}},
            "model_name": model,
            "higher_is_better": {"sums": {"acc": True, "loss": False}},
        }
        (folder / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results))
    return tmp_path / "runs"


def test_every_reader_is_a_command_and_every_module_a_reader():
    assert set(READERS) <= set(typer.main.get_command(convert).commands)
    for name in READERS:
        assert callable(load_reader(name).recognises)
        assert callable(load_reader(name).read)


def test_converted_tables_give_the_same_ranking_as_the_export_itself(run, runs, quick, tmp_path):
    table = tmp_path / "scores.parquet"
    done = run("convert", "lm-eval", runs, "--filter", "loose", "-o", table)
    assert (done.status, done.stdout) == (0, "")
    assert "read 120 scores of 2 models on 30 samples and 2 metrics from 4 files" in done.stderr
    metrics = tmp_path / "scores.metrics.toml"
    assert f"wrote {metrics}" in done.stderr
    assert tomllib.loads(metrics.read_text()) == {
        "acc": {"direction": "higher"},
        "loss": {"direction": "lower"},
    }
    direct = run("rank", "--from", "lm-eval", runs, "--filter", "loose", *quick, "--format", "json").document
    through = run("rank", table, "--metrics-file", metrics, *quick, "--format", "json").document
    assert direct["results"] == through["results"]
    assert direct["meta"]["metrics"] == through["meta"]["metrics"]
    assert direct["meta"]["settings"]["from_"] == "lm-eval"
    assert direct["meta"]["settings"]["filter"] == ["loose"]
    assert len(direct["meta"]["inputs"]) == 4


def test_a_pipe_gets_csv_and_is_read_without_saying_so(run, runs, quick):
    piped = run("convert", "auto", runs, "--filter", "strict")
    assert piped.stdout.startswith("model,sample,metric,score,task,filter,direction\norg/a,sums/0,acc,")
    ranked = run("rank", "-", *quick, "--format", "json", stdin=piped.stdout.encode())
    assert ranked.status == 0
    directions = {entry["name"]: entry["direction"] for entry in ranked.document["meta"]["metrics"]}
    assert directions == {"acc": "higher", "loss": "lower"}


@pytest.mark.parametrize("command", ["check", "copa", "portfolio"])
def test_commands_read_exports(run, runs, command):
    options = ("--from", "auto", "--filter", "strict", "--metric", "loss", "--format", "json")
    outcome = run(command, runs, *options)
    assert outcome.status == 0, outcome.stderr
    assert outcome.document["meta"]["settings"].get("from_", "auto") == "auto"


def test_a_direction_of_the_export_gives_way_to_the_caller(run, runs):
    options = ("--from", "auto", "--filter", "strict", "--format", "json", "--no-test")
    metrics = run("rank", runs, *options, "--higher", "loss").document["meta"]["metrics"]
    assert [(metric["name"], metric["direction"]) for metric in metrics] == [
        ("acc", "higher"),
        ("loss", "higher"),
    ]


def test_labels_name_models(run, runs):
    first, second = sorted(runs.iterdir())
    outcome = run(
        "convert", "lm-eval", f"new={first}", f"old={second}", "--filter", "strict", "--format", "json"
    )
    assert outcome.document["meta"]["models"] == ["new", "old"]


def test_requested_metrics_are_read(run, refused, runs, tmp_path):
    done = run("convert", "lm-eval", runs, "--filter", "strict", "--metric", "loss", "-o", tmp_path / "s.csv")
    assert "read 60 scores" in done.stderr
    assert tomllib.loads((tmp_path / "s.metrics.toml").read_text()) == {"loss": {"direction": "lower"}}
    lines = refused("convert", "lm-eval", runs, "--filter", "strict", "--metric", "los")
    assert "no metric 'los'" in lines[0]
    assert "did you mean --metric loss" in lines[2]


def test_rows_of_an_export_are_filtered_by_its_columns(run, runs):
    options = ("--from", "auto", "--filter", "*", "--where", "filter = 'loose'", "--format", "json")
    metrics = run("check", runs, *options).document["meta"]["metrics"]
    assert [metric["name"] for metric in metrics] == ["acc,loose", "loss,loose"]


def test_a_folder_without_a_format_suggests_formats(refused, runs, tmp_path):
    assert refused("rank", runs)[2] == "hint: select one: --filter strict; or keep all: --filter '*'"
    (tmp_path / "other").mkdir()
    assert "--from auto" in refused("rank", tmp_path / "other")[2]


def test_a_metrics_file_somebody_changed_stays(run, runs, tmp_path):
    metrics = tmp_path / "scores.metrics.toml"
    metrics.write_text("[acc]\nweight = 2\n")
    done = run("convert", "lm-eval", runs, "--filter", "strict", "-o", tmp_path / "scores.csv")
    assert f"kept {metrics}" in done.stderr
    assert metrics.read_text() == "[acc]\nweight = 2\n"


def test_missing_and_unsuitable_rules(refused, runs, table):
    messages = refused("rank", runs, "--from", "lm-eval")
    assert "several filters" in messages[0]
    assert messages[2] == "hint: select one: --filter strict; or keep all: --filter '*'"
    assert "--filter needs --from auto" in refused("rank", table, "--filter", "x")[0]
    assert "contradicts --from auto" in refused("rank", runs, "--from", "auto", "--wide")[0]
    assert "did you mean --from lm-eval" in refused("rank", runs, "--from", "lm_eval")[2]
    assert "cannot detect the harness" in refused("rank", table, "--from", "auto")[0]
    assert "no such file" in refused("convert", "lm-eval", "nowhere")[0]
    assert "more than 10 bytes" in refused("convert", "lm-eval", runs, "--set", "max-bytes=10")[0]


def test_bad_files_are_skipped_and_counted_on_request(run, refused, runs):
    bad = runs / "org__a" / "samples_other_2026-01-01T00-00-00.0.jsonl"
    bad.write_text('{"doc_id": 1, "doc":')
    options = ("convert", "lm-eval", runs, "--filter", "strict")
    assert f"{bad}: line 1 is not valid JSON" in refused(*options)[0]
    done = run(*options, "--skip-bad", "--format", "csv")
    assert done.status == 0
    assert f"warning: {bad}: ignored lines that are not JSON objects: 1" in done.stderr


def test_names_that_need_quotes_come_back(run, runs, tmp_path):
    for path in runs.rglob("*.json*"):
        path.write_text(path.read_text().replace('"acc"', '"a \\"b\\" é,\\u007f"'))
    run("convert", "lm-eval", runs, "--filter", "strict", "-o", tmp_path / "s.parquet")
    name = 'a "b" é,\x7f'
    assert tomllib.loads((tmp_path / "s.metrics.toml").read_text())[name] == {"direction": "higher"}
    assert name in set(pl.read_parquet(tmp_path / "s.parquet")["metric"])


def test_converted_rows_are_chosen_and_reshaped_as_in_every_command(run, refused, runs, quick, tmp_path):
    chosen = ("--filter", "strict", "--where", "metric = 'acc' AND sample <> 'sums/3'")
    table = tmp_path / "scores.csv"
    run("convert", "lm-eval", runs, *chosen, "-o", table)
    frame = pl.read_csv(table)
    assert set(frame["metric"]) == {"acc"}
    assert frame.height == 58
    assert "loss" not in (tmp_path / "scores.metrics.toml").read_text()
    direct = run("rank", "--from", "lm-eval", runs, *chosen, *quick, "--format", "json").document
    assert run("rank", table, *quick, "--format", "json").document["results"] == direct["results"]
    settings = run("convert", "lm-eval", runs, *chosen, "--format", "json").document["meta"]["settings"]
    assert settings["where"] == chosen[-1]

    means = "SELECT model AS m, sample, metric, AVG(score) AS score FROM scores GROUP BY m, sample, metric"
    both = run("convert", "lm-eval", runs, "--filter", "*", "--sql", means, "--columns", "model=m")
    assert both.stdout.splitlines()[0] == "model,sample,metric,score,direction"
    kinds = "SELECT model, sample, metric, score, task AS kind FROM scores"
    named = run("convert", "lm-eval", runs, "--filter", "*", "--sql", kinds, "--columns", "task=kind")
    assert named.stdout.splitlines()[0] == "model,sample,metric,score,task,direction"
    pivot = (
        "SELECT sample, MAX(CASE WHEN model = 'org/a' THEN score END) AS a, "
        "MAX(CASE WHEN model = 'org/b' THEN score END) AS b FROM scores WHERE metric = 'acc' GROUP BY sample"
    )
    shape = ("--filter", "strict", "--sql", pivot, "--matrix", "accuracy")
    long = pl.read_csv(run("convert", "lm-eval", runs, *shape).stdout.encode())
    assert long.sort("model")["model"].unique(maintain_order=True).to_list() == ["a", "b"]
    plain = pl.read_csv(
        run("convert", "lm-eval", runs, "--filter", "strict", "--metric", "acc").stdout.encode()
    )
    assert long["score"].sum() == plain["score"].sum()
    wide = run("rank", "--from", "lm-eval", runs, *shape, *quick, "--format", "json").document
    assert wide["meta"]["models"] == ["a", "b"]

    assert "missing column 'model'" in refused("convert", "lm-eval", runs, "--filter", "*", "--sql", means)[0]
    assert "no rows match" in refused("convert", "lm-eval", runs, "--filter", "*", "--where", "score > 9")[0]
    text = "SELECT model, sample, metric, 'x' AS score FROM scores"
    lines = refused("convert", "lm-eval", runs, "--filter", "*", "--sql", text)
    assert "not a number" in lines[0]
    assert "found: x" in lines[1]
    assert "contradicts" in refused("convert", "lm-eval", runs, "--filter", "*", "--matrix", "acc")[0]


def test_a_file_of_a_harness_suggests_its_format(refused, runs, write):
    (log,) = (runs / "org__a").glob("samples_*")
    assert refused("rank", log)[0] == "error: task sums: several filters; select one"
    # Who says what the columns are, or how the file is to be read, gets the answer to that.
    assert "--from" not in refused("rank", log, "--columns", "model=docid")[2]
    assert "--from" not in refused("check", log, "--wide")[2]
    assert "--from" not in refused("rank", write("t.csv", "a,b\n1,2\n"))[2]
    assert "--from" not in refused("rank", runs / "nothing.csv")[2]


def test_no_metrics_file_without_its_table(run, runs, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    table = tmp_path / "out" / "scores.csv"
    table.parent.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        outcome = run("convert", "lm-eval", runs, "--filter", "loose", "-o", table)
    assert outcome.status == 2
    assert "kept" not in outcome.stderr
    assert list(table.parent.iterdir()) == []
    assert (
        run("convert", "lm-eval", runs, "--filter", "loose", "-o", "/dev/null", "--format", "csv").status == 0
    )
    assert not Path("/dev/null.metrics.toml").exists()


def test_labelled_tables_are_recognised_by_their_columns(run, tmp_path):
    for model in "ab":
        rows = "".join(f"q,x,,{(place + (model == 'b')) % 3 > 0},1.5,e{place},r\n" for place in range(40))
        names = "inputs.q,outputs.a,error,feedback.correct,execution_time,example_id,id"
        (tmp_path / f"{model}.csv").write_text(f"{names}\n{rows}")
    paths = [f"{model}={tmp_path / model}.csv" for model in "ab"]
    done = run("check", *paths, "--format", "json")
    assert done.status == 0, done.stderr
    assert done.document["meta"]["settings"]["from_"] == "langsmith"
    assert [metric["name"] for metric in done.document["meta"]["metrics"]] == ["correct"]


def test_averages_of_tasks_are_ranked_by_means_of_the_tasks_that_a_pair_shares(run, tmp_path):
    for model, level in (("a", 0.75), ("b", 0.5)):
        averages = {f"t{task}": {"acc" if task != 8 else "f1": level + task % 3 / 100} for task in range(9)}
        results = {task: averages[task] for task in list(averages)[model == "b" :]}
        directions = {task: dict.fromkeys(metrics, True) for task, metrics in results.items()}
        (tmp_path / model).mkdir()
        document = {"results": results, "higher_is_better": directions, "model_name": model}
        (tmp_path / model / "results.json").write_text(json.dumps(document))
    done = run("rank", tmp_path, "--metric", "acc", "--metric", "t8=f1", "--format", "json")
    assert done.status == 0, done.stderr
    assert done.document["schema"] == "riskrank/rank-means"
    assert [row["model"] for row in done.document["results"]] == ["a", "b"]
    assert done.document["meta"]["settings"]["missing"] == "shared"
