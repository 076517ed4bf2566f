"""Samples in order: what is a time, what is drawn together, what is refused, and what is noted."""

import datetime
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError

DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=n) for n in range(240)]


def series(alike, n=240, models="ab", seed=0):
    noise = np.random.default_rng(seed).normal(size=(len(models), n + 50))
    for at in range(1, n + 50):
        noise[:, at] += alike * noise[:, at - 1]
    return noise[:, 50:]


def table(scores, names, column="sample", more=None):
    rows = [
        (model, str(name), "loss", value)
        for model, own in zip("abcde", scores, strict=False)
        for name, value in zip(names, own, strict=True)
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
def test_dates_are_taken_as_time(names):
    frame = table(series(0.6), names)
    found = rr.rank(frame.sample(fraction=1, shuffle=True, seed=1), lower="loss", resamples=200)
    assert any("in the order of" in line for line in found.warnings)
    assert 10 <= blocks(frame) <= 40
    assert found.to_json() == rr.rank(frame, lower="loss", resamples=200).to_json()
    assert blocks(frame, time="none") is None


def test_numbers_are_times_in_a_column_called_so():
    frame = table(series(0.6), range(240), column="week")
    assert blocks(frame, columns="sample=week") is not None
    assert blocks(frame.rename({"week": "question"}), columns="sample=question") is None


@pytest.mark.parametrize(
    ("matrix", "column", "alike", "change", "ordered"),
    [
        (False, "t", 0.6, {}, True),
        (True, "t", 0.6, {"weekday": pl.Series([f"d{n % 7}" for n in range(240)])}, True),
        (False, "t", 0.6, {"topic": pl.Series([f"t{n // 40}" for n in range(240)])}, False),
        (True, "t", 0.6, {"t": pl.Series([3 * n for n in range(240)])}, False),
        (False, "t", 0.0, {}, False),
        (True, "question", 0.6, {}, False),
    ],
)
def test_what_counts_rows_whose_neighbours_are_alike_is_taken_as_time(matrix, column, alike, change, ordered):
    """Where a column beside it sorts the rows, or it is called as samples are, nothing tells that it is."""
    frame = pl.DataFrame({column: range(240), **dict(zip("ab", series(alike), strict=True))})
    frame, asked = frame.with_columns(**change), {"columns": f"sample={column}"}
    if matrix:
        asked |= {"matrix": "loss", "models": ("a", "b")}
    else:
        own = {"index": {column, *change}, "variable_name": "model", "value_name": "score"}
        frame = frame.unpivot(["a", "b"], **own).with_columns(metric=pl.lit("loss"))
    assert (blocks(frame, **asked) is not None) == ordered
    assert blocks(frame, time="none", **asked) is None


def test_a_column_of_times_beside_named_samples():
    names = [f"s{n}" for n in np.random.default_rng(0).permutation(240)]
    frame = table(series(0.6), names, more={"at": pl.Series([*DAYS, *DAYS])})
    assert blocks(frame) is None
    assert blocks(frame, time="at") == blocks(table(series(0.6), DAYS))
    units = rr.read(frame, lower="loss", time="at").table(tests=True)
    assert [units.samples[n] for n in range(3)] == names[:3]


def test_samples_of_one_time_belong_together():
    names, hours = [f"s{n}" for n in range(480)], [day for day in DAYS for _ in range(2)]
    frame = table(series(0.6, 480), names, more={"day": pl.Series([*hours, *hours])})
    with pytest.raises(InputError, match="of the same time") as error:
        blocks(frame, time="day")
    assert error.value.hint is not None
    assert blocks(frame, time="day", cluster="day") is not None


def test_what_says_no_time_is_refused():
    frame = table(series(0.6), DAYS, more={"who": pl.Series([f"x{n}" for n in range(480)])})
    with pytest.raises(InputError, match="holds no times"):
        blocks(frame, time="who")
    with pytest.raises(UsageError, match="orders samples that all models share"):
        blocks(frame, time="sample", unpaired=True)


def test_too_few_rows_for_neighbours_so_alike():
    """A gate on means tells what two blocks would: that nothing is decided."""
    short = table(series(0.3, 60), DAYS[:60])
    for asked, match in ((table(series(0.95, 60), DAYS[:60]), "so alike"), (short, "within which span")):
        with pytest.raises(InputError, match=match):
            rr.rank(asked, lower="loss")
    (row,) = rr.gate(short, lower="loss", better="a:b").rows
    assert (row.samples, row.verdict) == (60, "inconclusive")


@pytest.mark.parametrize("alike", [pytest.param(0.3, marks=pytest.mark.slow), 0.9])
def test_a_gate_on_few_blocks_hardly_ever_passes(alike):
    """Of 60 tables of equal forecasters, most of which no ranking takes."""
    passed = 0
    for seed in range(60):
        with suppress(InputError):
            found = rr.gate(
                table(series(alike, 60, seed=seed), DAYS[:60]), lower="loss", better="a:b", resamples=200
            )
            passed += found.rows[0].verdict != "inconclusive"
    assert passed == 0


@pytest.mark.slow
def test_a_gate_in_order_errs_as_it_says():
    """Of 60 tables of equal forecasters at AR(.6), of which .33 err as independent samples."""
    wrong = naive = 0
    for seed in range(60):
        frame = table(series(0.6, seed=seed), DAYS)
        asked = {"lower": "loss", "better": "a:b", "resamples": 500}
        wrong += rr.gate(frame, **asked).rows[0].verdict != "inconclusive"
        naive += rr.gate(frame, time="none", **asked).rows[0].verdict != "inconclusive"
    assert wrong <= 7
    assert naive >= 10


def test_a_gate_in_order_finds_what_is_there():
    frame = table(series(0.6) + np.array([[0], [2]]), DAYS)
    assert rr.gate(frame, lower="loss", better="a:b").rows[0].verdict == "pass"


@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_neighbours_in_the_file_are_noted_and_nothing_changes(alike):
    frame = table(series(alike), [f"s{n:03}" for n in range(240)])
    found = rr.rank(frame, lower="loss", resamples=200)
    assert any("neighbouring samples are alike" in line for line in found.warnings) == (alike > 0)
    mixed = rr.rank(frame.sample(fraction=1, shuffle=True, seed=2), lower="loss", resamples=200)
    assert [row.rank_low for row in found.rows] == [row.rank_low for row in mixed.rows]
    assert not mixed.warnings or alike == 0
    assert rr.rank(frame, lower="loss", resamples=200, time="none").warnings == ()
