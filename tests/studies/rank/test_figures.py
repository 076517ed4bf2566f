import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.render.figures.rows import DIFFERENCES, PLACES, Forest, Interval, draw_forest
from riskrank.render.figures.style import PALETTE, QUIET
from riskrank.render.figures.text import curve_mark, model_mark
from riskrank.studies.rank.document import trade_off
from riskrank.studies.rank.figures import arrange_forest, arrange_mean_forest, method_ranks, pictures
from tests.tables import of_rows

SCORES = {
    "model": [name for name in "abcd" for _ in range(40)],
    "sample": list(range(40)) * 4,
    "metric": ["acc"] * 160,
    "score": [((7 * i) % 40 + 4 * j * (j < 3)) / 60 for j in range(4) for i in range(40)],
}


@pytest.fixture(scope="module")
def result():
    return rr.rank(SCORES, resamples=200, stability=(20, 30))


def test_forest_matches_ranking(result):
    study = result.document.study
    for method, ranking in study.rankings.items():
        forest = arrange_forest(study, method, result.document.units)
        rank, score, difference = forest.columns
        assert np.array_equal(forest.order, ranking.order)
        assert np.array_equal(rank.estimate, ranking.rank[ranking.order])
        assert np.array_equal(score.estimate, ranking.score[ranking.order])
        if ranking.rank_low is not None:
            assert np.array_equal(rank.low, ranking.rank_low[ranking.order])
            assert np.array_equal(rank.high, ranking.rank_high[ranking.order])
        rows = [row for row in result.rows if row.method == method]
        assert [row.rank for row in rows] == rank.estimate.tolist()
        assert difference.estimate.tolist() == [row.difference for row in rows]
        assert difference.low.tolist() == [row.difference_low for row in rows]
        assert difference.high.tolist() == [row.difference_high for row in rows]


def test_bump_chart_matches_rankings(result):
    study = result.document.study
    chart = method_ranks(study)
    for ranks, places, ranking in zip(chart.ranks, chart.positions, study.rankings.values(), strict=True):
        assert np.array_equal(ranks, ranking.rank)
        assert np.argsort(places).tolist() == ranking.order.tolist()


@pytest.mark.slow
def test_every_picture(result, legible):
    kinds = list(dict.fromkeys(name.partition("@")[0] for name in result.pictures))
    assert kinds == ["forest", "bump", "quantiles", "tvar", "cdf", "stability"]
    assert next(iter(result.pictures)) == "forest@R-SSD@acc"
    for name in kinds:
        legible(lambda name=name: result.plot(name))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 60, 90])
def test_legible(legible, names, count):
    places = np.arange(1.0, count + 1)
    gap = -np.sort(np.random.default_rng(0).random(count)) * 1e-6

    def column(label, values, width, kind=""):
        return Interval(label, values, values - width, values + width, kind)

    columns = (column("place", places, 1.0, PLACES), column("ε", places / count, 0.02))
    forest = Forest(np.arange(count), (*columns, column("mean, to the first", gap, 1e-7, DIFFERENCES)))
    words = legible(
        lambda: draw_forest(forest, names(count), "Places", "Words to read. " * 15, "R-SSD@P(IC)")
    )
    assert "mean, to the first (×10⁻⁶)" in words or "mean, to the first (×10⁻⁷)" in words
    assert ("50 others" in words) == (count == 90)


