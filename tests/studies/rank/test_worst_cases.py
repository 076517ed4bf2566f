"""A model that is better on most samples and very bad on a few does not hide behind a combined score."""

import re

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests.tables import long_table

N = 300


def scores(seed=0, *, alike=True, bad=("p", "q"), better=("p", "q"), gain=2.9):
    """Model z is ahead by a gain on the metrics named, but for −40 on 20 samples; alike: on the same ones."""
    rng = np.random.default_rng(seed)
    same, found = rng.choice(N, 20, replace=False), {}
    for metric in ("p", "q"):
        shared, ill = rng.normal(0, 1, N), same if alike else rng.choice(N, 20, replace=False)
        for at, model in enumerate(("z", "safe", "third", "last")):
            own = shared + rng.normal(0, 1.5, N) - [0, 0, 0.8, 1.6][at]
            if model == "z":
                own += gain * (metric in better)
                own[ill] -= (40 + gain) * (metric in bad)
            found[model, metric] = own
    return found


def frame(found, rename=None, factor=None):
    rename, factor = rename or {}, factor or {}
    return pl.concat(
        long_table({rename.get(model, model): own * factor.get(metric, 1.0)}, metric, int)
        for (model, metric), own in found.items()
    )


def ranked(found, *, rename=None, factor=None, **options):
    given = {"higher": "*", "resamples": 1000, "jobs": 1} | options
    if "lower" in options:
        del given["higher"]
    return rr.rank(frame(found, rename, factor), **given)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_disaster_on_both_metrics_is_not_shipped(seed, alike):
    result = ranked(scores(seed, alike=alike))
    assert result.verdict.startswith("No model to ship on this evidence: z comes first on the combined score")
    assert re.search(r"but its worst 5 % on [pq] average −4\d\.\d against −[34]\.\d of safe", result.verdict)
    assert "Look at safe instead" in result.verdict
    assert result.document.certainty == "disagreement"
    assert re.search(r"! z: worse bad cases on (p and q|q and p) than safe", result.to_text())


@pytest.mark.parametrize("metric", [None, "p", "q"])
def test_a_mean_that_is_better_on_every_metric_is_shipped_with_a_word_on_the_tail(metric):
    """Together as on each alone, where the gain pays for the disasters many times."""
    result = ranked(scores(gain=12), metric=metric)
    assert result.verdict.startswith("Ship z: significantly better than safe, third and last")
    assert result.document.certainty == "clear"
    said = (
        "Mind the tail of z: its worst 5 % on"
        if metric is None
        else "The bad cases of z are worse: the worst 5 %"
    )
    assert said in result.verdict


def test_better_means_with_disasters_speak_against_nobody_who_stands_instead():
    """The mean of z is better on p and as good on q, and it has the bad cases of both."""
    found = scores(gain=7.5)
    found["z", "q"] += found["safe", "q"].mean() - found["z", "q"].mean() + 0.05
    verdict = ranked(found).verdict
    assert verdict.startswith("No model to ship on this evidence: z comes first")
    assert "Look at safe instead" in verdict


@pytest.mark.parametrize("metric", ["p", "q"])
def test_nor_on_each_alone(metric):
    result = ranked(scores(), metric=metric)
    assert result.document.leading[metric].first == 1
    assert "z has the best mean and hides a risk" in result.verdict or "bad cases of z" in result.verdict


def test_costs_say_the_same_the_other_way_round():
    both = ranked(scores())
    mirrored = ranked({at: -own for at, own in scores().items()}, lower="p,q")
    assert mirrored.document.certainty == "disagreement"
    assert mirrored.verdict == both.verdict.replace("−40.4", "40.4").replace("−3.9", "3.9")
    one, other = (each.document.meta()["recommendations"][0]["worse_tails"] for each in (both, mirrored))
    assert [entry["tvar"] for entry in other] == [-entry["tvar"] for entry in one]


def test_names_and_units_change_no_verdict():
    plain = ranked(scores()).document
    names = {"z": "a", "safe": "y", "third": "b", "last": "x"}
    renamed = ranked(scores(), rename=names).verdict
    assert renamed.startswith("No model to ship on this evidence: a comes first")
    assert "of y" in renamed
    scaled = ranked(scores(), factor={"p": 1000.0, "q": 1.0})
    entries = plain.meta()["recommendations"][0]["worse_tails"]
    for entry, large in zip(
        entries, scaled.document.meta()["recommendations"][0]["worse_tails"], strict=True
    ):
        times = 1000 if entry["metric"] == "p" else 1
        assert large["tvar"] == pytest.approx(times * entry["tvar"])
        assert large["p_adjusted"] == entry["p_adjusted"]
    assert scaled.document.certainty == plain.certainty


def test_what_is_gained_elsewhere_is_a_trade_that_is_told():
    """Nothing is bad about z on q: whoever ships it has to mind p."""
    result = ranked(scores(bad=("p",)))
    assert result.verdict.startswith(
        "Ship z: significantly better than safe, third and last on the combined score."
    )
    assert "Mind the tail of z: its worst 5 % on p average −40.4 against −3.9 of safe." in result.verdict
    assert "z is better on q" in result.verdict
    assert "! z: worse bad cases on p than safe" in result.to_text()


