"""One value per model and metric, against plain means and invariances."""

import math

import numpy as np
import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.oriented_scores import model_averages
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"


def averages(write, text, **options):
    table = read_scores(
        [write("t.csv", HEAD + text)], ReadOptions(missing="keep", allow_constant=True, **options)
    )
    return model_averages(table)


def test_means_against_fractions(write):
    scores = {
        ("a", "m"): [0.1, 0.2, 0.6],
        ("b", "m"): [1, 2, 4],
        ("a", "n"): [5, 5, 5],
        ("b", "n"): [0, 0, 1],
    }
    text = "".join(f"{i},{s},{k},{x}\n" for (i, k), row in scores.items() for s, x in enumerate(row))
    result = averages(write, text, lower=("n",))
    want = [[math.fsum(scores[i, k]) / 3 for k in "mn"] for i in "ab"]
    np.testing.assert_allclose(result.raw, want, rtol=1e-15)
    np.testing.assert_allclose(result.oriented, np.array(want) * [1, -1], rtol=1e-15)
    np.testing.assert_array_equal(result.larger_is_better, [True, False])
    assert (result.missing_scores, result.expected_scores, result.first_missing) == (0, 12, None)


def test_equal_scores_on_different_samples_stay_tied(write):
    rows = {"a": [1e16, 1, -1e16], "b": [1, 1e16, -1e16], "c": [-1e16, 1e16, 1]}
    text = "".join(f"{i},{s},m,{x}\n" for i, row in rows.items() for s, x in enumerate(row))
    np.testing.assert_array_equal(averages(write, text).raw[:, 0], [1 / 3] * 3)


def test_average_over_a_gap_is_missing(write):
    result = averages(write, "a,1,m,1\na,2,m,2\nb,1,m,1\nb,2,m,\na,1,n,3\na,2,n,3\nb,1,n,3\n")
    np.testing.assert_array_equal(result.raw, [[1.5, 3], [np.nan, np.nan]])
    assert (result.missing_scores, result.expected_scores) == (2, 8)
    assert result.first_missing == ("b", "2", "m")


def test_metrics_may_have_different_samples(write):
    result = averages(write, "a,1,m,1\nb,1,m,2\na,2,n,3\na,3,n,5\nb,2,n,6\nb,3,n,6\n")
    np.testing.assert_array_equal(result.raw, [[1, 4], [2, 6]])
    assert result.missing_scores == 0


def test_unpaired_models_have_different_samples(write):
    text = "a,1,m,1\na,2,m,3\nb,7,m,2\n"
    np.testing.assert_array_equal(averages(write, text, unpaired=True).raw, [[2], [2]])
    assert np.isnan(averages(write, text).raw).all()


def test_model_without_scores_for_a_metric_is_missing(write):
    result = averages(write, "a,1,m,1\nb,1,m,2\na,1,n,\nb,1,n,\n")
    assert np.isnan(result.raw[:, 1]).all()
    assert result.missing_scores == 2


def test_negative_logarithms_average_to_the_geometric_mean(write):
    metrics = write("m.toml", '[m]\ntransform = "neg_log"\ndirection = "higher"\n')
    result = averages(write, "a,1,m,2\na,2,m,8\nb,1,m,1\nb,2,m,1\n", metrics_file=metrics)
    np.testing.assert_allclose(result.raw[:, 0], [4, 1])
    np.testing.assert_allclose(result.oriented[:, 0], [-math.log(4), 0], atol=1e-15)
    assert not result.larger_is_better[0]


@pytest.mark.parametrize("wide", [True, False])
def test_table_without_samples_is_unchanged(write, wide):
    text = "model,x,y\nb,1,0\na,2,\n" if wide else "model,metric,score\nb,x,1\nb,y,0\na,x,2\n"
    options = ReadOptions(wide=wide, sample_optional=True, missing="keep", lower=("y",))
    result = model_averages(read_scores([write("t.csv", text)], options))
    np.testing.assert_array_equal(result.raw, [[2, np.nan], [1, 0]])
    assert result.first_missing == ("a", "", "y")
    assert not np.signbit(result.raw[1, 1])
