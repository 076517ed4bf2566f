"""What a report adds to its ranking: how other methods rank, apart from the verdict."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.api import report
from riskrank.studies.report.screen.bad_cases import details
from riskrank.studies.report.screen.by_metric import difference_sections
from tests.tables import long_table, of_rows

ROOT = Path(__file__).resolve().parents[3]


def scores(seed=0, n=60):
    """Four models; the first is best by one metric and worst by the other."""
    rng = np.random.default_rng(seed)
    return of_rows(
        (name, str(sample), metric, float(rng.normal() + shift))
        for name, shifts in {"a": (4, -4), "b": (1, 1), "c": (0.5, 0.5), "d": (0, 0)}.items()
        for metric, shift in zip(("p", "q"), shifts, strict=True)
        for sample in range(n)
    )


def test_other_leaders_are_in_the_table_of_methods_and_not_in_the_verdict():
    result = report(scores(), resamples=60, jobs=1, higher="*")
    assert result.verdict == rr.rank(scores(), resamples=60, jobs=1, higher="*").verdict
    every = rr.rank(scores(), all_methods=True, no_test=True, jobs=1, higher="*")
    table = result.to_markdown().split("method by method")[1]
    dominance = pl.col("method").str.starts_with("R-")
    firsts = every.frame.filter(dominance, pl.col("rank") == 1).group_by("method").agg("model")
    for method, models in firsts.iter_rows():
        assert f"| {method} | {', '.join(models)} |" in table


def test_words_on_intervals_say_what_was_computed():
    said = "its intervals hold together, whichever model these data put first"
    assert said in report(scores(), resamples=60, jobs=1, higher="*").to_markdown()
    picture = rr.rank(scores(), resamples=60, jobs=1, higher="*").plot("forest")
    assert "with intervals that hold together with 95 %" in picture.reading


@pytest.mark.parametrize(("n", "levels"), [(16, [5 / 16]), (60, [0.1, 0.25]), (100, [0.05, 0.1, 0.25])])
def test_risks_look_at_no_tail_that_is_narrower_than_that_of_the_ranking(n, levels):
    document = report(scores(n=n), no_test=True, jobs=1, higher="*").document
    assert document.risks.provenance.method["levels"] == levels


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        (1.0, "{} and of {} not shown to differ"),
        (6.0, "{} shown to be milder than of {}"),
        (1 / 6, "{1} shown to be milder than of {0}"),
    ],
)
def test_bad_cases_of_the_two_models_are_told_apart_as_a_test_does(spread, said):
    """One is a little ahead of another whose scores spread so much more, or less."""
    own, other = np.random.default_rng(0).normal(size=(2, 400))
    rows = {"one": own + 0.02 + (spread < 1), "other": spread * other}
    long = long_table(rows, named=str)
    result = report(long, resamples=400, jobs=1, higher="*")
    ranked = [row.model for row in result.document.ranking.rows[:2]]
    assert f"Bad cases:** worst 5 % of {said.format(*ranked)} (" in result.to_markdown()
    ((_, model, _, interval, p, shown),) = next(details(result.document.ranking, result.document)).rows
    assert (model, shown) == (ranked[1], {"{} a": "open", "{} s": "worse", "{1}": "milder"}[said[:4].strip()])
    low, high = (float(end.replace("−", "-")) for end in interval.split(" to "))
    assert (low > 0 or high < 0) == (p == "<0.001" or float(p) <= 0.05) == (shown != "open")


def test_what_a_verdict_says_of_single_metrics_stands_in_a_table_with_its_tests():
    """An interval leaves out 0, or ends there, exactly where the row says better or worse."""
    document = report(scores(), resamples=60, jobs=1, higher="*").document
    (table, _), held = (
        difference_sections(document.ranking, document),
        next(iter(document.ranking.leading.values())),
    )
    answers = held.contrasts.answers
    assert len(table.rows) == 2 * len(held.others)
    for (metric, model, _, interval, p, shown), (i, m) in zip(
        table.rows, [(i, m) for m in range(2) for i in held.others], strict=True
    ):
        assert (metric, model) == ("pq"[m], "abcd"[i])
        assert shown == {1: "better", -1: "worse", 0: "open"}[int(answers.side[i, m])]
        low, high = (float(end.replace("−", "-")) for end in interval.split(" to "))
        assert (low >= 0 or high <= 0) == (shown != "open")
        assert (p == "<0.001" or float(p) <= 0.05) == (shown != "open")


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("path", "settings", "said"),
    [
        (
            "suite",
            {"wide": True, "lower": "log_loss", "higher": "correct"},
            [
                "logistic is not told apart by second-order dominance from neighbours",
                "equal: naive_bayes first on the combined score; with others first: without log_loss",
                "of the difference of naive_bayes and logistic on the combined score: on these tasks",
                "within each family of claims, none across them",
                "of the others against that of naive_bayes: milder 3; milder 3 of 3 on log_loss",
                "others are shown to have milder bad cases than naive_bayes: 3 of 3 on log_loss.",
                "{task}/{model}.csv&#39;</span></summary>",  # all warnings in one line
            ],
        ),
        (
            "judge.csv",
            {"wide": True, "higher": ["people", "judge"], "human": "people", "judge": "judge"},
            [
                "people scored 150 of them",
                "not shown to differ of any model (Welch",
                "differences of means from 0.3 of people on",
            ],
        ),
        (
            "diamonds.parquet",
            {"metrics_file": ROOT / "sample_data" / "diamonds.toml"},
            [
                "covered 3, error_usd 4, time_us 3 and width_usd 3: boosting_squared first on the combined",
                "By the metrics' own rankings, RA(R-SSD@M), boosting_log comes first.",
            ],
        ),
    ],
)
def test_lines_name_their_quantity_and_their_basis(path, settings, said):
    page = report(ROOT / "sample_data" / path, resamples=200, jobs=1, **settings)
    text = page.to_markdown().replace("\\_", "_") + page.to_html()
    assert [line for line in said if line not in text] == []
