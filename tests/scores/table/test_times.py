"""Ordered samples: recognition of times, block resampling, refusals and notes."""

import datetime
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.errors import InputError, UsageError

DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=n) for n in range(240)]


def series(autocorrelation, n=240, models="ab", seed=0):
    noise = np.random.default_rng(seed).normal(size=(len(models), n + 50))
    for at in range(1, n + 50):
        noise[:, at] += autocorrelation * noise[:, at - 1]
    return noise[:, 50:]


def table(scores, names, column="sample", more=None):
    rows = [
        (model, str(name), "loss", value)
        for model, values in zip("abcde", scores, strict=False)
        for name, value in zip(names, values, strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["model", column, "metric", "score"], orient="row")
    return frame if more is None else frame.with_columns(**more)


def blocks(frame, **options):
    table = rr.read(frame, lower="loss", **options).table(tests=True)
    return None if table.units is None else len(table.cluster_names)


@pytest.mark.parametrize(
    "names",
    [
        DAYS,
        [day.strftime("%Y/%m/%d") for day in DAYS],
        [f"{day}T0{n % 10}:30:00Z" for n, day in enumerate(DAYS)],
        [f"{2000 + n // 12}-{n % 12 + 1:02}" for n in range(240)],
        [f"{2000 + n // 52}-W{n % 52 + 1:02}" for n in range(240)],
    ],
)
def test_dates_are_recognised_as_times(names):
    frame = table(series(0.6), names)
    result = rr.rank(frame.sample(fraction=1, shuffle=True, seed=1), lower="loss", resamples=200)
    assert any("in order of" in line for line in result.warnings)
    assert 10 <= blocks(frame) <= 40
    assert result.to_json() == rr.rank(frame, lower="loss", resamples=200).to_json()
    assert blocks(frame, time="none") is None


def test_numbers_are_times_in_a_column_named_week():
    frame = table(series(0.6), range(240), column="week")
    assert blocks(frame, columns="sample=week") is not None
    assert blocks(frame.rename({"week": "question"}), columns="sample=question") is None


def test_times_are_the_samples_of_a_table_without_other_names():
    frame = table(series(0.6), DAYS, column="day of trade")
    options = {"lower": "loss", "no_test": True, "time": "day of trade"}
    assert rr.rank(frame, **options).rows == rr.rank(frame, columns="sample=day of trade", **options).rows


@pytest.mark.parametrize(
    ("matrix", "column", "autocorrelation", "change", "ordered"),
    [
        (False, "t", 0.6, {}, True),
        (True, "t", 0.6, {"weekday": pl.Series([f"d{n % 7}" for n in range(240)])}, True),
        (False, "t", 0.6, {"topic": pl.Series([f"t{n // 40}" for n in range(240)])}, False),
        (True, "t", 0.6, {"t": pl.Series([3 * n for n in range(240)])}, False),
        (False, "t", 0.0, {}, False),
        (True, "question", 0.6, {}, False),
    ],
)
def test_row_counters_with_autocorrelation_are_times(matrix, column, autocorrelation, change, ordered):
    """A counter is no time if another column sorts the rows, or if it is named like samples."""
    frame = pl.DataFrame({column: range(240), **dict(zip("ab", series(autocorrelation), strict=True))})
    frame, options = frame.with_columns(**change), {"columns": f"sample={column}"}
    if matrix:
        options |= {"matrix": "loss", "models": ("a", "b")}
    else:
        layout = {"index": {column, *change}, "variable_name": "model", "value_name": "score"}
        frame = frame.unpivot(["a", "b"], **layout).with_columns(metric=pl.lit("loss"))
    assert (blocks(frame, **options) is not None) == ordered
    assert blocks(frame, time="none", **options) is None


def test_time_column_may_order_named_samples():
    names = [f"s{n}" for n in np.random.default_rng(0).permutation(240)]
    frame = table(series(0.6), names, more={"at": pl.Series([*DAYS, *DAYS])})
    assert blocks(frame) is None
    assert blocks(frame, time="at") == blocks(table(series(0.6), DAYS))
    units = rr.read(frame, lower="loss", time="at").table(tests=True)
    assert [units.samples[n] for n in range(3)] == names[:3]


def test_samples_with_equal_times_need_clusters():
    names, hours = [f"s{n}" for n in range(480)], [day for day in DAYS for _ in range(2)]
    frame = table(series(0.6, 480), names, more={"day": pl.Series([*hours, *hours])})
    with pytest.raises(InputError, match="have the same time") as error:
        blocks(frame, time="day")
    assert error.value.hint is not None
    assert blocks(frame, time="day", cluster="day") is not None


def test_columns_without_times_are_refused():
    frame = table(series(0.6), DAYS, more={"who": pl.Series([f"x{n}" for n in range(480)])})
    with pytest.raises(InputError, match="has no times"):
        blocks(frame, time="who")
    with pytest.raises(UsageError, match="needs the same samples for all models"):
        blocks(frame, time="sample", unpaired=True)


def test_few_blocks_allow_comparisons_of_means():
    """Without a sign of autocorrelation, 60 days are seven blocks; a distribution needs ten."""
    frame = table(series(0.0, 60), DAYS[:60])
    result = rr.rank(frame, lower="loss")
    assert "compared as 7 blocks of neighbours" in result.warnings[-1]
    difference = frame.pivot("model", index="sample", values="score").select(pl.col("a") - pl.col("b"))
    values = difference.to_series().to_numpy()
    sums = np.add.reduceat(values - values.mean(), np.arange(0, 60, 9))
    row = rr.gate(frame, lower="loss", better="a:b").rows[0]
    assert (row.high - row.low) / 2 == pytest.approx(
        stats.t.ppf(0.975, 6) * np.sqrt(7 / 6 * (sums**2).sum()) / 60, rel=0.03
    )
    for call, days in ((rr.dominance, 60), (rr.rank, 40)):
        with pytest.raises(InputError, match="are too few for a test") as caught:
            call(frame.filter(pl.col("sample") < str(DAYS[days])), lower="loss")
        assert "time" in caught.value.suggestions[0][0]


def test_too_few_rows_for_strong_autocorrelation():
    frame = table(series(0.95, 60), DAYS[:60])
    with pytest.raises(InputError, match="too autocorrelated"):
        rr.rank(frame, lower="loss")
    with pytest.raises(InputError, match="too autocorrelated"):
        rr.gate(frame, lower="loss", better="a:b")


@pytest.mark.slow
@pytest.mark.parametrize("autocorrelation", [0.3, 0.9])
def test_gate_on_few_blocks_rarely_passes(autocorrelation):
    """With 60 tables of equal forecasters, at most 7 are decided at a level of 5 %."""
    passed = 0
    for seed in range(60):
        with suppress(InputError):
            result = rr.gate(
                table(series(autocorrelation, 60, seed=seed), DAYS[:60]),
                lower="loss",
                better="a:b",
                resamples=200,
            )
            passed += result.rows[0].verdict != "inconclusive"
    assert passed <= 7


@pytest.mark.slow
def test_gate_keeps_its_error_rate_on_ordered_samples():
    """With 60 tables of equal forecasters at AR(0.6), independent samples would err in 33 %."""
    wrong = naive = 0
    for seed in range(60):
        frame = table(series(0.6, seed=seed), DAYS)
        options = {"lower": "loss", "better": "a:b", "resamples": 500}
        wrong += rr.gate(frame, **options).rows[0].verdict != "inconclusive"
        naive += rr.gate(frame, time="none", **options).rows[0].verdict != "inconclusive"
    assert wrong <= 7
    assert naive >= 10


def test_gate_detects_differences_on_ordered_samples():
    frame = table(series(0.6) + np.array([[0], [2]]), DAYS)
    assert rr.gate(frame, lower="loss", better="a:b").rows[0].verdict == "pass"


@pytest.mark.parametrize("autocorrelation", [0.0, 0.6])
def test_autocorrelation_in_file_order_is_only_noted(autocorrelation):
    frame = table(series(autocorrelation), [f"s{n:03}" for n in range(240)])
    result = rr.rank(frame, lower="loss", resamples=200)
    assert any("is autocorrelated in file order" in line for line in result.warnings) == (autocorrelation > 0)
    mixed = rr.rank(frame.sample(fraction=1, shuffle=True, seed=2), lower="loss", resamples=200)
    assert [row.rank_low for row in result.rows] == [row.rank_low for row in mixed.rows]
    assert not mixed.warnings or autocorrelation == 0
    assert rr.rank(frame, lower="loss", resamples=200, time="none").warnings == ()
