"""Gates with missing scores: worst-case fills, and bounds over all fills."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError

BOUNDS = {"ok": {"bounds": [0, 1]}}
OPPOSITE = {"pass": "fail", "fail": "pass"}


def frame(new, old, **columns):
    """Scores of two models, None for a missing score."""
    rows = {"model": ["new"] * len(new) + ["old"] * len(old), "metric": "ok", "score": [*new, *old]}
    return pl.DataFrame(
        rows | {"sample": [f"s{at:03}" for at in range(len(new))] * 2} | columns, strict=False
    )


def fills(scores):
    gaps = [at for at, score in enumerate(scores) if score is None]
    for values in product((0.0, 1.0), repeat=len(gaps)):
        filled = list(scores)
        for at, value in zip(gaps, values, strict=True):
            filled[at] = value
        yield filled


def with_gaps(p_new, p_old, n, gaps, seed):
    rng = np.random.default_rng(seed)
    new, old = (np.where(rng.random(n) < p, 1.0, 0.0).tolist() for p in (p_new, p_old))
    for scores, count in ((new, gaps[0]), (old, gaps[1])):
        for at in rng.choice(n, count, replace=False):
            scores[at] = None
    return new, old


CASES = [(0.95, 0.3), (0.7, 0.4), (0.5, 0.5), (0.3, 0.7), (0.2, 0.95), (1.0, 1.0)]


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        *((case, {}) for case in CASES[::2]),
        (CASES[0], {"anytime": True}),
        (CASES[1], {"on": "tvar@0.5"}),
        (CASES[3], {"on": "ssd"}),
    ],
)
def test_no_fill_contradicts_the_bounds(case, settings):
    p_new, p_old = case
    settings = {"not_worse": "new:old", "resamples": 60, "repeats": "error"} | settings
    if settings.get("on") != "ssd":
        settings["margin"] = 0.1
    new, old = with_gaps(p_new, p_old, 24, (2, 1), 0)
    (bounded,) = rr.gate(frame(new, old), missing="bounds", metrics=BOUNDS, **settings).rows
    answers = [
        rr.gate(frame(new_filled, old_filled), metrics=BOUNDS, **settings).rows[0]
        for new_filled, old_filled in product(fills(new), fills(old))
    ]
    if bounded.verdict in OPPOSITE:
        assert {row.verdict for row in answers} == {bounded.verdict}
    estimates = [row.estimate for row in answers]
    assert bounded.estimate_low == pytest.approx(min(estimates))
    assert bounded.estimate_high == pytest.approx(max(estimates))
    assert bounded.p_value >= max(row.p_value for row in answers) - 1e-12


def test_bounds_reach_all_verdicts():
    verdicts = []
    for p_new, p_old in CASES:
        new, old = with_gaps(p_new, p_old, 60, (3, 3), 5)
        claim = {"not_worse": "new:old", "margin": 0.1, "missing": "bounds", "metrics": BOUNDS}
        verdicts += [row.verdict for row in rr.gate(frame(new, old), **claim).rows]
    assert verdicts == ["pass", "pass", "inconclusive", "fail", "fail", "inconclusive"]


def test_bounds_without_gaps_equal_the_plain_gate():
    new, old = with_gaps(0.7, 0.4, 40, (0, 0), 1)
    plain = rr.gate(frame(new, old), better="new:old", metrics=BOUNDS)
    (row,) = rr.gate(frame(new, old), better="new:old", missing="bounds", metrics=BOUNDS).rows
    assert (row.estimate_low, row.estimate_high) == (None, None)
    assert (row.low, row.high, row.p_value) == (plain.rows[0].low, plain.rows[0].high, plain.rows[0].p_value)
    assert (
        "for all possible missing scores"
        not in rr.gate(frame(new, old), better="new:old", missing="bounds").verdict
    )


def test_claim_depending_on_missing_scores_is_flagged():
    new, old = with_gaps(0.6, 0.6, 60, (15, 15), 2)
    result = rr.gate(frame(new, old), not_worse="new:old", missing="bounds", metrics=BOUNDS)
    (row,) = result.rows
    assert (row.verdict, row.samples_needed, row.depends_on_missing) == ("inconclusive", None, True)
    assert "the missing scores decide the claim" in str(result.failed.hint)
    assert "for all possible missing scores" in result.verdict


def test_bounds_for_a_metric_to_minimise():
    new, old = with_gaps(0.2, 0.9, 60, (2, 1), 3)
    options = {"missing": "bounds", "metrics": BOUNDS, "lower": ["ok"]}
    (row,) = rr.gate(frame(new, old), better="new:old", **options).rows
    assert row.verdict == "pass"
    assert row.low < row.estimate_low < row.estimate < row.estimate_high < row.high < 0
    low = np.mean([0 if score is None else score for score in new]) - np.mean(
        [1 if x is None else x for x in old]
    )
    assert row.estimate_low == pytest.approx(low)


def test_worst_fill_counts_against_the_failed_model():
    new, old = with_gaps(0.8, 0.8, 60, (20, 0), 4)
    failed, row = rr.gate(frame(new, old), not_worse="new:old", margin=0.1, missing="worst").rows
    assert row.estimate == pytest.approx(np.mean([score or 0 for score in new]) - np.mean(old))
    assert (failed.statistic, failed.verdict, failed.estimate) == ("failed", "fail", pytest.approx(1 / 3))


def test_groups_tasks_and_runs():
    new, old = with_gaps(0.9, 0.4, 80, (3, 3), 6)
    options = {"missing": "bounds", "metrics": BOUNDS, "better": "new:old"}
    parts = [("a", "b")[at % 2] for at in range(80)] * 2
    rows = rr.gate(frame(new, old, part=parts), group_by="part", **options).rows
    assert [row.group for row in rows] == [None, "a", "b"]
    assert all(row.estimate_low < row.estimate_high for row in rows)
    tasks = rr.gate(frame(new, old, task=parts), on=["macro", "task"], **options).rows
    assert [row.task for row in tasks] == [None, "a", "b"]
    assert tasks[0].estimate_low == pytest.approx(np.mean([row.estimate_low for row in tasks[1:]]))
    runs = pl.concat([frame(new, old), frame(new[::-1], old[::-1]).with_columns(pl.col("sample"))])
    (row,) = rr.gate(runs, on="pass^2", repeats="draws", **options).rows
    assert row.estimate_low < row.estimate_high


def test_bounds_are_refused_for_task_ranks():
    new, old = with_gaps(0.9, 0.4, 80, (3, 3), 6)
    parts = [("a", "b")[at % 2] for at in range(80)] * 2
    with pytest.raises(UsageError, match="tasks are compared by ranks"):
        rr.gate(
            frame(new, old, task=parts), better="new:old", missing="bounds", metrics=BOUNDS, task_scale="rank"
        )


def test_rank_refuses_bounds_for_missing_scores():
    new, old = with_gaps(0.9, 0.4, 80, (3, 3), 6)
    with pytest.raises(UsageError, match="missing"):
        rr.rank(frame(new, old), missing="bounds", metrics=BOUNDS)
    assert rr.rank(frame(new, old), missing="worst", metrics=BOUNDS).rows[0].model == "new"


def test_continued_gate_rejects_changed_missing_scores(tmp_path):
    new, old = with_gaps(0.9, 0.4, 80, (3, 0), 6)
    options = {"metrics": BOUNDS, "better": "new:old", "anytime": True, "missing": "bounds"}
    first = rr.gate(frame(new, old), **options)
    path = tmp_path / "gate.json"
    path.write_text(first.to_json())
    assert rr.gate(frame(new, old), continues=str(path), **options).verdict == first.verdict
    with pytest.raises(InputError, match="were removed or changed"):
        rr.gate(frame([score or 0.0 for score in new], old), continues=str(path), **options)


@pytest.mark.parametrize("rule", ["worst", "auto"])
def test_failures_in_a_block_are_not_dependence(rule):
    """Imputed scores of an outage are alike, which says nothing about the observed ones."""
    new, old = with_gaps(0.85, 0.8, 200, (0, 0), seed=3)
    new[150:190] = [None] * 40
    result = rr.gate(frame(new, old), not_worse="new:old", margin=0.2, missing=rule)
    assert not [note for note in result.to_dict()["meta"]["warnings"] if "autocorrelated" in note]
    ordered = sorted(new[:100])
    warned = rr.gate(frame(ordered, old[:100]), not_worse="new:old", margin=0.2, missing=rule)
    assert [note for note in warned.to_dict()["meta"]["warnings"] if "autocorrelated" in note]


def test_absent_repeats_are_not_systematically_worse():
    """A trial that one model lacks on every case is missing, and not systematically worse."""
    rng = np.random.default_rng(7)
    rows = [
        (model, f"s{at}", trial, float(rng.random() < 0.7))
        for model, trials in (("old", 3), ("new", 2))
        for at in range(100)
        for trial in range(trials)
    ]
    table = pl.DataFrame(rows, schema=["model", "sample", "trial", "ok"], orient="row")
    bounded = rr.gate(table, not_worse="new:old", margin=0.15, higher="ok")
    assert "systematically" not in " ".join(bounded.to_dict()["meta"]["warnings"])
    assert bounded.rows[-1].samples == 100
    assert rr.gate(table, not_worse="new:old", margin=0.15, higher="ok", missing="drop").status == "pass"
