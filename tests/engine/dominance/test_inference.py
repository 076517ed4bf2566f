import pytest

from riskrank.engine.dominance.inference import Inference
from riskrank.errors import UsageError


@pytest.mark.parametrize(
    "wrong",
    [
        {"variance": "bogus"},
        {"correction": "bogus"},
        {"resamples": "many"},
        {"resamples": 0},
        {"resamples": 2.5},
        {"resamples": True},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"alpha": float("nan")},
        {"work_limit": 0.0},
    ],
)
def test_bad_values_are_refused(wrong):
    with pytest.raises(UsageError):
        Inference(**wrong)


def test_rounds_follow_the_family():
    """Method §4: k = 12 makes 1000, 5,280 and 13,200, here in whole blocks of 25."""
    assert Inference().rounds(132, 1) == (1000, 5300, 13200)
    assert Inference().rounds(2, 1) == (1000,)
    assert Inference().rounds(12, 1) == (1000, 1200)
    assert Inference(alpha=0.01).rounds(12, 1) == (1000, 2400, 6000)
    assert Inference(correction="none").rounds(132, 1) == (1000,)
    assert Inference(resamples=70).rounds(132, 1) == (70,)
    assert Inference(paper_exact=True).rounds(132, 1) == (1000,)


def test_the_limit_of_work_makes_the_last_round_earlier():
    assert Inference().rounds(132, 1e9 / 3010) == (1000, 3000)
    assert Inference().rounds(132, 1e9 / 6000) == (1000, 5300, 6000)
    assert Inference().rounds(132, 1e9) == (1000,)
    assert Inference(work_limit=1e12).rounds(132, 1e8) == (1000, 5300, 10000)


def test_what_is_resampled():
    assert Inference().resampled
    assert not Inference(variance="clt").resampled
    assert not Inference(test=False).resampled


def test_one_resample_is_a_number_of_resamples():
    assert Inference(resamples=1).rounds(132, 1) == (1,)


def test_values_at_their_bounds():
    assert Inference(alpha=1e-9).alpha == 1e-9
    assert Inference(alpha=1 - 1e-9).alpha == 1 - 1e-9
    # However little work is allowed, the first round is.
    assert Inference(work_limit=1e-300).rounds(132, 1) == (1000,)
