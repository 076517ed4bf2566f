import numpy as np
import pytest

import riskrank as rr
from riskrank.studies.power.figures import power_curves

SCORES = {
    "model": [name for name in "abc" for _ in range(20)],
    "sample": list(range(20)) * 3,
    "metric": ["acc"] * 60,
    "score": [((7 * i) % 20 + 6 * (3 - j)) / 30 for j in range(3) for i in range(20)],
}


@pytest.mark.slow
def test_power_curves_of_all_claims(legible):
    result = rr.power(SCORES, sizes=(10, 20), simulations=10, resamples=50, limit=40, jobs=1)
    study = result.document.study
    curves = power_curves(study)
    assert np.array_equal(curves.sizes, study.curve.sizes)
    claims = len(study.plan.pairs)
    count = claims + (claims > 1)
    assert np.array_equal(curves.values, study.curve.power.T[:count])
    assert np.array_equal(curves.errors, study.curve.standard_error.T[:count])
    assert sorted(curves.order) == list(range(count))
    assert curves.order[0] == claims or claims == 1
    words = legible(result.plot)
    assert any(" over " in word for word in words)
