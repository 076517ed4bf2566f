"""Rankings by means of folds: verdict, rows, refusals."""

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


def test_clear_winner_and_tie():
    won = rank(folds((0.1, 0.0, 0.0)))
    assert won.verdict.startswith("Ship m0: its mean acc is significantly better than that of")
    assert "folds of one data set share training rows, so the effective sample size is 5.6." in won.verdict
    assert [(row.rank_low, row.rank_high, row.wins) for row in won.rows] == [(1, 1, 2), (2, 3, 0), (2, 3, 0)]
    tied = rank(folds((0.005, 0.0)))
    assert "no test separates their means of acc" in tied.verdict
    assert tied.rows[0].rank_high == 2
    assert "Holm); smallest detectable difference:" in tied.to_text()
    constant = rank(folds((0.0, 0.0)).with_columns(acc=pl.col("model") == "m0")).to_text()
    assert "Holm)." in constant


def test_rows_are_in_the_units_of_the_file():
    frame = folds((0.1, 0.0)).with_columns(loss=1 - pl.col("acc"))
    up, down = rank(frame, metric="acc").rows, rr.rank(frame, wide=True, metric="loss", lower="loss").rows
    for high, low in zip(up, down, strict=True):
        assert low.mean == pytest.approx(1 - high.mean)
        assert low.difference == pytest.approx(-high.difference)
        assert (low.difference_low, low.difference_high) == pytest.approx(
            (-high.difference_high, -high.difference_low)
        )


def test_metrics_are_ranked_separately():
    frame = folds((0.1, 0.0, 0.0), ("acc", "auc"))
    with pytest.raises(UsageError, match="a combined score of several metrics needs scores by sample"):
        rank(frame)
    result = rr.rank(frame, wide=True, higher=["acc", "auc"], per_metric=True)
    assert {row.method for row in result.rows} == {"mean@acc", "mean@auc"}
    assert set(result.document.meta()["smallest_visible"]) == {"acc", "auc"}


def test_findings_carry_figures_of_sentences():
    kinds = {finding.kind: finding for finding in rank(folds((0.1, 0.0))).document.findings}
    assert list(kinds) == ["ahead", "gain", "counted-as", "detectable-difference"]
    assert kinds["counted-as"].figures["effective_size"] == pytest.approx(1 / (0.01 + 1.5 / 9))
    assert kinds["ahead"].answer == "significant"


def test_no_test_gives_no_intervals():
    result = rank(folds((0.1, 0.0)), no_test=True)
    assert "Nothing was tested" in result.verdict
    assert result.rows[0].rank_low is None
    assert result.rows[0].difference_low is None


@pytest.mark.parametrize("options", [{"all_methods": True}, {"stability": [5]}, {"method": ["MWR"]}])
def test_per_sample_methods_are_refused(options):
    with pytest.raises(UsageError, match="needs scores by sample"):
        rank(folds(), **options)


def test_data_sets_are_the_sampling_units():
    """One model is better on six data sets by varying amounts; five are too few to generalise."""
    rng = np.random.default_rng(1)
    rows = [
        (model, f"d{d}", fold, 0.8 + lift * (d + 1) + rng.normal(0, 0.001))
        for model, lift in (("a", 0.01), ("b", 0.0))
        for d in range(6)
        for fold in range(5)
    ]
    frame = pl.DataFrame(rows, schema=["model", "dataset", "fold", "acc"], orient="row")
    result = rank(frame)
    assert "30 folds of 6 data sets count as 6" in result.verdict
    d = frame.pivot(on="model", index="dataset", values="acc", aggregate_function="mean")
    from scipy.stats import ttest_rel

    low, _ = ttest_rel(d["b"], d["a"]).confidence_interval(0.95)
    assert result.rows[1].difference_low == pytest.approx(low, rel=1e-6)
    few = rank(frame.filter(pl.col("dataset") != "d5"))
    assert "25 folds of 5 data sets share training rows" in few.verdict


def test_two_folds_are_too_few():
    with pytest.raises(InputError, match="too few to estimate their variance"):
        rank(folds(count=1).filter(pl.col("fold") < 2))


def test_a_gate_on_means_of_folds():
    frame = folds((0.1, 0.0))
    options = {"wide": True, "higher": ["acc"]}
    assert rr.gate(frame, better="m0:m1", **options).rows[0].verdict == "pass"
    assert rr.gate(frame, better="m1:m0", **options).rows[0].verdict == "fail"
    even = rr.gate(folds(), better="m0:m1", **options)
    assert even.rows[0].verdict == "inconclusive"
    assert even.rows[0].samples == 5
    with pytest.raises(UsageError, match="folds allow only comparisons of means"):
        rr.gate(frame, better="m0:m1", on="ssd", **options)


