"""Verdicts on tables with a known answer."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.wording import format_number
from tests.tables import long_table

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data"
NOISE = np.random.default_rng(5).normal(size=60)


def table(metric="x", **scores):
    """Long table of models' scores."""
    return long_table(scores, metric, str)


def test_minus_zero_is_zero():
    assert format_number(-0.0) == "0"


def test_identical_models_are_reported():
    assert rr.rank(table(a=NOISE, b=NOISE), resamples=100).verdict == (
        "a and b have the same distribution of scores on x, so they cannot be separated."
    )
    three = rr.rank(table(a=NOISE, b=NOISE, c=NOISE), resamples=100)
    assert three.verdict == (
        "All 3 models have the same distribution of scores on x, so they cannot be separated."
    )


@pytest.mark.parametrize("names", ["abc", "bac"])
def test_models_with_equal_means_have_their_own_claims(names):
    """Both are better than c by 8 of 26 samples: one never worse, one worse on 5 of them."""
    c = np.repeat([1.0, 0.0], [8, 18])
    never, sometimes = c.copy(), c.copy()
    never[8:16] = 1
    sometimes[8:21], sometimes[:5] = 1, 0
    first, second, _ = names
    verdict = rr.rank(table(**{first: never, second: sometimes, "c": c})).verdict
    assert verdict.startswith(
        f"Ship {first}: significantly better than c on x. The same is not significant for {second}, "
        "with the same distribution of scores."
    )
    (interval,) = re.findall(rf"\(difference (.+) for {first}, −.+ for {second}\)", verdict)
    assert not interval.startswith("−")


def test_two_identical_models_above_a_third():
    verdict = rr.rank(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=1000).verdict
    assert verdict.startswith(
        "Ship a or b (same distribution of scores): significantly better than c on x. a and b's mean x "
    )
    assert "(difference 1.00 to 1.00)" in verdict


def test_equal_accuracy_is_not_equal_scores():
    """Both models are right on half of the samples, but on different halves."""
    right = np.arange(40) % 2.0
    for study in (rr.rank, rr.dominance):
        verdict = study(table(a=right, b=1 - right), resamples=100).verdict
        assert verdict == "a and b have the same distribution of scores on x, so they cannot be separated."


def test_undecided_pairs_are_not_reported_as_ties():
    models = {name: NOISE + k for k, name in enumerate("abcdef")}
    result = rr.rank(table(**models), resamples=50)
    assert result.verdict.startswith("f comes first; the comparison with e and 4 others needs more resamples")
    assert "no test" not in result.verdict.lower()
    assert "15 need more resamples" in " ".join(result.to_text().split())
    assert any("30 of 60 claims, counted over all tests" in line for line in result.warnings)


def test_without_resamples_there_is_no_interval():
    verdict = rr.dominance(table(a=NOISE + 1, b=NOISE), variance="clt").verdict
    assert "a's mean is 0.79 against −0.21 for b." in verdict


def test_clusters_are_counted_as_clusters():
    frame = table(a=NOISE + 1, b=NOISE, c=NOISE - 1).with_columns(doc=pl.col("sample").cast(int) % 20)
    for study in (rr.rank, rr.dominance, rr.mrm):
        result = study(frame, cluster="doc", resamples=200)
        assert "20 clusters of samples say nothing about" in result.verdict or (
            "20 paired clusters of samples (cannot detect events rarer than 1 in 6)" in result.to_text()
        )
        assert any("only 20 clusters of samples" in line for line in result.warnings)


def test_disagreement_of_metrics_is_reported():
    frame = pl.concat([table("p", a=NOISE + 1, b=NOISE), table("q", a=NOISE - 1, b=NOISE)])
    verdict = rr.rank(frame, per_metric=True, resamples=200).verdict
    assert verdict == (
        "No model comes first everywhere: a on p and b on q. On p and q the first model is significantly "
        "ahead of all others."
    )


def test_no_significant_pair_lists_no_models():
    draws = np.random.default_rng(1).normal(size=(5, 40))
    verdict = rr.dominance(table(**dict(zip("abcde", draws, strict=True))), resamples=1000).verdict
    assert verdict.startswith("None of the 5 models is significantly ahead of another on x, by risk-averse")