def test_a_metric_of_no_weight_is_nobody_s_disaster():
    found = scores(bad=("q",))
    assert "tail of z" in ranked(found).verdict
    result = ranked(found, weight={"p": 1.0, "q": 0.0})
    assert result.document.meta()["recommendations"][0]["worse_tails"] == []
    assert result.document.certainty == "clear"


def test_a_trade_of_mean_and_tail_within_a_metric_is_no_hidden_risk():
    """By p alone z comes first all the same: the ranking of the metric has weighed its tail."""
    result = ranked(scores(bad=("p",), gain=8.0))
    assert result.verdict.startswith("Ship z")
    assert {entry["against"] for entry in result.document.meta()["recommendations"][0]["worse_tails"]}
    assert "Mind" not in result.verdict


def test_who_is_looked_at_instead_hides_none_either():
    """Two of three rankings put a bold model before the safe one by a hair; on the third it has disasters."""
    found, rng = scores(), np.random.default_rng(7)
    for model in ("z", "safe", "third", "last"):
        found[model, "r"] = found[model, "q"] + rng.normal(0, 0.5, N)
    for metric in ("p", "q", "r"):
        apart = rng.normal(0, 0.3, N)
        found["bold", metric] = found["safe", metric] + apart - apart.mean() + 0.01
    found["bold", "p"][rng.choice(N, 20, replace=False)] -= 10
    found["bold", "p"] += 10 * 20 / N
    result = ranked(found)
    (told,) = result.document.meta()["recommendations"]
    assert told["leader"] == "z"
    assert told["choice"] == "safe"
    assert "bold" not in told["unbeaten"]


def test_every_format_says_it():
    result = ranked(scores())
    (told,) = result.document.meta()["recommendations"]
    assert not told["holds"]
    assert "safe" in told["milder_on_a_metric"]
    shown = {(entry["metric"], entry["against"]) for entry in told["worse_tails"]}
    assert {("p", "safe"), ("q", "safe")} <= shown
    tail, against = result.document.quotes
    # They decide, and come first. The figure is of the model to look at, beside that of the first.
    assert re.fullmatch(r"−[34]\.\d against −4\d\.\d", tail.figure)
    assert re.match(r"mean of the worst 5 % on [pq] of safe and of z", tail.words)
    assert "against z" in against.words


@pytest.mark.parametrize("options", [{"no_test": True}, {"paper_exact": True, "resamples": 1000}])
def test_without_resamples_of_tails_nothing_is_claimed(options):
    result = rr.rank(frame(scores()), higher="*", jobs=1, **options)
    assert all(one["worse_tails"] == [] for one in result.document.meta()["recommendations"])
    assert "worst 5 % on" not in result.verdict


def test_too_few_resamples_are_no_sign_of_mild_cases():
    """With 200 no p-value of sixteen is below .05; the models themselves are told apart."""
    found, rng = scores(), np.random.default_rng(8)
    for (model, metric), own in [*found.items()]:
        for copy in range(3):
            found[model, f"{metric}{copy}"] = own + rng.normal(0, 0.1, N)
    result = ranked(found, models=["z", "safe", "last"], resamples=200)
    assert result.document.leading["P(IC)"].undecided == []
    assert result.document.certainty == "not decided"
    assert "worse than those of last and safe, too few resamples tell." in result.verdict
    (told,) = result.document.meta()["recommendations"]
    assert told["not_decided_on_a_metric"] == ["last", "safe"]
    enough = ranked(found, models=["z", "safe", "last"], resamples=1000)
    assert enough.document.certainty == "disagreement"


def test_where_samples_belong_to_tasks_or_clusters_or_models():
    table = frame(scores()).with_columns(
        task=pl.col("sample") % 4, document=pl.col("sample") // 2 * 4 + pl.col("sample") % 4
    )
    for options in ({"task": "task"}, {"cluster": "document"}, {"unpaired": True}):
        result = rr.rank(table, higher="*", resamples=1000, jobs=1, **options)
        assert result.document.certainty == "disagreement", options
        assert "Look at safe instead" in result.verdict, options


@pytest.mark.usefixtures("no_pictures")
def test_a_page_says_of_worse_cases_in_which_ways_they_are_worse():
    """They are no hidden risk by its definition, and nobody is ahead of the first head to head."""
    page = rr.report(frame(scores()), higher="*", resamples=1000, jobs=1)
    assert page.verdict == ranked(scores()).verdict
    meta = page.document.meta()
    (told,) = meta["recommendations"]
    assert (told["ahead_head_to_head"], meta["hidden_risks"]) == ([], [])
    against = page.document.quotes[-1]
    assert against.words == "others speak against z"
    assert against.figure == f"{len(told['milder_on_a_metric'])} of 3"
    html = re.sub(r"<[^>]+>", "", page.to_html())
    assert "Hidden risks: none on the combined score." in html
    assert "none is proven" not in html
    assert re.search(r"Worse bad cases on single metrics: z: worst.5.% on [pq] average", html)
    assert re.search(r"! z: worse bad cases on (p and q|q and p) than safe", html)
