"""Margins relative to the old mean: decided with the error of that mean, reported as relative changes."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.errors import UsageError

RNG = np.random.default_rng(7)
N = 100
OLD = RNG.gamma(4, 0.25, N)  # mean 1, standard deviation a half
NOISE = RNG.normal(0, 0.02, N)


def frame(new, old=OLD, metric="points", **columns) -> pl.DataFrame:
    both, n = {"new": new, "old": old}, len(old)
    rows = [(model, f"s{at:03}", float(scores[at])) for model, scores in both.items() for at in range(n)]
    result = pl.DataFrame(rows, schema=["model", "sample", metric], orient="row")
    return result.with_columns(**{name: pl.Series(list(values) * 2) for name, values in columns.items()})


def gate(table, claim="not_worse", metric="points", lower=False, **options):
    directions = {"lower" if lower else "higher": metric}
    return rr.gate(table, **{claim: "new:old"}, wide=True, **directions, **options)


@pytest.mark.parametrize("unpaired", [False, True])
@pytest.mark.parametrize(
    ("claim", "lower", "times", "passes", "fails"),
    [
        ("not_worse", False, 0.8, "45%", "5%"),
        ("not_worse", True, 1.2, "45%", "2%"),
        ("better", False, 1.6, "20%", "120%"),
        ("better", True, 0.5, "20%", "80%"),
    ],
)
def test_relative_margins_that_pass_and_fail(claim, lower, times, passes, fails, unpaired):
    for margin, verdict in ((passes, "pass"), (fails, "fail")):
        (row,) = gate(frame(times * OLD + NOISE), claim, lower=lower, margin=margin, unpaired=unpaired).rows
        share = float(margin[:-1]) / 100
        assert (row.verdict, row.relative_margin, row.margin) == (verdict, share, share)
        boundary = share * (1 if claim == "better" else -1) * (-1 if lower else 1)
        assert row.low <= row.estimate <= row.high
        assert not row.low < boundary < row.high
        assert row.estimate == pytest.approx((times * OLD + NOISE).mean() / OLD.mean() - 1)


def test_error_of_the_old_mean_is_included():
    """New scores are half of the old ones: a relative margin passes, an equal absolute one does not."""
    table = frame(0.52 * OLD + NOISE)
    relative = gate(table, margin="50%").rows[0]
    absolute = gate(table, margin=float(OLD.mean() / 2)).rows[0]
    assert (relative.verdict, absolute.verdict) == ("pass", "inconclusive")
    assert relative.estimate == pytest.approx(absolute.estimate / OLD.mean())
    assert absolute.low < absolute.boundary
    assert relative.low >= relative.boundary
    residual = 0.52 * OLD + NOISE - 0.5 * OLD
    assert relative.p_value >= 2 * stats.ttest_1samp(residual, 0, alternative="greater").pvalue


@pytest.mark.slow
def test_p_value_matches_scaled_difference():
    """Student's t of new − 0.9 old; Johnson's correction and the extra sample widen it slightly."""
    for seed in range(2):
        new = 0.93 * OLD + np.random.default_rng(seed).normal(0, 0.2, N)
        (row,) = gate(frame(new), margin="10%", resamples=20_000).rows
        student = stats.ttest_1samp(new - 0.9 * OLD, 0, alternative="greater").pvalue
        assert row.p_value / 2 == pytest.approx(student, rel=0.5, abs=0.01)


def test_units_and_order_do_not_matter():
    new = 0.95 * OLD + NOISE
    (plain,) = gate(frame(new), margin="6%").rows
    (cents,) = gate(frame(100 * new, 100 * OLD), margin="6 %").rows
    (reversed_rows,) = gate(frame(100 * new, 100 * OLD)[::-1], margin={"points": "6%"}).rows
    assert (cents.verdict, cents.p_value) == (plain.verdict, pytest.approx(plain.p_value))
    assert reversed_rows == cents
    assert [cents.estimate, cents.low, cents.high] == pytest.approx([plain.estimate, plain.low, plain.high])


def test_group_margins_use_group_means():
    level = np.where(np.arange(N) % 2, 3.0, 1.0)
    result = gate(
        frame(0.9 * OLD * level + NOISE, OLD * level, lang=np.where(level == 1, "one", "three")),
        margin="20%",
        group_by="lang",
    )
    old = OLD * level
    ratios = {
        group: 0.9 + NOISE[chosen].mean() / old[chosen].mean()
        for group, chosen in ((None, level > 0), ("one", level == 1), ("three", level == 3))
    }
    assert {row.group: row.estimate + 1 for row in result.rows} == pytest.approx(ratios)


def test_missing_scores_move_the_old_mean():
    """A claim passes with bounds only if it passes for every fill."""
    right = (np.arange(400) % 10 < 8).astype(float)
    few, many = (
        frame(right, right, "acc").with_columns(
            acc=pl.when((pl.col("model") == "new") & (pl.col("sample") < f"s{lost:03}"))
            .then(None)
            .otherwise("acc")
        )
        for lost in (4, 30)
    )
    low_loss, high_loss = (
        gate(table, metric="acc", margin="5%", most_failed=0.5).rows[-1] for table in (few, many)
    )
    assert (low_loss.verdict, high_loss.verdict) == ("pass", "inconclusive")
    assert low_loss.estimate_low == pytest.approx(-4 / 400, abs=1 / 400)
    assert low_loss.relative_margin == 0.05


def test_verdict_and_json_of_a_relative_margin():
    result = gate(frame(0.9 * OLD + NOISE), margin="2%")
    assert "new is worse than old by more than 2 % on points (mean −10.2 %" in result.verdict
    document = json.loads(result.to_json())
    assert (document["meta"]["settings"]["margin"], document["results"][0]["relative_margin"]) == ("2%", 0.02)
    assert result.rows[0].name == "new not worse than old by 2 %: mean of points", "a test keeps its name"
    plain = json.loads(gate(frame(0.9 * OLD + NOISE), margin=0.02).to_json())
    assert "relative_margin" not in plain["results"][0]


@pytest.mark.parametrize(
    ("old", "options", "message"),
    [
        (OLD - OLD.mean(), {"margin": "2%"}, "the mean of old, which is not significantly above 0"),
        (-OLD, {"margin": "2%"}, "not significantly above 0"),
        (
            OLD,
            {"margin": "2%", "on": "tvar@0.1"},
            "is relative to the old worst 10 % and does not apply here",
        ),
        (OLD, {"margin": "2%", "on": "ssd"}, "dominance has no unit"),
        (OLD, {"margin": "2%", "anytime": True}, "is relative to the old mean and does not apply here"),
        (OLD, {"margin": "100%"}, "is relative to the old mean and does not apply here"),
        (OLD, {"margin": ["2%", "points=2%"], "metric": "points"}, None),
        (OLD, {"margin": ["2%", 0.1]}, "is given twice"),
        (OLD, {"margin": "-2%"}, "a finite number ≥ 0"),
        (OLD, {"margin": "two%"}, "margin 2% is relative to the old mean|a finite number ≥ 0"),
    ],
)
def test_invalid_relative_margins_are_refused(old, options, message):
    table = frame(old + NOISE, old)
    if message is None:
        assert gate(table, **options).rows
        return
    with pytest.raises(UsageError, match=message) as error:
        gate(table, **options)
    assert len(error.value.lines()) == 3
