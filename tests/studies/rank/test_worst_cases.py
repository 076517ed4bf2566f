"""A model with a few severe failures is not hidden by a good combined score."""

import re

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests.tables import long_table

N = 300


def scores(seed=0, *, same_samples=True, bad=("p", "q"), better=("p", "q"), gain=2.9):
    """Model z leads by a gain, except for −40 on 20 samples, which the metrics share or not."""
    rng = np.random.default_rng(seed)
    common, columns = rng.choice(N, 20, replace=False), {}
    for metric in ("p", "q"):
        shared, failures = rng.normal(0, 1, N), common if same_samples else rng.choice(N, 20, replace=False)
        for at, model in enumerate(("z", "safe", "third", "last")):
            values = shared + rng.normal(0, 1.5, N) - [0, 0, 0.8, 1.6][at]
            if model == "z":
                values += gain * (metric in better)
                values[failures] -= (40 + gain) * (metric in bad)
            columns[model, metric] = values
    return columns


def frame(columns, rename=None, factor=None):
    rename, factor = rename or {}, factor or {}
    return pl.concat(
        long_table({rename.get(model, model): values * factor.get(metric, 1.0)}, metric, int)
        for (model, metric), values in columns.items()
    )


def ranked(columns, *, rename=None, factor=None, **options):
    settings = {"higher": "*", "resamples": 1000, "jobs": 1} | options
    if "lower" in options:
        del settings["higher"]
    return rr.rank(frame(columns, rename, factor), **settings)


@pytest.fixture(scope="module")
def plain():
    return ranked(scores())


@pytest.mark.parametrize(("seed", "same_samples"), [(0, True), (1, False), (2, False)])
def test_tail_failure_on_both_metrics_is_not_shipped(seed, same_samples):
    result = ranked(scores(seed, same_samples=same_samples))
    assert result.verdict.startswith("No recommendation: z comes first on the combined score")
    assert re.search(r"but its worst 5 % on [pq] average −4\d\.\d against −[34]\.\d for safe", result.verdict)
    assert "Consider safe instead" in result.verdict
    assert result.document.certainty == "disagreement"
    assert re.search(r"! z: worse bad cases on (p and q|q and p) than safe", result.to_text())


@pytest.mark.parametrize("metric", [None, "p", "q"])
def test_better_means_ship_with_a_tail_warning(metric):
    """The gain outweighs the failures, on both metrics together and on each alone."""
    result = ranked(scores(gain=12), metric=metric)
    assert result.verdict.startswith("Ship z: significantly better than safe, third and last")
    assert result.document.certainty == "clear"
    warning = "Tail risk of z: its worst 5 % on" if metric is None else "z has worse bad cases: the worst 5 %"
    assert warning in result.verdict


def test_better_means_with_tail_failures_do_not_contradict():
    """Model z has the better mean on p and the worse tail on both metrics."""
    columns = scores(gain=7.5)
    columns["z", "q"] += columns["safe", "q"].mean() - columns["z", "q"].mean() + 0.05
    verdict = ranked(columns).verdict
    assert verdict.startswith("No recommendation: z comes first")
    assert "Consider safe instead" in verdict


@pytest.mark.parametrize("metric", ["p", "q"])
def test_tail_failure_on_a_single_metric(metric):
    result = ranked(scores(), metric=metric)
    assert result.document.leaders[metric].first == 1
    verdict = result.verdict
    assert "z has the best mean but hides a tail risk" in verdict or "z has worse bad cases" in verdict


def test_negated_costs_give_mirrored_verdict(plain):
    mirrored = ranked({at: -values for at, values in scores().items()}, lower="p,q")
    assert mirrored.document.certainty == "disagreement"
    assert mirrored.verdict == plain.verdict.replace("−40.4", "40.4").replace("−3.9", "3.9")
    tails, negated = (
        result.document.meta()["recommendations"][0]["worse_tails"] for result in (plain, mirrored)
    )
    assert [entry["tvar"] for entry in negated] == [-entry["tvar"] for entry in tails]


def test_names_and_units_change_no_verdict(plain):
    names = {"z": "a", "safe": "y", "third": "b", "last": "x"}
    renamed = ranked(scores(), rename=names).verdict
    assert renamed.startswith("No recommendation: a comes first")
    assert "for y" in renamed
    scaled = ranked(scores(), factor={"p": 1000.0, "q": 1.0})
    entries = plain.document.meta()["recommendations"][0]["worse_tails"]
    for entry, large in zip(
        entries, scaled.document.meta()["recommendations"][0]["worse_tails"], strict=True
    ):
        times = 1000 if entry["metric"] == "p" else 1
        assert large["tvar"] == pytest.approx(times * entry["tvar"])
        assert large["p_adjusted"] == entry["p_adjusted"]
    assert scaled.document.certainty == plain.document.certainty


def test_tail_failure_on_a_metric_is_a_reported_trade():
    """Model z has no tail failures on q, only on p."""
    result = ranked(scores(bad=("p",)))
    assert result.verdict.startswith(
        "Ship z: significantly better than safe, third and last on the combined score."
    )
    assert "Tail risk of z: its worst 5 % on p average −40.4 against −3.9 for safe." in result.verdict
    assert "z is better on q" in result.verdict
    assert "! z: worse bad cases on p than safe" in result.to_text()


