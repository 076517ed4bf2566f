"""``riskrank gate``: exit statuses, several outputs of one run, CI servers, and pipes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runs(write):
    """Three models on two metrics: ``up`` is better than ``old``, ``same`` is equally good."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=(2, 120))
    rows = []
    for model, shift in (("old", 0.0), ("same", 0.0), ("up", 0.4), ("down", -0.4)):
        scores = hard + 0.3 * rng.normal(size=hard.shape) + shift
        for metric, values in zip(("acc", "f_1"), scores, strict=True):
            rows += [(model, f"s{at}", metric, value) for at, value in enumerate(values)]
    schema = ["model", "sample", "metric", "score"]
    return write("runs.csv", pl.DataFrame(rows, schema=schema, orient="row"))


def test_a_single_run_writes_all_outputs(run, runs, tmp_path):
    names = [tmp_path / f"gate.{suffix}" for suffix in ("json", "md", "xml", "csv")]
    files = [argument for name in names for argument in ("-o", name)]
    outcome = run("gate", runs, "--not-worse", "down:old", "--on", "f_1", *files, "--comment")
    assert (outcome.status, outcome.stdout) == (1, "")
    page = names[1].read_text()
    assert page.startswith("<!-- riskrank gate -->\n\n**Verdict:** FAIL")
    assert "down not worse than old" in page
    assert "| FAIL | mean of f\\_1 |" in page
    suite = ElementTree.parse(names[2]).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert json.loads(names[0].read_text())["results"][0]["verdict"] == "fail"
    rerun = [name.read_bytes() for name in names]
    run("gate", runs, "--not-worse", "down:old", "--on", "f_1", *files, "--comment", "--set", "jobs=1")
    assert [name.read_bytes() for name in names] == rerun


def test_all_files_or_none(run, runs, tmp_path):
    closed = tmp_path / "no" / "gate.md"
    assert run("gate", runs, "--better", "up:old", "-o", tmp_path / "gate.json", "-o", closed).status == 2
    files = ("-o", tmp_path / "g.json", "-o", tmp_path / "." / "g.json")
    twice = run("gate", runs, "--better", "up:old", *files)
    assert twice.stderr.startswith("error: two results need different files")
    untold = run("gate", runs, "--better", "up:old", "-o", tmp_path / "g.json", "-o", tmp_path / "g.what")
    assert "unknown format" in untold.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


def test_every_command_writes_several_files(run, table, quick, tmp_path):
    files = ("-o", tmp_path / "r.json", "-o", tmp_path / "r.csv", "-o", tmp_path / "r.other")
    assert run("rank", table, *quick, *files, "--format", "markdown").status == 0
    assert json.loads((tmp_path / "r.json").read_text())["results"]
    assert (tmp_path / "r.csv").read_text().startswith("method,")
    assert (tmp_path / "r.other").read_text().startswith("**Verdict:**")


@pytest.mark.parametrize(("counts_as", "kind"), [(None, "error"), ("pass", "skipped"), ("fail", "failure")])
def test_junit_of_an_inconclusive_claim(run, runs, counts_as, kind):
    options = ["--inconclusive", counts_as] if counts_as else []
    text = run("gate", runs, "--not-worse", "same:old", *options, "--format", "junit", "-q").stdout
    cases = ElementTree.fromstring(text).findall("testsuite/testcase")
    assert [case[0].tag for case in cases] == [kind, kind]


def test_junit_of_names_xml_cannot_hold(run, write, make_scores):
    frame = make_scores(models=('a<"&\x01', "b"), metrics=("x",))
    text = run("gate", write("t.csv", frame), "--better", 'a<"&\x01:b', "--format", "junit").stdout
    assert ElementTree.fromstring(text).find("testsuite/testcase").get("name").startswith(r'a<"&\x01 better')


def test_github_gets_annotations_and_a_summary(run, runs, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    options = ("--not-worse", "down:old", "--better", "up:old", "--on", "acc")
    outcome = run("gate", runs, *options, variables=variables)
    assert outcome.status == 1
    notes = [line for line in outcome.stderr.splitlines() if line.startswith("::")]
    assert len(notes) == 1
    assert notes[0].startswith("::error title=riskrank gate::fail: down is worse than old on acc")
    assert summary.read_text().startswith("before\n**Verdict:** FAIL")
    lenient = run("gate", runs, "--better", "same:old", "--inconclusive", "pass", variables=variables)
    assert lenient.status == 0
    assert lenient.stderr.startswith("::warning ")
    elsewhere = run("gate", runs, *options, variables=variables | {"GITHUB_ACTIONS": "false"})
    assert "::" not in elsewhere.stderr
    variables["GITHUB_STEP_SUMMARY"] = str(tmp_path / "no" / "summary.md")
    assert (
        "warning: cannot write the job summary to"
        in run("gate", runs, "--better", "up:old", variables=variables).stderr
    )


@pytest.mark.parametrize("fails", [("--on", "nothing"), ("--config", "no.toml"), ("-o", "a.unknown")])
def test_a_failed_gate_writes_files_and_a_refused_gate_does_not(run, runs, tmp_path, fails):
    files = [tmp_path / f"gate.{suffix}" for suffix in ("json", "md", "xml", "txt", "tex")]
    command = ("gate", runs, "--better", "down:old", *(word for file in files for word in ("-o", file)))
    assert run(*command, *fails).status == 2
    assert not any(file.exists() for file in files)
    assert run(*command).status == 1
    assert all(file.exists() for file in files), "a gate that fails says why"


@pytest.mark.parametrize(("worse", "better", "chance"), [(38, 32, True), (30, 2, False)])
def test_a_comment_begins_with_the_cases(run, write, worse, better, chance):
    old = [1.0] * worse + [0.0] * better + [1.0] * 300
    new = [0.0] * worse + [1.0] * better + [1.0] * 300
    names = [f"case-{at:03}" for at in range(len(old))]
    frame = pl.DataFrame(
        {"model": ["new"] * len(new) + ["old"] * len(old), "case": names * 2, "ok": [*new, *old]}
    )
    command = ("gate", write("s.csv", frame), "--wide", "--columns", "sample=case", "--not-worse", "new:old")
    command = (*command, "--margin", "0.2", "--format", "markdown")
    page = run(*command, "--comment").stdout
    first = page.index(f"{worse} worse, {better} better of {len(old)}")
    assert first < page.index("mean of ok")
    assert ("; not significant" in page) is chance
    assert page.count("case-0") == 10
    assert "case-0" not in run(*command).stdout
    assert "case-0" not in run(*command, "--comment", "--cases", "0").stdout
