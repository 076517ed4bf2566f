import numpy as np
import pytest
from scipy.stats import norm, t

from riskrank.engine.dominance.inference import Claim, Inference, build_claims
from riskrank.engine.dominance.method_rankings import methods_for_scope, parse_method
from riskrank.engine.family import Family
from riskrank.errors import UsageError

MANY = np.inf


def share(level, n):
    """Return the share that rule 1 widens to a level."""
    return norm.cdf(np.sqrt(n / (n - 1)) * t.ppf(level, n - 1))


@pytest.mark.parametrize(("tests", "n"), [(20, 12), (56, 15), (132, 20), (132, 200), (2, 10)])
def test_rounds_follow_the_family_and_the_widening(tests, n):
    """The rounds of method §4 are 1000, 2/s and 5/s, rounded up to blocks of 25."""
    s = share(0.05 / tests, n)
    expected = sorted({1000, *(max(1000, 25 * int(np.ceil(np.ceil(c / s) / 25))) for c in (2, 5))})
    assert Inference().round_totals(tests, 1, n) == tuple(expected)


def test_rounds_of_many_samples_are_those_of_the_level():
    assert Inference().round_totals(132, 1, MANY) == (1000, 5300, 13200)
    assert Inference().round_totals(2, 1, MANY) == (1000,)
    assert Inference().round_totals(12, 1, MANY) == (1000, 1200)
    assert Inference(family=Family(0.01, sides=1)).round_totals(12, 1, MANY) == (1000, 2400, 6000)
    assert Inference(family=Family(correction="none", sides=1)).round_totals(132, 1, MANY) == (1000,)
    assert Inference(resamples=70).round_totals(132, 1, MANY) == (70,)
    assert Inference(paper_exact=True).round_totals(132, 1, MANY) == (1000,)


def test_the_limit_of_work_makes_the_last_round_earlier():
    assert Inference().round_totals(132, 1e9 / 3010, MANY) == (1000, 3000)
    assert Inference().round_totals(132, 1e9 / 6000, MANY) == (1000, 5300, 6000)
    assert Inference().round_totals(132, 1e9, MANY) == (1000,)
    assert Inference(work_limit=1e12).round_totals(132, 1e8, MANY) == (1000, 5300, 10000)


def test_no_extra_rounds_if_no_count_could_decide():
    """With twelve models and ten samples a single crossing needs 13 million resamples, above the limit."""
    assert 1 / share(0.05 / 132, 10) > 13e6
    assert Inference().round_totals(132, 660, 10) == (1000, 13200)
    assert Inference(work_limit=1e12).round_totals(132, 660, 10)[-1] > 60e6


def test_only_bootstrap_tests_are_resampled():
    assert Inference().uses_resampling
    assert not Inference(variance="clt").uses_resampling
    assert not Inference(test=False).uses_resampling


def test_single_resample_is_a_valid_number():
    assert Inference(resamples=1).round_totals(132, 1, MANY) == (1,)


def test_values_at_their_bounds():
    assert Family(1e-9).alpha == 1e-9
    assert Family(1 - 1e-9).alpha == 1 - 1e-9
    # The first round is always allowed.
    assert Inference(work_limit=1e-300).round_totals(132, 1, MANY) == (1000,)


def test_boundaries_and_statistics():
    ratios = np.array([[0.5, 0.1, 0.3], [0.9, 0.5, 0.6], [0.7, 0.4, 0.5]])
    assert Claim(1).boundary == 0
    assert Claim(1, "direct").boundary == 0.5
    assert Claim(1, "absolute", 0.25).boundary == 0.25
    assert Claim(1, "direct").statistic(ratios) is ratios
    assert Claim(1).statistic(ratios)[0, 1] == pytest.approx((0.1 + 0.3) / 2 - (0.9 + 0.6) / 2)


def test_claims_of_a_run():
    assert build_claims([1, 2], relative=True, thresholds=[0.25], direct=True) == (
        Claim(1),
        Claim(2),
        Claim(1, "direct"),
        Claim(2, "direct"),
        Claim(1, "absolute", 0.25),
        Claim(2, "absolute", 0.25),
    )
    assert build_claims([2], relative=False, thresholds=[]) == ()


@pytest.mark.parametrize(
    "name",
    [
        "R-FSD@P(IC)",
        "R-SSD@P(EC)",
        "FSD(0.08)@P(IC)",
        "SSD(0.25)@P(EC)",
        "MWR@P(IC)",
        "MWR(sample)@P(IC)",
        "RA(R-SSD@M)",
        "RA(SSD(0.25)@M)",
        "RA(MWR@M)",
        "RA(MRM@P(IC))",
        "RA(MRM@M)",
    ],
)
def test_method_names_round_trip(name):
    assert parse_method(name, default_scope="P(IC)").name == name


def test_statistic_without_scope_uses_the_default_scope():
    assert parse_method("R-SSD", default_scope="P(EC)").name == "R-SSD@P(EC)"
    assert parse_method("R-SSD", default_scope="M").name == "RA(R-SSD@M)"
    assert parse_method("MRM", default_scope="P(IC)").name == "RA(MRM@P(IC))"


def test_the_claim_comes_with_the_name():
    assert parse_method("SSD(0.4)", default_scope="P(IC)").claim == Claim(2, "absolute", 0.4)
    assert parse_method("R-FSD", default_scope="P(IC)").claim == Claim(1)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "SSD",
        "R-SSD(0.2)",
        "R-TSD",
        "R-SSD@P",
        "RA(R-SSD@P(IC))",
        "R-SSD@M",
        "MRM@P(IC)",
        "SSD(x)",
        "SSD(1.2.3)",
    ],
)
def test_other_names_are_refused_with_a_near_miss(name):
    with pytest.raises(UsageError) as caught:
        parse_method(name, default_scope="P(IC)")
    assert caught.value.hint


def test_methods_on_a_scope():
    names = [method.name for method in methods_for_scope("M", [Claim(2)], paired=True, mean_risk=True)]
    assert names == ["RA(R-SSD@M)", "RA(MWR@M)", "RA(MWR(sample)@M)", "RA(MWR(pairwise)@M)", "RA(MRM@M)"]
    assert [m.name for m in methods_for_scope("P(IC)", [], paired=False)] == ["MWR@P(IC)"]
