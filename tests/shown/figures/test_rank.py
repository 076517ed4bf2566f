import numpy as np
import pytest

import riskrank as rr
from riskrank.shown.figures.forest import Forest, Interval, draw_forest
from riskrank.shown.figures.rank import forest, method_ranks

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
