"""The line about missing scores is short, exact, and omitted if none is missing."""

import json

import polars as pl
import pytest

import riskrank as rr

METRICS = {"m": {"bounds": [0, 1]}}
BOUNDS = {name: {"bounds": [0, 1], "direction": "higher"} for name in "mn"}


def frame(gaps, *, metrics=("m",), n=40):
    rows = [
        (model, f"s{at:02}", metric, None if at < missing else float((at * 7 + len(model)) % 3 > 0), reason)
        for metric in metrics
        for model, (missing, reason) in gaps.items()
        for at in range(n)
    ]
    schema = ["model", "sample", "metric", "score", "unscored"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def line(result):
    text = " ".join(str(result).split())
    return text.partition("Scored: ")[2].partition(". ")[0] if "Scored: " in text else ""


def test_counts_and_reasons_of_missing_scores():
    table = frame({"new": (12, "error"), "old": (1, None)})
    result = rr.gate(table, not_worse="new:old", missing="bounds", metrics=METRICS)
    assert line(result) == (
        "new 28 of 40 (12 errors); old 39 of 40; the answers hold for all possible missing scores "
        '(missing="bounds")'
    )
    assert json.loads(result.to_json())["meta"]["scored"] == [
        {"model": "new", "metric": "m", "scored": 28, "total": 40, "why": {"error": 12}},
        {"model": "old", "metric": "m", "scored": 39, "total": 40, "why": {}},
    ]


def test_gates_count_scores_without_missing_ones():
    result = rr.gate(frame({"new": (0, None), "old": (0, None)}), not_worse="new:old", missing="worst")
    assert line(result) == "new 40 of 40; old 40 of 40"
    result = rr.rank(frame({"new": (0, None), "old": (0, None)}), missing="worst", resamples=200)
    assert line(result) == ""
    assert "scored" not in json.loads(result.to_json())["meta"]


@pytest.mark.parametrize(
    "command", ["rank", "dominance", "mrm", "diff", "portfolio", "report", "gsd", "copa"]
)
def test_every_command_counts_scores(command):
    table = frame({"new": (12, "refusal"), "old": (0, None)}, metrics=("m", "n"))
    options = {"missing": "worst", "metrics": BOUNDS}
    settings = {"diff": {"pair": "new:old"}, "portfolio": {"summary": True}}.get(command, {})
    if command == "copa":
        table = pl.concat([table, frame({"a": (0, None), "b": (0, None)}, metrics=("m", "n"))])
    if command in ("rank", "report", "dominance"):
        settings = {"resamples": 200}
    result = getattr(rr, command)(table, **options, **settings)
    assert "new 28 of 40 (12 refusals)" in " ".join(str(result).split())


def test_metrics_that_differ_and_many_models():
    gaps = {f"m{at}": (at + 1, "limit") for at in range(6)}
    table = frame(gaps, metrics=("m", "n"))
    table = table.with_columns(
        score=pl.when((pl.col("metric") == "n") & pl.col("score").is_null()).then(1.0).otherwise("score")
    )
    result = rr.check(table)
    assert line(result) == (
        "m5 34 of 40 (6 limits) on m; m4 35 of 40 (5 limits) on m; m3 36 of 40 (4 limits) on m; "
        "3 more lack some"
    )
