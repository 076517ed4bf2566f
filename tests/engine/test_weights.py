import numpy as np

from riskrank.engine.numeric import normalised_weights


def test_huge_weights_are_normalised():
    np.testing.assert_allclose(normalised_weights([1e308, 1e308, 0.0], list("abc")), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(normalised_weights([1.5e308, 0.5e308], list("ab")), [0.75, 0.25])
    np.testing.assert_allclose(normalised_weights([1e308, 1.0], list("ab")), [1.0, 0.0], atol=1e-300)
