"""Words of verdicts."""

from dataclasses import replace

import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import Strata
from riskrank.studies.wording import all_metrics, method_words, percent, unseen_in


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("R-SSD", "second-order dominance"),
        ("R-FSD", "first-order dominance"),
        ("FSD(0.25)", "first-order dominance up to ε 0.25"),
        ("MWR", "MWR"),
        ("RA(R-SSD@M)", "RA(R-SSD@M)"),
    ],
)
def test_methods_of_dominance_in_words(method, words):
    assert method_words(method) == words


@pytest.mark.parametrize(
    ("share", "words"), [(1.0, "100 %"), (0.999, "99.9 %"), (0.95, "95 %"), (0.0123, "1.2 %"), (0.0, "0 %")]
)
def test_shares_in_percent(share, words):
    assert percent(share) == words


def test_two_metrics_are_both():
    assert [all_metrics(count) for count in (2, 3)] == ["both metrics", "all 3 metrics"]


def test_samples_of_unequal_weight_are_counted_as_the_table_counts_them():
    """A page names one number of samples: what they are worth is said beside it."""
    values = (np.arange(4.0),)
    equal = ClusteredScores(values, (np.arange(4),), paired=True)
    assert unseen_in(equal).startswith("4 samples say nothing")
    uneven = replace(equal, strata=Strata(tuple("abcd"), np.array([0.7, 0.1, 0.1, 0.1]), (np.arange(4),)))
    assert unseen_in(uneven).startswith("4 samples of unequal weights, worth 1 equal ones, say nothing")
    assert "3 in 1 cases" in unseen_in(uneven)
