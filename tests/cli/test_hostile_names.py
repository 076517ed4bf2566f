"""Names with cursor movements, links or formulas are harmless in every output of every command."""

import csv
import html
import io
import json
import re
import unicodedata

import pytest
from markdown_it import MarkdownIt

LINK = "[x](javascript:alert(1))"
MODELS = ("A\x1b[2J\x07", "B\u202egnp.exe\u2066", f"{LINK}![i](https://evil.example/i)")
METRICS = ("acc\x9b31m\x7f", "=cmd|' /C calc'!A0\u2028x")
COMMANDS = {
    "rank": ("--resamples", "60", "--set", "jobs=1"),
    "dominance": ("--no-test",),
    "mrm": ("--resamples", "60", "--set", "jobs=1"),
    "gsd": ("--no-test", "--higher", "*"),
    "copa": ("--higher", "*"),
    "portfolio": ("--summary",),
    "check": (),
}


@pytest.fixture
def hostile(make_scores, tmp_path):
    path = tmp_path / "sc\x1b[31more\u202es.jsonl"
    make_scores(models=MODELS, metrics=METRICS, n=24).write_ndjson(path)
    return path


def acts(text: str) -> list[str]:
    """Return the active characters of a text, according to Unicode categories."""
    return [
        mark
        for mark in text
        if mark != "\n"
        and (
            unicodedata.category(mark) in ("Cc", "Zl", "Zp", "Cs") or mark in "\u061c\u200e\u200f\u202e\u2066"
        )
    ]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        *((command, kind) for command in COMMANDS for kind in ("table", "markdown")),
        ("rank", "json"),
        ("rank", "jsonl"),
    ],
)
def test_no_mark_acts(run, hostile, command, kind):
    outcome = run(command, hostile, *COMMANDS[command], "--format", kind)
    assert outcome.status == 0, outcome.stderr
    assert not acts(outcome.stdout), acts(outcome.stdout)
    assert not acts(outcome.stderr)
    if kind == "json":
        assert outcome.document["meta"]["models"] == list(MODELS)
        assert outcome.document["meta"]["inputs"][0]["path"] == str(hostile)
    if kind == "markdown":
        page = MarkdownIt("commonmark").enable("table").render(outcome.stdout)
        assert not re.search(r"<(a|img|script)\b", page)
        assert command in ("check", "portfolio") or LINK in html.unescape(page)


def test_the_cases_of_gate(run, hostile):
    claims = ("--not-worse", f"{MODELS[0]}:{MODELS[1]}", "--margin", "0.2", "--metric", METRICS[0])
    outcome = run("gate", hostile, *claims, "--resamples", "60", "--set", "jobs=1", "--format", "junit")
    assert outcome.stdout, outcome.stderr
    assert not acts(outcome.stdout)


def test_errors_and_warnings(run, write):
    named = run("rank", "no\x1b]0;title\x07\u202esuch.csv")
    assert named.status == 2
    assert not acts(named.stderr)
    loss = write("l.csv", metrics=("loss\x1b[31m\u200f", "acc"))
    warned = run("rank", loss, "--no-test")
    assert "loss\\x1b[31m\\u200f" in warned.stderr
    assert not acts(warned.stderr)


def test_no_name_in_csv_is_a_formula(run, hostile, write):
    text = run("mrm", hostile, "--per-metric", "--format", "csv", *COMMANDS["mrm"]).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["metric"] for row in rows} == {METRICS[0], f"'{METRICS[1]}"}
    assert {row["model"] for row in rows} == set(MODELS)
    lines = "".join(f"{sample},=A,B,{'model_a' if sample % 2 else 'tie'}\n" for sample in range(20))
    path = write("v.csv", f"sample,model_a,model_b,verdict\n{lines}")
    assert "\n'=A," in run("convert", "verdicts", path, "--format", "csv").stdout


def test_names_of_csv_round_trip(run, write, make_scores, tmp_path):
    names = ["=SUM(A1:A9)", "'=1", "-attention", "@org/model"]
    table, folded = write("t.csv", make_scores(models=names, n=12)), tmp_path / "folded.csv"
    models = run("rank", table, "--no-test", "--format", "json").document["meta"]["models"]
    assert set(models) == {"=SUM(A1:A9)", "=1", "-attention", "@org/model"}
    assert run("portfolio", table, "-o", folded).status == 0
    assert run("rank", folded, "--no-test", "--format", "json").document["meta"]["models"] == models


def test_json_lines_hold_the_names(run, hostile):
    stdout = run("rank", hostile, "--no-test", "--format", "jsonl").stdout
    assert {json.loads(line)["model"] for line in stdout.splitlines()} == set(MODELS)


@pytest.mark.parametrize("metric", ["@x", "a@b", "@"])
def test_a_metric_with_the_sign_that_names_of_methods_have(run, write, make_scores, metric, tmp_path):
    """Found by the fuzzer: R-SSD@@x is the statistic R-SSD on the metric @x."""
    path = write("t.csv", make_scores(metrics=(metric, "other"), n=12))
    plot = tmp_path / "r.svg"
    args = ("--no-test", "--per-metric", "--aggregate", "borda", "--format", "json", "--plot", plot)
    outcome = run("rank", path, *args)
    assert outcome.status == 0, outcome.stderr
    methods = {row["method"] for row in outcome.document["results"]}
    assert {f"R-SSD@{metric}", "R-SSD@other"} <= methods
    assert plot.exists()
    alone = run("rank", path, "--no-test", "--metric", metric)
    assert alone.status == 0, alone.stderr
