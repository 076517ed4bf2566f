"""Rankings by a statistic alone, compared with sums, a gate on the same pair, and another currency."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.errors import InputError, UsageError

RNG = np.random.default_rng(8)
N = 300
RIGHT = {
    model: (RNG.random(N) < chance).astype(float) for model, chance in (("a", 0.8), ("b", 0.7), ("c", 0.3))
}
SPENT = {model: RNG.lognormal(0, 0.5, N) for model in RIGHT}
RATIO = "sum(usd)/sum(ok)"


def table(right=RIGHT, spent=SPENT, unit=1.0) -> pl.DataFrame:
    rows = [(m, f"s{at}", right[m][at], unit * spent[m][at]) for m in right for at in range(N)]
    return pl.DataFrame(rows, schema=["model", "sample", "ok", "usd"], orient="row")


def rank(frame=None, **options):
    defaults = {"wide": True, "lower": "usd", "higher": "ok", "on": RATIO}
    return rr.rank(table() if frame is None else frame, **defaults | options)


def test_costs_and_places():
    result = rank()
    cost = {model: SPENT[model].sum() / RIGHT[model].sum() for model in RIGHT}
    assert [row.model for row in result.rows] == sorted(cost, key=cost.get)
    first = result.rows[0].model
    for row in result.rows:
        assert (row.method, row.mean) == (f"{RATIO}@usd/ok", pytest.approx(cost[row.model]))
        assert row.difference == pytest.approx(cost[row.model] - cost[first])
        assert row.difference_low <= row.difference <= row.difference_high
    assert [(row.rank_low, row.rank_high) for row in result.rows][-1] == (3, 3)
    words = f"ratios of sums of usd/ok; {first} is significantly better than 1 of 2 others"
    assert words in result.verdict


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
@pytest.mark.parametrize("statistic", [RATIO, "mean:ok", "geomean:usd", "p90:usd", "share>=1:usd"])
def test_pairwise_answers_agree_with_gate(pair, statistic):
    options = {"wide": True, "lower": "usd", "higher": "ok"}
    frame = table({m: RIGHT[m] for m in pair})
    best, other = rank(frame, on=statistic).rows
    (row,) = rr.gate(frame, not_worse=f"{other.model}:{best.model}", on=statistic, **options).rows
    assert (other.difference, other.difference_low, other.difference_high) == pytest.approx(
        (row.estimate, row.low, row.high), rel=0.02, abs=1e-9
    )
    assert (other.rank_low == 2) == (row.verdict == "fail")


def test_statistics_of_all_models():
    spent = {model: values.copy() for model, values in SPENT.items()}
    for statistic, value in {
        "mean:usd": np.mean,
        "median:usd": np.median,
        "p90:usd": lambda x: np.quantile(x, 0.9),
        "geomean:usd": stats.gmean,
        "share<=0.8:usd": lambda x: np.mean(x <= 0.8),
    }.items():
        result = rank(on=statistic)
        assert {row.model: row.mean for row in result.rows} == pytest.approx(
            {model: value(spent[model]) for model in spent}
        )
    assert "Holm" in result.to_text()
    assert len(rank(on=["mean", "median:usd"]).rows) == 9


def test_currency_does_not_matter():
    for row, cents in zip(rank().rows, rank(table(unit=100.0)).rows, strict=True):
        assert cents.mean == pytest.approx(100 * row.mean)
        assert (cents.model, cents.rank_low, cents.rank_high) == (row.model, row.rank_low, row.rank_high)
        assert cents.difference_high == pytest.approx(100 * row.difference_high)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "ssd"}, "is not a statistic to rank by"),
        ({"on": "tvar@0.1"}, "is not a statistic to rank by"),
        ({"on": "sum(usd)/sum(oke)"}, "must name metrics"),
        ({"on": "cost-per-success:usd/oke"}, "must name a cost metric and a success metric"),
        ({"stability": [50]}, "needs scores by sample"),
    ],
)
def test_invalid_statistics_are_refused(options, message):
    with pytest.raises(UsageError, match=message) as error:
        rank(**options)
    assert len(error.value.lines()) == 3


def test_too_few_successes_are_refused():
    few = {**RIGHT, "c": np.arange(N) < 9}
    with pytest.raises(InputError, match="needs a positive sum in the denominator"):
        rank(table(few))


def test_text_and_html_report_the_statistic():
    text = " ".join(rank(models=["a", "b"]).to_text().split())
    assert "The models are ranked by this statistic alone" in text
    ratio = " ".join(rank(models=["a", "c"], on="geomean:usd").to_text().split())
    assert "geometric mean usd" in ratio
    assert rank().to_html()


def test_metrics_named_by_a_statistic_are_read():
    lengths = np.random.default_rng(2).integers(5, 30, N)
    rows = [
        (m, f"s{at}", int(lengths[at] * (0.1 + 0.1 * (m == "b"))), int(lengths[at]))
        for m in "ab"
        for at in range(N)
    ]
    frame = pl.DataFrame(rows, schema=["asr", "utterance", "errors", "words"], orient="row")
    result = rr.rank(frame, on="sum(errors)/sum(words)", lower="errors")
    sums = frame.group_by("asr").agg(pl.col("errors").sum() / pl.col("words").sum()).sort("asr")
    assert [row.mean for row in result.rows] == pytest.approx(sums["errors"].to_list())


@pytest.mark.parametrize("statistic", [RATIO, "mean:ok", "geomean:usd", "p90:usd", "share>=1:usd"])
def test_one_model_has_the_interval_of_a_gate(statistic):
    result = rank(models="a", on=statistic)
    (row,) = rr.gate(table(), models="a", at_least=0.5, on=statistic, wide=True, lower="usd").rows
    ((low, high),) = result.document.meta()["intervals"].values()
    assert (result.rows[0].mean, low, high) == pytest.approx((row.estimate, row.low, row.high))
    assert result.verdict.startswith("a's ")
    text = " ".join(result.to_text().split())
    assert "compares the model with a number" in text
    assert "All pairs" not in text
    with pytest.raises(InputError, match="a comparison needs at least 2 models") as error:
        rank(models="a", on=())
    assert "at_least" in error.value.hint
