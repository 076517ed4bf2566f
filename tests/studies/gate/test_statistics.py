"""Claims about statistics other than the mean, and claims about one model and a number."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.errors import InputError, UsageError
from riskrank.studies.gate.options import add_default_claim

RNG = np.random.default_rng(4)
N = 120
OLD = RNG.lognormal(3, 0.4, N)
NEW = OLD * RNG.lognormal(-0.05, 0.05, N)
FEW = {"resamples": 400, "jobs": 1}


def frame(**scores) -> pl.DataFrame:
    rows = [
        (model, at, *map(float, values))
        for model, columns in scores.items()
        for at, values in enumerate(zip(*columns.values(), strict=True))
    ]
    metrics = [*next(iter(scores.values()))]
    return pl.DataFrame(rows, schema=["model", "sample", *metrics], orient="row")


TIMES = frame(new={"ms": NEW}, old={"ms": OLD})
GRADES = frame(app={"grade": [5, 5, 4, 4, 3] * 12}, bot={"grade": [5, 4, 3, 2, 1] * 12})
COUNTS = frame(
    new={"tp": [9, 8, 7, 9] * 10, "fp": [1, 2, 1, 0] * 10, "fn": [1, 2, 3, 1] * 10},
    old={"tp": [7, 6, 7, 6] * 10, "fp": [2, 2, 3, 4] * 10, "fn": [3, 2, 3, 4] * 10},
)


def gate(table, **options):
    return rr.gate(table, wide=True, **FEW | options)


def times(**options):
    return gate(TIMES, lower="ms", **options)


def test_geometric_means_are_compared_by_their_ratio():
    (row,) = times(not_worse="new:old", on="geomean", margin="1%").rows
    t = stats.ttest_1samp(np.log(NEW / OLD), 0).confidence_interval(0.95)
    assert (row.verdict, row.relative_margin) == ("pass", 0.01)
    assert row.estimate == pytest.approx(stats.gmean(NEW) / stats.gmean(OLD) - 1)
    assert (row.low, row.high) == pytest.approx((np.expm1(t.low), np.expm1(t.high)), abs=0.002)


@pytest.mark.parametrize(("statistic", "proportion"), [("median", 0.5), ("p90", 0.9)])
def test_percentiles_are_compared_as_difference_or_ratio(statistic, proportion):
    quantiles = [np.quantile(values, proportion) for values in (NEW, OLD)]
    (amount,) = times(not_worse="new:old", on=statistic, margin=1).rows
    (ratio,) = times(not_worse="new:old", on=f"{statistic}:ms", margin="0%").rows
    assert amount.estimate == pytest.approx(quantiles[0] - quantiles[1])
    assert ratio.estimate == pytest.approx(quantiles[0] / quantiles[1] - 1)
    assert ratio.low < ratio.estimate < ratio.high
    (mirrored,) = gate(TIMES.with_columns(-pl.col("ms")), higher="ms", not_worse="new:old", on="p10").rows
    if proportion == 0.9:
        assert mirrored.p_value == pytest.approx(times(not_worse="new:old", on="p90").rows[0].p_value)


def test_percentiles_need_three_samples_beyond():
    result = times(not_worse="new:old", on="p99", margin="50%")
    (row,) = result.rows
    assert (row.verdict, row.samples_needed, row.low, row.high) == ("inconclusive", 300, None, None)
    assert "About 300 samples would decide this claim" in result.verdict


def test_shares_are_success_rates():
    passed = pl.col("grade") >= 4
    (share,) = gate(GRADES, better="app:bot", on="share>=4").rows
    (rate,) = gate(GRADES.with_columns(grade=passed.cast(float)), better="app:bot").rows
    assert (share.estimate, share.low, share.high, share.p_value) == pytest.approx(
        (rate.estimate, rate.low, rate.high, rate.p_value)
    )
    (below,) = gate(GRADES, better="app:bot", on="share<=3:grade").rows
    assert (below.direction, below.estimate) == ("lower", pytest.approx(-share.estimate))


def test_micro_f1_is_a_ratio_of_sums():
    (row,) = gate(
        COUNTS, better="new:old", higher="tp", lower=["fp", "fn"], on="sum(2*tp)/sum(2*tp+fp+fn)"
    ).rows
    sums = COUNTS.group_by("model").agg(pl.col("tp", "fp", "fn").sum()).rows_by_key("model", named=True)
    f1 = {name: 2 * s["tp"] / (2 * s["tp"] + s["fp"] + s["fn"]) for name, (s,) in sums.items()}
    assert row.estimate == pytest.approx(f1["new"] - f1["old"])
    assert (row.metric, row.direction, row.verdict) == ("2*tp/(2*tp+fp+fn)", "higher", "pass")


@pytest.mark.parametrize(
    ("options", "verdicts"),
    [
        ({"at_least": 0.6}, ["pass", "fail"]),
        ({"at_least": 0.75}, ["inconclusive", "fail"]),
        ({"at_most": 0.95}, ["pass", "pass"]),
        ({"at_most": {"grade": 0.6}, "models": ["app"]}, ["fail"]),
    ],
)
def test_one_model_is_compared_with_a_number(options, verdicts):
    rows = gate(GRADES, on="share>=4:grade", **options).rows
    assert [row.verdict for row in rows] == verdicts
    assert [row.new for row in rows] == ["app", "bot"][: len(verdicts)]
    exact = stats.binomtest(48, 60).proportion_ci(0.95 if len(rows) == 1 else 0.975, method="wilson")
    if len(rows) == 1:
        assert (rows[0].low, rows[0].high) == pytest.approx((exact.low, exact.high), abs=0.001)
    assert rows[0].estimate == pytest.approx(0.8)


def test_numbers_have_the_units_of_the_file():
    (low,) = times(at_most=25, on="mean", models=["new"]).rows
    (high,) = times(at_most=OLD.max(), on="p90", models=["new"]).rows
    assert low.estimate == pytest.approx(NEW.mean())
    assert (low.direction, high.verdict, high.old) == ("lower", "pass", None)
    assert high.estimate == pytest.approx(np.quantile(NEW, 0.9))
    (turned,) = times(at_least=5, models=["new"]).rows
    assert (turned.verdict, turned.direction, turned.estimate) == (
        "pass",
        "higher",
        pytest.approx(NEW.mean()),
    )
    (geometric,) = times(at_most=25, on="geomean", models=["new"]).rows
    assert geometric.estimate == pytest.approx(stats.gmean(NEW))
    assert (geometric.boundary, geometric.verdict) == (25, "pass")


def test_claims_about_pairs_and_numbers_form_one_family():
    rows = gate(GRADES, better="app:bot", at_least={"grade": 3.5}).rows
    assert [(row.claim, row.new, row.old) for row in rows] == [
        ("better", "app", "bot"),
        ("at-least", "app", None),
    ]
    smaller, larger = sorted(rows, key=lambda row: row.p_value)
    assert smaller.p_adjusted == pytest.approx(2 * smaller.p_value)
    assert larger.p_adjusted == pytest.approx(max(larger.p_value, smaller.p_adjusted))


@pytest.mark.parametrize(
    ("claim", "effect", "hint"),
    [
        ({"at_least": 70}, "cannot be met", "share>=4=0.7"),
        ({"at_most": 70}, "is always met", "share>=4=0.7"),
        ({"at_least": 700}, "cannot be met", "a number from 0 to 1"),
        ({"at_most": -0.1}, "cannot be met", "a number from 0 to 1"),
    ],
)
def test_numbers_outside_known_bounds_are_refused(claim, effect, hint):
    passed = GRADES.with_columns(grade=(pl.col("grade") >= 4).cast(pl.Int64))
    with pytest.raises(UsageError, match=effect) as error:
        gate(passed, models="app", **claim)
    assert hint.replace("share>=4", "grade") in "".join(error.value.lines())
    assert not gate(passed, models="app", at_least=1).passed
    assert gate(passed, models="app", at_most=1).passed


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        ({"at_least": 0.7}, 'if they are percentages, write at_least="grade=70"'),
        ({"at_least": 7000}, "far below it"),
        ({"at_most": 0.001}, "far above it"),
        ({"at_least": 55}, None),
        ({"at_most": 90, "on": "p90"}, None),
        ({"at_least": 0.7, "on": "share>=20"}, None),
    ],
)
def test_numbers_in_another_unit_are_noted(claim, note):
    scores = np.random.default_rng(0).normal(62, 15, 80).clip(0, 100)
    frame = pl.DataFrame({"model": "app", "sample": np.arange(80), "grade": scores})
    warnings = [text for text in gate(frame, **claim).warnings if "another unit" in text]
    assert warnings[0].endswith(note) if note else warnings == [], warnings


def test_a_single_model_needs_no_other():
    result = gate(GRADES.filter(pl.col("model") == "app"), at_least=3, min_samples=30)
    assert result.passed
    assert "app: the mean of grade is at least 3 (4.2" in result.verdict
    few = gate(GRADES.filter(pl.col("model") == "app"), at_least=3, min_samples=100)
    failed = gate(GRADES.filter(pl.col("model") == "app"), at_least=4.8)
    assert (few.status, failed.status) == ("inconclusive", "fail")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "geomean", "margin": 0.1}, "compares ratios, so its margin is a percentage"),
        ({"on": "p0"}, "is neither a statistic nor a metric"),
        ({"on": "share>4"}, "is neither a statistic nor a metric"),
        ({"on": "ssd", "not_worse": None, "at_least": 1}, "compares two models"),
        ({"on": "mean", "at_least": {"cost": 1}}, "cost"),
        ({"at_least": "much"}, "needs a number in the units of the metric"),
        ({"on": "p90", "anytime": True}, "supports only differences of means"),
    ],
)
def test_invalid_statistics_are_refused(options, message):
    with pytest.raises(UsageError, match=message) as error:
        times(**{"not_worse": "new:old"} | options)
    assert len(error.value.lines()) == 3


def test_logarithms_need_positive_scores():
    zero = TIMES.with_columns(ms=pl.when(pl.col("sample") == 0).then(0.0).otherwise("ms"))
    for statistic in ("geomean", "median"):
        with pytest.raises((UsageError, InputError), match="needs positive scores"):
            gate(zero, lower="ms", not_worse="new:old", on=statistic, margin="0%")


CASES = pl.DataFrame(
    {
        "model": ["new"] * 40 + ["old"] * 40,
        "sample": [f"s{at}" for at in range(40)] * 2,
        "severity": ["critical" if at % 8 == 0 else "minor" for at in range(40)] * 2,
        "ok": [float(at != 8) for at in range(40)] + [float(at not in (7, 16)) for at in range(40)],
    }
)


def test_lost_samples_that_must_pass_fail_the_gate(tmp_path):
    options = {"not_worse": "new:old", "margin": 0.3, "higher": "ok"}
    failed = gate(CASES, must_pass="severity=critical", **options)
    assert (failed.status, failed.rows[0].lost_samples, failed.rows[1].verdict) == ("fail", ("s8",), "pass")
    assert "new fails on 1 sample of ok that must pass (old passes): s8" in failed.verdict
    assert failed.to_dict()["meta"]["must_pass"] == 5
    names = tmp_path / "names.txt"
    names.write_text("s1\ns16\n")
    passed = gate(CASES, must_pass=str(names), **options)
    assert passed.status == "pass"
    assert "none of the 2 samples that must pass is lost" in passed.to_text()
    names.write_text("s1\nS16\n")
    with pytest.raises(UsageError, match="lists samples that no model has"):
        gate(CASES, must_pass=str(names), **options)
    names.write_text("s1\ns16\n")
    single = gate(CASES, must_pass=str(names), at_least=0.3, higher="ok", models=["old"])
    assert (single.status, single.rows[0].lost_samples) == ("fail", ("s16",))


COSTS = CASES.with_columns(usd=pl.Series([float(3 + at % 7) for at in range(80)]))
ENFORCED = [
    {"not_worse": "new:old", "margin": "50%", "on": "sum(usd)/sum(ok)"},
    {"better": "new:old", "on": "sum(ok)/sum(ok)"},
    {"not_worse": "new:old", "margin": {"usd": 5, "ok": 0.3}, "on": ["mean:usd", "mean:ok"]},
    {"not_worse": "new:old", "on": "ssd:ok"},
    {"not_worse": "new:old", "margin": 0.3, "on": "share>=1:ok"},
    {"not_worse": "new:old", "margin": 0.3, "on": "mean:ok", "group_by": "half"},
    {"at_most": 90, "on": "sum(usd)/sum(ok)"},
    {"at_least": {"ok": 0.3}},
    {"at_least": {"ok": 0.3}, "not_worse": "new:old", "margin": {"usd": 5, "ok": 0.3}},
    {"cheapest": "old", "price": "usd", "on": "mean:ok", "margin": 0.3},
]
REFUSED = [
    {"not_worse": "new:old", "margin": "50%", "on": "sum(usd)/sum(usd)"},
    {"not_worse": "new:old", "margin": 5, "on": "p75:usd"},
    {"at_most": 90, "on": "p75:usd"},
    {"at_most": {"usd": 90}},
]
MUST_PASS = {"higher": "ok", "lower": "usd", "must_pass": "severity=critical"}


@pytest.mark.parametrize("claim", ENFORCED, ids=str)
def test_every_claim_enforces_the_samples_that_must_pass(claim):
    result = gate(COSTS.with_columns(half=pl.int_range(pl.len()) // 10 % 2), **MUST_PASS, **claim)
    lost = {row.lost_samples for row in result.rows if row.statistic == "must-pass" and row.new == "new"}
    assert (result.status, lost) == ("fail", {("s8",)})


@pytest.mark.parametrize("claim", REFUSED, ids=str)
def test_claims_that_cannot_enforce_the_samples_that_must_pass_are_refused(claim):
    with pytest.raises(UsageError, match="needs a claim about a metric with scores of 0 and 1") as error:
        gate(COSTS, **MUST_PASS, **claim)
    assert len(error.value.lines()) == 3


def test_a_sample_that_must_pass_is_not_excluded():
    gaps = CASES.with_columns(ok=pl.when(pl.int_range(pl.len()) == 8).then(None).otherwise("ok"))
    options = {"not_worse": "new:old", "margin": 0.3, "higher": "ok", "must_pass": "severity=critical"}
    assert gate(gaps, **options, missing="worst").rows[0].lost_samples == ("s8",)
    with pytest.raises(UsageError, match="needs scores of every sample that must pass"):
        gate(gaps, **options, missing="drop")


def test_samples_pass_with_0_where_lower_is_better():
    failures = CASES.select("model", "sample", "severity", failed=1 - pl.col("ok"))
    result = gate(failures, must_pass="severity=critical", not_worse="new:old", margin=0.3, lower="failed")
    assert (result.status, result.rows[0].lost_samples) == ("fail", ("s8",))


@pytest.mark.parametrize(
    ("must_pass", "table", "message"),
    [
        ("sev=critical", CASES, "there is no column 'sev'"),
        ("severity=huge", CASES, "selects no sample"),
        ("nowhere.txt", CASES, "neither COLUMN=VALUE nor a readable file"),
        ("severity=minor", CASES.with_columns(pl.col("ok") / 2), "needs a claim about a metric"),
    ],
)
def test_invalid_groups_that_must_pass_are_refused(must_pass, table, message):
    with pytest.raises(UsageError, match=message) as error:
        gate(table, not_worse="new:old", margin=0.3, higher="ok", must_pass=must_pass)
    assert len(error.value.lines()) == 3


@pytest.mark.parametrize(("claim", "verdict"), [("at_most", "inconclusive"), ("at_least", "pass")])
def test_claims_hold_for_all_possible_missing_scores(claim, verdict):
    """With 50 of 100 scores missing, a rate of 0.2 to 0.7 is neither at most 0.5 nor above it."""
    lost = pl.DataFrame(
        {"model": ["m"] * 100, "sample": range(100), "ok": [1.0] * 20 + [0.0] * 30 + [None] * 50}
    )
    number = {"at_most": 0.5, "at_least": 0.05}[claim]
    (row,) = gate(lost, higher="ok", metrics={"ok": {"bounds": [0, 1]}}, **{claim: number}).rows
    assert (row.estimate_low, row.estimate_high) == pytest.approx((0.2, 0.7))
    assert row.verdict == verdict


def test_constant_scores_may_equal_a_number():
    constant = frame(app={"cost": [0.5] * 30})
    limits = {0.5: "pass", 0.51: "pass", 0.49: "fail"}
    for number, verdict in limits.items():
        assert gate(constant, lower="cost", at_most=number).rows[0].verdict == verdict
    assert gate(constant, lower="cost", at_least=0.5).rows[0].verdict == "pass"


def test_a_margin_needs_two_models():
    with pytest.raises(UsageError, match="margin"):
        gate(GRADES, at_least=3, margin="10%")
    assert gate(GRADES, at_least=3, better="app:bot", margin="10%").rows


def test_claims_on_tasks_are_about_the_statistic():
    tasks = TIMES.with_columns(
        task=pl.when(pl.col("sample") < N / 2).then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    rows = gate(tasks, lower="ms", not_worse="new:old", on=["geomean", "task"], margin="10%").rows
    assert [(row.statistic, row.task) for row in rows] == [
        ("geomean", None),
        ("geomean", "x"),
        ("geomean", "y"),
    ]
    half = slice(None, N // 2)
    assert rows[1].estimate == pytest.approx(stats.gmean(NEW[half]) / stats.gmean(OLD[half]) - 1)


def test_only_numerators_need_a_direction():
    (row,) = gate(COUNTS, better="new:old", higher="tp", on="sum(2*tp)/sum(2*tp+fp+fn)").rows
    assert row.verdict == "pass"
    with pytest.raises(UsageError, match="direction"):
        gate(COUNTS, better="new:old", higher="tp", on="sum(fp)/sum(tp)")


def test_means_that_a_few_scores_dominate_are_noted():
    def notes(table, **options):
        result = gate(table, lower="ms", not_worse="new:old", **options)
        return [text for text in result.document.provenance.warnings if "geomean" in text]

    assert notes(TIMES) == []
    one_large = TIMES.with_columns(ms=pl.col("ms") * pl.when(pl.col("sample") == 7).then(1e5).otherwise(1.0))
    (note,) = notes(one_large)
    assert note.startswith("7 makes up")
    assert "of all differences in ms" in note
    assert notes(one_large, on="geomean") == []
    factors = 10.0 ** (pl.col("sample") % 4)
    (note,) = notes(TIMES.with_columns(ms=pl.col("ms") * factors))
    assert note.startswith("ms spans a factor of")
    task = (pl.col("sample") % 4).cast(pl.String)
    (note,) = notes(TIMES.with_columns(task=task, ms=pl.col("ms") * factors))
    assert "times as large on 3 as on 0, so large tasks dominate the mean" in note


def test_files_without_models_are_one_model_each(tmp_path):
    runs = {"first": 0.9, "second": 0.5}
    for name, rate in runs.items():
        passed = [int(at < 100 * rate) for at in range(100)]
        pl.DataFrame({"case": range(100), "passed": passed}).write_csv(tmp_path / f"{name}.csv")
    files = [tmp_path / f"{name}.csv" for name in runs]
    single = gate(files[0], at_least={"passed": 0.7})
    assert (single.status, [row.new for row in single.rows]) == ("pass", ["first"])
    assert gate(files[0], at_least=0.7, columns={"sample": "case"}).rows == single.rows
    both = gate(files, at_least=0.7)
    assert [(row.new, row.verdict) for row in both.rows] == [("first", "pass"), ("second", "fail")]
    assert add_default_claim(["a.csv", "b.csv"], {"at_least": (".7",)})[2] == ""
    with pytest.raises(InputError, match="missing columns 'model'"):
        gate(files[0], better="new:old")
