"""Trends of runs with known differences."""

import json
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.errors import GateFailed, GateInconclusive, InputError, UsageError, option

RNG = np.random.default_rng(7)
CHANCE = RNG.beta(0.8, 0.2, 200)
GOOD = [(RNG.random(200) < CHANCE).astype(float) for _ in range(6)]
BAD = [np.where(np.arange(200) < 60, 0.0, passed) for passed in GOOD]


def table(values, **more):
    names = [f"s{at:03d}" for at in range(len(values))]
    return pl.DataFrame({"model": "bot", "sample": names, "metric": "acc", "score": values, **more})


def trend(runs, **options):
    return rr.trend([table(run) if isinstance(run, np.ndarray) else run for run in runs], **options)


def test_differences_are_paired_and_in_the_units_of_the_file():
    new, old = RNG.normal(0.2, 1, (2, 60)) + RNG.normal(size=60)
    half = np.concatenate([new - old, -(new - old)]) + 0.1  # symmetrical: Student's t
    for direction, sign in (("higher", 1), ("lower", -1)):
        row = trend([np.zeros(120), sign * half], **{direction: "acc"}).rows[1]
        expected = stats.ttest_1samp(sign * half, 0).confidence_interval(1 - 2 * 0.05 * 0.8 / 2)
        assert row.against_baseline == pytest.approx(sign * 0.1)
        assert (row.against_baseline_low, row.against_baseline_high) == pytest.approx(
            (expected.low, expected.high), abs=0.01
        )
        assert row.direction == direction


def test_a_loss_is_dated_and_sized():
    result = trend([*GOOD[:3], *BAD[3:]], fail_on="worse")
    (line,) = result.document.lines
    assert (line.state, line.since, line.last.against_baseline_answer) == ("worse", "run 4", "worse")
    assert isinstance(result.failed, GateFailed)
    assert result.verdict.startswith("bot is significantly worse on acc since run 4, by 0.1")
    assert [row.against_last_answer for row in result.rows] == [
        None,
        "undecided",
        "undecided",
        "worse",
        "undecided",
        "undecided",
    ]
    assert result.document.findings[0].answer == "contradicted"


def test_recovery_and_gain_are_reported():
    assert trend([*GOOD[:2], BAD[2], GOOD[0]], fail_on="worse").passed
    result = trend([BAD[0], *GOOD[1:3]])
    assert result.document.lines[0].state == "better"
    assert "No significant loss" in result.verdict
    assert "significantly better on acc in run 3" in result.verdict


def test_an_open_last_run_after_a_loss_is_inconclusive():
    slightly = np.where(np.arange(200) < 4, 0.0, GOOD[0])
    result = trend([GOOD[0], BAD[0], slightly], fail_on="worse")
    assert result.document.lines[0].state == "worse-in-earlier-run"
    assert isinstance(result.failed, GateInconclusive)
    assert trend([GOOD[0], BAD[0], slightly], fail_on="worse", inconclusive="pass").passed


def test_scoring_change_leaves_claims_undecided(tmp_path):
    def fixed(later):
        rows = [
            table(values, run=f"run {at}").drop("model")
            for at, values in enumerate([GOOD[5], GOOD[5], later], 1)
        ]
        pl.concat(rows).write_csv(tmp_path / "fixed.csv")
        return trend([GOOD[0], GOOD[1], BAD[2]], anchor=f"acc={tmp_path / 'fixed.csv'}", fail_on="worse")

    moved = fixed(BAD[5])
    assert moved.document.scoring_changes == {"acc": ["run 3"]}
    assert moved.rows[2].against_baseline_answer == moved.rows[2].against_last_answer == "scoring-changed"
    assert isinstance(moved.failed, GateInconclusive)
    assert "The scoring of acc changed at run 3" in moved.verdict
    assert moved.rows[1].against_baseline_answer == "undecided"
    unchanged = fixed(GOOD[5])
    assert unchanged.document.scoring_changes == {"acc": []}
    assert isinstance(unchanged.failed, GateFailed)


def test_lasting_scoring_change_is_dated_once(tmp_path):
    scored = enumerate([GOOD[5], GOOD[5], BAD[5], BAD[5]], 1)
    rows = [table(values, run=f"run {at}").drop("model") for at, values in scored]
    pl.concat(rows).write_csv(tmp_path / "fixed.csv")
    result = trend([GOOD[0], GOOD[1], BAD[2], BAD[3]], anchor=f"acc={tmp_path / 'fixed.csv'}")
    assert result.document.scoring_changes == {"acc": ["run 3"]}
    assert [row.against_last_answer for row in result.rows] == [
        None,
        "undecided",
        "scoring-changed",
        "undecided",
    ]


