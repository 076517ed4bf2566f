"""Sources of noise: what they are of a table, what a ranking and a gate make of them, what is refused."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError


def table(lift=0.0, wordings=4, judges=3, seed=0, items=40, spread=0.4):
    rng = np.random.default_rng(seed)
    hard, rows = rng.normal(size=items), []
    for number, model in enumerate("ab"):
        asked = spread * rng.normal(size=wordings)
        for i, w, j in np.ndindex(items, wordings, judges):
            score = hard[i] + asked[w] + 0.3 * rng.normal() + lift * number
            rows.append((model, f"q{i}", f"w{w}", f"j{j}", "quality", score))
    return pl.DataFrame(rows, schema=["model", "sample", "wording", "judge", "metric", "score"], orient="row")


NOISE = {"noise": ["wording", "judge"]}


def test_every_source_counts():
    frame = table(0.3)
    found = rr.rank(frame, **NOISE)
    assert (
        "40 items, 4 of wording and 3 of judge, each a sample of others like them; few of wording and judge"
        in found.verdict
    )
    wide = found.rows[1].difference_high - found.rows[1].difference_low
    alone = rr.rank(frame, repeats="mean").rows[1]
    assert wide > 3 * (alone.difference_high - alone.difference_low)
    shares = found.document.components.shares
    assert max(shares, key=shares.get) == {"wording"}


def test_a_clear_difference_is_shown():
    assert rr.rank(table(3.0), **NOISE).verdict.startswith("Ship b")
    assert rr.gate(table(3.0), better="b:a", **NOISE).rows[0].verdict == "pass"


@pytest.mark.slow
def test_equal_models_are_rarely_told_apart():
    """Of 40 tables; as repeats of items more than half are."""
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


def test_two_levels_are_these_two():
    assert "speaks of these 2 of judge alone" in rr.rank(table(judges=2), **NOISE).verdict


def test_holes_are_left_out_of_pairs():
    frame = table(0.5).sample(fraction=0.8, seed=1)
    wide = frame.pivot(on="model", index=["sample", "wording", "judge"], values="score").drop_nulls()
    found = rr.gate(frame, better="b:a", **NOISE).rows[0]
    assert found.estimate == pytest.approx((wide["b"] - wide["a"]).mean())


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"noise": ["sample"]}, UsageError, "the column of the samples"),
        ({"noise": ["metric"]}, UsageError, "the column of the metrics"),
        ({"noise": ["wordin"]}, InputError, "did you mean noise="),
        ({**NOISE, "cluster": "judge"}, UsageError, "contradict"),
        ({**NOISE, "unpaired": True}, UsageError, "contradict"),
        ({**NOISE, "human": "x", "judge": "y"}, UsageError, "contradict"),
    ],
)
def test_what_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        rr.rank(table(), **asked)


@pytest.mark.parametrize("ask", [rr.dominance, rr.mrm, rr.report])
def test_distributions_are_refused(ask):
    with pytest.raises(UsageError, match="sources of noise are told of means"):
        ask(table(), **NOISE)


def test_power_says_what_to_buy():
    found = rr.power(table(0.3), cost={"judge": 20}, **NOISE)
    assert "To halve the standard error of a − b" in found.verdict
    needed = {row.source: row.needed for row in found.rows}
    assert needed["wording"] > 4
    assert "More items alone never bring it below" in found.verdict
    assert {"error", "planned", "floor"} <= set(found.document.meta())
    for cost, said in (({"items": 1}, "there is no source"), ({"item": -1}, "cost must be above 0")):
        with pytest.raises(UsageError, match=said):
            rr.power(table(), cost=cost, **NOISE)