def leaderboard(holes=0.4, tasks=30, lift=0.0, seed=0, k=5):
    """Scores of k models on tasks of unequal difficulty, with missing scores in every row."""
    rng = np.random.default_rng(seed)
    difficulty = np.sort(rng.normal(0, 10, tasks))
    scores = 50 + difficulty + rng.normal(0, 3, (k, tasks))
    scores[0] += lift
    scores[rng.random((k, tasks)) < holes] = np.nan
    names = [f"m{i}" for i in range(k)]
    return pl.DataFrame(
        {"model": names} | {f"task{t:02}": scores[:, t] for t in range(tasks)}, nan_to_null=True
    )


def test_pairs_use_their_shared_tasks():
    result = rr.rank(leaderboard(lift=8.0), higher="*")
    assert result.verdict.startswith(
        "Ship m0: its mean score is significantly better than that of all 4 others."
    )
    assert "shared samples, the mean score of m0 is" in result.verdict
    assert result.document.provenance.settings["missing"] == "shared"
    level = rr.rank(leaderboard(), higher="*")
    assert "no significant difference" in level.verdict.lower()


def test_ranking_adjusts_for_task_difficulty():
    frame = leaderboard(holes=0.0, lift=6.0, tasks=24)
    easy = [f"task{t:02}" for t in range(12, 24)]
    frame = frame.with_columns(
        pl.when(pl.col("model") == "m0").then(None).otherwise(pl.col(easy)).name.keep()
    )
    result = rr.rank(frame, higher="*")
    assert result.rows[0].model == "m0"
    assert result.rows[0].mean < min(row.mean for row in result.rows[1:])
    lower = rr.rank(frame.with_columns(-pl.exclude("model")), lower="*")
    assert [row.model for row in lower.rows] == [row.model for row in result.rows]
    assert lower.rows[1].difference == pytest.approx(-result.rows[1].difference)


def long(scores):
    rows = [(m, t, s) for m, by_sample in scores.items() for t, s in by_sample.items()]
    return pl.DataFrame(rows, schema=["model", "sample", "acc"], orient="row")


def few(name, tasks, lift=0.0, seed=0):
    rng = np.random.default_rng([seed, *name.encode()])
    return {f"t{t:02}": 10 + t + lift + rng.normal(0, 0.5) for t in tasks}


@pytest.mark.parametrize(("models", "named"), [("c", "c"), ("cdefgh", "c, d, e, f … and 2 more")])
def test_pair_with_few_shared_samples_is_not_compared(models, named):
    scores = {"a": few("a", range(10), 5.0), "b": few("b", range(20))}
    scores |= {name: few(name, range(8, 20), 1.0 - at) for at, name in enumerate(models)}
    result = rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert "a has a significantly better mean acc than b, but was not compared" in result.verdict
    words = " ".join(result.to_text(explain=True).split())
    assert f"a is not compared with {named}, because they share fewer than 6 samples." in words
    assert "not compared, because each pair shares different samples." in words
    row = next(row for row in result.rows if row.model == "c")
    assert (row.difference, row.difference_low) == (None, None)


def test_detectable_rarity_counts_shared_samples():
    scores = {"a": few("a", range(60)), "b": few("b", range(20, 90), 1.0)}
    result = rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    undetectable = next(finding for finding in result.document.findings if finding.kind == "detection-limit")
    assert undetectable.figures["effective_size"] == 40
    assert "40 independent samples cannot detect" in result.to_text()


def test_disconnected_groups_and_cycles_are_refused():
    scores = {"a": few("a", range(10)), "b": few("b", range(10)), "c": few("c", range(10, 20))}
    with pytest.raises(InputError, match="share fewer than 6 samples") as caught:
        rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert caught.value.found.startswith("2 groups: a, b; c")
    disjoint = {"a": few("a", range(10)), "c": few("c", range(10, 20))}
    for options, message in (
        ({}, "cannot be ranked across groups"),
        ({"stability": [10]}, "scores by sample"),
    ):
        with pytest.raises(RiskrankError, match=message):
            rr.rank(long(disjoint), wide=True, higher="acc", missing="shared", **options)
    ahead = {"x": ("a", "b"), "y": ("b", "c"), "z": ("c", "a")}
    scores = {name: {} for name in "abc"}
    for part, (winner, loser) in ahead.items():
        for t in range(8):
            scores[winner][f"{part}{t}"] = 5.0 + 0.1 * t
            scores[loser][f"{part}{t}"] = 1.0 - 0.1 * t
    with pytest.raises(InputError, match="the pairwise wins form a cycle") as caught:
        rr.rank(long(scores), wide=True, higher="acc", missing="shared")
    assert caught.value.found.count("is significantly better than") == 3