def test_new_samples_are_no_change():
    later = pl.concat([table(GOOD[1]), table(np.zeros(50)).with_columns(sample="n" + pl.col("sample"))])
    row = trend([GOOD[0], later]).rows[1]
    assert (row.samples_shared, row.samples, row.against_baseline_answer) == (200, 250, "undecided")
    assert row.against_baseline == pytest.approx(GOOD[1].mean() - GOOD[0].mean())


def test_samples_may_differ_by_model_and_metric():
    other = table(GOOD[2][:50]).with_columns(model=pl.lit("other"))
    f1 = table(GOOD[3][:80]).with_columns(metric=pl.lit("f1"))
    rows = trend([pl.concat([table(GOOD[0]), other, f1])] * 2).rows
    assert [(row.metric, row.model, row.samples_shared) for row in rows[3:]] == [
        ("acc", "bot", 200),
        ("acc", "other", 50),
        ("f1", "bot", 80),
    ]


def test_clusters_are_resampled_as_units():
    group = [f"g{at // 4}" for at in range(200)]
    unclustered, clustered = (
        trend([table(GOOD[0], g=group), table(BAD[1], g=group)], **more).rows[1]
        for more in ({}, {"cluster": "g"})
    )
    sums = np.add.reduceat(BAD[1] - GOOD[0], np.arange(0, 200, 4))
    assert clustered.against_baseline == pytest.approx(unclustered.against_baseline)
    width = clustered.against_baseline_high - clustered.against_baseline_low
    error = sums.std(ddof=1) / np.sqrt(50) / 4
    assert width == pytest.approx(-2 * error * stats.t.ppf(0.02, 49), rel=0.1)


def test_failed_scores_count_at_their_bounds():
    failed = pl.when(pl.int_range(200) % 5 == 0).then(None).otherwise(pl.col("score"))
    runs = [table(GOOD[0]), table(GOOD[1]).with_columns(score=failed)]
    bounds = {"metrics": {"acc": {"direction": "higher", "bounds": [0, 1]}}}
    row = trend(runs).rows[1]
    assert row == trend(runs, missing="bounds", **bounds).rows[1]
    worst = np.where(np.arange(200) % 5 == 0, 0.0, GOOD[1])
    low = trend([GOOD[0], worst], higher="acc").rows[1]
    assert (row.scored, row.samples) == (160, 200)
    assert row.against_baseline_low == pytest.approx(low.against_baseline_low)
    assert row.against_baseline_answer == "undecided"
    sentence = "bot failed 20 percentage points more often in run 2 than in the baseline on acc (40 of 200"
    result = trend(runs, fail_on="worse", inconclusive="pass")
    assert result.verdict.startswith(sentence)
    assert isinstance(result.failed, GateFailed)
    assert trend(runs, fail_on="worse", most_failed=0.21).passed
    assert "20 % of the scores of bot on acc are missing in run 2" in trend(runs, most_failed=0.21).verdict
    assert trend([runs[1], runs[1]], fail_on="worse").passed  # no more than in the baseline


def test_absent_rows_count_as_failures():
    """Without rows for failing cases the mean rises; new samples may replace others."""
    shorter = table(GOOD[2])[:160]
    result = trend([*GOOD[:2], shorter], fail_on="worse")
    assert isinstance(result.failed, GateFailed)
    assert "failed 20 percentage points more often" in result.verdict
    assert "no score" not in trend([*GOOD[:2], shorter], missing="drop").verdict
    renamed = table(GOOD[2]).with_columns(pl.col("sample").str.replace("s00", "t00"))
    assert "no score" not in trend([*GOOD[:2], renamed]).verdict


def test_flaky_and_lost_cases():
    runs = [np.ones(40) for _ in range(12)]
    for at, values in enumerate(runs):
        values[0] = at % 2
        values[1] = at < 6
    result = trend(runs)
    flaky, lost = (
        next(c for c in result.document.changed_cases if c.sample == f"s{at:03d}") for at in (0, 1)
    )
    assert (flaky.flips, flaky.significant, flaky.lost_since) == (11, False, None)
    assert (lost.flips, lost.significant, lost.lost_since, lost.p_value) == (
        1,
        True,
        "run 7",
        pytest.approx(1 / 924),
    )
    (line,) = result.document.lines
    assert (line.cases, line.flaky, line.lost, line.flip_share) == (40, 1, 1, pytest.approx(12 / 440))
    graded = trend([RNG.normal(size=20) for _ in range(2)])
    assert graded.document.lines[0].cases is None


