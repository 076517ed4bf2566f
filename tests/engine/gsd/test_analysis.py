"""What is significant is dominance in the sample with a p-value of at most α, and only that has a margin."""

import numpy as np
import pytest

from riskrank.engine.family import Family
from riskrank.engine.gsd.analysis import analyse
from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.quality import quality_table


def chain(n=12):
    """Three models on one ordinal criterion: far above, a little above, and below."""
    base = np.tile([0, 1, 2], n // 3)
    above = base.copy()
    above[0] += 1
    return quality_table(np.stack([base + 3, above, base])[:, :, None].astype(float), ordinal=[True])


@pytest.mark.parametrize("pairs", ["dominant", "all"])
def test_survival_is_told_of_significant_pairs_and_no_others(pairs):
    # 19 relabellings: the smallest p-value is 1/20, the level itself.
    found = analyse(
        chain(),
        Relabelling(pairs=pairs, resamples=19, family=Family(correction="none"), contamination=True),
    )
    p = {pair: test.p_value for pair, test in found.tests.items()}
    assert p[0, 1] == p[0, 2] == 0.05
    assert p[1, 2] > 0.05
    assert found.relation.dominates[1, 2]
    assert set(found.survives) == {(0, 1), (0, 2)}
    assert {*map(tuple, np.argwhere(found.significant).tolist())} == {(0, 1), (0, 2)}


def test_survival_is_found_only_if_asked():
    assert analyse(chain(), Relabelling(resamples=19, family=Family(correction="none"))).survives == {}
