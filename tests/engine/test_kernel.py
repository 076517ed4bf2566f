"""The compiled kernel and NumPy give the same resamples, and the same ratios up to rounding."""

import numpy as np
import pytest

from riskrank.engine.dominance import violation
from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Inference, build_claims
from riskrank.engine.dominance.violation import ViolationKernel, round_ratios
from riskrank.engine.sampling import resamples
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import Scratch, draw_blocks, make_blocks
from riskrank.engine.sampling.strata import TaskDesign

KERNEL = resamples.KERNEL
pytestmark = pytest.mark.skipif(KERNEL is None, reason="riskrank was installed without a C compiler")

KINDS = {
    "random": lambda rng, shape: rng.normal(size=shape) + rng.normal(size=(shape[0], 1, 1)) * 0.2,
    "tied": lambda rng, shape: rng.integers(0, 4, size=shape) / 10,
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
    "constant": lambda rng, shape: np.broadcast_to(rng.integers(0, 3, size=(shape[0], 1, 1)) / 3, shape),
    "huge": lambda rng, shape: rng.standard_t(1, size=shape) * 1e90,
    "tiny": lambda rng, shape: rng.integers(-3, 3, size=shape) * 5e-324,
    "near": lambda rng, shape: 1 + rng.integers(0, 9, size=shape) * np.finfo(float).eps,
    "denormal squares": lambda rng, shape: rng.normal(size=shape) * 1e-170,
}


@pytest.mark.parametrize("kind", KINDS)
def test_ratios_are_those_of_numpy(kind):
    rng = np.random.default_rng(0)
    for _ in range(65):
        n = int(rng.choice([1, 2, 15, 16, 63, 64, 65, 257, 700]))
        shape = int(rng.integers(2, 8)), int(rng.integers(1, 4)), n
        scores = np.sort(KINDS[kind](rng, shape), axis=2)
        kernel = ViolationKernel.for_models(shape[0])
        expected, pairs = kernel.ratios(scores), np.array(kernel.pairs)
        above = np.empty((pairs.shape[1], shape[1]))
        for order in (1, 2):
            KERNEL.ratios(scores, pairs, above, n, order)
            plain = expected[order - 1][*pairs]
            np.testing.assert_allclose(above, plain, rtol=0, atol=1e-12)
            np.testing.assert_array_equal(round_ratios(above) % 1 == 0, round_ratios(plain) % 1 == 0)


def designs():
    rng = np.random.default_rng(5)
    values = [np.round(rng.normal(size=60), 1) for _ in range(4)]
    clusters = [rng.permutation(60) // 3] * 4
    tasks = TaskDesign(("a", "b"), np.array([0.5, 0.5]), (np.repeat([0, 1], 30),) * 4)
    return {
        "paired": ClusteredScores.build(values),
        "unpaired": ClusteredScores.build(values, paired=False),
        "clusters": ClusteredScores.build(values, clusters),
        "tasks": ClusteredScores.build(values, tasks=tasks),
        "unequal sizes": ClusteredScores.build([v[: 60 - i] for i, v in enumerate(values)], paired=False),
    }


@pytest.mark.parametrize("name", designs())
def test_resamples_and_verdicts_are_those_of_numpy(name, monkeypatch):
    scores = designs()[name]
    if name != "unequal sizes":
        draws = draw_blocks(scores, make_blocks(50, 3))
        compiled = resamples._expanded_batch(scores, draws, Scratch())
        np.testing.assert_array_equal(compiled, resamples._sorted_batch(scores, draws, Scratch()))
    claims = build_claims((1, 2), relative=True, thresholds=(0.25,), direct=True)
    studies = []
    for kernel in (KERNEL, None):
        monkeypatch.setattr(resamples, "KERNEL", kernel)
        monkeypatch.setattr(violation, "KERNEL", kernel)
        studies.append(study_dominance(scores, claims, Inference(resamples=200, seed=1)))
    for compiled, plain in zip(studies[0].tests, studies[1].tests, strict=True):
        np.testing.assert_array_equal(compiled.crossings, plain.crossings)
        np.testing.assert_array_equal(compiled.p_value, plain.p_value)
        np.testing.assert_array_equal(compiled.dominates, plain.dominates)


def test_arrays_of_other_sizes_are_refused():
    scores, pairs, out = np.zeros((2, 3, 5)), np.array([[0], [1]]), np.zeros((1, 3))
    KERNEL.ratios(scores, pairs, out, 5, 1)
    for wrong in ((scores, pairs + 1, out, 5, 1), (scores, pairs, out, 4, 1), (scores, pairs - 1, out, 5, 2)):
        with pytest.raises(ValueError, match="other sizes"):
            KERNEL.ratios(*wrong)
    with pytest.raises(ValueError, match="other sizes"):
        KERNEL.ratios(scores, pairs, out, 0, 1)
    ordered, units = np.zeros((2, 5)), np.tile(np.arange(5, dtype=np.int32), (2, 1))
    draws, expanded = np.zeros((3, 5), dtype=np.int64), np.zeros((2, 3, 5))
    KERNEL.resample(ordered, units, draws, expanded, 5)
    for wrong in ((ordered, units + 1, draws, expanded, 5), (ordered, units, draws + 5, expanded, 5)):
        with pytest.raises(ValueError, match="no such unit"):
            KERNEL.resample(*wrong)
    often = (
        np.zeros((2, 300)),
        np.tile(np.arange(300, dtype=np.int32), (2, 1)),
        np.zeros((1, 300), dtype=np.int64),
    )
    with pytest.raises(ValueError, match="other sizes"):
        KERNEL.resample(*often, np.zeros((2, 1, 300)), 300)


def test_ratios_are_rounded_to_exact_sums():
    ratios = round_ratios(np.random.default_rng(0).random(1000))
    assert ratios.sum() == sum(reversed(ratios.tolist()))
    assert round_ratios(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.5, 1.0]