@pytest.mark.parametrize(
    "more", [{"unpaired": True}, {"group_by": "part"}, {"folds": 5}, {"noise": ["part"]}]
)
def test_shared_samples_conflict_with_other_designs(more):
    frame = pl.concat([long({m: few(m, range(10))}).with_columns(part=pl.lit(p)) for m in "ab" for p in "xy"])
    frame = frame.unique(["model", "sample"]) if "noise" not in more else frame
    with pytest.raises(UsageError, match="cannot be used together"):
        rr.rank(frame, wide=True, metric="acc", higher="acc", missing="shared", **more)


def battles(ahead, votes_per_question=1, people=40, seed=0):
    """Votes on two of four models each: the first wins more often by `ahead`, the others are equal."""
    rng, names = np.random.default_rng(seed), ["a", "b", "c", "d"]
    rows = []
    for at in range(900):
        first, second = rng.permutation(4)[:2].tolist()
        won = rng.random() < 0.5 + ahead * ((first == 0) - (second == 0))
        winner = names[first] if won else names[second]
        question, person = f"q{at // votes_per_question:03}", f"p{at // votes_per_question % people:02}"
        rows.append((question, names[first], names[second], winner, person))
    frame = pl.DataFrame(rows, schema=["prompt", "model_a", "model_b", "winner", "rater"], orient="row")
    both = pl.concat_list("model_a", "model_b").list.sort().list.join("-")
    return frame.unique(["prompt", both], maintain_order=True)


@pytest.mark.parametrize("votes_per_question", [1, 3])
def test_arena_is_ranked_by_pairwise_votes(votes_per_question):
    frame = battles(0.2, votes_per_question).drop("rater")
    result = rr.rank(frame)
    assert result.verdict.startswith("Ship a: ")
    assert [row.method for row in result.rows] == ["mean@bradley_terry"] * 4
    assert sum(row.mean for row in result.rows) == pytest.approx(0)
    assert result.rows[0].mean - result.rows[1].mean == pytest.approx(np.log(0.7 / 0.3), abs=0.25)
    rates = result.document.meta()["win_rates"]
    assert rates["a"] == pytest.approx(1 / (1 + np.exp(-result.rows[0].mean)))
    assert "Bradley–Terry strengths, α 0.05" in result.to_text()
    assert not [
        row for row in rr.rank(battles(0.0, votes_per_question).drop("rater")).rows if row.rank_high == 1
    ]


def test_votes_of_biased_raters_are_clustered():
    frame = battles(0.0, people=12)
    taste = pl.col("rater").str.slice(1).cast(pl.Int64) % 12 < 9
    plays = (pl.col("model_a") == "a") | (pl.col("model_b") == "a")
    other = pl.when(pl.col("model_a") == "a").then("model_b").otherwise("model_a")
    likes = frame.with_columns(
        winner=pl.when(plays).then(pl.when(taste).then(pl.lit("a")).otherwise(other)).otherwise("winner")
    )
    assert "Ship a" in rr.rank(likes.drop("rater")).verdict
    assert "Ship a" not in rr.rank(likes).verdict


def votes_on(*rounds):
    """Return votes on three models: first model, second model, winner, and their number."""
    rows = [(a, b, winner) for a, b, winner, count in rounds for _ in range(count)]
    frame = pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row")
    return frame.select(
        pl.format("v{}", pl.int_range(pl.len())).alias("vote_id"), "model_a", "model_b", "winner"
    )


EVEN = [(a, b, w, 12) for a, b in ("xy", "yx", "yz", "zy", "xz", "zx") for w in (a, b)]


