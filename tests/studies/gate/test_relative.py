"""Margins that are a share of the old mean: decided with the error of that mean, told in units."""

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
    rows = [(model, f"s{at:03}", float(own[at])) for model, own in both.items() for at in range(n)]
    found = pl.DataFrame(rows, schema=["model", "sample", metric], orient="row")
    return found.with_columns(**{name: pl.Series(list(values) * 2) for name, values in columns.items()})


def gate(table, claim="not_worse", metric="points", lower=False, **asked):
    named = {"lower" if lower else "higher": metric}
    return rr.gate(table, **{claim: "new:old"}, wide=True, **named, **asked)


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
def test_a_share_on_either_side_of_what_there_is(claim, lower, times, passes, fails, unpaired):
    for margin, verdict in ((passes, "pass"), (fails, "fail")):
        (row,) = gate(frame(times * OLD + NOISE), claim, lower=lower, margin=margin, unpaired=unpaired).rows
        share = float(margin[:-1]) / 100
        assert (row.verdict, row.relative_margin) == (verdict, share)
        assert row.margin == pytest.approx(share * OLD.mean())
        boundary = row.margin * (1 if claim == "better" else -1) * (-1 if lower else 1)
        assert (row.low > boundary or row.high < boundary) == (min(row.low, row.high) != boundary)
        assert row.low <= row.estimate <= row.high
        assert row.estimate == pytest.approx((times * OLD + NOISE).mean() - OLD.mean())


def test_the_error_of_the_old_mean_counts():
    """Half of the old score, sample by sample: a share says so at once, an amount as large does not."""
    table = frame(0.52 * OLD + NOISE)
    shared = gate(table, margin="50%").rows[0]
    known = gate(table, margin=float(OLD.mean() / 2)).rows[0]
    assert (shared.verdict, known.verdict) == ("pass", "inconclusive")
    assert (shared.estimate, shared.high, shared.standard_error) == (
        known.estimate,
        known.high,
        known.standard_error,
    )
    assert known.low < shared.low == -shared.margin, "its interval ends where the claim is decided"
    apart = 0.52 * OLD + NOISE - 0.5 * OLD
    assert shared.p_value >= 2 * stats.ttest_1samp(apart, 0, alternative="greater").pvalue


@pytest.mark.slow
def test_p_is_that_of_the_scaled_difference():
    """Of unbounded scores the t of new − .9 old, which Johnson's correction and the sample more widen."""
    for seed in range(2):
        new = 0.93 * OLD + np.random.default_rng(seed).normal(0, 0.2, N)
        (row,) = gate(frame(new), margin="10%", resamples=20_000).rows
        student = stats.ttest_1samp(new - 0.9 * OLD, 0, alternative="greater").pvalue
        assert row.p_value / 2 == pytest.approx(student, rel=0.5, abs=0.01)


def test_units_and_order_do_not_matter():
    new = 0.95 * OLD + NOISE
    (one,) = gate(frame(new), margin="6%").rows
    (cents,) = gate(frame(100 * new, 100 * OLD), margin="6 %").rows
    (turned,) = gate(frame(100 * new, 100 * OLD)[::-1], margin={"points": "6%"}).rows
    assert (cents.verdict, cents.p_value) == (one.verdict, pytest.approx(one.p_value))
    assert turned == cents
    assert [cents.margin, cents.low, cents.high] == pytest.approx(
        [100 * one.margin, 100 * one.low, 100 * one.high]
    )


def test_each_group_has_a_margin_of_its_own_mean():
    level = np.where(np.arange(N) % 2, 3.0, 1.0)
    result = gate(
        frame(0.9 * OLD * level + NOISE, OLD * level, lang=np.where(level == 1, "one", "three")),
        margin="20%",
        group_by="lang",
    )
    old = OLD * level
    means = {None: old.mean(), "one": old[level == 1].mean(), "three": old[level == 3].mean()}
    assert {row.group: row.margin / 0.2 for row in result.rows} == pytest.approx(means)


def test_what_is_missing_moves_the_old_mean_too():
    """Bounded both ways: a claim passes only if it does whatever is missing."""
    right = (np.arange(400) % 10 < 8).astype(float)
    few, many = (
        frame(right, right, "acc").with_columns(
            acc=pl.when((pl.col("model") == "new") & (pl.col("sample") < f"s{lost:03}"))
            .then(None)
            .otherwise("acc")
        )
        for lost in (4, 30)
    )
    one, other = (gate(table, metric="acc", margin="5%", most_failed=0.5).rows[-1] for table in (few, many))
    assert (one.verdict, other.verdict) == ("pass", "inconclusive")
    assert one.estimate_low == pytest.approx(-4 * 0.8 / 400, abs=1 / 400)
    assert one.relative_margin == 0.05


def test_how_it_is_told():
    result = gate(frame(0.9 * OLD + NOISE), margin="2%")
    assert f"new is worse than old by more than 2 % ({0.02 * OLD.mean():.3g}) on points" in result.verdict
    told = json.loads(result.to_json())
    assert (told["meta"]["settings"]["margin"], told["results"][0]["relative_margin"]) == ("2%", 0.02)
    assert result.rows[0].name == "new not worse than old by 2 %: mean of points", "a test keeps its name"
    plain = json.loads(gate(frame(0.9 * OLD + NOISE), margin=0.02).to_json())
    assert "relative_margin" not in plain["results"][0]


@pytest.mark.parametrize(
    ("old", "asked", "what"),
    [
        (OLD - OLD.mean(), {"margin": "2%"}, "the mean of old, which is not shown to be above 0"),
        (-OLD, {"margin": "2%"}, "not shown to be above 0"),
        (OLD, {"margin": "2%", "on": "tvar@0.1"}, "is a share of the old mean, of scores in their own units"),
        (OLD, {"margin": "2%", "on": "ssd"}, "dominance has none"),
        (OLD, {"margin": "2%", "anytime": True}, "of scores in their own units"),
        (OLD, {"margin": "100%"}, "of scores in their own units"),
        (OLD, {"margin": ["2%", "points=2%"], "metric": "points"}, None),
        (OLD, {"margin": ["2%", 0.1]}, "is given twice"),
        (OLD, {"margin": "-2%"}, "a number not below 0"),
        (OLD, {"margin": "two%"}, "margin 2% is a share of the old mean|a number not below 0"),
    ],
)
def test_where_a_share_says_nothing_it_is_refused(old, asked, what):
    table = frame(old + NOISE, old)
    if what is None:
        assert gate(table, **asked).rows
        return
    with pytest.raises(UsageError, match=what) as error:
        gate(table, **asked)
    assert len(error.value.lines()) == 3
