"""Step functions of weighted scores with ties and undrawn values, compared with repeated scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.sampling.steps import TOTAL, StepMaker, Steps, to_weight_units, values_and_ranks

ROWS = st.lists(st.tuples(st.integers(-3, 4), st.integers(0, 3)), min_size=1, max_size=12)
RESAMPLE_COUNTS = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3)


def build_steps(rows, resample_counts):
    """Return the steps of resamples with the given counts of four units, and their sorted scores."""
    values, units = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    counts = np.array([draw for draw in resample_counts if np.array(draw)[units].any()], dtype=np.int64)
    if not len(counts):
        counts = np.ones((1, 4), dtype=np.int64)
    sizes = counts[:, units].sum(axis=1)
    maker = StepMaker.from_scores(values, units)
    steps = Steps(maker.values, maker.cumulated(to_weight_units(counts / sizes[:, None])))
    return steps, [np.sort(np.repeat(values, draw[units])) for draw in counts]


@given(ROWS, RESAMPLE_COUNTS, st.floats(0.05, 1.0))
def test_means_tails_and_quantiles_match_the_scores(rows, resample_counts, level):
    steps, resamples = build_steps(rows, resample_counts)
    tails, support = steps.tail_means(level), steps.on_support()
    for at, scores in enumerate(resamples):
        alone = Steps(steps.values, steps.cumulated[at])
        share = np.clip(level * scores.size - np.arange(scores.size), 0, 1)
        worst = share @ scores / scores.size
        assert steps.means[at] == pytest.approx(scores.mean(), abs=1e-9)
        assert tails[at] == pytest.approx(worst / level, abs=1e-9)
        assert alone.integrated_quantiles(np.array([level])) == pytest.approx([worst], abs=1e-9)
        # Where a level meets a breakpoint, the quantile is the score below it.
        levels = np.append(
            (np.arange(scores.size) + 0.5) / scores.size, np.arange(1, scores.size + 1) / scores.size
        )
        assert steps.values[alone.quantile_index(levels)].tolist() == [*scores, *scores]
        following = [scores[min(np.searchsorted(scores, value), scores.size - 1)] for value in steps.values]
        assert support.values[at].tolist() == following
    assert (support.cumulated == steps.cumulated).all()


def test_signed_weights_are_summed_by_value():
    scores, units = np.array([2.0, 1.0, 2.0, 5.0]), np.array([0, 0, 1, 1])
    signed = np.array([0.75, -0.25, 0.25, 0.25])
    result = StepMaker.from_scores(scores, units, signed).cumulated(np.array([[1, 1], [2, 0]]))
    assert (result / TOTAL).tolist() == [[-0.25, 0.75, 1.0], [-0.5, 1.0, 1.0]]


@pytest.mark.parametrize(("rows", "kind"), [(4, np.uint16), (2**15 + 1, np.int32)])
def test_positions_match_the_sorted_scores(rows, kind):
    values = [np.random.default_rng(seed).integers(0, 9, 2 * rows).astype(float) for seed in (0, 1)]
    for value, ordered, places in zip(values, *values_and_ranks(values, [rows, rows]), strict=True):
        assert (places.shape, places.dtype) == ((rows, 2), kind)
        assert ordered[places].ravel().tolist() == value.tolist()
        assert (np.diff(ordered) >= 0).all()
        assert sorted(places.ravel().tolist()) == list(range(2 * rows))