def test_metric_with_zero_weight_is_ignored():
    columns = scores(bad=("q",))
    assert "Tail risk of z" in ranked(columns).verdict
    result = ranked(columns, weight={"p": 1.0, "q": 0.0})
    assert result.document.meta()["recommendations"][0]["worse_tails"] == []
    assert result.document.certainty == "clear"


def test_trade_within_a_metric_is_no_hidden_risk():
    """Model z ranks first by p alone, which already accounts for its tail."""
    result = ranked(scores(bad=("p",), gain=8.0))
    assert result.verdict.startswith("Ship z")
    assert {entry["against"] for entry in result.document.meta()["recommendations"][0]["worse_tails"]}
    assert "Mind" not in result.verdict


def test_alternative_model_hides_no_tail_failure():
    """A bold model narrowly leads on two of three metrics, and fails badly on the third."""
    columns, rng = scores(), np.random.default_rng(7)
    for model in ("z", "safe", "third", "last"):
        columns[model, "r"] = columns[model, "q"] + rng.normal(0, 0.5, N)
    for metric in ("p", "q", "r"):
        noise = rng.normal(0, 0.3, N)
        columns["bold", metric] = columns["safe", metric] + noise - noise.mean() + 0.01
    columns["bold", "p"][rng.choice(N, 20, replace=False)] -= 10
    columns["bold", "p"] += 10 * 20 / N
    result = ranked(columns)
    (recommendation,) = result.document.meta()["recommendations"]
    assert recommendation["leader"] == "z"
    assert recommendation["choice"] == "safe"
    assert "bold" not in recommendation["unbeaten"]


def test_json_and_quotes_report_worse_tails(plain):
    (recommendation,) = plain.document.meta()["recommendations"]
    assert not recommendation["holds"]
    assert "safe" in recommendation["milder_on_a_metric"]
    worse_tails = {(entry["metric"], entry["against"]) for entry in recommendation["worse_tails"]}
    assert {("p", "safe"), ("q", "safe")} <= worse_tails
    tail, against = plain.document.quotes
    # Tails decide and come first: the recommended model against the leader.
    assert re.fullmatch(r"−[34]\.\d against −4\d\.\d", tail.figure)
    assert re.match(r"mean of the worst 5 % on [pq] of safe and z", tail.words)
    assert "first place of z" in against.words


@pytest.mark.parametrize("options", [{"no_test": True}, {"paper_exact": True, "resamples": 1000}])
def test_without_resamples_of_tails_nothing_is_claimed(options):
    result = rr.rank(frame(scores()), higher="*", jobs=1, **options)
    assert all(
        recommendation["worse_tails"] == [] for recommendation in result.document.meta()["recommendations"]
    )
    assert "worst 5 % on" not in result.verdict


def test_too_few_resamples_leave_tails_undecided():
    """With 200 resamples no p-value of sixteen is below 0.05; the models are separated."""
    columns, rng = scores(), np.random.default_rng(8)
    for (model, metric), values in [*columns.items()]:
        for copy in range(3):
            columns[model, f"{metric}{copy}"] = values + rng.normal(0, 0.1, N)
    result = ranked(columns, models=["z", "safe", "last"], resamples=200)
    assert result.document.leaders["P(IC)"].undecided == []
    assert result.document.certainty == "not decided"
    assert "has worse bad cases on a metric than last and safe." in result.verdict
    (recommendation,) = result.document.meta()["recommendations"]
    assert recommendation["not_decided_on_a_metric"] == ["last", "safe"]
    enough = ranked(columns, models=["z", "safe", "last"], resamples=1000)
    assert enough.document.certainty == "disagreement"


@pytest.mark.slow
def test_clustered_and_unpaired_designs():
    table = frame(scores()).with_columns(
        task=pl.col("sample") % 4, document=pl.col("sample") // 2 * 4 + pl.col("sample") % 4
    )
    for options in ({"task": "task"}, {"cluster": "document"}, {"unpaired": True}):
        result = rr.rank(table, higher="*", resamples=1000, jobs=1, **options)
        assert result.document.certainty == "disagreement", options
        assert "Consider safe instead" in result.verdict, options


@pytest.mark.usefixtures("no_pictures")
def test_page_lists_metrics_with_worse_tails(plain):
    """They are no hidden risks by definition, and no model beats the first head to head."""
    page = rr.report(frame(scores()), higher="*", resamples=1000, jobs=1)
    assert page.verdict == plain.verdict
    meta = page.document.meta()
    (recommendation,) = meta["recommendations"]
    assert (recommendation["ahead_head_to_head"], meta["hidden_risks"]) == ([], [])
    against = page.document.quotes[-1]
    assert against.words == "other models contradict the first place of z"
    assert against.figure == f"{len(recommendation['milder_on_a_metric'])} of 3"
    html = re.sub(r"<[^>]+>", "", page.to_html())
    assert "Hidden risks: none on the combined score." in html
    assert "none is significant" not in html
    assert re.search(r"Worse bad cases on single metrics: z: worst.5.% on [pq] average", html)
    assert re.search(r"! z: worse bad cases on (p and q|q and p) than safe", html)
