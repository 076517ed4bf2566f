import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.errors import InputError


def test_scores_are_grouped_by_sample_and_samples_renumbered():
    scores = ClusteredScores.build([[5.0, 1.0, 3.0], [2.0, 4.0]], [[9, 4, 9], [4, 9]])
    assert scores.clusters[0].tolist() == [0, 1, 1]
    assert scores.values[0].tolist() == [1.0, 5.0, 3.0]
    assert scores.cluster_counts == (2, 2)
    assert scores.draws_per_sample() is None
    assert [mean.tolist() for mean in scores.sample_means()] == [[1.0, 4.0], [2.0, 4.0]]


def test_equal_draws_are_recognised():
    scores = ClusteredScores.build([[1.0, 2, 3, 4]] * 2, [[0, 0, 1, 1]] * 2)
    assert scores.draws_per_sample() == 2
    assert scores.effective_size == 2


def test_the_least_sampled_model_decides_the_effective_size():
    assert ClusteredScores.build([[1.0] * 5, [1.0] * 8], paired=False).effective_size == 5


def test_paired_models_need_the_same_samples():
    with pytest.raises(InputError, match="same samples"):
        ClusteredScores.build([[1.0, 2.0], [1.0, 2.0]], [[0, 1], [0, 2]])


@pytest.mark.parametrize("values", [[[1.0, np.nan], [1.0, 2.0]], [[1.0, np.inf], [1.0, 2.0]], [[], [1.0]]])
def test_scores_that_are_missing_or_not_finite_are_refused(values):
    with pytest.raises(InputError, match="finite"):
        ClusteredScores.build(values)


def test_one_model_is_refused():
    with pytest.raises(InputError, match="at least two models"):
        ClusteredScores.build([[1.0, 2.0]])


def test_nine_samples_cannot_carry_a_test_but_ten_can():
    require_testable(ClusteredScores.build([np.arange(10.0)] * 2))
    with pytest.raises(InputError, match="at least 10 samples"):
        require_testable(ClusteredScores.build([np.arange(9.0)] * 2))
    draws = np.repeat(np.arange(9), 20)
    with pytest.raises(InputError, match="at least 10 samples"):
        require_testable(ClusteredScores.build([np.arange(180.0)] * 2, [draws] * 2))
