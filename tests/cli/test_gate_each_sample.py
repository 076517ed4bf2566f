"""``riskrank gate --each-sample``: every sample by itself, three answers, and the runs it takes."""

from xml.etree import ElementTree

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import GateFailed, InputError, UsageError


def runs(passed: dict[str, tuple[int, int]], *, model="new", worse=0.0):
    """Runs of samples, so many of so many passed."""
    rows = [
        (model, sample, "ok", 1.0 - worse if run < good else worse, str(run))
        for sample, (good, many) in passed.items()
        for run in range(many)
    ]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score", "draw"], orient="row")


MIXED = {"always": (40, 40), "often": (36, 40), "seldom": (10, 40)}


@pytest.mark.parametrize(
    ("share", "status", "verdicts"),
    [
        ("0.8", 1, ["pass", "inconclusive", "fail"]),
        ("0.05", 0, ["pass"] * 3),
        ("0.3", 4, ["pass", "pass", "inconclusive"]),
        ("0.99", 1, ["inconclusive", "fail", "fail"]),
    ],
)
def test_three_answers(run, write, share, status, verdicts):
    path = write("runs.parquet", runs(MIXED))
    outcome = run("gate", path, "--each-sample", share, "--repeats", "draws", "--format", "json")
    assert outcome.status == status
    document = outcome.document
    assert document["schema"] == "riskrank/gate-samples"
    assert [row["verdict"] for row in document["results"]] == verdicts
    assert sum(document["meta"]["counts"].values()) == 3
    if status:
        assert [line.split(":")[0] for line in outcome.stderr.splitlines()] == ["error", "found", "hint"]


def test_the_page_names_what_fails_and_the_runs_it_takes(run, write):
    path = write("runs.parquet", runs({f"s{at:02}": (10, 10) for at in range(40)} | {"bad": (2, 10)}))
    outcome = run("gate", path, "--each-sample", "0.9", "--repeats", "draws")
    page = " ".join(outcome.stdout.split())
    assert (
        "FAIL: of 41 samples 0 are shown to pass at least 90 % of the time, 1 less often (bad), of 40 neither"
        in page
    )
    assert "A sample that always passes takes 71 runs to show it, and here are 10." in page
    assert "FAIL bad 2 of 10" in page
    assert len(outcome.stdout.splitlines()) <= 25
    more = run("gate", path, "--each-sample", "0.9", "--repeats", "draws", "--explain").stdout
    assert "s39" in more
    assert "s39" not in outcome.stdout


def test_a_test_case_a_sample(run, write):
    path = write("runs.parquet", runs(MIXED))
    outcome = run("gate", path, "--each-sample", "0.8", "--repeats", "draws", "--format", "junit")
    suite = ElementTree.fromstring(outcome.stdout)[0]
    assert (suite.get("failures"), suite.get("errors"), suite.get("tests")) == ("1", "1", "3")
    assert "10 of 40 runs" in suite.find("testcase/failure").get("message")


def test_a_build_is_annotated_with_a_few_samples(run, write):
    path = write("runs.parquet", runs({f"s{at:02}": (10, 10) for at in range(40)} | {"bad": (2, 10)}))
    variables = {"GITHUB_ACTIONS": "true"}
    outcome = run("gate", path, "--each-sample", "0.9", "--repeats", "draws", variables=variables)
    notes = [line for line in outcome.stderr.splitlines() if line.startswith("::")]
    assert len(notes) == 10
    assert "does not pass bad" in notes[0]


def test_less_is_better_and_several_models():
    frame = pl.concat([runs(MIXED, worse=1.0), runs({"other": (40, 40)}, model="old", worse=1.0)])
    result = rr.gate(frame, each_sample=0.8, repeats="draws", lower=["ok"], unpaired=True)
    assert [(row.model, row.sample, row.passed, row.verdict) for row in result.rows] == [
        ("new", "always", 40, "pass"),
        ("new", "often", 36, "inconclusive"),
        ("new", "seldom", 10, "fail"),
        ("old", "other", 40, "pass"),
    ]
    assert "FAIL: of 4 samples of 2 models 2 are shown to pass" in result.verdict
    assert isinstance(result.failed, GateFailed)
    assert not result


def test_errored_runs_failed_or_are_neither():
    frame = runs({"a": (40, 40), "b": (40, 40)}).with_columns(
        pl.when((pl.col("sample") == "b") & (pl.col("draw").cast(int) < 20))
        .then(None)
        .otherwise("score")
        .alias("score")
    )
    kept = {"each_sample": 0.8, "repeats": "draws", "metrics": {"ok": {"bounds": [0, 1]}}}
    assert [row.verdict for row in rr.gate(frame, missing="worst", **kept).rows] == ["pass", "fail"]
    assert [row.verdict for row in rr.gate(frame, missing="bounds", **kept).rows] == ["pass", "inconclusive"]
    assert [row.runs for row in rr.gate(frame, missing="drop", **kept).rows] == [40, 20]


def test_without_repeats_it_says_what_to_do():
    once = runs({f"s{at}": (1, 1) for at in range(20)})
    with pytest.raises(InputError, match="needs several runs") as error:
        rr.gate(once, each_sample=0.9)
    assert 'repeats="draws"' in str(rr.errors.spell(error.value.hint, flags=False))
    with pytest.raises(UsageError, match="counts runs that pass"):
        rr.gate(runs(MIXED).with_columns(pl.col("score") / 2), each_sample=0.9, repeats="draws")


@pytest.mark.parametrize("more", [{"not_worse": "a:b"}, {"margin": 0.1}, {"on": "mean"}, {"anytime": True}])
def test_it_is_a_claim_by_itself(more):
    with pytest.raises(UsageError, match="contradict each other"):
        rr.gate(runs(MIXED), each_sample=0.9, repeats="draws", **more)


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, float("nan")])
def test_a_share_that_cannot_be_shown(share):
    with pytest.raises(UsageError, match="above 0 and below 1"):
        rr.gate(runs(MIXED), each_sample=share, repeats="draws")
