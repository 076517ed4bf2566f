import numpy as np
import pytest
from scipy.stats import norm, t

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.family import Family

MANY = np.inf


def share(level, n):
    """The share that rule 1 turns into a level, written plainly."""
    return norm.cdf(np.sqrt(n / (n - 1)) * t.ppf(level, n - 1))


@pytest.mark.parametrize(("tests", "n"), [(20, 12), (56, 15), (132, 20), (132, 200), (2, 10)])
def test_rounds_follow_the_family_and_the_widening(tests, n):
    """Method §4: 1000, 2/s and 5/s, in whole blocks of 25."""
    s = share(0.05 / tests, n)
    expected = sorted({1000, *(max(1000, 25 * int(np.ceil(np.ceil(c / s) / 25))) for c in (2, 5))})
    assert Inference().rounds(tests, 1, n) == tuple(expected)


def test_rounds_of_many_samples_are_those_of_the_level():
    assert Inference().rounds(132, 1, MANY) == (1000, 5300, 13200)
    assert Inference().rounds(2, 1, MANY) == (1000,)
    assert Inference().rounds(12, 1, MANY) == (1000, 1200)
    assert Inference(family=Family(0.01, sides=1)).rounds(12, 1, MANY) == (1000, 2400, 6000)
    assert Inference(family=Family(correction="none", sides=1)).rounds(132, 1, MANY) == (1000,)
    assert Inference(resamples=70).rounds(132, 1, MANY) == (70,)
    assert Inference(paper_exact=True).rounds(132, 1, MANY) == (1000,)


def test_the_limit_of_work_makes_the_last_round_earlier():
    assert Inference().rounds(132, 1e9 / 3010, MANY) == (1000, 3000)
    assert Inference().rounds(132, 1e9 / 6000, MANY) == (1000, 5300, 6000)
    assert Inference().rounds(132, 1e9, MANY) == (1000,)
    assert Inference(work_limit=1e12).rounds(132, 1e8, MANY) == (1000, 5300, 10000)


def test_nothing_is_drawn_in_vain_where_no_count_could_decide():
    """Twelve models, ten samples: 13 million resamples for a single count, and the limit is 1.5 million."""
    assert 1 / share(0.05 / 132, 10) > 13e6
    assert Inference().rounds(132, 660, 10) == (1000, 13200)
    assert Inference(work_limit=1e12).rounds(132, 660, 10)[-1] > 60e6


def test_what_is_resampled():
    assert Inference().resampled
    assert not Inference(variance="clt").resampled
    assert not Inference(test=False).resampled


def test_one_resample_is_a_number_of_resamples():
    assert Inference(resamples=1).rounds(132, 1, MANY) == (1,)


def test_values_at_their_bounds():
    assert Family(1e-9).alpha == 1e-9
    assert Family(1 - 1e-9).alpha == 1 - 1e-9
    # However little work is allowed, the first round is.
    assert Inference(work_limit=1e-300).rounds(132, 1, MANY) == (1000,)
