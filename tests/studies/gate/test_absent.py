"""Missing cases: an absent row and an empty cell are the same missing score."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError

CASES = 400
COUNTS = (1, 3, 4, 5, 12, 19, 20, 40, 80, 200)
SELECTED = (4, 20)


def scores(kind, seed):
    """Scores of a new and an old model that differ by chance: 0/1, or real numbers within 0 and 1."""
    rng = np.random.default_rng(seed)
    hard = rng.random(CASES)
    noise = 0.05 * rng.normal(size=(2, CASES))
    values = [hard < 0.85 + row / 2 if kind == "binary" else np.clip(0.8 * hard + row, 0, 1) for row in noise]
    names = [f"case-{at:03}" for at in range(CASES)]
    parts = [
        pl.DataFrame({"model": name, "sample": names, "quality": column.astype(float)})
        for name, column in zip(("new", "old"), values, strict=True)
    ]
    return pl.concat(parts), set(rng.permutation(names).tolist())


def gate(frame, **options):
    return rr.gate(frame, not_worse="new:old", margin=0.05, resamples=60, wide=True, **options)


def facts(result):
    """Verdicts of all rows, and the number of scores of each model."""
    counted = [
        (entry["model"], entry["scored"], entry["total"]) for entry in result.to_dict()["meta"]["scored"]
    ]
    return [(row.statistic, row.verdict) for row in result.rows], counted


@pytest.mark.parametrize(
    "counts", [SELECTED, pytest.param(COUNTS, marks=pytest.mark.slow)], ids=["few", "all"]
)
@pytest.mark.parametrize("kind", ["binary", "bounded", "unbounded"])
@pytest.mark.parametrize("side", ["new", "old"])
def test_absent_rows_count_as_empty_cells(kind, side, counts):
    bounds = {"metrics": {"quality": {"bounds": [0, 1]}}} if kind == "bounded" else {}
    for seed, count in enumerate(counts):
        frame, names = scores(kind, seed)
        lost = (pl.col("model") == side) & pl.col("sample").is_in(sorted(names)[:count])
        fill = 0.0 if side == "new" else 1.0
        rows = gate(frame.filter(~lost), **bounds)
        cells = gate(frame.with_columns(quality=pl.when(~lost).then("quality")), **bounds)
        assert facts(rows) == facts(cells), count
        assert facts(rows)[1] == [(name, CASES - count * (name == side), CASES) for name in ("new", "old")]
        worst = gate(frame.with_columns(quality=pl.when(~lost).then("quality").otherwise(fill)), **bounds)
        assert not rows.passed or worst.passed, count
        if kind == "unbounded" and side == "old":
            assert rows.status == ("pass" if count <= CASES / 100 else "inconclusive")
        if side == "new" and count >= CASES / 20:
            assert rows.rows[0].statistic == "failed"


def test_absence_without_bounds_leads_to_what_it_means():
    frame, names = scores("unbounded", 0)
    result = gate(frame.filter((pl.col("model") == "old") | ~pl.col("sample").is_in(sorted(names)[:12])))
    (row,) = result.rows
    assert (row.low, row.high, row.p_value, row.samples) == (None, None, 1, 388)
    assert "could change the answer" in result.verdict
    lines = [str(text) for text, _ in result.failed.suggestions]
    assert ["drop" in line for line in lines] == [True, False]
    assert "quality.bounds = [0, 1]" in lines[1]


@pytest.mark.parametrize(
    ("removed", "added", "excluded"), [(40, 40, 80), (40, 38, 78), (40, 1, 0), (0, 12, 0)]
)
def test_replaced_cases_are_excluded(removed, added, excluded):
    frame, names = scores("binary", 0)
    gone = sorted(names)[:removed]
    renamed = [f"added-{at}" for at in range(added)]
    extra = pl.DataFrame({"model": "new", "sample": renamed, "quality": [1.0] * added}, schema=frame.schema)
    frame = frame.filter((pl.col("model") == "old") | ~pl.col("sample").is_in(gone))
    result = gate(pl.concat([frame, extra]))
    unmatched = result.to_dict()["meta"].get("left_out") or []
    assert sum(len(entry["samples"]) for entry in unmatched) == excluded
    if excluded:
        assert result.passed
    else:
        assert result.to_dict()["meta"]["scored"]


DRAWS = {"columns": "draw=attempt", "repeats": "draws"}


def repeated(kind, seed, lost, ids=0):
    """Return three scores per case, and a mask of those that the new model lacks."""
    frame, names = scores(kind, seed)
    noise = np.random.default_rng(seed + 1).normal(size=3) / 100
    parts = []
    for at, shift in enumerate(noise):
        value = pl.col("quality") if kind == "binary" else (pl.col("quality") + shift).clip(0, 1)
        attempt = at + pl.when(pl.col("model") == "new").then(ids).otherwise(0)
        parts.append(frame.with_columns(value.alias("quality"), attempt=attempt))
    frame, gone = pl.concat(parts), sorted(names)[:lost]
    return frame, (pl.col("model") == "new") & pl.col("sample").is_in(gone) & (pl.col("attempt") == 2 + ids)


@pytest.mark.parametrize("kind", ["binary", "bounded", "unbounded"])
@pytest.mark.parametrize("rule", ["draws", "mean"])
def test_absent_repeats_count_as_empty_cells(kind, rule):
    bounds = {"metrics": {"quality": {"bounds": [0, 1]}}} if kind == "bounded" else {}
    repeats = DRAWS | {"repeats": rule}
    outcomes = ((6, "pass"), (30, "inconclusive"), (200, "fail"))
    for lost, outcome in outcomes if kind == "unbounded" else outcomes[1:]:
        frame, mask = repeated(kind, 0, lost)
        rows = gate(frame.filter(~mask), **repeats, **bounds)
        cells = gate(frame.with_columns(quality=pl.when(~mask).then("quality")), **repeats, **bounds)
        assert facts(rows) == facts(cells), lost
        assert facts(rows)[1] == [("new", 3 * CASES - lost, 3 * CASES), ("old", 3 * CASES, 3 * CASES)]
        if kind == "unbounded":
            assert rows.status == outcome
        assert (rows.rows[0].statistic == "failed") == (outcome == "fail")
        if kind != "bounded":  # repeats are matched before the kind of scores matters
            continue
        other, mask = repeated(kind, 0, lost, ids=7)  # repeats of both models may have other numbers
        assert facts(gate(other.filter(~mask), **repeats, **bounds)) == facts(rows)
        dropped = gate(frame.filter(~repeated(kind, 0, lost)[1]), **repeats, missing="drop", **bounds)
        assert dropped.passed


def test_a_third_of_all_repeats_is_absent():
    frame, _ = repeated("binary", 0, 0)
    shorter = frame.filter((pl.col("model") == "old") | (pl.col("attempt") < 2))
    result = gate(shorter, **DRAWS)
    assert (result.status, result.rows[0].statistic) == ("fail", "failed")
    assert "new 800 of 1,200 (400 absent)" in result.to_text()
    with pytest.raises(InputError, match="new has fewer repeats than another model"):
        gate(shorter, **DRAWS, missing="error")


def test_about_as_many_repeats_absent_on_both_sides_are_a_design():
    frame, mask = repeated("unbounded", 0, 60)
    other = (pl.col("model") == "old") & (pl.col("attempt") == 0) & (pl.col("sample") < "case-060")
    result = gate(frame.filter(~mask & ~other), **DRAWS | {"repeats": "mean"})
    assert result.passed
    counted = result.to_dict()["meta"].get("scored") or []
    assert all(entry["scored"] == entry["total"] for entry in counted)


def test_copies_of_rows_are_no_repeats():
    frame, names = scores("unbounded", 0)
    copies = frame.filter((pl.col("model") == "new") & pl.col("sample").is_in(sorted(names)[:30]))
    assert gate(pl.concat([frame, copies]), repeats="mean").passed
    with pytest.raises(InputError, match="a second score"):
        gate(pl.concat([frame, copies.with_columns(pl.col("quality") - 0.3)]))


def test_repeats_of_one_model_only_are_refused_without_bounds():
    frame, _ = repeated("unbounded", 0, 0)
    shorter = frame.filter((pl.col("model") == "new") | (pl.col("attempt") < 1))
    with pytest.raises(InputError, match="old has fewer repeats than another model"):
        gate(shorter, **DRAWS)
    with pytest.raises(InputError, match="too few values of attempt in common"):
        gate(shorter, **DRAWS, missing="drop")
    assert gate(shorter, **{**DRAWS, "repeats": "mean"}, missing="drop").passed