def test_models_of_equal_strength_are_ordered_by_name():
    one_sided = [(a, b, a, 12) for a, b, *_ in EVEN]
    rows = rr.rank(votes_on(*EVEN, *one_sided)).rows
    assert [(row.model, row.score) for row in rows] == [("x", 0.0), ("y", 0.0), ("z", 0.0)]


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (votes_on(*EVEN), ""),
        (
            votes_on(*EVEN, *[(a, b, a, 12) for a, b, *_ in EVEN], ("x", "y", "x", 6), ("y", "x", "x", 2)),
            "answers in model_a won 222 of 296 votes (75%)",
        ),
        (
            votes_on(("x", "y", "x", 30), ("y", "z", "y", 30), ("z", "x", "z", 30)),
            "direct votes form a cycle, so no order fits them: x beats y, y beats z, z beats x",
        ),
        (
            votes_on(*((*pair, "x", 15) for pair in ("xy", "yx")), ("y", "z", "y", 20), ("z", "y", "z", 20)),
            "without added votes, the strengths of y, z and x would be infinite",
        ),
        (
            votes_on(*EVEN).with_columns(rater=pl.format("r{}", (pl.int_range(pl.len()) - 20).clip(0) % 40)),
            "rater r0 gave 24 of 144 votes",
        ),
    ],
)
def test_votes_that_depend_on_more_than_the_models(frame, text):
    result = rr.rank(frame)
    checks = [finding.sentence for finding in result.document.findings if finding.kind == "votes"]
    assert [text in check for check in checks] == [True] * bool(text)
    assert not text or text in " ".join(result.warnings)


def test_flipped_verdicts_are_part_of_the_verdict():
    rows = [(f"q{q}", *(("new", "old") if at else ("old", "new"))) for q in range(40) for at in (0, 1)]
    frame = pl.DataFrame(rows, schema=["question_id", "first", "second"], orient="row")
    won = pl.when(pl.col("question_id") < "q2").then(pl.lit("new")).otherwise("first")
    verdict = rr.rank(frame.with_columns(winner=won)).verdict
    assert "the judge prefers a position: answers in first won 68 of 80 votes (85%)" in verdict
    assert "28 of 40 verdicts flip with the order of the answers" in verdict


def test_votes_that_do_not_connect_the_models_are_refused():
    with pytest.raises(InputError, match="no votes connect some of the models") as caught:
        rr.rank(votes_on(("x", "y", "x", 20), ("y", "x", "y", 20), ("v", "w", "v", 20), ("w", "v", "v", 20)))
    assert "x,y" in caught.value.suggestions[0][0]
    assert "v,w" in caught.value.suggestions[1][0]


def test_voters_and_prompts_are_crossed():
    frame = votes_on(*EVEN, *EVEN).with_columns(
        prompt_id=pl.format("p{}", pl.int_range(pl.len()) % 32),
        rater=pl.format("r{}", pl.int_range(pl.len()) * 7 % 15),
    )
    result = rr.rank(frame)
    assert set(result.document.provenance.settings["noise"]) == {"prompt_id", "rater"}
    assert "Student's t of Bradley–Terry strengths" in result.to_text()


def test_agreement_of_each_pair_of_judges():
    rng = np.random.default_rng(4)
    quality = rng.normal(size=(2, 30))
    noise = {"strict": 0.3, "kind": 0.4, "odd": 3.0}
    rows = [
        (
            model,
            f"s{sample}",
            judge,
            float(np.clip(np.rint(3 + quality[at, sample] + rng.normal(0, sd)), 1, 5)),
        )
        for judge, sd in noise.items()
        for at, model in enumerate("ab")
        for sample in range(30)
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "judge", "grade"], orient="row")
    result = rr.rank(frame, higher="grade")
    pairs = {(p.first, p.second): p for p in result.document.agreements}
    assert {*pairs} == {("kind", "odd"), ("kind", "strict"), ("odd", "strict")}
    assert pairs["kind", "strict"].low > max(p.value for names, p in pairs.items() if "odd" in names)
    assert "kind and strict weighted κ" in result.to_text()
    assert [entry["second"] for entry in result.document.meta()["judges"]] == ["odd", "strict", "strict"]
    assert rr.check(frame, higher="grade").document.inspection.agreements == tuple(pairs.values())


@pytest.mark.parametrize(
    ("shifts", "sentence"),
    [
        ((2, 0, 0), "The judges disagree on"),
        ((2, -2, 0), "j1 favours old ("),
        ((2, 2, 2), ""),
        ((0, 0, 0), ""),
    ],
)
def test_verdict_names_the_judges_that_disagree(shifts, sentence):
    """Each judge compares the models by a paired test; the mean over judges hides which of them decides."""
    noise = np.random.default_rng(0).normal(size=(3, 2, 28))
    rows = [
        (model, f"s{at}", f"j{judge}", shift * (model == "new") + noise[judge, number, at])
        for judge, shift in enumerate(shifts)
        for number, model in enumerate(("old", "new"))
        for at in range(28)
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "judge", "rating"], orient="row")
    result = rr.rank(frame, higher="rating")
    disagreements = [f for f in result.document.findings if f.kind == "judges-disagree"]
    assert bool(disagreements) == bool(sentence)
    assert sentence in result.verdict
