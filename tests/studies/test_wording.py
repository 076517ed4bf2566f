"""Words of verdicts."""

import pytest

from riskrank.studies.wording import method_words, percent


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
