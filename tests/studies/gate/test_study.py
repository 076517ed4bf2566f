"""Claims about tables: the answers, and what is refused."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import GateFailed, GateInconclusive, InputError, UsageError
from riskrank.studies.gate.sentences import interval_of
from tests.tables import of_rows


def table(shift=0.0, n=200, metrics=("acc",), seed=0, **models) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for metric in metrics:
        hard = rng.normal(size=n)
        for model in models or {"old": 0.0, "new": shift}:
            values = hard + 0.3 * rng.normal(size=n) + (models or {"old": 0.0, "new": shift})[model]
            rows += [(model, f"s{at}", metric, value) for at, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")


def verdicts(result) -> list[str]:
    return [row.verdict for row in result.rows]


@pytest.mark.parametrize(("shift", "verdict"), [(0.5, "pass"), (-0.5, "fail"), (0.0, "inconclusive")])
@pytest.mark.parametrize("claim", ["better", "not_worse"])
@pytest.mark.parametrize("on", ["mean", "tvar@0.2", "ssd", "fsd", "acc"])
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


def test_less_is_better_in_the_units_of_the_file():
    frame = table(0.5, metrics=("latency",))
    (row,) = rr.gate(frame, not_worse="new:old", lower=["latency"], margin=0.1).rows
    assert row.verdict == "fail"
    assert 0.1 < row.low < row.estimate < row.high
    (back,) = rr.gate(frame, better="old:new", lower=["latency"], margin=0.1).rows
    assert back.verdict == "pass"
    np.testing.assert_allclose([back.low, back.estimate, back.high], [-row.high, -row.estimate, -row.low])


@pytest.mark.parametrize("claim", ["better", "not_worse"])
def test_costs_tell_in_cents_what_they_tell_in_dollars(claim):
    rng = np.random.default_rng(4)
    costs = {"old": rng.lognormal(-4, 0.3, 12), "new": rng.lognormal(-4.2, 0.3, 12)}
    dollars = shares(**{f"{model}_cost": own for model, own in costs.items()})
    in_dollars, in_cents = (
        rr.gate(frame, **{claim: "new:old"}, lower=["cost"], margin=unit * 0.001).rows[0]
        for unit, frame in ((1, dollars), (100, dollars.with_columns(pl.col("score") * 100)))
    )
    assert in_cents.verdict == in_dollars.verdict
    assert in_cents.p_value == pytest.approx(in_dollars.p_value, rel=1e-9)
    assert in_cents.high == pytest.approx(100 * in_dollars.high, rel=1e-9)


@pytest.mark.slow
def test_the_family_is_all_claims():
    frame = table(0.05, metrics=tuple("abcdefgh"))
    alone = rr.gate(frame, better="new:old", on="a").rows[0]
    among = rr.gate(frame, better="new:old").rows[0]
    assert alone.p_adjusted == alone.p_value
    assert among.p_adjusted > alone.p_value
    assert among.low < alone.low
    plain = rr.gate(frame, better="new:old", correction="none").rows[0]
    assert (plain.p_adjusted, plain.low) == (alone.p_value, pytest.approx(alone.low, rel=1e-9))


def test_others_in_the_table_change_nothing():
    two = rr.gate(table(old=0, new=0.1), better="new:old", on=["mean", "ssd"], seed=1)
    frame = pl.concat([table(old=0, new=0.1), table(third=-0.2, seed=3)])
    # The third model stays within the range of the scores: what is possible has not changed.
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


def test_statistics_of_one_metric_and_duplicates():
    frame = table(0.5, metrics=("acc", "f1"))
    on = ["mean", "acc", "mean:acc", "tvar@0.1:f1"]
    rows = rr.gate(frame, better="new:old", on=on, margin={"acc": 0.1}).rows
    assert [(row.statistic, row.metric, row.margin) for row in rows] == [
        ("mean", "acc", 0.1),
        ("mean", "f1", 0),
        ("tvar@0.1", "f1", 0),
    ]


def test_a_few_claims_more_decide_as_one():
    result = rr.gate(table(old=0, a=0.5, b=-0.5), better=["a:old", "b:old"], not_worse="old:b")
    assert verdicts(result) == ["pass", "fail", "pass"]
    assert result.document.meta()["counts"] == {"pass": 2, "fail": 1, "inconclusive": 0}


@pytest.mark.parametrize(("counts_as", "kind"), [("pass", type(None)), ("fail", GateFailed)])
def test_what_inconclusive_counts_as(counts_as, kind):
    assert isinstance(rr.gate(table(), not_worse="new:old", inconclusive=counts_as).failed, kind)


def test_the_samples_needed_are_said():
    (row,) = rr.gate(table(0.02), better="new:old").rows
    assert row.verdict == "inconclusive"
    assert row.samples_needed > row.samples
    digits = 10 ** (len(str(row.samples_needed)) - 1)
    many = -(-row.samples_needed // digits) * digits
    failed = str(rr.gate(table(0.02), better="new:old").failed)
    assert f"about {many:,} samples, were the difference" in failed


def flips(worse, better, n=400):
    """0/1 scores of two models that differ on so many samples."""
    rest = [0] * (n - worse - better)
    return shares(new_acc=[0] * worse + [1] * better + rest, old_acc=[1] * worse + [0] * better + rest)


def test_no_number_in_reach_is_no_number():
    """A difference of a twentieth of its error would take 1,600 times the samples."""
    row, *_ = (result := rr.gate(flips(100, 99), not_worse="new:old", higher="acc")).rows
    assert row.samples_needed is None or row.samples_needed > 100 * row.samples
    result = rr.gate(flips(99, 100), better="new:old", higher="acc")
    assert result.rows[0].samples_needed > 100 * 400
    assert "No number of samples in reach would decide that" in result.verdict


@pytest.mark.parametrize(
    ("worse", "better", "claim", "margin", "said"),
    [
        (60, 20, "not_worse", 0.1, "worse than old on acc; whether by more than 0.1 is open"),
        (40, 12, "not_worse", 0.2, "worse than old on acc, but not by more than 0.2"),
        (12, 40, "not_worse", 0.1, "better than old on acc, so not worse by more than 0.1"),
        (20, 60, "better", 0.1, "better than old on acc; whether by more than 0.1 is open"),
        (12, 40, "better", 0.2, "better than old on acc, but not by more than 0.2"),
        (60, 20, "better", 0.1, "worse than old on acc, so not better by more than 0.1"),
        (35, 35, "not_worse", 0.01, "not shown to be no worse than old by more than 0.01"),
        (160, 20, "not_worse", 0.1, "worse than old by more than 0.1 on acc"),
    ],
)
@pytest.mark.parametrize("less", [False, True])
def test_every_answer_says_which_side_of_0_is_shown(worse, better, claim, margin, said, less):
    """The same words where less is better and all scores are turned round."""
    frame = flips(worse, better)
    if less:
        frame = frame.with_columns(score=1 - pl.col("score"))
    direction = {"lower" if less else "higher": "acc"}
    verdict = rr.gate(frame, **{claim: "new:old"}, margin=margin, **direction).verdict
    assert f"new is {said}" in verdict


def test_a_loss_that_is_shown_is_let_through_by_no_hint():
    asked = {"not_worse": "new:old", "margin": 0.1, "higher": "acc"}
    worse, level = rr.gate(flips(60, 20), **asked), rr.gate(flips(70, 70), **(asked | {"margin": 0.01}))
    assert "as a loss is shown" in worse.failed.hint
    for result, way in ((worse, "fail"), (level, "pass")):
        text = " ".join(result.to_text().split())
        assert f'inconclusive="{way}"' in text
        assert ("or a margin that" in text) == (way == "pass")
        assert f'inconclusive="{way}"' in result.failed.lines()[2]
    assert isinstance(rr.gate(flips(60, 20), **asked, inconclusive="fail").failed, GateFailed)


REFUSED = {
    "no claim": ({}, "a gate needs a claim"),
    "unknown model": ({"better": "new:odl"}, "does not name two models"),
    "one model": ({"not_worse": "new:new"}, "does not name two models"),
    "unknown metric": ({"better": "new:old", "on": "acd"}, "neither a statistic nor a metric"),
    "unknown metric of one": ({"better": "new:old", "on": "ssd:f2"}, "neither a statistic nor a metric"),
    "tail without a level": ({"better": "new:old", "on": "tvar"}, "no share of the worst samples"),
    "tail of all": ({"better": "new:old", "on": "tvar@5"}, "no share of the worst samples"),
    "negative margin": ({"better": "new:old", "margin": -0.1}, "a number not below 0"),
    "margin in words": ({"better": "new:old", "margin": "two%"}, "a number not below 0"),
    "share of a mean about 0": ({"better": "new:old", "margin": "2%"}, "not shown to be above 0"),
    "margin twice": ({"better": "new:old", "margin": [0.1, 0.2]}, "is given twice"),
    "margin of dominance": ({"better": "new:old", "margin": 0.1, "on": "ssd"}, "dominance has none"),
    "margin in another unit": ({"better": "new:old", "margin": 50}, "is no margin for acc"),
    "margin of another": ({"better": "new:old", "margin": {"f2": 0.1}}, "there is no claimed metric 'f2'"),
    "resamples": ({"better": "new:old", "resamples": 5}, "must be at least 20"),
    "correction": ({"better": "new:old", "correction": "hol"}, "is not a choice"),
    "inconclusive": ({"better": "new:old", "inconclusive": "maybe"}, "is not a choice"),
}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(options, text):
    with pytest.raises(UsageError, match=text):
        rr.gate(table(n=20), **options)


def test_too_few_common_samples():
    frame = pl.concat([table(old=0, n=10), table(new=0, n=9)])
    with pytest.raises(InputError, match="a gate needs at least 10 samples"):
        rr.gate(frame, not_worse="new:old", missing="drop")


def of_samples(first: int, last: int, **models: float) -> pl.DataFrame:
    wanted = [f"s{at}" for at in range(first, last)]
    return table(n=last, **models).filter(pl.col("sample").is_in(wanted))


@pytest.mark.parametrize(
    ("new", "refused"),
    [
        ((0, 90), None),
        ((0, 51), None),
        ((0, 50), "50 of 100 samples of old"),  # half a run
        ((50, 150), "50 of 100 samples of new"),  # a shifted column
        ((1, 101), "99 of 101 samples are common"),  # by one: pairs of different samples
    ],
)
def test_no_claim_is_decided_on_half_of_the_samples(new, refused):
    frame = pl.concat([of_samples(0, 100, old=0.0), of_samples(*new, new=0.0)])
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
    # Who says that samples need not be the same is taken at their word.
    assert verdicts(rr.gate(frame, **claim | {"missing": "error"}, unpaired=True)) == ["pass"]


def test_half_of_a_model_without_scores_is_no_run():
    frame = of_samples(0, 100, old=0.0, new=0.0)
    lost = (pl.col("model") == "new") & pl.col("sample").is_in([f"s{at}" for at in range(50)])
    frame = frame.with_columns(score=pl.when(lost).then(None).otherwise("score"))
    for paired in ({}, {"unpaired": True}):
        with pytest.raises(InputError, match="leaves too little") as error:
            rr.gate(frame, not_worse="new:old", margin=2.0, missing="drop", **paired)
        assert "50 of 100 samples of new" in error.value.found


def shares(**columns) -> pl.DataFrame:
    """Scores of the models on samples of each metric, by ``model_metric``."""
    return of_rows(
        (name.partition("_")[0], f"{name.partition('_')[2]}{at}", name.partition("_")[2], float(value))
        for name, values in columns.items()
        for at, value in enumerate(values)
    )


def test_models_without_a_mistake_need_as_many_samples_as_any_share():
    """No loss in n samples: its share is below 1 - (α/2)^(1/n), whatever other scores there might be."""
    how = {"not_worse": "new:old", "higher": "acc", "margin": 0.02, "resamples": 2000}
    for n, verdict in ((100, "inconclusive"), (400, "pass")):
        frame = shares(new_acc=[1] * n, old_acc=[1] * n)
        result = rr.gate(frame, **how)
        assert verdicts(result) == [verdict]
        (row,) = result.rows
        assert -row.low == pytest.approx(1 - 0.025 ** (1 / n), rel=0.15)
    mixed = [0, 1] * 200
    varied = rr.gate(shares(new_acc=mixed, old_acc=mixed), **how)
    assert varied.rows[0].low == pytest.approx(row.low, rel=0.05)
    (equal,) = rr.gate(frame, not_worse="new:old", higher="acc").rows
    assert (equal.verdict, equal.estimate) == ("inconclusive", 0)


def test_a_stricter_margin_passes_nowhere_that_a_wider_one_does_not():
    """Almost all right: 0 may still occur, however narrow the margin is beside what was seen."""
    frame = shares(new_acc=[1] * 99 + [0.99], old_acc=[1] * 100)
    lows = []
    for margin in (0.001, 0.005, 0.02, 0.1):
        (row,) = rr.gate(frame, not_worse="new:old", margin=margin, higher="acc").rows
        lows.append(row.low)
        assert (row.verdict == "pass") == (margin > 0.02)
    assert len(set(lows[:3])) == 1


def test_the_samples_that_would_decide_between_models_that_never_differ():
    mixed = [0, 1] * 50
    asked = {"not_worse": "new:old", "margin": 0.02, "higher": "acc"}
    (row,) = rr.gate(shares(new_acc=mixed, old_acc=mixed), **asked).rows
    assert row.verdict == "inconclusive"
    assert 150 < row.samples_needed < 250
    enough = [0, 1] * (row.samples_needed // 2 + 5)
    assert verdicts(rr.gate(shares(new_acc=enough, old_acc=enough), **asked)) == ["pass"]


@pytest.mark.parametrize("scores", [[5.0] * 50, [5.0, 5.001] * 25])
def test_what_is_no_share_needs_bounds_or_another_margin(scores, tmp_path):
    frame = shares(new_stars=scores, old_stars=scores)
    with pytest.raises(UsageError, match="no two of its scores differ") as caught:
        rr.gate(frame, not_worse="new:old", margin=0.1, higher="stars")
    assert "bounds in a metrics file" in str(caught.value)
    bounded = tmp_path / "metrics.toml"
    bounded.write_text('[stars]\ndirection = "higher"\nbounds = [1, 5.1]\n')
    result = rr.gate(frame, not_worse="new:old", margin=0.5, metrics_file=str(bounded))
    assert verdicts(result) == ["pass"]


def test_each_metric_counts_on_the_samples_it_was_scored_on():
    hard = np.random.default_rng(1).normal(size=90)
    acc = {"old_acc": hard[:60], "new_acc": hard[:60] + 0.5}
    frame = shares(**acc, old_match=hard, new_match=hard - 0.5, old_other=[1.0] * 5)
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
    with pytest.raises(InputError, match="new has no other"):
        rr.gate(frame, not_worse="new:old", higher="*")


def test_cvar_is_tvar_by_another_name():
    frame = table(0.5)
    tvar, cvar = (rr.gate(frame, better="new:old", on=f"{name}@0.1:acc") for name in ("tvar", "cvar"))
    assert [row.statistic for row in cvar.rows] == ["tvar@0.1"]
    assert cvar.rows == tvar.rows
    risks = [rr.mrm(frame, risk=name, no_test=True).rows for name in ("negative-tvar", "negative-cvar")]
    assert risks[0] == risks[1]


def test_an_interval_of_one_end_shows_it():
    row = rr.gate(table(0.5), better="new:old").rows[0]
    assert interval_of(replace(row, low=None), "–").startswith("below 0.5")
    assert interval_of(replace(row, high=None), "–").startswith("above 0.4")
    assert interval_of(replace(row, low=None, high=None), "–") == "–"