def test_formats_of_a_trend():
    result = trend([*GOOD[:3], *BAD[3:]], fail_on="worse")
    meta = json.loads(result.to_json())["meta"]
    assert meta["outcome"] == "fail"
    assert meta["lines"][0]["since"] == "run 4"
    assert {"sample", "flips", "significant"} <= set(meta["cases"][0])
    suite = ElementTree.fromstring(result._render("junit"))[0]
    assert (suite.get("failures"), suite.find(".//failure").get("type")) == ("1", "fail")
    assert len(result.to_text().splitlines()) <= 25
    plot, base = result.plot(), result.document.lines[0].rows[0]
    assert plot.title == "acc over 6 runs"
    assert base.run == result.document.baseline
    (band,) = plot.axes[0].patches
    assert (band.get_y(), band.get_height()) == pytest.approx((base.low, base.high - base.low))


def test_runs_that_share_nothing_are_refused(tmp_path):
    other = table(GOOD[0]).with_columns(sample="other" + pl.col("sample"))
    with pytest.raises(
        InputError, match="run 2 and run 1 have no model and metric with at least 10 common samples"
    ):
        trend([GOOD[0], other])
    with pytest.raises(InputError) as refused:
        trend([GOOD[0], table(GOOD[0]).with_columns(model=pl.lit("bot-2"))])
    assert "models bot-2" in refused.value.found
    pl.concat(
        [
            table(GOOD[0], run=run).with_columns(metric=pl.lit("f1")).drop("model")
            for run in ("run 1", "run 2")
        ]
    ).write_csv(tmp_path / "fixed.csv")
    with pytest.raises(UsageError, match="there is no metric"):
        trend([GOOD[0], GOOD[1]], anchor=f"f1={tmp_path / 'fixed.csv'}")
    with pytest.raises(UsageError, match="must name one metric and its file"):
        trend([GOOD[0], GOOD[1]], anchor="fixed.csv")
    with pytest.raises(UsageError, match="unknown option folds"):
        trend([GOOD[0], GOOD[1]], folds=5)
    with pytest.raises(UsageError, match="needs"):
        trend([GOOD[0], GOOD[1]], inconclusive="pass")


def test_a_metric_or_model_without_scores_in_the_last_run_is_inconclusive():
    """An absent metric, absent rows and empty cells are the same; values of earlier runs are not current."""
    grades = table(np.random.default_rng(8).normal(size=200)).with_columns(metric=pl.lit("grade"))
    both, empty = pl.concat([table(GOOD[0]), grades]), grades.with_columns(score=None)
    last = pl.concat([table(GOOD[1]), empty.cast(both.schema)])
    columns = {"columns": "run=run,model=model,sample=sample,metric=metric,score=score"}
    runs = pl.concat(frame.with_columns(run=pl.lit(at)) for at, frame in enumerate((both, both, last)))
    results = [trend([both, both, GOOD[1]], fail_on="worse"), rr.trend(runs, fail_on="worse", **columns)]
    for result in results:
        acc, grade = result.document.lines
        assert (acc.state, grade.state, grade.verdict) == ("undecided", "not-scored", "inconclusive")
        assert isinstance(result.failed, GateInconclusive)
        assert result.verdict.startswith(f"bot has had no scores on grade since {grade.since} (last scored")
        assert result.failed.hint.endswith(f"if it was removed on purpose, {option('metric', 'acc')}")
        (shown,) = (line for line in result.to_text().splitlines() if line.startswith(" grade"))
        assert shown.split() == ["grade", "–", "–", "not", "scored", "–"]
    assert results[0].document.lines[1].since == "run 3"
    other = pl.concat([table(GOOD[2]), table(GOOD[3]).with_columns(model=pl.lit("other"))])
    result = trend([other, other, GOOD[1], GOOD[4]], fail_on="worse")
    assert result.failed.hint.endswith(f"{option('metric', 'acc')} {option('models', 'bot')}")
    assert result.document.lines[1].since == "run 3"
