"""``--human`` and ``--judge`` from the command line: verdicts, documents, refusals."""

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError

ROOT = Path(__file__).parents[2]

DATA = (str(ROOT / "sample_data" / "judge.csv"), "--wide", "--higher", "people,judge")
BOTH = (*DATA, "--human", "people", "--judge", "judge")


def plain_means():
    """Compute the means of all models by the formulas."""
    means = {}
    for (model,), scores in pl.read_csv(DATA[0]).sort("sample").group_by("model"):
        people, judge = (scores[name].to_numpy().astype(float) for name in ("people", "judge"))
        has = ~np.isnan(people)
        h, j = people[has], judge[has]
        means[model] = h, np.mean((h - h.mean()) * (j - j.mean())) / judge.var(ddof=1) * judge, has
    over, under = 0.0, 0.0
    for (h, u, has), (other, v, _) in itertools.combinations(means.values(), 2):
        difference, weights = h - other, u - v
        over += np.cov(difference, weights[has], bias=True)[0, 1] / difference.var()
        under += weights.var(ddof=1) / difference.var()
    cut = over / under
    assert 0 < cut < 1
    return {model: h.mean() + cut * (u.mean() - u[has].mean()) for model, (h, u, has) in means.items()}


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_means_are_prediction_powered(run, command):
    document = run(command, *BOTH, "--no-test", "--format", "json").document
    expected = plain_means()
    means = {entry["model"]: entry["mean"] for entry in document["meta"]["judge"]["models"]}
    assert means == pytest.approx(expected)
    if command != "dominance":
        assert {row["model"]: row["mean"] for row in document["results"]} == pytest.approx(expected)
    else:
        for row in document["results"]:
            assert row["mean_difference"] == pytest.approx(expected[row["winner"]] - expected[row["loser"]])
    assert document["meta"]["settings"]["human"] == "people"
    assert document["meta"]["judge"]["labelled"] == 150
    means = {entry["kind"]: entry["sentence"] for entry in document["meta"]["findings"]}
    assert means["judge-gain"].startswith(
        "For a difference of means, 150 labels and the judge are as precise as"
    )


COMMANDS = [("check",), ("rank", "--no-test"), ("gate", "--better", "tuned:base")]


@pytest.fixture
def chosen(write):
    """Label only the samples on which the judge favours a model."""
    lines = (ROOT / "sample_data" / "judge.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    good = {row[1] for row in rows if row[0] == "base" and row[3] in "45"}
    labelled = [row if row[1] in good else [*row[:2], "", row[3]] for row in rows]
    return write("chosen.csv", "\n".join([lines[0], *(",".join(row) for row in labelled)]) + "\n")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_chosen_labels_are_warned_of(run, chosen, command):
    result = run(command[0], chosen, *BOTH[1:], *command[1:])
    text = " ".join((result.stdout + result.stderr).split())
    assert text.count("the labelled samples do not look random: the mean judge score of base is") == 1
    assert "do not look random" not in run(command[0], *BOTH, *command[1:]).stderr


@pytest.mark.usefixtures("no_pictures")
def test_a_page_marks_no_model_by_chosen_labels(run, chosen, tmp_path):
    """A page does not recommend a model if that depends on how labels were chosen."""
    pair, page = ("--models", "tuned,small"), tmp_path / "page.html"

    def written(*call):
        assert run("rank", *call, *pair, "--output", str(page)).status == 0
        return page.read_text()

    named = '<td class="left name bold" dir="auto">tuned</td>'
    assert named in written(*BOTH)
    doubted = written(chosen, *BOTH[1:])
    assert named not in doubted
    assert "behind tuned, if the labels are a random sample" in doubted


def test_python_takes_both(run):
    options = {"wide": True, "human": "people", "judge": "judge", "higher": ["people", "judge"]}
    result = rr.rank(DATA[0], **options, no_test=True)
    assert {row.model: row.mean for row in result.rows} == pytest.approx(plain_means())
    assert b"Effect of 150 labels" in result.plot("judge").to_bytes("svg", text_as_text=True)
    read = rr.read(DATA[0], **options)
    assert rr.rank(read, no_test=True).to_json() == result.to_json()
    with pytest.raises(UsageError, match="judge"):
        rr.copa(read)


@pytest.mark.usefixtures("no_pictures")
def test_the_report_has_a_section_for_the_judge(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("report", *BOTH, "--resamples", "60", "--output", str(page)).status == 0
    text = page.read_text()
    part = text[text.index('id="judge"') : text.index('id="distributions"')]
    assert "The judge and the labels" in part
    assert (
        "judge scored all 600 samples, people scored 150. For a difference of means, 150 labels and" in part
    )
    section = text[text.index('id="labels"') : text.index('id="curves"')]
    assert "by the judge alone, by the labels alone, and by the judge calibrated on labels" in section
    for model, mean in plain_means().items():
        assert model in part
        assert f"{mean:.2f}" in part
    alone = run("report", *DATA, "--metric", "judge", "--no-test", "--format", "html").stdout
    assert 'id="judge"' not in alone


def test_a_gate_has_three_answers(run):
    passed = run("gate", *BOTH, "--better", "tuned:base", "--format", "json")
    row, expected = passed.document["results"][0], plain_means()
    assert row["estimate"] == pytest.approx(expected["tuned"] - expected["base"])
    assert row["samples"] == 150
    assert row["verdict"] == "pass"
    assert run("gate", *BOTH, "--better", "wordy:base").status == 4
    assert run("gate", *BOTH, "--not-worse", "small:tuned", "--margin", "0.2").status == 1


@pytest.mark.slow
def test_a_gate_reports_the_gain_from_labels(run):
    """The gain is not reported for pairs that are not compared."""
    gains = {}
    for pair in ("tuned:small", "wordy:tuned", "tuned:base"):
        meta = run("gate", *BOTH, "--better", pair, "--format", "json").document["meta"]
        assert meta["judge"]["effective_labels_low"] == meta["judge"]["effective_labels_high"]
        gains[pair] = meta["judge"]["effective_labels_low"]
    claims = ("--better", "tuned:small", "--better", "tuned:base")
    meta = run("gate", *BOTH, *claims, "--format", "json").document["meta"]
    both = sorted((gains["tuned:small"], gains["tuned:base"]))
    assert [meta["judge"]["effective_labels_low"], meta["judge"]["effective_labels_high"]] == both
    for pair, gain in gains.items():
        alone = run("rank", *BOTH, "--models", pair.replace(":", ","), "--no-test", "--format", "json")
        assert gain == pytest.approx(alone.document["meta"]["judge"]["effective_labels_low"], rel=0.1)
