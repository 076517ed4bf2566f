import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.mean_differences import SuccessCounts
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables


def tables(values, clusters=None, *, paired=True):
    clusters = [np.arange(len(v)) for v in values] if clusters is None else clusters
    return ScoreTables.from_arrays(
        values, clusters, [f"m{i}" for i in range(values[0].shape[1])], paired=paired
    )


def test_paired_differences_are_those_of_a_paired_t_test():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(30, 2)) + shift for shift in (0, 0.5, -0.3)]
    result = contrasts(tables(values), 0, Inference(family=Family(correction="none")))
    for other in (1, 2):
        for metric in range(2):
            d = values[other][:, metric] - values[0][:, metric]
            assert result.difference[other, metric] == pytest.approx(d.mean())
            assert result.error[other, metric] == pytest.approx(d.std(ddof=1) / np.sqrt(30))
            student = stats.ttest_1samp(d, 0).pvalue
            assert student - 1e-12 <= result.answers.p_adjusted[other, metric] < 2 * student


def test_unpaired_errors_add():
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(40, 1)), rng.normal(1, 2, (25, 1))]
    result = contrasts(tables(values, paired=False), 0)
    expected = np.sqrt(values[0].var(ddof=1) / 40 + values[1].var(ddof=1) / 25)
    assert result.error[1, 0] == pytest.approx(expected)


def test_holding_the_other_way_round_turns_signs():
    rng = np.random.default_rng(2)
    both = tables([rng.normal(size=(20, 3)), rng.normal(size=(20, 3))])
    there, back = contrasts(both, 0), contrasts(both, 1)
    assert there.difference[1] == pytest.approx(-back.difference[0])
    assert there.answers.p_adjusted[1] == pytest.approx(back.answers.p_against[0])


def test_few_differing_samples_are_bounded_by_their_signs():
    reference = np.arange(15.0)[:, None]
    other = reference.copy()
    other[:3] += [[1.0], [1.1], [1.2]]
    assert contrasts(tables([reference, other]), 0).answers.p_adjusted[1, 0] >= 2 / 8
    constant = contrasts(tables([reference, reference + 1]), 0)
    assert constant.answers.p_adjusted[1, 0] == pytest.approx(2.0**-14)
    same = contrasts(tables([reference, reference.copy()]), 0)
    assert same.answers.p_adjusted[1, 0] == 1


def test_better_overall_needs_a_significant_metric_and_no_worse():
    rng = np.random.default_rng(3)
    base = rng.normal(size=(100, 2))
    clear = base + 1 + 0.1 * rng.normal(size=(100, 2))
    mixed = base + [1, -0.01] + 0.1 * rng.normal(size=(100, 2))
    mixed[:, 1] -= mixed[:, 1].mean() - base[:, 1].mean() + 0.001
    result = contrasts(tables([base, clear, mixed, base.copy()]), 0)
    assert result.better_throughout.tolist() == [1]
    assert contrasts(tables([base, clear, mixed]), 1).better_throughout.tolist() == []


@pytest.mark.slow
def test_family_wise_level_over_models_and_metrics():
    """For identical models, some contrast is significant in at most .05 of the tables, ± .011."""
    rng = np.random.default_rng(4)
    false = 0
    for _ in range(400):
        values = [rng.normal(size=(20, 3)) for _ in range(5)]
        false += contrasts(tables(values), 0).better.any()
    assert false / 400 <= 0.05 + 2 * 0.011


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_scores_of_any_size(factor):
    rng = np.random.default_rng(5)
    values = [rng.normal(size=(20, 2)) for _ in range(2)]
    scaled, plain = contrasts(tables([v * factor for v in values]), 0), contrasts(tables(values), 0)
    assert scaled.answers.p_adjusted == pytest.approx(plain.answers.p_adjusted)


def test_repeated_rows_of_a_cluster_count_once():
    rng = np.random.default_rng(6)
    values = [rng.normal(size=(12, 1)) for _ in range(2)]
    once = contrasts(tables(values), 0)
    repeated = [np.repeat(v, 4, axis=0) for v in values]
    clustered = contrasts(tables(repeated, [np.repeat(np.arange(12), 4)] * 2), 0)
    assert clustered.answers.p_adjusted == pytest.approx(once.answers.p_adjusted)


def test_constant_scores_are_separated_by_their_rates():
    result = contrasts(tables([np.full((15, 1), 1.0), np.full((15, 1), 10.0)]), 0)
    rates = SuccessCounts(15, 0, (15, 15), True)
    assert result.answers.p_adjusted[1, 0] == pytest.approx(rates.two_sided_p_value)
