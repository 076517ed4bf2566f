"""Steps of weighted scores, with ties and values that no resample holds, against scores written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.sampling.steps import TOTAL, StepMaker, Steps, places_of, units_of

ROWS = st.lists(st.tuples(st.integers(-3, 4), st.integers(0, 3)), min_size=1, max_size=12)
DRAWN = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3)


def made(rows, drawn):
    """Steps of resamples that draw each of four units so often, and their scores upwards."""
    values, units = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    counts = np.array([draw for draw in drawn if np.array(draw)[units].any()], dtype=np.int64)
    if not len(counts):
        counts = np.ones((1, 4), dtype=np.int64)
    sizes = counts[:, units].sum(axis=1)
    maker = StepMaker.of(values, units)
    steps = Steps(maker.values, maker.cumulated(units_of(counts / sizes[:, None])))
    return steps, [np.sort(np.repeat(values, draw[units])) for draw in counts]


@given(ROWS, DRAWN, st.floats(0.05, 1.0))
def test_means_tails_and_quantiles_are_those_of_the_scores(rows, drawn, level):
    steps, resamples = made(rows, drawn)
    tails, held = steps.tail_means(level), steps.held()
    for at, scores in enumerate(resamples):
        alone = Steps(steps.values, steps.cumulated[at])
        share = np.clip(level * scores.size - np.arange(scores.size), 0, 1)
        worst = share @ scores / scores.size
        assert steps.means[at] == pytest.approx(scores.mean(), abs=1e-9)
        assert tails[at] == pytest.approx(worst / level, abs=1e-9)
        assert alone.integrated(np.array([level])) == pytest.approx([worst], abs=1e-9)
        # Where a level meets a breakpoint, the quantile is the score below it.
        levels = np.append(
            (np.arange(scores.size) + 0.5) / scores.size, np.arange(1, scores.size + 1) / scores.size
        )
        assert steps.values[alone.at(levels)].tolist() == [*scores, *scores]
        following = [scores[min(np.searchsorted(scores, value), scores.size - 1)] for value in steps.values]
        assert held.values[at].tolist() == following
    assert (held.cumulated == steps.cumulated).all()


def test_signed_weights_add_up_value_by_value():
    scores, units = np.array([2.0, 1.0, 2.0, 5.0]), np.array([0, 0, 1, 1])
    signed = np.array([0.75, -0.25, 0.25, 0.25])
    found = StepMaker.of(scores, units, signed).cumulated(np.array([[1, 1], [2, 0]]))
    assert (found / TOTAL).tolist() == [[-0.25, 0.75, 1.0], [-0.5, 1.0, 1.0]]


@pytest.mark.parametrize(("rows", "kind"), [(4, np.uint16), (2**15 + 1, np.int32)])
def test_places_are_those_of_the_sorted_scores(rows, kind):
    values = [np.random.default_rng(seed).integers(0, 9, 2 * rows).astype(float) for seed in (0, 1)]
    for value, ordered, places in zip(values, *places_of(values, [rows, rows]), strict=True):
        assert (places.shape, places.dtype) == ((rows, 2), kind)
        assert ordered[places].ravel().tolist() == value.tolist()
        assert (np.diff(ordered) >= 0).all()
        assert sorted(places.ravel().tolist()) == list(range(2 * rows))
