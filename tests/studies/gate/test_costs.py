"""Claims on ratios of sums such as the cost per success, and the cheapest model that is not worse."""

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
DESIGN = {"wide": True, "lower": "usd", "higher": "correct", "jobs": 1}


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
    def write(**prices_by_model):
        path = tmp_path / "prices.csv"
        pl.DataFrame({"model": [*prices_by_model], "price": [*prices_by_model.values()]}).write_csv(path)
        return str(path)

    return write


def gate(**options):
    return rr.gate(SCORES, **DESIGN | options)


def test_claims_on_cost_per_success_and_mean():
    result = gate(
        better="small:big", on=["sum(usd)/sum(correct)", "mean:correct"], margin={"usd/correct": "0%"}
    )
    ratio, mean = result.rows
    sums = SCORES.group_by("model").agg(pl.col("usd", "correct").sum())
    ratios = {row["model"]: row["usd"] / row["correct"] for row in sums.to_dicts()}
    assert ratio.estimate == pytest.approx(ratios["small"] / ratios["big"] - 1)
    assert (ratio.metric, ratio.statistic) == ("usd/correct", "sum(usd)/sum(correct)")
    assert ratio.verdict == "pass"
    assert ratio.low < ratio.estimate < ratio.high < 0
    swapped = gate(
        better="small:big", on=["mean:correct", "cost-per-success:usd/correct"], margin={"usd/correct": "0%"}
    )
    assert swapped.rows == (mean, ratio)
    assert mean.verdict == "inconclusive"


def test_margins_of_a_cost_are_amounts_or_percentages():
    rows = [
        gate(not_worse="big:mid", on="sum(usd)/sum(correct)", margin={"usd/correct": margin}).rows[0]
        for margin in (0.1, "10%", "60%", 0.8)
    ]
    assert [row.verdict for row in rows] == ["fail", "fail", "pass", "pass"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "sum(usd+correct)/sum(correct)"}, "adds metrics of different directions"),
        ({"on": "sum(usd)/sum(right)"}, "must name metrics"),
        ({"on": "cost-per-success:usd"}, "must name a cost metric and a success metric"),
    ],
)
def test_invalid_cost_per_success_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        gate(better="small:big", **options)


def test_unpaired_models_have_independent_ratios():
    paired, unpaired = (
        gate(better="small:big", on="sum(usd)/sum(correct)", unpaired=choice).rows[0]
        for choice in (False, True)
    )
    assert unpaired.estimate == pytest.approx(paired.estimate)
    assert unpaired.standard_error > paired.standard_error


def test_fewer_than_ten_successes_are_refused():
    short = pl.col("sample").str.len_chars() == 2
    few = SCORES.with_columns(correct=pl.when(short).then("correct").otherwise(0.0))
    with pytest.raises(InputError, match="needs a positive sum in the denominator"):
        rr.gate(few, better="small:big", on="sum(usd)/sum(correct)", **DESIGN)


def test_cheapest_noninferior_model_is_chosen(prices):
    options = {"cheapest": "big", "on": "correct", "margin": {"correct": 0.1}}
    result = gate(**options, price=prices(**PRICES))
    choice = result.document.choice
    assert (choice.model, choice.saves_a_call) == ("small", pytest.approx(0.006))
    assert [candidate.model for candidate in choice.candidates] == ["tiny", "small"]  # mid is dearer
    assert [candidate.passed for candidate in choice.candidates] == [False, True]
    assert {row.new: row.verdict for row in result.rows} == {"tiny": "fail", "small": "pass"}
    assert "choose small, the cheapest candidate (of 2)" in result.verdict
    assert result.passed


@pytest.mark.slow
def test_measured_costs_serve_as_prices():
    options = {"cheapest": "big", "price": "usd", "margin": {"correct": 0.1}}
    assert gate(**options).document.choice.model == "small"
    assert len(gate(**options).document.choice.candidates) == 3
    equal_costs = SCORES.with_columns(
        usd=pl.when(pl.col("model") == "small").then(pl.lit(1.0)).otherwise("usd")
    )
    assert rr.gate(equal_costs, **DESIGN, **options).document.choice.model != "small"


@pytest.mark.slow
def test_candidate_is_a_single_claim_on_all_metrics():
    """Holm over candidates uses the largest p-value of their claims, without further correction."""
    both = SCORES.with_columns(again=pl.col("correct"))
    options = DESIGN | {"higher": "*", "cheapest": "big", "price": "usd"}
    single, double = (
        rr.gate(table, **options, margin=dict.fromkeys(metrics, 0.1)).document.choice.candidates
        for table, metrics in ((SCORES, ["correct"]), (both, ["correct", "again"]))
    )
    assert [c.p_adjusted for c in double] == pytest.approx([c.p_adjusted for c in single], abs=2e-3)


def test_reference_wins_without_a_passing_candidate(prices):
    options = {"cheapest": "big", "on": "correct", "price": prices(**PRICES)}
    result = gate(**options)
    assert isinstance(result.failed, GateInconclusive)
    assert result.document.choice.model == "big"
    assert isinstance(gate(**options, models=["big", "tiny"]).failed, GateFailed)
    assert gate(**options, inconclusive="pass").passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price": None}, "needs price"),
        ({"better": "small:big"}, "cannot be used together"),
        ({"cheapest": None, "not_worse": "small:big"}, "needs cheapest"),
        ({"cheapest": "tiny"}, "no model is cheaper than tiny"),
        ({"cheapest": "none"}, "there is no model 'none'"),
    ],
)
def test_incomplete_choice_is_refused(prices, options, message):
    settings = {"cheapest": "big", "price": prices(**PRICES), "on": "correct"}
    with pytest.raises(UsageError, match=message):
        gate(**settings | options)


@pytest.mark.parametrize(
    ("prices_by_model", "message"),
    [
        ({"big": 0.01, "mid": 0.02}, "has no price for small, tiny"),
        (PRICES | {"tiny": -1.0}, "the price of tiny is invalid"),
        ({name: str(price) for name, price in PRICES.items()} | {"tiny": "$0.1"}, r"found: \$0"),
    ],
)
def test_missing_and_invalid_prices_are_refused(prices, prices_by_model, message):
    with pytest.raises(InputError, match=message):
        gate(cheapest="big", on="correct", price=prices(**prices_by_model))
