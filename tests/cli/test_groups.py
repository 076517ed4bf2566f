"""``--group-by`` on the command line and in Python."""

import csv
import io

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError


@pytest.fixture
def grouped(write, make_scores):
    frame = make_scores(n=40).with_columns(
        pl.when(pl.col("sample").str.slice(1).cast(pl.Int64) < 25)
        .then(pl.lit("math"))
        .otherwise(pl.lit("law"))
        .alias("task")
    )
    return write("g.csv", frame)


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_groups_and_all_samples_together(grouped, command):
    result = getattr(rr, command)(str(grouped), group_by="task", resamples=60)
    groups = result.document.meta()["groups"]
    assert [(group["group"], group["samples"]) for group in groups] == [("law", 15), ("math", 25)]
    assert {row["group"] for row in csv.DictReader(io.StringIO(result.to_csv()))} == {"", "math", "law"}
    assert set(result.frame["group"].to_list()) == {None, "math", "law"}


def test_other_commands_refuse_groups(refused, grouped):
    assert "--group-by" in refused("portfolio", grouped, "--group-by", "task")[1]
    with pytest.raises(UsageError, match="does not support groups"):
        rr.portfolio(str(grouped), group_by="task")


@pytest.mark.usefixtures("no_pictures")
def test_gates_in_every_group(run, grouped):
    args = ("gate", grouped, "--group-by", "task", "--not-worse", "A:B", "--on", "acc", "--resamples", "400")
    result = run(*args, "--format", "json", "--inconclusive", "pass")
    rows = result.document["results"]
    assert [row["group"] for row in rows] == [None, "law", "math"]
    assert result.document["meta"]["settings"]["group_by"] == "task"
    assert " all " in run(*args, "--inconclusive", "pass").stdout
    assert " math " in run(*args, "--inconclusive", "pass", "--format", "markdown").stdout
    assert "acc in math" in run(*args, "--inconclusive", "pass", "--format", "junit").stdout
    result = rr.gate(str(grouped), group_by="task", not_worse="A:B", on="acc", resamples=400)
    assert result.frame["group"].to_list() == [None, "law", "math"]
    assert "Ranks by task" in rr.rank(str(grouped), group_by="task", no_test=True).to_markdown()
    result = rr.rank(str(grouped), group_by="task", no_test=True)
    assert "Ranks by task" in result.to_html()
    assert "all together" in result._repr_html_()  # the first screen alone