def test_mean_risk_ties_are_reported():
    result = rr.mrm(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=100)
    assert result.verdict.startswith("a and b tie for first place on x by mean minus risk, ")
    assert "60 paired samples (cannot detect events rarer than 1 in 20)" in result.to_text()


def test_tied_model_with_worst_means_is_named():
    result = rr.mrm(
        str(SAMPLES / "classifiers.parquet"),
        metrics_file=str(SAMPLES / "classifiers.toml"),
        models=["neural_net", "lda"],
        no_test=True,
    )
    assert result.verdict.startswith("lda and neural_net tie for first place")
    assert "But lda has the worst mean on all 4 metrics." in result.verdict


def test_tests_are_summarised_in_a_line():
    text = rr.rank(table(a=NOISE + 1, b=NOISE), resamples=200).to_text()
    assert "1 of 1 pair separated (second-order dominance on x, α 0.05, Holm)" in " ".join(text.split())
    assert "60 paired samples (cannot detect events rarer than 1 in 20)" in " ".join(text.split())


def test_gains_and_losses_have_units_of_metrics():
    """Differences are sorted by strength, and only significant ones are listed."""
    shifts = {"acc": 2.0, "f1": 0.5, "speed": -100.0, "same": 0.0}
    draws = np.random.default_rng(2).normal(size=(4, 60))
    noises = np.random.default_rng(3).normal(size=(4, 60))
    scale = {"acc": 1.0, "f1": 1.0, "speed": 200.0, "same": 1.0}
    frame = pl.concat(
        [
            table(name, a=scale[name] * draw + shifts[name], b=scale[name] * (draw + 0.3 * noise))
            for name, draw, noise in zip(shifts, draws, noises, strict=True)
        ]
    )
    verdict = rr.rank(frame, resamples=1000, higher="*", weight="equal").verdict
    assert (
        "Compared with b, a is worse on speed −118 against −8 but better on acc 2.08 against 0.08 and f1"
        in verdict
    )
    assert "same" not in verdict


def test_hidden_risk_with_best_mean_comes_first():
    noise = 0.1 * np.random.default_rng(3).normal(size=300)
    rare = np.where(np.arange(300) % 15 == 0, -40.0, 0.0)
    risky = {name: noise + 0.01 * k + rare + 2.9 for k, name in enumerate("vwxyz")}
    result = rr.rank(table(safe=noise, **risky), resamples=1000)
    assert "z has the best mean but hides a tail risk: the worst 5 % average −37" in result.verdict
    text = result.to_text()
    assert "! z: hidden risk: safe ranks higher with milder bad cases, although its mean is no better" in text
    assert "! also marked: " in text


@pytest.mark.slow
def test_hidden_risk_names_the_combined_mean():
    """By log_loss alone its mean is worse, on the same screen."""
    text = rr.rank(SAMPLES / "suite", wide=True, lower="log_loss", higher="correct", resamples=200).to_text()
    assert "! forest: hidden risk: logistic ranks higher with milder bad cases, although its mean" in text


@pytest.mark.slow
def test_marks_on_a_screen_have_notes():
    """Also when a line defines the combined score."""
    table = rr.read("sample_data/classifiers.parquet", metrics_file="sample_data/classifiers.toml")
    text = rr.rank(table, resamples=1000, jobs=1).to_text()
    marked = [line.split()[2] for line in text.splitlines() if line.split()[1:2] == ["!"]]
    assert len(marked) > 2
    assert all(f"! {model}: " in text for model in marked)


def test_p_values_near_the_level_are_called_close():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(2, 40))
    kinds = {}
    for shift in (0.0, 0.65, 3.0):
        frame = [(m, str(s), scores[m, s] + shift * m) for m in range(2) for s in range(40)]
        table = pl.DataFrame(frame, schema=["model", "sample", "q"], orient="row")
        table = table.with_columns(pl.col("model").cast(pl.String))
        result = rr.rank(table, wide=True, higher="q", resamples=500)
        kinds[shift] = [finding.kind for finding in result.document.findings]
    assert "by-seed" in kinds[0.65]
    assert "by-seed" not in kinds[3.0] + kinds[0.0]
