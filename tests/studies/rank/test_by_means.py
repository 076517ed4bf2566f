"""A ranking by means of folds: the verdict, the rows, and what it refuses."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, RiskrankError, UsageError


def folds(shift=(0.0, 0.0, 0.0), metrics=("acc",), seed=0, count=10):
    rng = np.random.default_rng(seed)
    rows = [
        (f"m{i}", repeat, fold, *(rng.normal(0.8 + lift, 0.02) for _ in metrics))
        for i, lift in enumerate(shift)
        for repeat in range(count)
        for fold in range(10)
    ]
    return pl.DataFrame(rows, schema=["model", "repeat", "fold", *metrics], orient="row")


def rank(frame, **options):
    return rr.rank(frame, wide=True, higher=["acc"], **options)


def test_a_clear_winner_and_a_tie():
    won = rank(folds((0.1, 0.0, 0.0)))
    assert won.verdict.startswith("Ship m0: its mean acc is significantly better than that of")
    assert "100 folds of one data set share their training rows: counted as 5.6 samples." in won.verdict
    assert [(row.rank_low, row.rank_high, row.wins) for row in won.rows] == [(1, 1, 2), (2, 3, 0), (2, 3, 0)]
    tied = rank(folds((0.005, 0.0)))
    assert "no test separates their means of acc" in tied.verdict
    assert tied.rows[0].rank_high == 2
    assert "Holm); could have shown differences from" in tied.to_text()
    still = rank(folds((0.0, 0.0)).with_columns(acc=pl.col("model") == "m0")).to_text()
    assert "Holm)." in still


def test_rows_are_in_the_units_of_the_file():
    frame = folds((0.1, 0.0)).with_columns(loss=1 - pl.col("acc"))
    up, down = rank(frame, metric="acc").rows, rr.rank(frame, wide=True, metric="loss", lower="loss").rows
    for high, low in zip(up, down, strict=True):
        assert low.mean == pytest.approx(1 - high.mean)
        assert low.difference == pytest.approx(-high.difference)
        assert (low.difference_low, low.difference_high) == pytest.approx(
            (-high.difference_high, -high.difference_low)
        )


def test_each_metric_on_its_own():
    frame = folds((0.1, 0.0, 0.0), ("acc", "auc"))
    with pytest.raises(UsageError, match="a combined score of several metrics looks at single samples"):
        rank(frame)
    found = rr.rank(frame, wide=True, higher=["acc", "auc"], per_metric=True)
    assert {row.method for row in found.rows} == {"mean@acc", "mean@auc"}
    assert set(found.document.meta()["smallest_visible"]) == {"acc", "auc"}


def test_findings_say_what_the_sentences_rest_on():
    kinds = {one.kind: one for one in rank(folds((0.1, 0.0))).document.findings}
    assert list(kinds) == ["ahead", "gain", "counted-as", "visible"]
    assert kinds["counted-as"].figures["worth"] == pytest.approx(1 / (0.01 + 1.5 / 9))
    assert kinds["ahead"].answer == "shown"


def test_without_a_test():
    found = rank(folds((0.1, 0.0)), no_test=True)
    assert "Nothing was tested" in found.verdict
    assert found.rows[0].rank_low is None
    assert found.rows[0].difference_low is None


@pytest.mark.parametrize("asked", [{"all_methods": True}, {"stability": [5]}, {"method": ["MWR"]}])
def test_what_looks_at_samples_is_refused(asked):
    with pytest.raises(UsageError, match="looks at single samples"):
        rank(folds(), **asked)


def test_data_sets_are_what_varies():
    """Six data sets on which one model is better by much and by little; of five nothing beyond these."""
    rng = np.random.default_rng(1)
    rows = [
        (model, f"d{d}", fold, 0.8 + lift * (d + 1) + rng.normal(0, 0.001))
        for model, lift in (("a", 0.01), ("b", 0.0))
        for d in range(6)
        for fold in range(5)
    ]
    frame = pl.DataFrame(rows, schema=["model", "dataset", "fold", "acc"], orient="row")
    found = rank(frame)
    assert "30 folds of 6 data sets count as 6" in found.verdict
    d = frame.pivot(on="model", index="dataset", values="acc", aggregate_function="mean")
    from scipy.stats import ttest_rel

    low, _ = ttest_rel(d["b"], d["a"]).confidence_interval(0.95)
    assert found.rows[1].difference_low == pytest.approx(low, rel=1e-6)
    few = rank(frame.filter(pl.col("dataset") != "d5"))
    assert "25 folds of 5 data sets share their training rows" in few.verdict


def test_two_folds_tell_nothing():
    with pytest.raises(InputError, match="too few to tell how much they vary"):
        rank(folds(count=1).filter(pl.col("fold") < 2))


def test_a_gate_on_means_of_folds():
    frame = folds((0.1, 0.0))
    options = {"wide": True, "higher": ["acc"]}
    assert rr.gate(frame, better="m0:m1", **options).rows[0].verdict == "pass"
    assert rr.gate(frame, better="m1:m0", **options).rows[0].verdict == "fail"
    even = rr.gate(folds(), better="m0:m1", **options)
    assert even.rows[0].verdict == "inconclusive"
    assert even.rows[0].samples == 5
    with pytest.raises(UsageError, match="fold's score is a mean"):
        rr.gate(frame, better="m0:m1", on="ssd", **options)


def board(holes=0.4, tasks=30, lift=0.0, seed=0, k=5):
    """Scores of k models on tasks of unequal difficulty, of which every model lacks some."""
    rng = np.random.default_rng(seed)
    hard = np.sort(rng.normal(0, 10, tasks))
    scores = 50 + hard + rng.normal(0, 3, (k, tasks))
    scores[0] += lift
    scores[rng.random((k, tasks)) < holes] = np.nan
    names = [f"m{i}" for i in range(k)]
    return pl.DataFrame(
        {"model": names} | {f"task{t:02}": scores[:, t] for t in range(tasks)}, nan_to_null=True
    )


def test_a_board_with_holes_is_compared_on_what_each_pair_has():
    found = rr.rank(board(lift=8.0), higher="*")
    assert found.verdict.startswith(
        "Ship m0: its mean score is significantly better than that of all 4 others."
    )
    assert "samples both have, the mean score of m0 is" in found.verdict
    assert found.document.provenance.settings["missing"] == "shared"
    level = rr.rank(board(), higher="*")
    assert "no test" in level.verdict.lower()


def test_harder_tasks_of_a_model_are_not_held_against_it():
    frame = board(holes=0.0, lift=6.0, tasks=24)
    easy = [f"task{t:02}" for t in range(12, 24)]
    frame = frame.with_columns(
        pl.when(pl.col("model") == "m0").then(None).otherwise(pl.col(easy)).name.keep()
    )
    found = rr.rank(frame, higher="*")
    assert found.rows[0].model == "m0"
    assert found.rows[0].mean < min(row.mean for row in found.rows[1:])
    lower = rr.rank(frame.with_columns(-pl.exclude("model")), lower="*")
    assert [row.model for row in lower.rows] == [row.model for row in found.rows]
    assert lower.rows[1].difference == pytest.approx(-found.rows[1].difference)


def long(scores):
    rows = [(m, t, s) for m, own in scores.items() for t, s in own.items()]
    return pl.DataFrame(rows, schema=["model", "sample", "acc"], orient="row")


def few(of, tasks, lift=0.0, seed=0):
    rng = np.random.default_rng([seed, *of.encode()])
    return {f"t{t:02}": 10 + t + lift + rng.normal(0, 0.5) for t in tasks}


@pytest.mark.parametrize(("others", "named"), [("c", "c"), ("cdefgh", "c, d, e, f … and 2 more")])
def test_a_pair_of_few_shared_samples_is_not_compared(others, named):
    scores = {"a": few("a", range(10), 5.0), "b": few("b", range(20))}
    scores |= {name: few(name, range(8, 20), 1.0 - at) for at, name in enumerate(others)}
    found = rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert "a has a significantly better mean acc than b, and was not compared" in found.verdict
    words = " ".join(found.to_text(explain=True).split())
    assert f"a is not compared with {named}: they share fewer than 6 samples." in words
    assert "not compared: each pair has samples of its own." in words
    row = next(row for row in found.rows if row.model == "c")
    assert (row.difference, row.difference_low) == (None, None)


def test_two_models_are_blind_to_what_their_shared_samples_do_not_show():
    scores = {"a": few("a", range(60)), "b": few("b", range(20, 90), 1.0)}
    found = rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    blind = next(one for one in found.document.findings if one.kind == "blind-to")
    assert blind.figures["worth"] == 40
    assert "40 independent samples are too few" in found.to_text()


def test_groups_that_nothing_connects_and_circles_of_wins_are_refused():
    scores = {"a": few("a", range(10)), "b": few("b", range(10)), "c": few("c", range(10, 20))}
    with pytest.raises(InputError, match="share fewer than 6 samples") as caught:
        rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert caught.value.found.startswith("2 groups: a, b; c")
    apart = {"a": few("a", range(10)), "c": few("c", range(10, 20))}
    for asked, told in (({}, "no common order"), ({"stability": [10]}, "single samples")):
        with pytest.raises(RiskrankError, match=told):
            rr.rank(long(apart), wide=True, higher="acc", missing="shared", **asked)
    ahead = {"x": ("a", "b"), "y": ("b", "c"), "z": ("c", "a")}
    scores = {name: {} for name in "abc"}
    for part, (winner, loser) in ahead.items():
        for t in range(8):
            scores[winner][f"{part}{t}"] = 5.0 + 0.1 * t
            scores[loser][f"{part}{t}"] = 1.0 - 0.1 * t
    with pytest.raises(InputError, match="wins lead back to where they start") as caught:
        rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert caught.value.found.count("is shown to be better than") == 3


@pytest.mark.parametrize(
    "more", [{"unpaired": True}, {"group_by": "part"}, {"folds": 5}, {"noise": ["part"]}]
)
def test_shared_samples_are_all_that_is_known(more):
    frame = pl.concat([long({m: few(m, range(10))}).with_columns(part=pl.lit(p)) for m in "ab" for p in "xy"])
    frame = frame.unique(["model", "sample"]) if "noise" not in more else frame
    with pytest.raises(UsageError, match="contradict"):
        rr.rank(frame, wide=True, metric="acc", higher="acc", missing="shared", **more)


def battles(ahead, of_question=1, people=40, seed=0):
    """Votes on two of four models each: the first wins more often by `ahead`, the others are alike."""
    rng, names = np.random.default_rng(seed), ["a", "b", "c", "d"]
    rows = []
    for at in range(900):
        one, other = rng.permutation(4)[:2].tolist()
        won = rng.random() < 0.5 + ahead * ((one == 0) - (other == 0))
        who = names[one] if won else names[other]
        question, person = f"q{at // of_question:03}", f"p{at // of_question % people:02}"
        rows.append((question, names[one], names[other], who, person))
    frame = pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner", "rater"], orient="row")
    both = pl.concat_list("model_a", "model_b").list.sort().list.join("-")
    return frame.unique(["prompt", both], maintain_order=True)


@pytest.mark.parametrize("of_question", [1, 3])
def test_an_arena_is_ranked_by_the_votes_between_each_two(of_question):
    frame = battles(0.2, of_question).drop("rater")
    found = rr.rank(frame)
    assert found.verdict.startswith("Ship a: ")
    sign = pl.when(pl.col("winner") == "a").then(2.0).otherwise(-2.0)
    for row in found.rows[1:]:
        of_both = pl.concat_list("model_a", "model_b").list.sort() == ["a", row.model]
        votes = frame.filter(of_both).select(sign)["literal"].to_numpy()
        assert row.difference == pytest.approx(-2 * votes.mean())
    assert not [row for row in rr.rank(battles(0.0, of_question).drop("rater")).rows if row.rank_high == 1]


def test_votes_of_people_with_a_taste_are_fewer_than_they_seem():
    frame = battles(0.0, people=12)
    taste = pl.col("rater").str.slice(1).cast(pl.Int64) % 12 < 9
    plays = (pl.col("model_a") == "a") | (pl.col("model_b") == "a")
    other = pl.when(pl.col("model_a") == "a").then("model_b").otherwise("model_a")
    likes = frame.with_columns(
        winner=pl.when(plays).then(pl.when(taste).then(pl.lit("a")).otherwise(other)).otherwise("winner")
    )
    assert "Ship a" in rr.rank(likes.drop("rater")).verdict
    assert "Ship a" not in rr.rank(likes).verdict
