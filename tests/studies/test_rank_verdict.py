"""What the verdicts of rankings, dominance and mean-risk models say, on tables whose answer is known."""

import numpy as np
import polars as pl

import riskrank as rr
from riskrank.studies.wording import number

NOISE = np.random.default_rng(5).normal(size=60)


def table(metric="x", **scores):
    """Long table of models' scores."""
    return pl.concat(
        [
            pl.DataFrame(
                {"model": name, "sample": [f"{i}" for i in range(len(of))], "metric": metric, "score": of}
            )
            for name, of in scores.items()
        ]
    )


def test_minus_zero_is_zero():
    assert number(-0.0) == "0"


def test_identical_models_are_said_to_be_identical():
    verdict = rr.rank(table(a=NOISE, b=NOISE), resamples=100).verdict
    assert verdict.startswith(
        "a and b have identical scores on 'x': there is nothing to tell them apart. 60 "
    )
    assert "Ship" not in verdict
    assert "−0" not in verdict


def test_two_identical_models_above_a_third():
    verdict = rr.rank(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=1000).verdict
    assert verdict.startswith("Ship a or b, whose scores are identical: ")
    assert "Over c, the next with other scores, it gains 1.0" in verdict
    assert "rank 1 of" not in verdict


def test_what_is_not_decided_is_not_what_cannot_be_told_apart():
    many = {name: NOISE + k for k, name in enumerate("abcdef")}
    result = rr.rank(table(**many), resamples=50)
    assert "against e, d, c and 2 others that is not decided at 50 resamples" in result.verdict
    assert "told apart" not in result.verdict
    assert "15 of 30 claims of R-SSD@x are not decided at 50 resamples." in result.verdict
    assert any("30 of 60 claims of all tests together" in line for line in result.warnings)


def test_without_resamples_there_is_no_interval():
    verdict = rr.rank(table(a=NOISE + 1, b=NOISE), variance="clt").verdict
    assert "it gains 1.00 in mean 'x' (no interval, as nothing was resampled)" in verdict.replace(
        "1.000", "1.00"
    )


def test_clusters_are_counted_as_clusters():
    frame = table(a=NOISE + 1, b=NOISE, c=NOISE - 1).with_columns(doc=pl.col("sample").cast(int) % 20)
    for study in (rr.rank, rr.dominance, rr.mrm):
        result = study(frame, cluster="doc", resamples=200)
        assert "20 clusters of samples say nothing about" in result.verdict
        assert any("only 20 clusters of samples" in line for line in result.warnings)


def test_metrics_that_disagree_are_weighed_by_a_portfolio():
    frame = pl.concat([table("p", a=NOISE + 1, b=NOISE), table("q", a=NOISE - 1, b=NOISE)])
    verdict = rr.rank(frame, per_metric=True, resamples=200).verdict
    assert verdict.startswith(
        "No one model ranks first everywhere: a on 'p' and b on 'q'; rank without per_metric=True"
    )
    assert "Ship" not in verdict
    assert verdict.count("95 % interval") == 2


def test_nothing_told_apart_lists_nobody():
    draws = np.random.default_rng(1).normal(size=(5, 40))
    verdict = rr.dominance(table(**dict(zip("abcde", draws, strict=True))), resamples=1000).verdict
    assert verdict.startswith("On 'x', nothing can be told apart in second order directly: 0 of 10 pairs.")


def test_mean_risk_ties_are_said():
    verdict = rr.mrm(table(a=NOISE, b=NOISE, c=NOISE - 1), resamples=100).verdict
    assert verdict.startswith("On 'x', a and b tie for the first place by mean minus risk, ")
    assert "its interval overlaps with" in verdict
    assert "60 samples say nothing" in verdict


def test_the_method_stands_in_brackets_behind_how_sure_it_is():
    verdict = rr.rank(table(a=NOISE + 1, b=NOISE), resamples=200).verdict
    assert verdict.startswith(
        "Ship a: it is significantly better than the other (60 paired samples, α = 0.05; R-SSD@x). Over b, "
    )


def test_gains_are_told_in_the_units_of_metrics_before_the_portfolios():
    """Of three metrics the one most gained in and the one given up in, by their spread; not the third."""
    shifts = {"acc": 2.0, "f1": 0.5, "speed": -100.0}
    draws = np.random.default_rng(2).normal(size=(3, 60))
    scale = {"acc": 1.0, "f1": 1.0, "speed": 200.0}
    frame = pl.concat(
        [
            table(name, a=scale[name] * draw + shifts[name], b=scale[name] * draw)
            for (name, draw) in zip(shifts, draws, strict=True)
        ]
    )
    verdict = rr.rank(frame, resamples=1000).verdict
    assert (
        "Over b, the next, it gains 2.00 in mean 'acc' and gives up 100.0 in mean 'speed'. It gains 0"
        in verdict
    )
    assert (
        "in mean portfolio score, the product of a sample's ranks by every metric (95 % interval" in verdict
    )
    assert "'f1'" not in verdict
    assert "Its weakest metric is 'speed', where its mean ranks 2 of 2." in verdict


def test_the_hidden_risk_with_the_best_mean_comes_first():
    """Alphabetically the last, of five: two more are named, the rest counted."""
    noise = 0.1 * np.random.default_rng(3).normal(size=300)
    rare = np.where(np.arange(300) % 15 == 0, -40.0, 0.0)
    risky = {name: noise + 0.01 * k + rare + 2.9 for k, name in enumerate("vwxyz")}
    verdict = rr.rank(table(safe=noise, **risky), resamples=1000).verdict
    assert "z is a hidden risk with the best mean of all: the mean of its worst 5 % is " in verdict
    assert " of safe. So are y, x and 2 others." in verdict
