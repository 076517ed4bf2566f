import importlib

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError
from riskrank.options.commands import BY_NAME, DOC_TYPES

SCORES = {
    "model": [name for name in "abc" for _ in range(20)],
    "sample": list(range(20)) * 3,
    "metric": ["acc"] * 60,
    "score": [((7 * i) % 20 + 3 * j) / 30 for j in range(3) for i in range(20)],
}


@pytest.fixture(scope="module")
def result():
    return rr.dominance(SCORES, no_test=True)


def test_every_module_of_the_table_has_pictures():
    modules = {paper.figures for paper in DOC_TYPES.values() if paper.figures}
    assert {"rank.figures", "dominance.figures", "gsd.figures", "copa.figures"} <= modules
    for module, _, function in (figures.partition(":") for figures in modules):
        assert callable(
            getattr(importlib.import_module(f"riskrank.studies.{module}"), function or "pictures")
        )


@pytest.mark.slow
def test_names_and_the_main_picture(result):
    assert next(iter(result.pictures)).startswith("heatmap@SSD")
    assert all(caption.endswith(".") for caption in result.pictures.values())
    assert {name.partition("@")[0] for name in result.pictures} <= set(BY_NAME["dominance"].pictures)
    assert result.plot().to_bytes("svg") == result.plot("heatmap@SSD").to_bytes("svg")
    assert result.plot("pair").to_bytes("svg") != result.plot().to_bytes("svg")


def test_an_unknown_name(result):
    with pytest.raises(UsageError, match=r"no picture 'heatmap@SSD\(0.6\)'") as error:
        result.plot("heatmap@SSD(0.6)")
    assert "did you mean heatmap" in error.value.hint


def test_of_two_models_the_pair_comes_first():
    two = rr.dominance(SCORES, models=["a", "b"], no_test=True)
    assert next(iter(two.pictures)) == "pair"


@pytest.mark.parametrize("summary", [False, True])
def test_portfolio_scores_are_drawn_unchanged(summary):
    result = rr.portfolio(SCORES, summary=summary)
    assert list(result.pictures) == ["quantiles", "tvar", "cdf"]
    line = result.plot("quantiles").axes[0].get_lines()[0]
    scores = rr.portfolio(SCORES).frame.filter(pl.col("model") == "a")["score"].sort().to_list()
    assert line.get_ydata()[1:].tolist() == scores
