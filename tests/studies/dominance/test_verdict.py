"""Verdicts on pairs: dominance is a violation ratio of 0, larger ratios are weaker claims."""

import numpy as np
import pytest

import riskrank as rr
from riskrank.api import report

RNG = np.random.default_rng(3)
BASE = RNG.normal(size=200)


def wide(**models):
    names = list(models)
    return {
        "model": [name for name in names for _ in models[name]],
        "sample": [s for name in names for s in range(len(models[name]))],
        "x": [float(score) for name in names for score in models[name]],
    }


def compare(test="direct", order="both", no_test=False, **models):
    options = {"wide": True, "higher": "*", "jobs": 1, "test": test}
    options |= {"no_test": True} if no_test else {"resamples": 1000}
    options |= {} if order == "both" else {"order": order}
    return rr.dominance(wide(**models), **options)


def row(result):
    """Return the cells of the only pair in the detailed table, by column head."""
    detailed = result.to_markdown().partition("Stochastic dominance on ")[2]
    lines = [line for line in detailed.splitlines() if line.startswith("|")]
    heads, cells = ([part.strip() for part in line.strip("|").split("|")] for line in (lines[0], lines[2]))
    return dict(zip(heads, cells, strict=True))


# One sample in five is slightly worse than all of the other model, the remaining ones are far better.
CROSSED = np.where(np.arange(200) % 5 == 0, -8.0, 3.0) + 0.01 * BASE


def test_dominance_is_a_ratio_of_zero():
    assert row(compare(a=BASE + 1, b=BASE))["verdict"] == "dominates (FSD, SSD)"
    assert row(compare(a=BASE + 1, b=BASE, no_test=True))["verdict"] == "dominates (FSD, SSD)"


def test_ratio_below_half_is_ahead_only():
    result = compare(a=CROSSED, b=0.5 * BASE - 3)
    assert 0 < float(row(result)["FSD ε"]) < 0.5
    assert row(result)["verdict"].startswith("ahead (")
    assert "dominates" not in result.verdict
    assert "a is significantly ahead of b" in compare(a=CROSSED, b=0.5 * BASE - 3, order=1).verdict


def test_contradicting_mean_is_reported():
    risky = np.where(np.arange(200) % 10 < 3, -5.0, 2.5) + 0.05 * BASE
    steady = risky.mean() - 0.7 + 0.1 * BASE
    result = compare(steady=steady, risky=risky, order=2)
    cells = row(result)
    assert cells["better"] == "steady"
    assert cells["verdict"] == "ahead (SSD), mean worse"
    assert "mean worse: the model ahead has the worse mean" in result.to_markdown()
    assert "steady's mean is worse in these samples: " in " ".join((result.verdict, *result.document.more))
    close_means = compare(steady=risky.mean() - 0.1 + 0.1 * BASE, risky=risky, order=2)
    assert row(close_means)["verdict"] == "ahead (SSD)"


@pytest.mark.parametrize(
    ("test", "word"), [("absolute", "almost dominates (FSD, SSD)"), ("relative", "ahead (R-FSD, R-SSD)")]
)
def test_claims_have_distinct_verdicts(test, word):
    assert row(compare(test, a=BASE + 1, b=BASE))["verdict"] == word


def test_both_families_are_listed_separately():
    text = compare("all", a=BASE + 1, b=BASE, c=BASE - 1).to_markdown()
    assert "| R-FSD p |" in text
    assert "Direct and relative tests can count different pairs" in text


@pytest.mark.slow
def test_the_report_reconciles_its_tests_and_places_its_warnings():
    draws = np.random.default_rng(1).normal(size=(4, 40))
    scores = wide(
        **{name: values - 0.3 * k for k, (name, values) in enumerate(zip("abcd", draws, strict=True))}
    )
    result = report(scores, wide=True, higher="*", jobs=1, resamples=40, gsd=True)
    assert "Two tests:" not in result.to_markdown()  # they separate the same number of pairs
    assert result.warnings
    assert not any("chapter" in line for line in result.warnings)  # the ranking lists them all


def test_first_order_only_lead_is_reported():
    wider = BASE + np.where(np.median(BASE) < BASE, 2.6, -1.0)
    verdict = compare(wider=wider, base=BASE, low=BASE - 6).verdict
    assert verdict.endswith(
        "no model is ahead of wider or base (by first-order dominance, wider is ahead of base)."
    )
    assert compare(level=BASE[::-1], base=BASE, low=BASE - 6).verdict.endswith("ahead of base or level.")
