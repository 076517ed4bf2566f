"""The cost per success as an objective, compared with sums, resamples and single-model intervals."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.errors import InputError, UsageError

RNG = np.random.default_rng(3)
N = 200
OBJECTIVE = "cost-per-success:usd/ok"
MODELS = {"good": (0.8, 1.0), "cheap": (0.6, 0.5), "poor": (0.3, 2.0)}
VALUES = {
    model: ((RNG.random(N) < chance).astype(float), cost * RNG.lognormal(0, 0.4, N))
    for model, (chance, cost) in MODELS.items()
}


def copa(values=VALUES, **options):
    rows = [
        (m, f"s{i}", *pair) for m, both in values.items() for i, pair in enumerate(zip(*both, strict=True))
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "ok", "usd"], orient="row")
    defaults = {"wide": True, "lower": "usd", "higher": "ok", "objective": OBJECTIVE}
    return rr.copa(frame, **defaults | options)


def test_values_and_intervals_match_single_models():
    for row in copa().rows:
        ok, usd = VALUES[row.model]
        assert row.values[OBJECTIVE] == pytest.approx(usd.sum() / ok.sum())
        interval = Costs(usd, ok, np.arange(N)).interval(0.05)
        assert (row.low[OBJECTIVE], row.high[OBJECTIVE]) == pytest.approx(interval)
        assert list(row.values) == ["ok", OBJECTIVE]
    assert {row.model: row.front for row in copa().rows} == {"good": "on", "cheap": "on", "poor": "off"}


def test_share_of_resamples_matches_bootstrapped_ratios():
    """Two models with similar costs per success alternate on the front over resamples."""
    similar = {"a": VALUES["good"], "b": (VALUES["good"][0][::-1], 1.01 * VALUES["good"][1])}
    rows = {row.model: row for row in copa(similar, metric=["usd", "ok"], weight={"ok": 0.0}).rows}
    weights = np.random.default_rng(0).standard_exponential((20_000, N))
    ratio = {model: weights @ usd / (weights @ ok) for model, (ok, usd) in similar.items()}
    better = float(np.mean(ratio["a"] < ratio["b"]))
    assert rows["a"].chosen_share == pytest.approx(better, abs=0.03)


def test_constraints_and_margins_have_units_of_costs():
    meets = {row.model: row.meets for row in copa(require=f"{OBJECTIVE} <= 2").rows}
    assert {model: [*states.values()] for model, states in meets.items()} == {
        "good": ["significant"],
        "cheap": ["significant"],
        "poor": ["contradicted"],
    }
    wide = {row.model: row.front for row in copa(margin={OBJECTIVE: 9.0, "ok": 0.9}).rows}
    assert "on" not in wide.values()


def test_too_few_successes_and_no_costs_are_refused():
    few = VALUES | {"poor": (np.arange(N) < 9, VALUES["poor"][1])}
    with pytest.raises(InputError, match="poor has fewer than 10 successes on cost-per-success:usd/ok"):
        copa({m: (ok.astype(float), usd) for m, (ok, usd) in few.items()})
    # A model without scores is ranked last; missing successes are not divided by.
    gaps = {m: (ok.copy(), usd.copy()) for m, (ok, usd) in VALUES.items()}
    gaps["poor"][0][:] = np.nan
    last = {row.model: row.values[OBJECTIVE] for row in copa(gaps, missing="worst").rows}
    assert last["poor"] is None or np.isnan(last["poor"])
    for objective, message in (
        ("ok/usd", "needs costs"),
        ("usd/usd", "needs successes"),
        ("usd", "must name a cost metric"),
    ):
        with pytest.raises(UsageError, match=message):
            copa(objective=f"cost-per-success:{objective}")
