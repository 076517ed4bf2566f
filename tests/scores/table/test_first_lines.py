"""The first lines of a gate say what was compared: reruns, copies, unpaired files, other units and groups."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError

CASES = 120
RNG = np.random.default_rng(4)
HARD = RNG.random(CASES) < 0.8
NAMES = [f"case-{at:03}" for at in range(CASES)]
CLAIM = {"not_worse": "new:old", "margin": 0.3, "resamples": 60}


def attempts(model, count, metrics=("acc",)):
    """Return several attempts of a model at each case."""
    parts = []
    for at in range(count):
        scores = {name: (HARD ^ (RNG.random(CASES) < 0.1)).astype(float) for name in metrics}
        parts.append(pl.DataFrame({"model": model, "sample": NAMES, "attempt": at, **scores}))
    return pl.concat(parts)


def failed(frame, count, attempt=0):
    """Return a frame with empty scores in an attempt at the first cases, and the rows with their scores."""
    mask = (pl.col("sample") < f"case-{count:03}") & (pl.col("attempt") == attempt)
    metrics = [name for name in frame.columns if name not in ("model", "sample", "attempt")]
    return frame.with_columns(
        pl.when(~mask).then(pl.col(name)).alias(name) for name in metrics
    ), frame.filter(mask)


def counts(result):
    """Return the numbers of scores and rows of each model."""
    return {entry["model"]: (entry["scored"], entry["total"]) for entry in result.to_dict()["meta"]["scored"]}


def same_rows(first, second):
    """Return whether two results have the same rows."""
    return first.to_csv() == second.to_csv()


@pytest.mark.parametrize(
    ("count", "repeats"), [(1, "draws"), (3, "draws"), (1, "mean"), (3, "mean"), (1, "error")]
)
def test_a_rerun_replaces_the_row_without_a_score(count, repeats):
    old, new = attempts("old", count), attempts("new", count)
    empty, rerun = failed(new, 30)
    settings = {**CLAIM, "wide": True, "metric": "acc", "repeats": repeats}
    complete = rr.gate(pl.concat([old, new]).drop("attempt"), **settings)
    result = rr.gate(pl.concat([old, empty, rerun]).drop("attempt"), **settings)
    assert same_rows(result, complete)
    total = count * CASES
    assert counts(result)["new"] == counts(result)["old"] == (total, total)
    lines = result.to_text().splitlines()
    assert any(
        "Reruns: 30 rows of new had no score and were rerun; the rerun counts." in line for line in lines[:6]
    )
    # Half of the failed attempts have no rerun.
    partly = rr.gate(pl.concat([old, empty, rerun[:15]]).drop("attempt"), **settings)
    assert counts(partly)["new"] == (total - 15, total)
    cells = rr.gate(pl.concat([old, failed(new, 30)[0][15:], rerun[:15]]).drop("attempt"), **settings)
    assert counts(cells)["new"] == (total - 15, total)


def test_rules_that_state_what_failures_mean_count_every_failure():
    frame = pl.concat([attempts("old", 3), *failed(attempts("new", 3), 30)]).drop("attempt")
    for rule in ("worst", "bounds"):
        result = rr.gate(frame, wide=True, metric="acc", repeats="mean", missing=rule, **CLAIM)
        assert counts(result)["new"] == (3 * CASES, 3 * CASES + 30)
        assert "Reruns" not in result.to_text()


def test_a_rerun_has_the_number_of_its_attempt_or_another():
    old, new = attempts("old", 3), attempts("new", 3)
    empty, rerun = failed(new, 30)
    settings = {**CLAIM, "wide": True, "metric": "acc", "columns": "draw=attempt"}
    for repeats in ("draws", "mean"):
        result = rr.gate(pl.concat([old, empty]), repeats=repeats, **settings)
        assert counts(result)["new"] == (330, 360)
        assert "Reruns" not in result.to_text()
    for number in (0, 7):
        again = rerun.with_columns(pl.lit(number, dtype=pl.Int32).alias("attempt").cast(new["attempt"].dtype))
        for repeats in ("draws", "mean"):
            result = rr.gate(pl.concat([old, empty, again]), repeats=repeats, **settings)
            assert counts(result)["new"] == (3 * CASES, 3 * CASES)
            assert "Reruns: 30 rows of new" in result.to_text()


@pytest.mark.parametrize("repeats", ["draws", "mean"])
def test_failed_attempts_without_a_rerun_are_missing(repeats):
    old, new = attempts("old", 5), attempts("new", 5)
    settings = {**CLAIM, "wide": True, "metric": "acc", "repeats": repeats}
    cells = failed(new, 60)[0]
    for frame in (cells, cells.drop_nulls()):
        result = rr.gate(pl.concat([old, frame]).drop("attempt"), **settings)
        assert counts(result) == {"new": (540, 600), "old": (600, 600)}
        assert result.rows[0].statistic == "failed"
        assert "Reruns" not in result.to_text()
    # A whole attempt that crashed is not a surplus.
    crashed = new.with_columns(acc=pl.when(pl.col("attempt") < 4).then("acc"))
    assert counts(rr.gate(pl.concat([old, crashed]).drop("attempt"), **settings))["new"] == (480, 600)


def test_an_attempt_with_another_metric_stays_linked():
    old, new = (attempts(name, 2, ("acc", "style")) for name in ("old", "new"))
    partly = new.with_columns(
        style=pl.when((pl.col("attempt") > 0) | (pl.col("sample") > "case-029")).then("style")
    )
    extra = new.filter((pl.col("attempt") == 0) & (pl.col("sample") <= "case-029"))
    frame = pl.concat([old, partly, extra]).drop("attempt")
    result = rr.gate(frame, wide=True, repeats="draws", higher="style", **CLAIM)
    assert "Reruns" not in result.to_text()


def test_copies_of_rows_are_counted_once():
    frame = pl.concat([attempts("old", 1), attempts("new", 1)]).drop("attempt").rename({"sample": "id"})
    result = rr.gate(pl.concat([frame, frame[-30:]]), **CLAIM)
    assert counts(result)["new"] == (CASES, CASES)
    assert "Copies: 30 rows are copies of other rows, and are not counted." in result.to_text()
    assert same_rows(result, rr.gate(frame, **CLAIM))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return a function that writes two files and gates them."""
    monkeypatch.chdir(tmp_path)

    def run(old, new, **options):
        for name, frame in (("old.csv", old), ("new.csv", new)):
            frame.drop("model", "attempt", strict=False).write_csv(name)
        return rr.gate(["new=new.csv", "old=old.csv"], **CLAIM | options)

    return run


