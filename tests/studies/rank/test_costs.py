"""Ranking by cost per success, compared with sums, a gate on the same pair, and another currency."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError

RNG = np.random.default_rng(8)
N = 300
RIGHT = {
    model: (RNG.random(N) < chance).astype(float) for model, chance in (("a", 0.8), ("b", 0.7), ("c", 0.3))
}
SPENT = {model: RNG.lognormal(0, 0.5, N) for model in RIGHT}
RATIO = "cost-per-success:usd/ok"


def table(right=RIGHT, spent=SPENT, unit=1.0) -> pl.DataFrame:
    rows = [(m, f"s{at}", right[m][at], unit * spent[m][at]) for m in right for at in range(N)]
    return pl.DataFrame(rows, schema=["model", "sample", "ok", "usd"], orient="row")


def rank(frame=None, **options):
    defaults = {"wide": True, "lower": "usd", "higher": "ok", "per_metric": True, "on": RATIO}
    return rr.rank(table() if frame is None else frame, **defaults | options)


def test_costs_places_and_shares():
    result = rank()
    cost = {model: SPENT[model].sum() / RIGHT[model].sum() for model in RIGHT}
    assert [row.model for row in result.rows] == sorted(cost, key=cost.get)
    first = result.rows[0].model
    for row in result.rows:
        assert (row.method, row.mean) == ("cost-per-success@usd/ok", pytest.approx(cost[row.model]))
        assert row.difference == pytest.approx(cost[row.model] / cost[first] - 1)
        assert row.difference_low <= row.difference <= row.difference_high
    assert [(row.rank_low, row.rank_high) for row in result.rows][-1] == (3, 3)
    assert (
        f"costs per success of usd/ok; {first} is significantly better than 1 of 2 others" in result.verdict
    )


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
def test_pairwise_answers_agree_with_gate(pair):
    options = {"wide": True, "lower": "usd", "higher": "ok"}
    frame = table({m: RIGHT[m] for m in pair})
    best, other = rank(frame).rows
    (row,) = rr.gate(frame, not_worse=f"{other.model}:{best.model}", on=RATIO, **options).rows
    assert (other.difference, other.difference_low, other.difference_high) == pytest.approx(
        (row.estimate, row.low, row.high)
    )
    assert (other.rank_low == 2) == (row.verdict == "fail")


def test_currency_does_not_matter():
    for row, cents in zip(rank().rows, rank(table(unit=100.0)).rows, strict=True):
        assert cents.mean == pytest.approx(100 * row.mean)
        assert (cents.model, cents.rank_low, cents.rank_high) == (row.model, row.rank_low, row.rank_high)
        assert cents.difference_high == pytest.approx(row.difference_high)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per_metric": False}, "needs per_metric=True"),
        ({"on": "usd"}, "is not a valid statistic to rank by"),
        ({"on": "cost-per-success:ok/usd"}, "needs costs in .*: lower is better"),
        ({"on": "cost-per-success:usd/oke"}, "must name a cost metric and a success metric"),
        ({"unpaired": True}, "needs models with the same samples"),
        ({"stability": [50]}, "needs single samples"),
    ],
)
def test_invalid_cost_per_success_is_refused(options, message):
    with pytest.raises(UsageError, match=message) as error:
        rank(**options)
    assert len(error.value.lines()) == 3


def test_too_few_successes_are_refused():
    few = {**RIGHT, "c": np.arange(N) < 9}
    with pytest.raises(InputError, match="c has fewer than 10 successes on usd/ok"):
        rank(table(few))


def test_text_and_html_report_costs():
    text = rank(models=["a", "b"]).to_text()
    assert "(relative extra cost of " in " ".join(text.split())
    assert "Differences are shares of the first model's cost per success." in " ".join(text.split())
    assert rank().to_html()
