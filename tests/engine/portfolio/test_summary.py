import numpy as np
import pytest

from riskrank.engine.portfolio.summary import summarise


def test_summary_against_plain_formulas():
    scores = [np.array([4.0, 1.0, 3.0, 2.0]), np.array([5.0])]
    found = summarise(scores, (0.5, 1.0))
    assert found.size.tolist() == [4, 1]
    assert found.mean.tolist() == [2.5, 5.0]
    assert found.sd == pytest.approx([np.std([1, 2, 3, 4], ddof=1), 0.0])
    assert found.quantiles.tolist() == [[2.0, 4.0], [5.0, 5.0]]
    assert found.tail_values.tolist() == [[1.5, 2.5], [5.0, 5.0]]
