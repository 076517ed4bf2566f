import numpy as np
import pytest

import riskrank as rr
from riskrank.shown.figures.forest import Forest, Interval, draw_forest
from riskrank.shown.figures.marks import curve_mark
from riskrank.shown.figures.style import NEUTRAL, PALETTE
from riskrank.studies.rank.figures import forest, method_ranks, pictures

SCORES = {
    "model": [name for name in "abcd" for _ in range(40)],
    "sample": list(range(40)) * 4,
    "metric": ["acc"] * 160,
    "score": [((7 * i) % 40 + 4 * j * (j < 3)) / 60 for j in range(4) for i in range(40)],
}


@pytest.fixture(scope="module")
def result():
    return rr.rank(SCORES, resamples=200, stability=(20, 30), stability_repeats=2)


def test_the_forest_is_the_ranking(result):
    study = result.document.study
    for method, ranking in study.rankings.items():
        found = forest(study, method, result.document.units)
        assert np.array_equal(found.order, ranking.order)
        assert np.array_equal(found.rank.estimate, ranking.rank[ranking.order])
        assert np.array_equal(found.score.estimate, ranking.score[ranking.order])
        if ranking.rank_low is not None:
            assert np.array_equal(found.rank.low, ranking.rank_low[ranking.order])
            assert np.array_equal(found.rank.high, ranking.rank_high[ranking.order])
        rows = [row for row in result.rows if row.method == method]
        assert [row.rank for row in rows] == found.rank.estimate.tolist()
        assert found.difference.estimate.tolist() == [row.difference for row in rows]
        assert found.difference.low.tolist() == [row.difference_low for row in rows]
        assert found.difference.high.tolist() == [row.difference_high for row in rows]


def test_the_bump_chart_is_the_rankings(result):
    study = result.document.study
    found = method_ranks(study)
    for ranks, places, ranking in zip(found.ranks, found.places, study.rankings.values(), strict=True):
        assert np.array_equal(ranks, ranking.rank)
        assert np.argsort(places).tolist() == ranking.order.tolist()


def test_every_picture(result, legible):
    kinds = list(dict.fromkeys(name.partition("@")[0] for name in result.pictures))
    assert kinds == ["forest", "bump", "quantiles", "tvar", "cdf", "stability"]
    assert next(iter(result.pictures)) == "forest@R-SSD@acc"
    for name in kinds:
        legible(lambda name=name: result.plot(name))


@pytest.mark.parametrize("count", [2, 12, 60, 90])
def test_legible(legible, names, count):
    places = np.arange(1.0, count + 1)
    gap = -np.sort(np.random.default_rng(0).random(count)) * 1e-6

    def interval(values, width):
        return Interval(values, values - width, values + width)

    found = Forest(
        np.arange(count), interval(places, 1.0), interval(places / count, 0.02), interval(gap, 1e-7)
    )
    words = legible(
        lambda: draw_forest(found, names(count), "R-SSD@P(IC)", "Words to read. " * 15, score="ε")
    )
    assert "mean, to the first (×10⁻⁶)" in words or "mean, to the first (×10⁻⁷)" in words
    assert ("50 others" in words) == (count == 90)


def _apart(gap):
    """Two metrics; the first model by a gap, the others one as good as the other."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 40, 2)) + gap * (np.arange(5) == 2)[:, None, None]
    found = [
        (name, i, m, scores[k, i, j]) for k, name in enumerate("abcde") for i in range(40) for j, m in PQ
    ]
    names = ("model", "sample", "metric", "score")
    return {name: [*column] for name, column in zip(names, zip(*found, strict=True), strict=True)}


PQ = tuple(enumerate("pq"))


@pytest.mark.parametrize("kind", ["quantiles", "tvar"])
@pytest.mark.parametrize("gap", [0.0, 4.0])
def test_curves_have_the_accent_only_where_the_verdict_names_a_model(kind, gap):
    result = rr.rank(_apart(gap), resamples=1000, higher="*", jobs=1)
    one = result.document.leading["P(IC)"]
    assert bool(one.named) == (gap > 0)
    lines = {line.get_gid(): line.get_color() for line in result.plot(kind).axes[0].get_lines()}
    assert (PALETTE[0] in lines.values()) == (gap > 0)
    drawn = [lines[curve_mark(model)] for model in one.pair]
    assert drawn == ([PALETTE[0], PALETTE[1]] if gap else list(NEUTRAL[:2]))


def test_a_chart_of_metrics_says_so():
    methods = rr.rank(_apart(4.0), all_methods=True, no_test=True, higher="*").plot("bump")
    metrics = rr.report(_apart(4.0), resamples=60, higher="*", jobs=1).document.metrics
    (chart,) = (one for one in pictures(metrics) if one.name == "bump")
    for figure, what in ((methods, "method"), (chart.draw(), "metric")):
        words = " ".join(text.get_text() for text in figure.texts)
        words += " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
        assert f"Ranks by every {what}" in words.replace("\n", " ")
        assert f"Columns: {what}s" in words.replace("\n", " ")
    assert "every metric" in chart.caption
