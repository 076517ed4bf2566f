"""What verdicts say on tables whose answer is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.wording import number
from tests.tables import long_table

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data"
NOISE = np.random.default_rng(5).normal(size=60)


def table(metric="x", **scores):
    """Long table of models' scores."""
    return long_table(scores, metric, str)


def test_minus_zero_is_zero():
    assert number(-0.0) == "0"


def test_identical_models_are_said_to_be_identical():
    assert rr.rank(table(a=NOISE, b=NOISE), resamples=100).verdict == (
        "a and b have the same distribution of scores on x: nothing tells them apart."
    )
    three = rr.rank(table(a=NOISE, b=NOISE, c=NOISE), resamples=100)
    assert three.verdict == (
        "All 3 models have the same distribution of scores on x: nothing tells them apart."
    )


def test_two_identical_models_above_a_third():
    verdict = rr.rank(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=1000).verdict
    assert verdict.startswith(
        "Ship a or b (same distribution of scores): significantly better than c on x. a's mean x "
    )
    assert "(difference 1.00 to 1.00)" in verdict


def test_as_many_right_are_not_called_the_same_scores():
    """Both right on half of the samples, and on different ones."""
    right = np.arange(40) % 2.0
    for study in (rr.rank, rr.dominance):
        verdict = study(table(a=right, b=1 - right), resamples=100).verdict
        assert verdict == "a and b have the same distribution of scores on x: nothing tells them apart."


def test_what_is_not_decided_is_not_what_cannot_be_told_apart():
    many = {name: NOISE + k for k, name in enumerate("abcdef")}
    result = rr.rank(table(**many), resamples=50)
    assert result.verdict.startswith("f comes first; against e and 4 others the resamples are too few")
    assert "no test" not in result.verdict.lower()
    assert "15 not decided for lack of resamples" in " ".join(result.to_text().split())
    assert any("30 of 60 claims of all tests together" in line for line in result.warnings)


def test_without_resamples_there_is_no_interval():
    verdict = rr.dominance(table(a=NOISE + 1, b=NOISE), variance="clt").verdict
    assert "a's mean is 0.79 against −0.21 of b." in verdict


def test_clusters_are_counted_as_clusters():
    frame = table(a=NOISE + 1, b=NOISE, c=NOISE - 1).with_columns(doc=pl.col("sample").cast(int) % 20)
    for study in (rr.rank, rr.dominance, rr.mrm):
        result = study(frame, cluster="doc", resamples=200)
        assert "20 clusters of samples say nothing about" in result.verdict or (
            "20 paired clusters of samples (too few to see what happens less than once in 6)"
            in result.to_text()
        )
        assert any("only 20 clusters of samples" in line for line in result.warnings)


def test_metrics_that_disagree_are_said_to_disagree():
    frame = pl.concat([table("p", a=NOISE + 1, b=NOISE), table("q", a=NOISE - 1, b=NOISE)])
    verdict = rr.rank(frame, per_metric=True, resamples=200).verdict
    assert verdict == (
        "No model comes first everywhere: a on p and b on q. On p and q the first is significantly ahead of "
        "all others."
    )


def test_nothing_told_apart_lists_nobody():
    draws = np.random.default_rng(1).normal(size=(5, 40))
    verdict = rr.dominance(table(**dict(zip("abcde", draws, strict=True))), resamples=1000).verdict
    assert verdict.startswith("No test tells any of the 5 models from another on x, in second order")


def test_mean_risk_ties_are_said():
    result = rr.mrm(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=100)
    assert result.verdict.startswith("a and b tie for the first place on x by mean minus risk, ")
    assert "60 paired samples (too few to see what happens less than once in 20)" in result.to_text()


def test_of_two_that_tie_by_mean_and_risk_the_one_with_the_worst_means_is_named():
    result = rr.mrm(
        str(SAMPLES / "classifiers.parquet"),
        metrics_file=str(SAMPLES / "classifiers.toml"),
        models=["neural_net", "lda"],
        no_test=True,
    )
    assert result.verdict.startswith("lda and neural_net tie for the first place")
    assert "But lda's mean is the worst of all on all 4 metrics." in result.verdict


def test_what_was_tested_stands_in_one_line():
    text = rr.rank(table(a=NOISE + 1, b=NOISE), resamples=200).to_text()
    assert "1 of 1 pair told apart (second-order dominance on x, α 0.05, Holm)" in " ".join(text.split())
    assert "60 paired samples (too few to see what happens less than once in 20)" in " ".join(text.split())


def test_gains_and_losses_are_told_in_the_units_of_the_metrics():
    """The strongest first; only what a test of the metric's own means shows."""
    shifts = {"acc": 2.0, "f1": 0.5, "speed": -100.0, "same": 0.0}
    draws = np.random.default_rng(2).normal(size=(4, 60))
    own = np.random.default_rng(3).normal(size=(4, 60))
    scale = {"acc": 1.0, "f1": 1.0, "speed": 200.0, "same": 1.0}
    frame = pl.concat(
        [
            table(name, a=scale[name] * draw + shifts[name], b=scale[name] * (draw + 0.3 * noise))
            for name, draw, noise in zip(shifts, draws, own, strict=True)
        ]
    )
    verdict = rr.rank(frame, resamples=1000, higher="*", weight="equal").verdict
    assert (
        "Against b, a is worse on speed −118 against −8 but better on acc 2.08 against 0.08 and f1" in verdict
    )
    assert "same" not in verdict


def test_the_hidden_risk_with_the_best_mean_comes_first():
    noise = 0.1 * np.random.default_rng(3).normal(size=300)
    rare = np.where(np.arange(300) % 15 == 0, -40.0, 0.0)
    risky = {name: noise + 0.01 * k + rare + 2.9 for k, name in enumerate("vwxyz")}
    result = rr.rank(table(safe=noise, **risky), resamples=1000)
    assert "z has the best mean and hides a risk: the worst 5 % average −37" in result.verdict
    text = result.to_text()
    assert "! z: hidden risk: mean as good as safe's, which ranks before it, worse" in text
    assert "! also marked: " in text


@pytest.mark.slow
def test_a_hidden_risk_of_the_combined_score_names_that_mean():
    """By log_loss its mean is the worse one, on the same screen."""
    text = rr.rank(SAMPLES / "suite", wide=True, lower="log_loss", higher="correct", resamples=200).to_text()
    assert "! forest: hidden risk: mean combined score as good as logistic's, which ranks before it" in text


@pytest.mark.slow
def test_every_mark_of_a_screen_has_its_note():
    """Where a line says what the combined score is, too."""
    found = rr.read("sample_data/classifiers.parquet", metrics_file="sample_data/classifiers.toml")
    text = rr.rank(found, resamples=1000, jobs=1).to_text()
    marked = [line.split()[2] for line in text.splitlines() if line.split()[1:2] == ["!"]]
    assert len(marked) > 2
    assert all(f"! {model}: " in text for model in marked)
