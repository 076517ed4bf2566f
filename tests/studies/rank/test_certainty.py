"""The word for how sure an answer is: from the tests that were made, case by case."""

import numpy as np
import polars as pl
import pytest

from riskrank.api import gate, rank, read, report
from riskrank.studies.rank.document import MEANING
from riskrank.studies.wording import p_words
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


def word(data, **options):
    return rank(data, **({"resamples": 400, "jobs": 1} | options)).document.certainty


def test_clear_if_the_tests_put_all_others_behind():
    found = rank(table({"a": [1.0], "b": [0.5], "c": [0.0]}), resamples=400, jobs=1)
    assert found.document.certainty == "clear"
    assert "significantly better than b and c" in found.verdict


def test_tied_if_one_is_not_behind():
    assert word(table({"a": [1.0], "b": [1.0], "c": [0.0]})) == "tied"


def test_too_few_samples_only_below_what_the_house_warns_of():
    equal = {"a": [0.0], "b": [0.0]}
    assert word(table(equal, n=29)) == "too few samples"
    assert word(table(equal, n=30)) == "tied"
    # What is told apart nevertheless is clear.
    assert word(table({"a": [3.0], "b": [0.0]}, n=15)) == "clear"


def test_disagreement_if_the_first_of_each_metric_is_another():
    apart = table({"a": [1.0, 0.0], "b": [0.0, 1.0]}, metrics=("p", "q"))
    found = rank(apart, per_metric=True, resamples=400, jobs=1)
    assert found.document.certainty == "disagreement"
    assert "No model comes first everywhere" in found.verdict


def test_firsts_that_differ_by_chance_are_tied():
    """Two metrics with a first each, and no test that puts either behind: there may be one best model."""
    noise = table({"a": [0.0, 0.0], "b": [0.0, 0.0]}, metrics=("p", "q"), seed=3)
    found = rank(noise, per_metric=True, resamples=400, jobs=1)
    assert len({one.first for one in found.document.leading.values()}) == 2
    assert found.document.certainty == "tied"


def crowd():
    """A is first among clones, though B is ahead of it head to head and in mean."""
    rng = np.random.default_rng(0)
    models = {"A": rng.normal(0.1, 1, 1500), "B": rng.normal(0.65, 2, 1500)}
    models |= {f"c{i}": rng.normal(0, 1, 1500) for i in range(8)}
    return read(long_table(models), higher="*")


def test_disagreement_if_another_is_ahead_of_the_first():
    found = rank(crowd(), resamples=400, jobs=1)
    assert found.verdict.startswith("No model to ship on this evidence: A comes first")
    assert found.document.certainty == "disagreement"
    mean, tail, against = found.document.quotes
    # Figures are on the model to look at, held against the first of the ranking.
    assert mean.words.startswith("q, mean of B and of A (difference ")
    assert tail.words.startswith("mean of the worst 5 % of B and of A")
    assert against.figure == "1 of 9"


def test_nothing_is_sure_without_tests():
    data = table({"a": [1.0], "b": [0.0]})
    found = rank(data, no_test=True)
    assert found.document.certainty == "not tested"
    assert len(found.document.quotes) == 1
    assert word(data, method="MWR") == "not tested"


def test_not_decided_if_more_resamples_would_tell():
    shifts = {f"m{at}": [-0.5 * at] for at in range(6)}
    found = rank(table(shifts), resamples=50, jobs=1)
    one = found.document.leading["q"]
    assert one.undecided
    assert not one.level
    assert found.document.certainty == "not decided"
    assert "the resamples are too few to tell" in found.verdict


def test_every_word_has_a_meaning_and_stands_in_json():
    import json

    data = table({"a": [1.0], "b": [0.0]})
    found = rank(data, resamples=200, jobs=1)
    assert json.loads(found.to_json())["meta"]["certainty"] == "clear"
    whole = report(data, resamples=200, jobs=1)
    assert json.loads(whole.to_json())["meta"]["certainty"] == "clear"
    assert whole.document.quotes == found.document.quotes
    told = {"clear", "tied", "disagreement", "too few samples", "not decided", "not tested"}
    assert set(MEANING) == told | {"doubtful labels", "trade"}
    assert MEANING["doubtful labels"].endswith("were chosen by chance, and they do not look so")


