"""What a report adds to its ranking: where other methods would decide otherwise, apart from the verdict."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.api import report


def scores(seed=0, n=60):
    """Four models; the first is best by one metric and worst by the other."""
    rng = np.random.default_rng(seed)
    rows = [
        (name, str(sample), metric, float(rng.normal() + shift))
        for name, shifts in {"a": (4, -4), "b": (1, 1), "c": (0.5, 0.5), "d": (0, 0)}.items()
        for metric, shift in zip(("p", "q"), shifts, strict=True)
        for sample in range(n)
    ]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")


def test_other_leaders_are_said():
    result = report(scores(), resamples=60, jobs=1, higher="*")
    alone = rr.rank(scores(), resamples=60, jobs=1, higher="*")
    assert result.verdict == alone.verdict
    added = result.to_markdown().split("opposite one.")[1]
    leader = alone.frame.filter(pl.col("method") == "R-SSD@P(IC)", pl.col("rank") == 1)["model"][0]
    every = rr.rank(scores(), all_methods=True, no_test=True, jobs=1, higher="*")
    firsts = every.frame.filter(pl.col("rank") == 1).group_by("method").agg("model")
    others = {method for method, models in firsts.iter_rows() if leader not in models}
    count = int(added.split(" other methods")[0].split()[-3])
    assert others
    assert len(others) <= count < len(firsts)
    assert " other methods put another model first or have Kendall's τ below 0.5" in added


def test_methods_that_agree_add_nothing():
    frame = scores().with_columns(
        score=pl.col("score") + pl.col("model").replace_strict({"a": 60, "b": 40, "c": 20, "d": 0})
    )
    result = report(frame, no_test=True, jobs=1, higher="*")
    assert result.verdict == rr.rank(frame, no_test=True, jobs=1, higher="*").verdict
    assert "other methods put another model first" not in result.to_markdown()


def test_words_on_risks_and_intervals_say_what_was_computed():
    text = report(scores(), resamples=60, jobs=1, higher="*").to_markdown()
    assert "another's that comes before it, and a significantly worse mean of its worst" in text
    assert "its intervals hold together, whichever model these data put first" in text
    assert "for its pair alone" not in text
    picture = rr.rank(scores(), resamples=60, jobs=1, higher="*").plot("forest")
    assert "with intervals that hold together with 95 %" in picture.reading


@pytest.mark.parametrize(("n", "levels"), [(16, [5 / 16]), (60, [0.1, 0.25]), (100, [0.05, 0.1, 0.25])])
def test_risks_look_at_no_tail_that_is_narrower_than_that_of_the_ranking(n, levels):
    document = report(scores(n=n), no_test=True, jobs=1, higher="*").document
    assert document.risks.provenance.method["levels"] == levels
