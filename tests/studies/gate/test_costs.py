"""Claims on the cost per success, and the cheapest model that is not worse."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import GateFailed, GateInconclusive, InputError, UsageError

RNG = np.random.default_rng(11)
N = 300
RANK = RNG.random(N)
MODELS = {"big": (0.8, 1.0), "mid": (0.81, 0.8), "small": (0.8, 0.3), "tiny": (0.5, 0.1)}
PRICES = {"big": 0.01, "mid": 0.02, "small": 0.004, "tiny": 0.001}
ABOUT = {"wide": True, "lower": "usd", "higher": "correct", "jobs": 1}


def scores():
    rows = []
    for model, (chance, cost) in MODELS.items():
        passed = np.where(RNG.random(N) < 0.9, RANK, RNG.random(N)) < chance
        spent = cost * RNG.lognormal(0, 0.3, N)
        rows += [(model, f"s{at}", float(passed[at]), float(spent[at])) for at in range(N)]
    return pl.DataFrame(rows, schema=["model", "sample", "correct", "usd"], orient="row")


SCORES = scores()


@pytest.fixture
def prices(tmp_path):
    def write(**given):
        path = tmp_path / "prices.csv"
        pl.DataFrame({"model": [*given], "price": [*given.values()]}).write_csv(path)
        return str(path)

    return write


def gate(**asked):
    return rr.gate(SCORES, **ABOUT | asked)


def test_a_claim_on_the_cost_per_success_stands_beside_others():
    result = gate(better="small:big", on=["cost-per-success:usd/correct", "mean:correct"])
    ratio, mean = result.rows
    sums = SCORES.group_by("model").agg(pl.col("usd", "correct").sum())
    of = {row["model"]: row["usd"] / row["correct"] for row in sums.to_dicts()}
    assert ratio.estimate == pytest.approx(of["small"] / of["big"] - 1)
    assert (ratio.metric, ratio.statistic, ratio.verdict) == ("usd/correct", "cost-per-success", "pass")
    assert ratio.low < ratio.estimate < ratio.high < 0
    turned = gate(better="small:big", on=["mean:correct", "cost-per-success:usd/correct"])
    assert turned.rows == (mean, ratio)
    assert mean.verdict == "inconclusive"


def test_a_margin_is_a_share_of_the_old_cost():
    shown = [
        gate(not_worse="big:mid", on="cost-per-success:usd/correct", margin={"usd/correct": margin}).rows[0]
        for margin in (0.1, "10%", 0.6)
    ]
    assert shown[0] == shown[1]
    assert [row.verdict for row in shown] == ["fail", "fail", "pass"]


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"on": "cost-per-success:correct/usd"}, "needs costs of which less is better"),
        ({"on": "cost-per-success:usd/usd"}, "needs successes from 0 to 1"),
        ({"on": "cost-per-success:usd"}, "names no cost and no success"),
        ({"on": "cost-per-success:usd/correct", "unpaired": True}, "needs models with the same samples"),
        ({"on": "cost-per-success:usd/correct", "anytime": True}, "decides differences of means"),
    ],
)
def test_what_has_no_cost_per_success_is_refused(asked, what):
    with pytest.raises(UsageError, match=what):
        gate(better="small:big", **asked)


def test_fewer_than_ten_successes_are_refused():
    short = pl.col("sample").str.len_chars() == 2
    few = SCORES.with_columns(correct=pl.when(short).then("correct").otherwise(0.0))
    with pytest.raises(InputError, match="fewer than 10 successes on usd/correct"):
        rr.gate(few, better="small:big", on="cost-per-success:usd/correct", **ABOUT)


def test_the_cheapest_that_is_not_worse(prices):
    asked = {"cheapest": "big", "on": "correct", "margin": {"correct": 0.1}}
    result = gate(**asked, price=prices(**PRICES))
    choice = result.document.choice
    assert (choice.model, choice.saves_a_call) == ("small", pytest.approx(0.006))
    assert [one.model for one in choice.candidates] == ["tiny", "small"]  # mid is dearer
    assert [one.shown for one in choice.candidates] == [False, True]
    assert {row.new: row.verdict for row in result.rows} == {"tiny": "fail", "small": "pass"}
    assert "take small, the cheapest of 2 candidates" in result.verdict
    assert result.passed


@pytest.mark.slow
def test_measured_costs_are_shown_too():
    asked = {"cheapest": "big", "price": "usd", "margin": {"correct": 0.1}}
    assert gate(**asked).document.choice.model == "small"
    assert len(gate(**asked).document.choice.candidates) == 3
    alike = SCORES.with_columns(usd=pl.when(pl.col("model") == "small").then(pl.lit(1.0)).otherwise("usd"))
    assert rr.gate(alike, **ABOUT, **asked).document.choice.model != "small"


@pytest.mark.slow
def test_a_candidate_is_one_claim_on_all_its_metrics():
    """By Holm over candidates the largest p-value counts, and no further correction of its claims."""
    both = SCORES.with_columns(again=pl.col("correct"))
    asked = ABOUT | {"higher": "*", "cheapest": "big", "price": "usd"}
    one, two = (
        rr.gate(table, **asked, margin=dict.fromkeys(metrics, 0.1)).document.choice.candidates
        for table, metrics in ((SCORES, ["correct"]), (both, ["correct", "again"]))
    )
    assert [c.p_adjusted for c in two] == pytest.approx([c.p_adjusted for c in one], abs=2e-3)


def test_the_reference_stays_where_nothing_is_shown(prices):
    asked = {"cheapest": "big", "on": "correct", "price": prices(**PRICES)}
    stays = gate(**asked)
    assert isinstance(stays.failed, GateInconclusive)
    assert stays.document.choice.model == "big"
    assert isinstance(gate(**asked, models=["big", "tiny"]).failed, GateFailed)
    assert gate(**asked, inconclusive="pass").passed


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"price": None}, "goes with price"),
        ({"better": "small:big"}, "contradict"),
        ({"cheapest": None, "not_worse": "small:big"}, "goes with cheapest"),
        ({"cheapest": "tiny"}, "no model is cheaper than tiny"),
        ({"cheapest": "none"}, "there is no model 'none'"),
    ],
)
def test_half_a_choice_is_refused(prices, asked, what):
    given = {"cheapest": "big", "price": prices(**PRICES), "on": "correct"}
    with pytest.raises(UsageError, match=what):
        gate(**given | asked)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"big": 0.01, "mid": 0.02}, "has no price of small, tiny"),
        (PRICES | {"tiny": -1.0}, "the price of tiny is no price"),
        ({name: str(price) for name, price in PRICES.items()} | {"tiny": "$0.1"}, r"found: \$0"),
    ],
)
def test_prices_that_are_missing_or_none_are_refused(prices, given, what):
    with pytest.raises(InputError, match=what):
        gate(cheapest="big", on="correct", price=prices(**given))