def test_figures_of_shares_count_samples():
    """Of zeros and ones: how often the first is right where the other is wrong, counted by hand."""
    right = {"a": [1] * 150 + [0] * 50, "b": [1] * 100 + [0] * 60 + [1] * 40}
    frame = long_table(right, "acc")
    mean, wins, _ = rank(read(frame, higher="*"), resamples=200, jobs=1).document.quotes
    assert mean.figure == "75 % against 70 %"
    assert mean.words.startswith("acc, mean of a and of b (difference ")
    assert wins.figure == "25.0 %"  # 50 of 200
    assert "worse on 20.0 %" in wins.words  # 40 of 200


def test_a_gate_says_its_outcome():
    document = gate(table({"new": [1.0], "old": [0.0]}), better="new:old").document
    assert document.certainty == document.outcome == "pass"
    row, (difference, margin, p) = document.rows[0], document.quotes
    assert float(difference.figure) == pytest.approx(row.estimate, abs=0.01)
    assert difference.words.startswith("mean of q, new − old: ")
    assert (margin.figure, margin.words) == ("0", "all of the interval has to lie above it")
    assert p.figure == p_words(row.p_adjusted)


def test_a_gate_of_many_claims_counts_them_beside_the_one_that_decides():
    data = table({"new": [1.0, 0.0], "old": [0.0, 1.0]}, metrics=("p", "q"))
    document = gate(data, not_worse="new:old", margin=0.1).document
    assert document.outcome == "fail"
    counted, difference, _ = document.quotes
    assert (counted.figure, counted.words) == ("1 of 2", "claims shown; 1 refuted, 0 open")
    # The claim on q is the one that is refuted.
    assert difference.words.startswith("mean of q, new − old: ")
    assert difference.words.endswith("passes if all above −0.1")
    assert difference.figure.startswith("−")


def skewed(better=("p", "q"), n=200):
    """Model a is a little worse on most samples and much better on the rest, on some metrics; c is worst."""
    rng = np.random.default_rng(0)
    rare = rng.random(n) < 0.4
    rows = []
    for metric in ("p", "q"):
        common = rng.normal(size=n)
        own = np.where(rare, 0.3, -0.1) if metric in better else np.zeros(n)
        for model, shift in (("a", own), ("b", 0.0), ("c", -3.0)):
            scores = common + shift + 0.1 * rng.normal(size=n)
            rows += [(model, f"s{sample}", metric, float(scores[sample])) for sample in range(n)]
    return read(pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row"), higher="*")


def test_means_on_every_metric_tell_apart_what_the_combined_score_does_not():
    found = rank(skewed(), resamples=1000, jobs=1)
    (one,) = found.document.leading.values()
    assert (one.first, one.beaten, one.worse_throughout, one.named) == (0, [2], [1], (0,))
    assert found.verdict.startswith(
        "Ship a: significantly better than 1 of 2 others on the combined score, and than b on both metrics."
    )
    assert found.document.certainty == "clear"
    assert found.document.meta()["recommendations"][0]["worse_on_every_metric"] == ["b", "c"]


def test_a_better_mean_on_one_metric_of_two_does_not():
    found = rank(skewed(better=("p",)), resamples=1000, jobs=1)
    (one,) = found.document.leading.values()
    assert one.level
    assert not one.worse_throughout
    assert found.document.certainty == "tied"


@pytest.mark.parametrize(("sign", "said"), [(1, "higher"), (-1, "lower")])
def test_a_figure_of_bad_cases_says_which_way_is_better(sign, said):
    rng = np.random.default_rng(0)
    b = rng.normal(0, 1, 1000)
    a = b + 1 + rng.normal(0, 0.1, 1000) - np.where(np.arange(1000) % 25 == 0, 5, 0)
    frame = long_table({"a": sign * a, "b": sign * b}, named=int)
    way = {"higher": "*"} if sign > 0 else {"lower": ["q"]}
    found = rank(read(frame, **way), resamples=400, jobs=1).document
    assert found.named == (0,)
    assert found.quotes[1].words.endswith(f" of b ({said} is better)")
