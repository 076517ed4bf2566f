"""Claims about tables: verdicts and refusals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import GateFailed, GateInconclusive, InputError, UsageError
from riskrank.studies.gate.sentences import format_interval
from tests.tables import of_rows


def table(shift=0.0, n=200, metrics=("acc",), seed=0, **models) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for metric in metrics:
        difficulty = rng.normal(size=n)
        for model in models or {"old": 0.0, "new": shift}:
            values = difficulty + 0.3 * rng.normal(size=n) + (models or {"old": 0.0, "new": shift})[model]
            rows += [(model, f"s{at}", metric, value) for at, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")


def verdicts(result) -> list[str]:
    return [row.verdict for row in result.rows]


@pytest.mark.parametrize(("shift", "verdict"), [(0.5, "pass"), (-0.5, "fail"), (0.0, "inconclusive")])
@pytest.mark.parametrize(
    ("claim", "on"),
    [
        *(("better", on) for on in ("mean", "tvar@0.2", "ssd", "fsd", "acc")),
        ("not_worse", "mean"),
        ("not_worse", "ssd"),
    ],
)
def test_three_answers(shift, verdict, claim, on):
    result = rr.gate(table(shift), **{claim: "new:old"}, on=on)
    assert verdicts(result) == [verdict]
    assert result.verdict.startswith(f"{verdict.upper()}: ")
    kinds = {"pass": type(None), "fail": GateFailed, "inconclusive": GateInconclusive}
    assert isinstance(result.failed, kinds[verdict])


def test_a_margin_makes_equal_models_pass():
    frame = table(0.0)
    assert verdicts(rr.gate(frame, not_worse="new:old", margin=0.2)) == ["pass"]
    assert verdicts(rr.gate(frame, better="new:old", margin=0.2)) == ["fail"]
    assert verdicts(rr.gate(table(-0.5), not_worse="new:old", margin=0.2)) == ["fail"]
    assert verdicts(rr.gate(table(0.5), better="new:old", margin=0.2)) == ["pass"]


def test_minimised_metric_has_units_of_the_file():
    frame = table(0.5, metrics=("latency",))
    (row,) = rr.gate(frame, not_worse="new:old", lower=["latency"], margin=0.1).rows
    assert row.verdict == "fail"
    assert 0.1 < row.low < row.estimate < row.high
    (back,) = rr.gate(frame, better="old:new", lower=["latency"], margin=0.1).rows
    assert back.verdict == "pass"
    np.testing.assert_allclose([back.low, back.estimate, back.high], [-row.high, -row.estimate, -row.low])


@pytest.mark.parametrize("claim", ["better", "not_worse"])
def test_units_of_costs_do_not_matter(claim):
    rng = np.random.default_rng(4)
    costs = {"old": rng.lognormal(-4, 0.3, 12), "new": rng.lognormal(-4.2, 0.3, 12)}
    dollars = shares(**{f"{model}_cost": values for model, values in costs.items()})
    in_dollars, in_cents = (
        rr.gate(frame, **{claim: "new:old"}, lower=["cost"], margin=unit * 0.001).rows[0]
        for unit, frame in ((1, dollars), (100, dollars.with_columns(pl.col("score") * 100)))
    )
    assert in_cents.verdict == in_dollars.verdict
    assert in_cents.p_value == pytest.approx(in_dollars.p_value, rel=1e-9)
    assert in_cents.high == pytest.approx(100 * in_dollars.high, rel=1e-9)


@pytest.mark.slow
def test_family_consists_of_all_claims():
    frame = table(0.05, metrics=tuple("abcdefgh"))
    alone = rr.gate(frame, better="new:old", on="a").rows[0]
    corrected = rr.gate(frame, better="new:old").rows[0]
    assert alone.p_adjusted == alone.p_value
    assert corrected.p_adjusted > alone.p_value
    assert corrected.low < alone.low
    plain = rr.gate(frame, better="new:old", correction="none").rows[0]
    assert (plain.p_adjusted, plain.low) == (alone.p_value, pytest.approx(alone.low, rel=1e-9))


def test_unclaimed_models_change_nothing():
    two = rr.gate(table(old=0, new=0.1), better="new:old", on=["mean", "ssd"], seed=1)
    frame = pl.concat([table(old=0, new=0.1), table(third=-0.2, seed=3)])
    # Clipping keeps the range of the scores, which bounds the means.
    low, high = table(old=0, new=0.1)["score"].min(), table(old=0, new=0.1)["score"].max()
    three = rr.gate(
        frame.with_columns(pl.col("score").clip(low, high)), better="new:old", on=["mean", "ssd"], seed=1
    )
    # Products of larger matrices may be summed in another order.
    errors = [[row.standard_error for row in gate.rows] for gate in (two, three)]
    assert errors[1] == pytest.approx(errors[0], rel=1e-12)
    assert [replace(row, standard_error=0) for row in three.rows] == [
        replace(row, standard_error=0) for row in two.rows
    ]


def test_unpaired_models_and_clusters():
    frame = table(0.0, n=100)
    paired = rr.gate(frame, not_worse="new:old").rows[0]
    unpaired = rr.gate(frame, not_worse="new:old", unpaired=True).rows[0]
    # The samples share most of their variance.
    assert unpaired.standard_error > 2 * paired.standard_error
    clustered = frame.with_columns(pl.col("sample").str.slice(1).cast(int).floordiv(4).alias("c"))
    row = rr.gate(clustered, not_worse="new:old", cluster="c").rows[0]
    assert (row.samples, row.estimate) == (25, pytest.approx(paired.estimate))


def test_statistics_of_a_metric_and_duplicates():
    frame = table(0.5, metrics=("acc", "f1"))
    on = ["mean", "acc", "mean:acc", "tvar@0.1:f1"]
    rows = rr.gate(frame, better="new:old", on=on, margin={"acc": 0.1}).rows
    assert [(row.statistic, row.metric, row.margin) for row in rows] == [
        ("mean", "acc", 0.1),
        ("mean", "f1", 0),
        ("tvar@0.1", "f1", 0),
    ]


def test_several_claims_are_decided_together():
    result = rr.gate(table(old=0, a=0.5, b=-0.5), better=["a:old", "b:old"], not_worse="old:b")
    assert verdicts(result) == ["pass", "fail", "pass"]
    assert result.document.meta()["counts"] == {"pass": 2, "fail": 1, "inconclusive": 0}


@pytest.mark.parametrize(("counts_as", "kind"), [("pass", type(None)), ("fail", GateFailed)])
def test_inconclusive_option_sets_the_outcome(counts_as, kind):
    assert isinstance(rr.gate(table(), not_worse="new:old", inconclusive=counts_as).failed, kind)


def test_required_samples_are_reported():
    (row,) = rr.gate(table(0.02), better="new:old").rows
    assert row.verdict == "inconclusive"
    assert row.samples_needed > row.samples
    digits = 10 ** (len(str(row.samples_needed)) - 1)
    rounded = -(-row.samples_needed // digits) * digits
    failed = str(rr.gate(table(0.02), better="new:old").failed)
    assert f"about {rounded:,} samples (enough" in failed


def flips(worse, better, n=400):
    """Binary scores of two models with the given numbers of worse and better samples."""
    unchanged = [0] * (n - worse - better)
    return shares(
        new_acc=[0] * worse + [1] * better + unchanged, old_acc=[1] * worse + [0] * better + unchanged
    )


def test_unreachable_sample_size_is_not_reported():
    """A difference of 1/20 of its standard error would need 1,600 times the samples."""
    row, *_ = (result := rr.gate(flips(100, 99), not_worse="new:old", higher="acc")).rows
    assert row.samples_needed is None or row.samples_needed > 100 * row.samples
    result = rr.gate(flips(99, 100), better="new:old", higher="acc")
    assert result.rows[0].samples_needed > 100 * 400
    assert "No feasible number of samples would decide this claim" in result.verdict


@pytest.mark.parametrize(
    ("worse", "better", "claim", "margin", "text"),
    [
        (60, 20, "not_worse", 0.1, "is worse than old on acc, possibly by more than 0.1"),
        (40, 12, "not_worse", 0.2, "is worse than old on acc, but not by more than 0.2"),
        (12, 40, "not_worse", 0.1, "is better than old on acc, so not worse by more than 0.1"),
        (20, 60, "better", 0.1, "is better than old on acc, possibly by more than 0.1"),
        (12, 40, "better", 0.2, "is better than old on acc, but not by more than 0.2"),
        (60, 20, "better", 0.1, "is worse than old on acc, so not better by more than 0.1"),
        (35, 35, "not_worse", 0.01, "may be worse than old by more than 0.01"),
        (160, 20, "not_worse", 0.1, "is worse than old by more than 0.1 on acc"),
    ],
)
@pytest.mark.parametrize("minimise", [False, True])
def test_verdict_names_the_sign_of_the_difference(worse, better, claim, margin, text, minimise):
    """The text is the same if the metric is minimised and all scores are negated."""
    frame = flips(worse, better)
    if minimise:
        frame = frame.with_columns(score=1 - pl.col("score"))
    direction = {"lower" if minimise else "higher": "acc"}
    verdict = rr.gate(frame, **{claim: "new:old"}, margin=margin, **direction).verdict
    assert f"new {text}" in verdict


def test_hint_does_not_waive_a_significant_loss():
    options = {"not_worse": "new:old", "margin": 0.1, "higher": "acc"}
    worse, level = rr.gate(flips(60, 20), **options), rr.gate(flips(70, 70), **(options | {"margin": 0.01}))
    assert "because the loss is significant" in worse.failed.hint
    for result, suggestion in ((worse, "fail"), (level, "pass")):
        text = " ".join(result.to_text().split())
        assert f'inconclusive="{suggestion}"' in text
        assert ("allow a larger margin" in text) == (suggestion == "pass")
        assert f'inconclusive="{suggestion}"' in result.failed.lines()[2]
    assert isinstance(rr.gate(flips(60, 20), **options, inconclusive="fail").failed, GateFailed)


REFUSED = {
    "no claim": ({}, "a gate needs a claim"),
    "unknown model": ({"better": "new:odl"}, "must name two models"),
    "one model": ({"not_worse": "new:new"}, "must name two models"),
    "unknown metric": ({"better": "new:old", "on": "acd"}, "neither a statistic nor a metric"),
    "unknown metric of one": ({"better": "new:old", "on": "ssd:f2"}, "neither a statistic nor a metric"),
    "tail without a level": ({"better": "new:old", "on": "tvar"}, "needs a share of the worst samples"),
    "tail of all": ({"better": "new:old", "on": "tvar@5"}, "needs a share of the worst samples"),
    "negative margin": ({"better": "new:old", "margin": -0.1}, "a finite number ≥ 0"),
    "margin in words": ({"better": "new:old", "margin": "two%"}, "a finite number ≥ 0"),
    "share of a mean about 0": ({"better": "new:old", "margin": "2%"}, "not significantly above 0"),
    "margin twice": ({"better": "new:old", "margin": [0.1, 0.2]}, "is given twice"),
    "margin of dominance": ({"better": "new:old", "margin": 0.1, "on": "ssd"}, "dominance has no unit"),
    "margin in another unit": ({"better": "new:old", "margin": 50}, "is too large for acc"),
    "margin of another": ({"better": "new:old", "margin": {"f2": 0.1}}, "there is no metric 'f2'"),
    "resamples": ({"better": "new:old", "resamples": 5}, "must be at least 20"),
    "correction": ({"better": "new:old", "correction": "hol"}, "is not a valid choice"),
    "inconclusive": ({"better": "new:old", "inconclusive": "maybe"}, "is not a valid choice"),
}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_invalid_options_are_refused(options, text):
    with pytest.raises(UsageError, match=text):
        rr.gate(table(n=20), **options)


@pytest.mark.parametrize(("count", "options"), [(9, {"on": "tvar@0.5"}), (5, {})])
def test_too_few_common_samples(count, options):
    frame = table(old=0, new=0, n=count)
    with pytest.raises(InputError, match=f"a gate needs at least {count + 1} samples"):
        rr.gate(frame, not_worse="new:old", **options)


@pytest.mark.parametrize("jobs", [6, 8])
def test_few_jobs_that_agree_pass(jobs):
    seconds = 10.0 ** np.arange(jobs)
    rows = {"model": ["new", "old"] * jobs, "sample": np.repeat(np.arange(jobs), 2)}
    frame = pl.DataFrame(rows | {"seconds": np.stack([0.97 * seconds, seconds], axis=1).ravel()})
    (row,) = rr.gate(frame, better="new:old", lower="seconds").rows
    assert (row.verdict, row.p_value) == ("pass", 2 * 0.5**jobs)


@pytest.mark.parametrize("loss", [8.0, 0.0])
def test_a_pass_reports_a_significantly_worse_tail(loss):
    rng = np.random.default_rng(2)
    old, gain, rare = rng.normal(size=200), rng.normal(0.3, 0.5, 200), rng.random(200) < 0.04
    rows = {"model": ["old", "new"] * 200, "sample": np.repeat(np.arange(200), 2)}
    frame = pl.DataFrame(rows | {"acc": np.stack([old, old + gain - loss * rare], axis=1).ravel()})
    result = rr.gate(frame, not_worse="new:old", margin=0.6)
    assert verdicts(result) == ["pass"]
    tails = [
        finding["sentence"]
        for finding in result.to_dict()["meta"]["findings"]
        if finding["kind"] == "worse-tail"
    ]
    assert len(tails) == (loss > 0)
    assert all("The mean hides this loss: new is worse than old" in sentence for sentence in tails)
    both = rr.gate(frame, not_worse="new:old", on=["mean", "tvar@0.05"], margin=0.6)
    assert all(finding["kind"] != "worse-tail" for finding in both.to_dict()["meta"]["findings"])


def table_of_samples(first: int, last: int, **models: float) -> pl.DataFrame:
    names = [f"s{at}" for at in range(first, last)]
    return table(n=last, **models).filter(pl.col("sample").is_in(names))


@pytest.mark.parametrize(
    ("new", "refused"),
    [
        ((0, 90), None),
        ((0, 51), None),
        ((0, 50), "50 of 100 samples of old"),  # half a run
        ((50, 150), "50 of 100 samples of new"),  # a shifted column
        ((1, 101), "99 of 101 samples have scores"),  # by one: pairs of different samples
    ],
)
def test_no_claim_is_decided_on_half_of_the_samples(new, refused):
    frame = pl.concat([table_of_samples(0, 100, old=0.0), table_of_samples(*new, new=0.0)])
    claim = {"not_worse": "new:old", "margin": 2.0, "missing": "drop"}
    if refused is None:
        assert verdicts(rr.gate(frame, **claim)) == ["pass"]
        return
    with pytest.raises(InputError) as error:
        rr.gate(frame, **claim)
    assert refused in error.value.found
    with pytest.raises(InputError) as before:
        rr.gate(frame, **claim | {"missing": "error"})
    assert "drop" not in before.value.hint, "no way is shown that is closed"
    assert rr.diff(frame, pair="new:old", missing="drop").rows, "who only looks is warned"
    # Unpaired models may have different samples.
    assert verdicts(rr.gate(frame, **claim | {"missing": "error"}, unpaired=True)) == ["pass"]


def test_model_missing_half_of_its_scores_is_refused():
    frame = table_of_samples(0, 100, old=0.0, new=0.0)
    lost = (pl.col("model") == "new") & pl.col("sample").is_in([f"s{at}" for at in range(50)])
    frame = frame.with_columns(score=pl.when(lost).then(None).otherwise("score"))
    for paired in ({}, {"unpaired": True}):
        with pytest.raises(InputError, match="leaves too few samples") as error:
            rr.gate(frame, not_worse="new:old", margin=2.0, missing="drop", **paired)
        assert "50 of 100 samples of new" in error.value.found


def shares(**columns) -> pl.DataFrame:
    """Scores of models on the samples of each metric, from keywords ``model_metric``."""
    return of_rows(
        (name.partition("_")[0], f"{name.partition('_')[2]}{at}", name.partition("_")[2], float(value))
        for name, values in columns.items()
        for at, value in enumerate(values)
    )


def test_perfect_models_need_enough_samples():
    """Without a loss in n samples, its share is below 1 - (α/2)^(1/n) for any other scores."""
    options = {"not_worse": "new:old", "higher": "acc", "margin": 0.02, "resamples": 2000}
    for n, verdict in ((100, "inconclusive"), (400, "pass")):
        frame = shares(new_acc=[1] * n, old_acc=[1] * n)
        result = rr.gate(frame, **options)
        assert verdicts(result) == [verdict]
        (row,) = result.rows
        assert -row.low == pytest.approx(1 - 0.025 ** (1 / n), rel=0.15)
    mixed = [0, 1] * 200
    varied = rr.gate(shares(new_acc=mixed, old_acc=mixed), **options)
    assert varied.rows[0].low == pytest.approx(row.low, rel=0.05)
    (equal,) = rr.gate(frame, not_worse="new:old", higher="acc").rows
    assert (equal.verdict, equal.estimate) == ("inconclusive", 0)


def test_intervals_depend_neither_on_the_margin_nor_on_the_range_of_scores():
    rng = np.random.default_rng(3)
    scores = {"new_acc": rng.random(40), "old_acc": rng.random(40)}
    limits = set()
    for margin in (0.001, 0.02, 0.1):
        for unit in (1, 1024):
            frame = shares(**{name: (unit * values).tolist() for name, values in scores.items()})
            (row,) = rr.gate(frame, not_worse="new:old", margin=unit * margin, higher="acc").rows
            limits.add((row.low / unit, row.high / unit))
    assert len(limits) == 1


def test_required_samples_of_identical_models():
    mixed = [0, 1] * 50
    options = {"not_worse": "new:old", "margin": 0.02, "higher": "acc"}
    (row,) = rr.gate(shares(new_acc=mixed, old_acc=mixed), **options).rows
    assert row.verdict == "inconclusive"
    assert 150 < row.samples_needed < 250
    enough = [0, 1] * (row.samples_needed // 2 + 5)
    assert verdicts(rr.gate(shares(new_acc=enough, old_acc=enough), **options)) == ["pass"]


@pytest.mark.parametrize("scores", [[5.0] * 50, [5.0, 5.001] * 25])
def test_constant_unbounded_metric_needs_bounds(scores, tmp_path):
    frame = shares(new_stars=scores, old_stars=scores)
    with pytest.raises(UsageError, match="whose scores never differ") as caught:
        rr.gate(frame, not_worse="new:old", margin=0.1, higher="stars")
    assert "bounds in a metrics file" in str(caught.value)
    bounded = tmp_path / "metrics.toml"
    bounded.write_text('[stars]\ndirection = "higher"\nbounds = [1, 5.1]\n')
    result = rr.gate(frame, not_worse="new:old", margin=0.5, metrics_file=str(bounded))
    assert verdicts(result) == ["pass"]


def test_metrics_use_the_samples_they_score():
    difficulty = np.random.default_rng(1).normal(size=90)
    acc = {"old_acc": difficulty[:60], "new_acc": difficulty[:60] + 0.5}
    frame = shares(**acc, old_match=difficulty, new_match=difficulty - 0.5, old_other=[1.0] * 5)
    result = rr.gate(frame, not_worse="new:old", on=["acc", "match"], higher="*")
    assert [(row.metric, row.verdict, row.samples) for row in result.rows] == [
        ("acc", "pass", 60),
        ("match", "fail", 90),
    ]
    alone = rr.gate(shares(**acc), not_worse="new:old", higher="*")
    assert result.rows[0].estimate == alone.rows[0].estimate
    assert result.rows[0].p_value == alone.rows[0].p_value
    assert result.rows[0].p_adjusted >= alone.rows[0].p_adjusted
    assert result.document.provenance.samples == 150
    assert verdicts(rr.gate(frame, not_worse="new:old", on="tvar@0.5:match", higher="*")) == ["fail"]
    every = rr.gate(frame, not_worse="new:old", higher="*")
    assert every.rows == result.rows
    assert "ignored: no claim tests other (absent from new)" in every.warnings
    with pytest.raises(InputError, match="new has no other"):
        rr.gate(frame, not_worse="new:old", on="other", higher="*")


def test_cvar_is_tvar_by_another_name():
    frame = table(0.5)
    tvar, cvar = (rr.gate(frame, better="new:old", on=f"{name}@0.1:acc") for name in ("tvar", "cvar"))
    assert [row.statistic for row in cvar.rows] == ["tvar@0.1"]
    assert cvar.rows == tvar.rows
    risks = [rr.mrm(frame, risk=name, no_test=True).rows for name in ("negative-tvar", "negative-cvar")]
    assert risks[0] == risks[1]


def test_open_interval_is_formatted_as_a_bound():
    row = rr.gate(table(0.5), better="new:old").rows[0]
    assert format_interval(replace(row, low=None), "–").startswith("below 0.5")
    assert format_interval(replace(row, high=None), "–").startswith("above 0.4")
    assert format_interval(replace(row, low=None, high=None), "–") == "–"