def other_names(frame):
    """Return a frame whose samples have other names."""
    return frame.with_columns(pl.col("sample").str.replace("case", "item"))


def test_files_without_a_common_sample_are_called_unpaired(files):
    old, new = (
        attempts("old", 1).rename({"sample": "id"}),
        other_names(attempts("new", 1)).rename({"sample": "id"}),
    )
    result = files(old, new)
    assert "\n Unpaired: the files share no sample (id).\n" in result.to_text()
    assert "Unpaired" not in files(old, attempts("new", 1).rename({"sample": "id"})).to_text()


def test_a_column_that_pairs_the_samples_is_proposed(files):
    old, new = (
        frame.with_columns(question="q " + pl.col("sample"))
        for frame in (attempts("old", 1), attempts("new", 1))
    )
    with pytest.raises(InputError) as caught:
        files(old, other_names(new), wide=True, metric="acc")
    assert "all models have the same question" in caught.value.hint
    assert "sample=question" in str(caught.value.suggestions[0][0])
    assert files(old, other_names(new), wide=True, metric="acc", columns="sample=question").passed
    with pytest.raises(InputError) as caught:
        files(old.drop("question"), other_names(new).drop("question"), wide=True, metric="acc")
    assert "pairs the samples" not in caught.value.hint


def test_a_renamed_metric_is_named(files):
    with pytest.raises(InputError, match="the files share no metric") as caught:
        files(attempts("old", 1), attempts("new", 1).rename({"acc": "accuracy"}))
    assert caught.value.found == "new.csv has accuracy; old.csv has acc"


def test_a_vanished_group_is_called_a_group(files):
    old, new = (
        frame.with_columns(lang=pl.Series(["de", "en", "fr"] * 40))
        for frame in (attempts("old", 1), attempts("new", 1))
    )
    with pytest.raises(InputError, match="no scores in group 'fr'") as caught:
        files(old, new.filter(pl.col("lang") != "fr"), group_by="lang")
    assert "task" not in caught.value.problem + caught.value.found
    assert "the other groups" in caught.value.hint


def test_other_units_are_named(files):
    seconds = RNG.lognormal(0, 0.3, CASES)
    old = attempts("old", 1).with_columns(latency_ms=1000 * seconds)
    wrong = attempts("new", 1).with_columns(latency_ms=pl.Series(seconds))
    text = files(old, wrong, lower="latency_ms").to_text()
    assert "Units: latency_ms of old is typically 1,000 times that of new; check that" in text
    assert (
        "Units" not in files(old, old.with_columns(pl.col("latency_ms") / 200), lower="latency_ms").to_text()
    )
    result = files(old, wrong.rename({"latency_ms": "latency_s"}))
    assert [row.metric for row in result.rows] == ["acc"]
    text = " ".join(result.to_text().split())
    assert (
        "Ignored: latency_s (only in new.csv), latency_ms (only in old.csv); if latency_s and latency_ms"
        in text
    )


def test_a_group_cannot_be_part_of_the_model():
    parts = [
        attempts(name, 1).with_columns(vendor=pl.lit(name), version=pl.lit("1")) for name in ("new", "old")
    ]
    frame = pl.concat(parts).drop("model", "attempt")
    with pytest.raises(InputError, match="cannot name the model column"):
        rr.gate(frame, not_worse="new+1:old+1", columns="model=vendor+version", group_by="vendor")


def test_a_worse_tail_names_a_margin_that_its_loss_exceeds():
    rng = np.random.default_rng(2)
    old, gain, rare = rng.normal(size=400), rng.normal(0.3, 0.5, 400), rng.random(400) < 0.04
    rows = {"model": ["old", "new"] * 400, "sample": np.repeat(np.arange(400), 2)}
    frame = pl.DataFrame(rows | {"acc": np.stack([old, old + gain - 8 * rare], axis=1).ravel()})
    tasks = frame.with_columns(task=pl.format("t{}", pl.col("sample") % 4))
    for table, mean in ((frame, "mean"), (tasks, "macro")):
        for margin, below in ((0.6, False), (9, True)):
            result = rr.gate(table, not_worse="new:old", margin=margin, resamples=400)
            (text,) = (
                x["sentence"] for x in result.to_dict()["meta"]["findings"] if x["kind"] == "worse-tail"
            )
            advice = text.partition("To gate on it")[2]
            assert mean in advice
            assert ("below" in advice) == below
            limit = float(text.rpartition("below ")[2].rstrip(".")) if below else margin
            gated = rr.gate(
                table, not_worse="new:old", margin=0.95 * limit, on=[mean, "tvar@0.05"], resamples=400
            )
            assert not gated.passed