def _separated(gap):
    """Two metrics; one model leads by the given gap, the others are equal."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 40, 2)) + gap * (np.arange(5) == 2)[:, None, None]
    rows = [(name, i, m, scores[k, i, j]) for k, name in enumerate("abcde") for i in range(40) for j, m in PQ]
    names = ("model", "sample", "metric", "score")
    return {name: [*column] for name, column in zip(names, zip(*rows, strict=True), strict=True)}


PQ = tuple(enumerate("pq"))


@pytest.mark.parametrize("kind", ["quantiles", "tvar"])
@pytest.mark.parametrize("gap", [0.0, 4.0])
def test_curve_of_named_model_is_thicker(kind, gap):
    result = rr.rank(_separated(gap), resamples=1000, higher="*", jobs=1)
    leader = result.document.leaders["P(IC)"]
    assert bool(leader.recommended) == (gap > 0)
    lines = {line.get_gid(): line for line in result.plot(kind).axes[0].get_lines()}
    curves = [lines[curve_mark(model)] for model in range(5)]
    assert [line.get_color() for line in curves] == list(PALETTE[:5])
    thick = [model for model, line in enumerate(curves) if line.get_linewidth() > 2]
    assert thick == list(leader.recommended)


def test_bump_chart_is_labelled_with_its_columns():
    methods = rr.rank(_separated(4.0), all_methods=True, no_test=True, higher="*").plot("bump")
    metrics = rr.report(_separated(4.0), resamples=60, higher="*", jobs=1).document.metrics
    (chart,) = (picture for picture in pictures(metrics) if picture.name == "bump")
    for figure, noun in ((methods, "method"), (chart.draw(), "metric")):
        words = " ".join(text.get_text() for text in figure.texts)
        words += " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
        assert f"Ranks by every {noun}" in words.replace("\n", " ")
        assert f"Columns: {noun}s" in words.replace("\n", " ")
    assert "every metric" in chart.caption


def _swapped(negated_metric=""):
    """Three metrics: a is better on p, b is better on q, r is level."""
    rng = np.random.default_rng(0)
    up = {("a", "p"): 1.0, ("b", "q"): 1.0}
    frame = of_rows(
        (model, sample, metric, base + up.get((model, metric), 0.0) + rng.normal(scale=0.3))
        for metric in "pqr"
        for sample, base in enumerate(rng.normal(size=80))
        for model in "ab"
    )
    negated = pl.when(pl.col("metric") == negated_metric).then(-pl.col("score")).otherwise("score")
    return frame.with_columns(negated.alias("score"))


@pytest.mark.parametrize("lower", ["", "q"])
def test_trade_chart_shows_differences_by_metric(lower, legible):
    frame = _swapped(lower)
    directions = {"higher": [m for m in "pqr" if m != lower], "lower": [*lower]}
    result = rr.rank(frame, resamples=200, jobs=1, **directions)
    trade = trade_off(result.document)
    sign = 1 if trade.pair == (0, 1) else -1
    assert (sign * trade.side).tolist() == [1, -1, 0]
    for at, metric in enumerate("pqr"):
        a, b = (frame.filter(metric=metric, model=model).sort("sample")["score"].to_numpy() for model in "ab")
        lead = sign * (a - b) * (-1 if metric == lower else 1)
        expected = (lead.mean(), stats.sem(lead))
        assert (trade.difference[at], trade.error[at]) == pytest.approx(expected, rel=1e-9)
    words = legible(lambda: result.plot("trade"))
    first, other = ("ab"[model] for model in trade.pair)
    assert f"{other} ← better → {first}" in words
    # Its two colours are those of all pictures of the study.
    colors = {line.get_color() for line in result.plot("trade").axes[0].lines if line.get_marker() == "o"}
    curves = {line.get_color() for line in result.plot("tvar").axes[0].get_lines()}
    assert colors == {*curves, QUIET}


def test_trade_chart_compares_named_model_with_first_rival():
    result = rr.rank(_separated(4.0), resamples=1000, higher="*", jobs=1)
    assert result.document.named
    trade = trade_off(result.document)
    assert trade.pair == (*result.document.named, next(iter(result.document.leaders.values())).rivals[0])
    assert (trade.difference > 0).all()


@pytest.mark.slow
def test_noise_chart_shows_variance_shares(legible):
    rng = np.random.default_rng(1)
    judges, items = rng.normal(size=(2, 6)), rng.normal(size=40)
    rows = [
        (model, item, judge, items[item] + 2 * judges[m, judge] + rng.normal(scale=0.1))
        for m, model in enumerate("ab")
        for item in range(40)
        for judge in range(6)
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "judge", "quality"], orient="row")
    result = rr.rank(frame, noise=["judge"], wide=True, higher="quality")
    assert [*result.pictures] == ["forest@quality", "noise"]
    shares = result.document.components.shares
    percentages = [100 * share for sources, share in shares.items() if share >= 0.01 or len(sources) == 1]
    bars = [line for line in result.plot("noise").axes[0].lines if line.get_linewidth() == 7]
    assert [line.get_xdata()[1] for line in bars] == pytest.approx(sorted(percentages, reverse=True))
    words = legible(lambda: result.plot("noise"))
    assert "judge (6)" in words
    page = result.to_html()
    assert page.index("Places by mean quality") < page.index("Sources of noise")


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_forest_of_means_matches_rows(direction, legible):
    result = rr.rank("sample_data/folds.csv", wide=True, **{direction: "accuracy"})
    (ranking,) = result.document.rankings
    place, mean, gap = arrange_mean_forest(ranking).columns
    assert place.estimate.tolist() == [row.rank for row in result.rows]
    assert mean.estimate == pytest.approx([row.mean for row in result.rows])
    rows = [row for row in result.rows if row.rank > 1]
    assert gap.estimate[1:] == pytest.approx([row.difference for row in rows])
    assert gap.low[1:] == pytest.approx([row.difference_low for row in rows])
    assert gap.high[1:] == pytest.approx([row.difference_high for row in rows])
    legible(lambda: result.plot("forest"))


def test_forest_rows_have_model_colours():
    lines = rr.rank(_separated(4.0), resamples=1000, higher="*", jobs=1).plot("forest").axes[0].lines
    colors = {line.get_gid(): line.get_color() for line in lines if line.get_marker() == "o"}
    assert colors == {model_mark(model): PALETTE[model] for model in range(5)}
