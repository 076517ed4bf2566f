"""E-values and confidence sequences of mean differences, compared with products and simulations."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.evidence.e_values import BETS, Bet, Wagers, bet_evidence, e_values
from riskrank.engine.family import Family

SHARES = st.lists(st.integers(-8, 8).map(lambda eighth: eighth / 8), min_size=1, max_size=25)


def plain_e_value(
    steps: list[tuple[Fraction, int]], boundary: Fraction, reach: int, largest: int = 1
) -> float:
    """Return the mean over bets of their products; steps are fractions: sums of differences, and sizes."""
    total = Fraction(0)
    for bet in BETS:
        product = Fraction(1)
        for summed, size in steps:
            product *= 1 + Fraction(bet) * (summed - size * boundary) / (largest * (reach + boundary))
        total += product
    return float(total / len(BETS))


def test_the_bets_are_the_mid_quantiles_of_the_arcsine_law() -> None:
    from scipy.stats import beta

    assert np.allclose(BETS, beta(0.5, 0.5).ppf((np.arange(64) + 0.5) / 64), rtol=1e-12)


@given(SHARES, st.sampled_from([-0.75, -0.25, 0.0, 0.125, 0.5]))
def test_an_e_value_is_the_mean_of_plain_products(differences: list[float], boundary: float) -> None:
    result = Wagers.from_differences(differences, 1.0).log_e_value(boundary)
    plain = plain_e_value([(Fraction(d), 1) for d in differences], Fraction(boundary), 1)
    assert math.exp(result) == pytest.approx(plain, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-8, 8)), min_size=1, max_size=20))
def test_cluster_counts_as_a_step(rows: list[tuple[int, int]]) -> None:
    clusters, differences = [row[0] for row in rows], [row[1] / 8 for row in rows]
    steps = [
        (
            sum((Fraction(d) for c, d in zip(clusters, differences, strict=True) if c == name), Fraction(0)),
            clusters.count(name),
        )
        for name in sorted(set(clusters))
    ]
    result = Wagers.from_differences(differences, 1.0, clusters=clusters, largest=20).log_e_value(-0.25)
    assert math.exp(result) == pytest.approx(plain_e_value(steps, Fraction(-1, 4), 1, 20), rel=1e-9)


@given(SHARES, st.randoms())
def test_e_values_are_invariant_to_sample_order(differences: list[float], random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    first, second = (
        bet_evidence([Bet(0.0, 0.0, 0.1, len(d), Wagers.from_differences(d, 1.0))])
        for d in (differences, shuffled)
    )
    assert e_values(first) == e_values(second)
    assert np.array_equal(first.interval(0.05), second.interval(0.05))


@given(SHARES)
def test_directions_are_mirrored(differences: list[float]) -> None:
    wagers = Wagers.from_differences(differences, 1.0)
    negated = Wagers.from_differences([-d for d in differences], 1.0)
    assert wagers.mirrored.log_e_value(0.25) == pytest.approx(negated.log_e_value(0.25), abs=1e-12)


@settings(max_examples=50)
@given(SHARES, st.sampled_from([0.01, 0.05, 0.3]))
def test_confidence_sequence_inverts_both_tests(differences: list[float], level: float) -> None:
    wagers = Wagers.from_differences(differences, 1.0)
    (low,), (high,) = bet_evidence([Bet(0.0, 0.0, 0.1, len(differences), wagers)]).interval(level)
    assert -1 <= low <= np.mean(differences) <= high <= 1
    for end, side in ((low, wagers), (-high, wagers.mirrored)):
        if end > -1 + 1e-9:
            assert side.log_e_value(end - 1e-9) >= -math.log(level / 2) - 1e-6
        assert side.log_e_value(end + 1e-9) < -math.log(level / 2) + 1e-6


def test_e_values_are_invariant_to_scale() -> None:
    differences = np.random.default_rng(0).uniform(-1, 1, 40)
    original = Wagers.from_differences(differences, 1.0).log_e_value(-0.1)
    assert Wagers.from_differences(1000 * differences, 1000.0).log_e_value(-100.0) == pytest.approx(
        original, rel=1e-12
    )


@pytest.mark.parametrize("boundary", [-1.0, -1.5])
def test_boundary_at_the_bounds_needs_no_bet(boundary: float) -> None:
    assert Wagers.from_differences([-1.0, 0.5], 1.0).log_e_value(boundary) == math.inf
    assert Wagers.from_differences([], 1.0).log_e_value(boundary) == 0.0


def test_a_difference_beyond_the_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="exceeds the limit"):
        Wagers.from_differences([0.5, 1.5], 1.0)
    with pytest.raises(ValueError, match="exceeds the limit"):
        Wagers.from_differences([0.5, 0.5], 1.0, clusters=[0, 0], largest=1)


def test_required_samples_decide_the_claim() -> None:
    differences = np.repeat([1.0, 0.0, -1.0], [9, 24, 5])
    evidence = Bet(4 / 38, 0.0, 0.1, 38, Wagers.from_differences(differences, 1.0))
    needed = evidence.samples_needed(0.05)
    assert 38 < needed < math.inf
    times = needed / 38
    assert (
        evidence.wagers.log_e_value(0.0, times)
        >= math.log(40)
        > evidence.wagers.log_e_value(0.0, times - 1 / 38)
    )


def test_zero_difference_has_infinite_required_size() -> None:
    assert Bet(0.0, 0.0, 0.1, 4, Wagers.from_differences([1, -1, 0, 0], 1.0)).samples_needed(0.05) == math.inf


def test_family_of_bets_is_adjusted() -> None:
    clear = Bet(0.5, 0.0, 0.05, 100, Wagers.from_differences(np.repeat([1.0, 0.0], 50), 1.0))
    open_ = Bet(0.0, 0.0, 0.1, 100, Wagers.from_differences(np.tile([1.0, -1.0], 50), 1.0))
    evidence = bet_evidence([clear, open_])
    assert evidence.p_below[0] == 1  # an e-value below 1 is no evidence
    assert evidence.p_above[0] == pytest.approx(math.exp(-clear.wagers.log_e_value(0.0)))
    answers = Family().answer(evidence)
    assert answers.side.tolist() == [1, 0]
    assert answers.low[0] > 0


@pytest.mark.parametrize(
    ("scores", "tables"),
    [
        ("one disaster in 100", 20),
        *(
            pytest.param(scores, 200, marks=pytest.mark.slow)
            for scores in ("equal 0/1", "one disaster in 100")
        ),
    ],
)
def test_forty_interim_looks_keep_the_level(scores: str, tables: int) -> None:
    """With 40 looks at up to 2,000 samples, at most 3 of 200 tables pass; .025 would be 5."""
    rng, passed = np.random.default_rng(7), 0
    for _ in range(tables):
        if scores == "equal 0/1":
            differences = (rng.random(2000) < 0.7).astype(float) - (rng.random(2000) < 0.7)
            boundary = 0.0
        else:
            differences, boundary = -1.0 * (rng.random(2000) < 0.01), -0.01
        logs = [
            Wagers.from_differences(differences[:n], 1.0).log_e_value(boundary) for n in range(50, 2001, 50)
        ]
        passed += max(logs) >= math.log(40)
    assert passed <= 1 + tables // 100
