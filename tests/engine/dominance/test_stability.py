"""Rankings of random subsamples: bounds, counts, and known agreements."""

import numpy as np
import pytest

from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.method_rankings import assess_stability, methods_for_scope, study_methods
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.errors import UsageError

NAMES = ["a", "b", "c", "d"]
UNTESTED = Inference(test=False)
QUICK = Inference(resamples=25)
# Win rates over paired samples would tie all models except the best.
METHODS = methods_for_scope("x", [Claim(1), Claim(2)], paired=False)


def noisy(n=24, *, draws=1, paired=True):
    """Return four models that differ by about the noise of a score, with ``draws`` repeats per sample."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(4, n * draws, 1)) + np.array([0.0, 0.2, 0.4, 0.6])[:, None, None]
    return ScoreTables.from_arrays(list(values), [np.repeat(np.arange(n), draws)] * 4, ["x"], paired=paired)


def clear(order, n=12):
    """Return scores in which every sample ranks the models in the given order, the best first."""
    step = np.empty(4)
    step[list(order)] = [30.0, 20.0, 10.0, 0.0]
    values = np.random.default_rng(6).uniform(size=(n, 1)) + step[:, None, None]
    return ScoreTables.from_arrays(list(values), [np.arange(n)] * 4, ["x"])


def study(tables, inference=UNTESTED, methods=METHODS):
    return study_methods(tables, methods, inference, names=NAMES)


def repeated(tables, inference=UNTESTED, *, full=None, sizes=(12,), repeats=3, **options):
    full = study(tables, inference) if full is None else full
    return assess_stability(
        tables, METHODS, inference, full, names=NAMES, sizes=sizes, repeats=repeats, **options
    )


@pytest.mark.parametrize(
    ("inference", "fewest"), [(UNTESTED, 2), (QUICK, 10), (Inference(variance="clt"), 10)]
)
def test_sizes_outside_the_bounds_are_refused(inference, fewest):
    tables = noisy()
    full = study(tables, inference)
    stability = repeated(tables, inference, full=full, sizes=[fewest, 24], repeats=2)
    assert stability.sizes == (fewest, 24)
    assert ((stability.tau >= -1) & (stability.tau <= 1)).all()
    for size in (fewest - 1, 25, 0, -3):
        with pytest.raises(UsageError, match=f"subsample of {size} samples cannot be drawn") as caught:
            repeated(tables, inference, full=full, sizes=[12, size])
        assert f"24 samples; the methods need at least {fewest}" in caught.value.lines()[1]
        assert f"from {fewest} to 24" in caught.value.lines()[2]


def test_the_size_of_a_subsample_counts_samples_not_scores():
    tables = noisy(12, draws=2)
    np.testing.assert_array_equal(repeated(tables, sizes=[12]).tau, 1)
    with pytest.raises(UsageError, match="subsample of 13"):
        repeated(tables, sizes=[13])


def test_the_model_with_the_fewest_samples_bounds_the_size():
    rng = np.random.default_rng(7)
    sizes = [20, 14, 17, 20]
    tables = ScoreTables.from_arrays(
        [rng.normal(size=(n, 1)) for n in sizes], [np.arange(n) for n in sizes], ["x"], paired=False
    )
    assert repeated(tables, sizes=[14]).sizes == (14,)
    with pytest.raises(UsageError, match="subsample of 15"):
        repeated(tables, sizes=[15])


@pytest.mark.parametrize("paired", [True, False])
def test_subsamples_of_full_size_reproduce_the_ranking(paired):
    stability = repeated(noisy(paired=paired), sizes=[6, 24], repeats=4)
    np.testing.assert_array_equal(stability.tau[:, 1], 1)
    assert (stability.tau[:, 0] < 1).any()


def test_clear_differences_give_every_subsample_the_same_ranking():
    tables = clear([2, 0, 3, 1])
    np.testing.assert_array_equal(repeated(tables, sizes=[2, 5, 12]).tau, 1)
    np.testing.assert_array_equal(repeated(tables, QUICK, sizes=[10, 12]).tau, 1)


def test_agreement_is_computed_for_every_method():
    """The orders are known: one study of the reversed models, and one with a single exchange."""
    tables = clear([0, 1, 2, 3])
    against = {
        (3, 2, 1, 0): -1.0,  # every pair turned round
        (1, 0, 2, 3): (5 - 1) / 6,  # one pair of six
        (3, 0, 1, 2): (3 - 3) / 6,  # three pairs of six
    }
    for order, tau in against.items():
        stability = repeated(tables, full=study(clear(order)), sizes=[3, 12])
        np.testing.assert_allclose(stability.tau, tau, atol=1e-12)
    # Each method has its own reference.
    mixed = study(tables)
    first, *remaining = mixed.rankings
    mixed.rankings[first] = study(clear([3, 2, 1, 0])).rankings[first]
    stability = repeated(tables, full=mixed, sizes=[3, 12])
    assert stability.methods == (first, *remaining)
    np.testing.assert_array_equal(stability.tau[0], -1)
    np.testing.assert_array_equal(stability.tau[1:], 1)


def test_sizes_are_sorted_and_sampled_independently():
    tables = noisy()
    full = study(tables)
    every = repeated(tables, full=full, sizes=[16, 6, 11, 6], repeats=3)
    assert every.sizes == (6, 11, 16)
    for at, size in enumerate(every.sizes):
        alone = repeated(tables, full=full, sizes=[size], repeats=3)
        np.testing.assert_array_equal(alone.tau[:, 0], every.tau[:, at])
        more = repeated(tables, full=full, sizes=[size], repeats=5)
        np.testing.assert_array_equal(more.tau[:, 0, :3], every.tau[:, at])


def test_subsamples_differ_and_follow_the_seed():
    tables = noisy()
    full = study(tables)
    taus = [
        repeated(tables, Inference(test=False, seed=seed), full=full, sizes=[4], repeats=8).tau
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(taus[0], taus[1])
    assert not np.array_equal(taus[0], taus[2])
    assert len(np.unique(taus[0])) > 2


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_progress_and_result_do_not_depend_on_jobs(jobs):
    tables = noisy()
    full = study(tables, QUICK)
    progress = []
    stability = repeated(
        tables,
        Inference(resamples=25, jobs=jobs),
        full=full,
        sizes=[10, 15],
        repeats=2,
        progress=lambda done, total: progress.append((done, total)),
    )
    assert progress == [(1, 4), (2, 4), (3, 4), (4, 4)]
    alone = repeated(tables, QUICK, full=full, sizes=[10, 15], repeats=2)
    np.testing.assert_array_equal(stability.tau, alone.tau)
    assert (stability.methods, stability.sizes) == (alone.methods, alone.sizes)
