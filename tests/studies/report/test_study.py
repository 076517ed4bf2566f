"""Additions of a report to its ranking: other methods, tails, single metrics."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.api import report
from riskrank.studies.report.screen import difference_sections
from tests.tables import of_rows

ROOT = Path(__file__).resolve().parents[3]


def scores(seed=0, n=60):
    """Four models; the first is best on one metric and worst on the other."""
    rng = np.random.default_rng(seed)
    return of_rows(
        (name, str(sample), metric, float(rng.normal() + shift))
        for name, shifts in {"a": (4, -4), "b": (1, 1), "c": (0.5, 0.5), "d": (0, 0)}.items()
        for metric, shift in zip(("p", "q"), shifts, strict=True)
        for sample in range(n)
    )


def test_leaders_by_method_are_not_in_the_verdict():
    result = report(scores(), resamples=60, jobs=1, higher="*")
    assert result.verdict == rr.rank(scores(), resamples=60, jobs=1, higher="*").verdict
    all_methods = rr.rank(scores(), all_methods=True, no_test=True, jobs=1, higher="*")
    table = result.to_markdown().split("method by method")[1]
    dominance = pl.col("method").str.starts_with("R-")
    firsts = all_methods.frame.filter(dominance, pl.col("rank") == 1).group_by("method").agg("model")
    for method, models in firsts.iter_rows():
        assert f"| {method} | {', '.join(models)} |" in table


def test_intervals_are_described_as_simultaneous():
    sentence = "the intervals are simultaneous, and allow for the selection of the first model"
    assert sentence in report(scores(), resamples=60, jobs=1, higher="*").to_markdown()
    picture = rr.rank(scores(), resamples=60, jobs=1, higher="*").plot("forest")
    assert "with simultaneous 95 % intervals" in picture.explanation


@pytest.mark.parametrize(("n", "levels"), [(16, [5 / 16]), (60, [0.1, 0.25]), (100, [0.05, 0.1, 0.25])])
def test_risk_levels_are_not_below_the_ranking_level(n, levels):
    document = report(scores(n=n), no_test=True, jobs=1, higher="*").document
    assert document.risks.provenance.method["levels"] == levels


def test_table_by_metric_matches_the_tests():
    """An interval excludes 0 if and only if the row reports better or worse."""
    document = report(scores(), resamples=60, jobs=1, higher="*").document
    (table, _), leader = (
        difference_sections(document.ranking, document),
        next(iter(document.ranking.leaders.values())),
    )
    answers = leader.contrasts.answers
    assert len(table.rows) == 2 * len(leader.rivals)
    for (metric, model, _, interval, p, answer), (i, m) in zip(
        table.rows, [(i, m) for m in range(2) for i in leader.rivals], strict=True
    ):
        assert (metric, model) == ("pq"[m], "abcd"[i])
        assert answer == {1: "better", -1: "worse", 0: "undecided"}[int(answers.side[i, m])]
        low, high = (float(end.replace("−", "-")) for end in interval.split(" to "))
        assert (low >= 0 or high <= 0) == (answer != "undecided")
        assert (p == "<0.001" or float(p) <= 0.05) == (answer != "undecided")


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("path", "settings", "sentences"),
    [
        pytest.param(
            "suite",
            {"wide": True, "lower": "log_loss", "higher": "correct"},
            [
                "second-order dominance does not separate them",
                "{task}/{model}.csv&#39;</span></summary>",  # all warnings in one line
            ],
            marks=pytest.mark.slow,
        ),
        (
            "judge.csv",
            {"wide": True, "higher": ["people", "judge"], "human": "people", "judge": "judge"},
            ["150 with human labels", "do not differ significantly (Welch"],
        ),
        (
            "diamonds.parquet",
            {"metrics_file": ROOT / "sample_data" / "diamonds.toml"},
            ["boosting_log comes first in the ranking aggregated over metrics, RA(R-SSD@M)."],
        ),
    ],
)
def test_lines_name_quantity_and_basis(path, settings, sentences):
    page = report(ROOT / "sample_data" / path, resamples=200, jobs=1, **settings)
    text = page.to_markdown().replace("\\_", "_") + page.to_html()
    assert [line for line in sentences if line not in text] == []
