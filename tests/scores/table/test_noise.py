"""Sources of noise: their effect on a ranking, a gate and power, and invalid options."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError


def table(lift=0.0, wordings=4, judges=3, seed=0, items=40, spread=0.4):
    rng = np.random.default_rng(seed)
    difficulty, rows = rng.normal(size=items), []
    for number, model in enumerate("ab"):
        wording_effects = spread * rng.normal(size=wordings)
        for i, w, j in np.ndindex(items, wordings, judges):
            score = difficulty[i] + wording_effects[w] + 0.3 * rng.normal() + lift * number
            rows.append((model, f"q{i}", f"w{w}", f"j{j}", "quality", score))
    return pl.DataFrame(rows, schema=["model", "sample", "wording", "judge", "metric", "score"], orient="row")


NOISE = {"noise": ["wording", "judge"]}


def test_every_noise_source_enters_the_interval():
    frame = table(0.3)
    result = rr.rank(frame, **NOISE)
    assert (
        "40 items, 4 values of wording and 3 values of judge, each a random sample; few values of wording "
        "and judge" in result.verdict
    )
    wide = result.rows[1].difference_high - result.rows[1].difference_low
    alone = rr.rank(frame, repeats="mean").rows[1]
    assert wide > 3 * (alone.difference_high - alone.difference_low)
    shares = result.document.components.shares
    assert max(shares, key=shares.get) == {"wording"}


def test_clear_difference_is_significant():
    assert rr.rank(table(3.0), **NOISE).verdict.startswith("Ship b")
    assert rr.gate(table(3.0), better="b:a", **NOISE).rows[0].verdict == "pass"


@pytest.mark.slow
def test_equal_models_are_rarely_separated():
    """With 40 tables; the naive gate, which treats levels as repeats of items, separates over 40 %."""
    wrong = [
        rr.gate(table(seed=seed), better="a:b", **NOISE).rows[0].verdict != "inconclusive"
        for seed in range(40)
    ]
    naive = [
        rr.gate(table(seed=seed), better="a:b", repeats="mean").rows[0].verdict != "inconclusive"
        for seed in range(15)
    ]
    assert np.mean(wrong) <= 0.13
    assert np.mean(naive) > 0.4


def test_two_levels_are_treated_as_fixed():
    assert "valid only for these 2 values of judge" in rr.rank(table(judges=2), **NOISE).verdict


def test_missing_cells_are_excluded_from_pairs():
    frame = table(0.5).sample(fraction=0.8, seed=1)
    wide = frame.pivot(on="model", index=["sample", "wording", "judge"], values="score").drop_nulls()
    result = rr.gate(frame, better="b:a", **NOISE).rows[0]
    assert result.estimate == pytest.approx((wide["b"] - wide["a"]).mean())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"noise": ["sample"]}, UsageError, "already names the samples"),
        ({"noise": ["metric"]}, UsageError, "already names the metrics"),
        ({"noise": ["wordin"]}, InputError, "did you mean noise="),
        ({**NOISE, "cluster": "judge"}, UsageError, "cannot be used together"),
        ({**NOISE, "unpaired": True}, UsageError, "cannot be used together"),
        ({**NOISE, "human": "x", "judge": "y"}, UsageError, "cannot be used together"),
    ],
)
def test_invalid_noise_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        rr.rank(table(), **options)


@pytest.mark.parametrize("ask", [rr.dominance, rr.mrm, rr.report])
def test_noise_sources_are_refused_for_distributions(ask):
    with pytest.raises(UsageError, match="sources of noise allow only comparisons of means"):
        ask(table(), **NOISE)


def test_power_recommends_sample_sizes():
    result = rr.power(table(0.3), cost={"judge": 20}, **NOISE)
    assert "To halve the standard error of a − b" in result.verdict
    needed = {row.source: row.needed for row in result.rows}
    assert needed["wording"] > 4
    assert "More items alone cannot reduce the error below" in result.verdict
    assert {"error", "planned", "floor"} <= set(result.document.meta())
    for cost, message in (({"items": 1}, "there is no source"), ({"item": -1}, "cost must be above 0")):
        with pytest.raises(UsageError, match=message):
            rr.power(table(), cost=cost, **NOISE)
