"""Matrix products are bit-identical for any number of BLAS threads."""

import sys

import numpy as np
import pytest

from riskrank.engine.numeric import dot, weighted_sums
from tests.programs import run_program

STUDIES = """
import hashlib
import numpy as np
import riskrank as rr
n = 30_000
rng = np.random.default_rng(0)
columns = {
    "model": np.repeat(["a", "b"], n),
    "sample": np.tile(np.arange(n), 2),
    "metric": ["x"] * (2 * n),
    "score": rng.normal(size=2 * n),
}
results = [
    rr.dominance(columns, variance="clt", jobs=1),
    rr.gate(columns, not_worse=["a:b"], margin=["x=0.1"], resamples=100, jobs=1),
]
print(*(hashlib.sha256(result.to_json().encode()).hexdigest() for result in results))
"""


def test_products_match_numpy():
    rng = np.random.default_rng(0)
    weights, columns = rng.normal(size=(7, 50)), rng.normal(size=(50, 3))
    assert dot(weights[0], columns[:, 0]) == pytest.approx(float(weights[0] @ columns[:, 0]), rel=1e-13)
    np.testing.assert_allclose(weighted_sums(weights, columns), weights @ columns, rtol=1e-12)
    np.testing.assert_allclose(weighted_sums(weights, columns[:, 1]), weights @ columns[:, 1], rtol=1e-12)
    assert weighted_sums(weights, columns[:, :0]).shape == (7, 0)


@pytest.mark.slow
def test_results_are_identical_for_any_number_of_threads():
    """From ten thousand samples on, BLAS splits sums by the number of threads."""
    outputs = set()
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        done = run_program(sys.executable, "-c", STUDIES, variables=dict.fromkeys(names, threads))
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
