"""The cost per success as an objective: against sums and resamples by hand, and the interval of one model."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.errors import InputError, UsageError

RNG = np.random.default_rng(3)
N = 200
ASKED = "cost-per-success:usd/ok"
MODELS = {"good": (0.8, 1.0), "cheap": (0.6, 0.5), "poor": (0.3, 2.0)}
VALUES = {
    model: ((RNG.random(N) < chance).astype(float), cost * RNG.lognormal(0, 0.4, N))
    for model, (chance, cost) in MODELS.items()
}


def copa(values=VALUES, **asked):
    rows = [
        (m, f"s{i}", *pair) for m, both in values.items() for i, pair in enumerate(zip(*both, strict=True))
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "ok", "usd"], orient="row")
    given = {"wide": True, "lower": "usd", "higher": "ok", "objective": ASKED}
    return rr.copa(frame, **given | asked)


def test_values_and_intervals_are_those_of_one_model():
    for row in copa().rows:
        ok, usd = VALUES[row.model]
        assert row.values[ASKED] == pytest.approx(usd.sum() / ok.sum())
        ends = Costs(usd, ok, np.arange(N)).interval(0.05)
        assert (row.low[ASKED], row.high[ASKED]) == pytest.approx(ends)
        assert list(row.values) == ["ok", ASKED]
    assert {row.model: row.front for row in copa().rows} == {"good": "on", "cheap": "on", "poor": "off"}


def test_the_share_of_resamples_is_that_of_ratios_drawn_again():
    """good and cheap cost about as much a success: either is the only one on the front by it now and then."""
    close = {"a": VALUES["good"], "b": (VALUES["good"][0][::-1], 1.01 * VALUES["good"][1])}
    found = {row.model: row for row in copa(close, metric=["usd", "ok"], weight={"ok": 0.0}).rows}
    weights = np.random.default_rng(0).standard_exponential((20_000, N))
    ratio = {model: weights @ usd / (weights @ ok) for model, (ok, usd) in close.items()}
    better = float(np.mean(ratio["a"] < ratio["b"]))
    assert found["a"].chosen_share == pytest.approx(better, abs=0.03)


def test_constraints_and_margins_are_in_units_of_costs():
    meets = {row.model: row.meets for row in copa(require=f"{ASKED} <= 2").rows}
    assert {model: [*one.values()] for model, one in meets.items()} == {
        "good": ["shown"],
        "cheap": ["shown"],
        "poor": ["refuted"],
    }
    wide = {row.model: row.front for row in copa(margin={ASKED: 9.0, "ok": 0.9}).rows}
    assert "on" not in wide.values()


def test_too_few_successes_and_no_costs_are_refused():
    few = VALUES | {"poor": (np.arange(N) < 9, VALUES["poor"][1])}
    with pytest.raises(InputError, match="poor has fewer than 10 successes on cost-per-success:usd/ok"):
        copa({m: (ok.astype(float), usd) for m, (ok, usd) in few.items()})
    # A model without scores is ranked last, and a success nobody scored is none to divide by.
    gaps = {m: (ok.copy(), usd.copy()) for m, (ok, usd) in VALUES.items()}
    gaps["poor"][0][:] = np.nan
    last = {row.model: row.values[ASKED] for row in copa(gaps, missing="worst").rows}
    assert last["poor"] is None or np.isnan(last["poor"])
    for asked, what in (("ok/usd", "needs costs"), ("usd/usd", "needs successes"), ("usd", "names no cost")):
        with pytest.raises(UsageError, match=what):
            copa(objective=f"cost-per-success:{asked}")
