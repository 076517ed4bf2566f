import numpy as np
import pytest
from scipy import stats

from riskrank.engine.aggregation.rank_aggregation import compare_rankings
from riskrank.engine.copa.comparison import Scalarizations
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_norm
from riskrank.engine.numeric import tie_codes


def test_hand_computed_example():
    comparison = compare_rankings([[-0.3, 0.1 + 0.2, 0.3, 7.0], [4.0, 3.0, 2.0, 1.0]])
    assert comparison.rank.tolist() == [[1, 2, 2, 4], [4, 3, 2, 1]]
    assert comparison.movement.tolist() == [3, 1, 0, 3]
    assert comparison.movers.tolist() == [0, 3, 1, 2]
    assert comparison.tau[0, 1] == pytest.approx(-5 / np.sqrt(5 * 6))


def test_ranks_match_scipy():
    scores = np.random.default_rng(0).integers(-5, 5, (4, 60)).astype(float)
    comparison = compare_rankings(scores)
    for row, ranks in zip(scores, comparison.rank, strict=True):
        assert ranks.tolist() == stats.rankdata(row, method="min").tolist()


def test_dense_ranks_of_both_signs():
    assert tie_codes(np.array([-1.0, 0.0, -1.0, 2.0, 2.0 + 1e-15, 0.0])).tolist() == [0, 1, 0, 2, 2, 1]


def test_differing_ranges_move_models_between_average_and_ranks():
    # COPA §5.3 in small: the second objective has ten times the range, the average follows it alone;
    # the first three objectives agree against it, as ranks and min-max see.
    agreed = np.arange(8.0)
    objectives = np.column_stack([agreed, agreed + 0.1, agreed * 1.1, -10 * agreed])
    models = build_population(objectives)
    table = Scalarizations(objectives, np.ones(4, dtype=bool), np.full(4, 0.25), models.metrics)
    scores = [table.weighted_sum(), table.min_max(), rank_norm(models.u, np.full(4, 0.25), 1)]
    comparison = compare_rankings(np.array(scores))
    assert comparison.tau[0].tolist() == [1, -1, -1]
    assert comparison.tau[1, 2] == 1
    assert comparison.rank[:, 0].tolist() == [1, 8, 8]
