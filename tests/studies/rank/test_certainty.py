"""Certainty of a ranking by the tests that were made."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riskrank.api import gate, rank, read, report
from riskrank.studies.rank.document import MEANING
from riskrank.studies.rank.screen.detail import SCREEN_ERRORS, reading_guide
from riskrank.studies.wording import p_value_phrase
from tests.tables import long_table


def table(shifts, n=200, seed=0, metrics=("q",)):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, len(metrics)))
    rows = [
        (model, f"s{sample}", metric, float(common[sample, m] + shift[m] + 0.3 * rng.normal()))
        for model, shift in shifts.items()
        for sample in range(n)
        for m, metric in enumerate(metrics)
    ]
    return read(pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row"), higher="*")


def certainty_of(data, **options):
    return rank(data, **({"resamples": 400, "jobs": 1} | options)).document.certainty


def test_clear_if_all_rivals_are_significantly_worse():
    result = rank(table({"a": [1.0], "b": [0.5], "c": [0.0]}), resamples=400, jobs=1)
    assert result.document.certainty == "clear"
    assert "significantly better than b and c" in result.verdict


def test_tied_if_a_rival_is_not_significantly_worse():
    assert certainty_of(table({"a": [1.0], "b": [1.0], "c": [0.0]})) == "tied"


def test_too_few_samples_below_warning_threshold():
    equal = {"a": [0.0], "b": [0.0]}
    assert certainty_of(table(equal, n=29)) == "too few samples"
    assert certainty_of(table(equal, n=30)) == "tied"
    # A significant difference is clear, however few the samples.
    assert certainty_of(table({"a": [3.0], "b": [0.0]}, n=15)) == "clear"


def test_disagreement_if_metrics_have_different_leaders():
    data = table({"a": [1.0, 0.0], "b": [0.0, 1.0]}, metrics=("p", "q"))
    result = rank(data, per_metric=True, resamples=400, jobs=1)
    assert result.document.certainty == "disagreement"
    assert "No model comes first everywhere" in result.verdict


def test_leaders_that_differ_by_chance_are_tied():
    """Two metrics have different leaders, and no test puts either behind."""
    noise = table({"a": [0.0, 0.0], "b": [0.0, 0.0]}, metrics=("p", "q"), seed=3)
    result = rank(noise, per_metric=True, resamples=400, jobs=1)
    assert len({leader.first for leader in result.document.leaders.values()}) == 2
    assert result.document.certainty == "tied"


def crowd():
    """A ranks first among clones, but B beats it head to head and has the better mean."""
    rng = np.random.default_rng(0)
    models = {"A": rng.normal(0.1, 1, 1500), "B": rng.normal(0.65, 2, 1500)}
    models |= {f"c{i}": rng.normal(0, 1, 1500) for i in range(8)}
    return read(long_table(models), higher="*")


def test_disagreement_if_a_rival_beats_the_leader():
    result = rank(crowd(), resamples=400, jobs=1)
    assert result.verdict.startswith("No recommendation: A comes first")
    assert result.document.certainty == "disagreement"
    mean, tail, against = result.document.quotes
    # Figures compare the recommended model with the leader of the ranking.
    assert mean.words.startswith("q, mean of B and A (difference ")
    assert tail.words.startswith("mean of the worst 5 % of B and A")
    assert against.figure == "1 of 9"


def test_certainty_is_not_tested_without_tests():
    data = table({"a": [1.0], "b": [0.0]})
    result = rank(data, no_test=True)
    assert result.document.certainty == "not tested"
    assert len(result.document.quotes) == 1
    assert certainty_of(data, method="MWR") == "not tested"


def test_not_decided_if_resamples_are_too_few():
    shifts = {f"m{at}": [-0.5 * at] for at in range(6)}
    result = rank(table(shifts), resamples=50, jobs=1)
    leader = result.document.leaders["q"]
    assert leader.undecided
    assert not leader.tied
    assert result.document.certainty == "not decided"
    assert "needs more resamples" in result.verdict


def test_details_state_the_error_of_the_whole_screen():
    page = Path(__file__).parents[3].joinpath("docs", "calibration.md").read_text(encoding="utf-8")
    rows = page.partition("## The whole first screen")[2].partition("\n## ")[0].splitlines()
    shares = [float(row.split("|")[-2]) for row in rows if row.startswith(("| normal", "| lognormal"))]
    assert len(shares) == 4
    assert (min(shares), max(shares)) == SCREEN_ERRORS
    document = rank(table({"a": [1.0], "b": [0.0]}), resamples=200, jobs=1).document
    text = reading_guide(document).text
    assert "10 to 16 % of first screens of two identical models" in " ".join(text.split())


def test_certainty_is_documented_and_in_json():
    import json

    data = table({"a": [1.0], "b": [0.0]})
    result = rank(data, resamples=200, jobs=1)
    assert json.loads(result.to_json())["meta"]["certainty"] == "clear"
    full = report(data, resamples=200, jobs=1)
    assert json.loads(full.to_json())["meta"]["certainty"] == "clear"
    assert full.document.quotes == result.document.quotes
    certainties = {"clear", "tied", "disagreement", "too few samples", "not decided", "not tested"}
    assert set(MEANING) == certainties | {"doubtful labels", "trade"}
    assert MEANING["doubtful labels"].endswith("are a random sample, but they do not look random")


def test_figures_of_shares_count_samples():
    """Binary scores: wins and losses of the first model, counted by hand."""
    right = {"a": [1] * 150 + [0] * 50, "b": [1] * 100 + [0] * 60 + [1] * 40}
    frame = long_table(right, "acc")
    mean, wins, _ = rank(read(frame, higher="*"), resamples=200, jobs=1).document.quotes
    assert mean.figure == "75 % against 70 %"
    assert mean.words.startswith("acc, mean of a and b (difference ")
    assert wins.figure == "25.0 %"  # 50 of 200
    assert "; 20.0 % favour b" in wins.words  # 40 of 200


def test_certainty_of_a_gate_is_its_outcome():
    document = gate(table({"new": [1.0], "old": [0.0]}), better="new:old").document
    assert document.certainty == document.outcome == "pass"
    row, (difference, margin, p) = document.rows[0], document.quotes
    assert float(difference.figure) == pytest.approx(row.estimate, abs=0.01)
    assert difference.words.startswith("mean of q, new − old: ")
    assert (margin.figure, margin.words) == ("0", "boundary; the entire interval must lie above it")
    assert p.figure == p_value_phrase(row.p_adjusted)


def test_gate_quotes_claim_counts_and_deciding_claim():
    data = table({"new": [1.0, 0.0], "old": [0.0, 1.0]}, metrics=("p", "q"))
    document = gate(data, not_worse="new:old", margin=0.1).document
    assert document.outcome == "fail"
    counted, difference, _ = document.quotes
    assert (counted.figure, counted.words) == ("1 of 2", "claims passed; 1 failed, 0 inconclusive")
    # The claim on q is contradicted.
    assert difference.words.startswith("mean of q, new − old: ")
    assert difference.words.endswith("the interval must lie above −0.1")
    assert difference.figure.startswith("−")


def skewed(better=("p", "q"), n=200):
    """Model a is slightly worse on most samples, much better on the others; c is the worst."""
    rng = np.random.default_rng(0)
    rare = rng.random(n) < 0.4
    rows = []
    for metric in ("p", "q"):
        common = rng.normal(size=n)
        gains = np.where(rare, 0.3, -0.1) if metric in better else np.zeros(n)
        for model, shift in (("a", gains), ("b", 0.0), ("c", -3.0)):
            scores = common + shift + 0.1 * rng.normal(size=n)
            rows += [(model, f"s{sample}", metric, float(scores[sample])) for sample in range(n)]
    return read(pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row"), higher="*")


def test_better_means_on_all_metrics_decide():
    result = rank(skewed(), resamples=1000, jobs=1)
    (leader,) = result.document.leaders.values()
    assert (leader.first, leader.beaten, leader.worse_on_all, leader.recommended) == (0, [2], [1], (0,))
    assert result.verdict.startswith(
        "Ship a: significantly better than 1 of 2 other models on the combined score, and than b on both "
        "metrics."
    )
    assert result.document.certainty == "clear"
    assert result.document.meta()["recommendations"][0]["worse_on_every_metric"] == ["b", "c"]


def test_better_mean_on_some_metrics_does_not_decide():
    result = rank(skewed(better=("p",)), resamples=1000, jobs=1)
    (leader,) = result.document.leaders.values()
    assert leader.tied
    assert not leader.worse_on_all
    assert result.document.certainty == "tied"


@pytest.mark.parametrize(("sign", "direction"), [(1, "higher"), (-1, "lower")])
def test_tail_figure_names_the_better_direction(sign, direction):
    rng = np.random.default_rng(0)
    b = rng.normal(0, 1, 1000)
    a = b + 1 + rng.normal(0, 0.1, 1000) - np.where(np.arange(1000) % 25 == 0, 5, 0)
    frame = long_table({"a": sign * a, "b": sign * b}, named=int)
    directions = {"higher": "*"} if sign > 0 else {"lower": ["q"]}
    document = rank(read(frame, **directions), resamples=400, jobs=1).document
    assert document.named == (0,)
    assert document.quotes[1].words.endswith(f" and b ({direction} is better)")
