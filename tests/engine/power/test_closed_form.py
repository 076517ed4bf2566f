"""Required sizes compared with closed forms for t tests and proportions, and with complete tests."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import Inference
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.power.closed_form import ClosedForm, Distances, _influences, estimate_effects
from riskrank.engine.power.planning import Plan, parse_distribution, plan_from_distributions, plan_from_pilot
from riskrank.engine.power.study import Agreement, study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from tests.engine.dominance.helpers import violation_matrix
from tests.engine.power.helpers import closed_verdicts, full_test_verdicts, sample_units

Z = NormalDist()
DIRECT = Claim(2, "direct")
BOTH = Z.inv_cdf(0.975) + Z.inv_cdf(0.8)


def build_plan(*texts, claim=DIRECT, inference=Inference(), pair=(0, 1)):  # noqa: B008
    return plan_from_distributions([*map(parse_distribution, texts)], claim, inference, pair=pair)


def pilot(n, *gaps, noise=1.0, seed=3, round_to=None, **design):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    values = [shared + gap + noise * rng.normal(size=n) for gap in gaps]
    if round_to is not None:
        values = [(value > round_to).astype(float) for value in values]
    return ClusteredScores.build(values, **design)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "claim", "exact"),
    [
        (("normal:0.3", "normal"), Claim(1, "direct"), 2 * (BOTH / 0.3) ** 2),
        (("bernoulli:0.8", "bernoulli:0.7"), DIRECT, 0.37 * (BOTH / 0.1) ** 2),
    ],
)
def test_sizes_of_normal_and_bernoulli_scores_match_their_tests(texts, claim, exact):
    """Quantile functions of normal scores cross more often than the means, which costs 10 % more samples."""
    result = study_power(build_plan(*texts, claim=claim))
    assert result.size == pytest.approx(exact, rel=0.15)
    assert result.confirmed
    assert result.power == pytest.approx(0.8, abs=0.01)


PLANS = {
    "normals": (build_plan, ("normal:0.5", "normal"), {}),
    "order 1, absolute": (build_plan, ("normal:0.7", "normal:0,1.5"), {"claim": Claim(1, "absolute", 0.25)}),
    "skewed": (build_plan, ("lognormal:0.4,1", "lognormal:0,1"), {}),
    "limit theorem": (build_plan, ("normal:0.5", "normal"), {"inference": Inference(variance="clt")}),
    "paper": (build_plan, ("normal:0.4", "normal"), {"inference": Inference(paper_exact=True)}),
    "0/1": (plan_from_pilot, (pilot(60, 1.0, 0.0, round_to=0.0), DIRECT, Inference()), {"pair": (0, 1)}),
    "unpaired": (plan_from_pilot, (pilot(50, 0.9, 0.0, paired=False), DIRECT, Inference()), {"pair": (0, 1)}),
    "ranked by dominance": (
        plan_from_pilot,
        (pilot(100, 1.0, 0.6, 0.0, noise=0.8), Claim(2), Inference(resamples=800)),
        {},
    ),
    "clusters": (
        plan_from_pilot,
        (pilot(120, 0.5, 0.0, clusters=[np.arange(120) ** 2 // 300] * 2), DIRECT, Inference()),
        {"pair": (0, 1)},
    ),
}


# True simulations, of which a smaller one decides in the quick suite.
QUICK = ("clusters",)


@pytest.mark.parametrize(
    ("name", "tables"),
    [*((name, 40) for name in QUICK), *(pytest.param(name, 120, marks=pytest.mark.slow) for name in PLANS)],
)
@pytest.mark.slow
def test_required_size_reaches_the_power_in_full_tests(name, tables):
    """At the required size, the test has the requested power on tables that the search did not use."""
    make, arguments, options = PLANS[name]
    plan = make(*arguments, **options)
    result = study_power(plan, repeats=60)
    assert result.size is not None
    observed = full_test_verdicts(plan, result.size, tables, seed=99).all(axis=1).mean()
    assert observed == pytest.approx(0.8, abs=3 * sqrt(0.16 / tables) + result.standard_error)
    assert result.standard_error < (1.0 if name == "paper" else 0.25)


@pytest.mark.parametrize(
    "name",
    [
        "paper",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("order 1, absolute", "unpaired", "ranked by dominance")
        ),
    ],
)
def test_closed_form_agrees_with_full_tests(name):
    """Both are applied to the same tables, at sizes where some verdicts are significant."""
    make, arguments, options = PLANS[name]
    plan = make(*arguments, **options)
    agreed = []
    for size in (25, 40):
        closed = closed_verdicts(plan, sample_units(plan, size, 6, 5), size)
        agreed.append(closed == full_test_verdicts(plan, size, 6, seed=5))
    assert np.mean(agreed) > 0.8


@pytest.mark.slow
def test_influences_predict_the_verdict_of_a_table():
    """The closed form agrees with the tests in nine of ten verdicts on the same tables."""
    plan = plan_from_pilot(pilot(200, 1.0, 0.7, 0.4, 0.0), Claim(2), Inference(resamples=1000))
    closed = closed_verdicts(plan, sample_units(plan, 60, 20, 0), 60)
    assert np.mean(closed == full_test_verdicts(plan, 60, 20, seed=0)) > 0.85


PAPER = Inference(paper_exact=True, resamples=400)
PAPERS = {
    "order 1": (Claim(1, "direct"), ("normal:0.4", "normal"), (0, 1)),
    "order 2": (DIRECT, ("normal:0.4", "normal"), (0, 1)),
    "absolute": (Claim(1, "absolute", 0.25), ("normal:0.7", "normal:0,1.5"), (0, 1)),
    "five models": (Claim(2), tuple(f"normal:{mean}" for mean in (1.0, 0.8, 0.6, 0.4, 0.2)), None),
    "equal": (DIRECT, ("normal", "normal"), (0, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_paper_rule_matches_full_tests(name):
    """The paper's error is the spread of the ratio, so its rule separates equal models half of the time."""
    claim, texts, pair = PAPERS[name]
    plan = build_plan(*texts, claim=claim, inference=PAPER, pair=pair)
    closed, observed = ClosedForm(plan, 4000).significant_pairs(25), full_test_verdicts(plan, 25, 120, seed=3)
    assert closed.mean() == pytest.approx(observed.mean(), abs=0.03 + 2.5 * sqrt(0.2 / 120))


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 12, 20, 35])
def test_unequal_clusters_match_full_tests(size):
    """Verdicts depend on whether the largest cluster is drawn; tables with too few units are skipped."""
    plan = PLANS["clusters"][0](*PLANS["clusters"][1], pair=(0, 1))
    closed = ClosedForm(plan, 4000).significant_pairs(size).mean()
    observed = full_test_verdicts(plan, size, 150, seed=4).mean()
    assert closed == pytest.approx(observed, abs=0.05 + 2.5 * sqrt(observed * (1 - observed) / 150))


def test_noise_has_unit_variance_and_pair_correlations():
    scores = pilot(300, 0.5, 0.2, 0.0)
    sampler, pairs = PilotSampler(scores), ((0, 1), (1, 0), (0, 2))
    effects = estimate_effects(scores, DIRECT, pairs, 0)
    many = effects.simulate_noise(np.random.default_rng(0), 20_000)
    assert many.std(axis=0) == pytest.approx(np.ones(3), abs=0.03)
    correlation = np.corrcoef(many.T)
    assert correlation[0, 1] == pytest.approx(-1, abs=1e-6)
    sampled = [
        effects.unit_noise(sampler.draw_units(np.random.default_rng(i), 50), 50)[0] for i in range(2000)
    ]
    assert np.corrcoef(np.transpose(sampled)) == pytest.approx(correlation, abs=0.06)
    assert effects.mean[1] == pytest.approx(-effects.mean[0], rel=0.05)


@pytest.mark.parametrize("claim", [DIRECT, Claim(1, "absolute", 0.25)])
def test_influences_match_numerical_derivatives(claim):
    """The influence of a unit is the derivative of T with respect to its weight."""
    rng = np.random.default_rng(0)
    values = [rng.normal(0.3, 1, 50), rng.normal(0, 1.3, 50)]
    effects = _influences(PilotSampler(ClusteredScores.build(values, paired=False)), claim, ((0, 1),))

    def distance(weights):
        cumulated = [np.cumsum(row[np.argsort(value)]) for row, value in zip(weights, values, strict=True)]
        grid = (np.arange(50_000) + 0.5) / 50_000
        curves = [
            np.sort(value)[np.minimum(np.searchsorted(end / end[-1], grid), 49)]
            for end, value in zip(cumulated, values, strict=True)
        ]
        gap = curves[0] - curves[1]
        if claim.order == 2:
            gap = np.cumsum(gap) / grid.size
        b = claim.boundary
        return np.mean(b * np.maximum(gap, 0) ** 2 - (1 - b) * np.minimum(gap, 0) ** 2)

    base, step = [np.ones(50), np.ones(50)], 0.02
    for model in (0, 1):
        moved = []
        for unit in range(50):
            weights = [row.copy() for row in base]
            weights[model][unit] += step
            moved.append((distance(weights) - distance(base)) / step * 50)
        moved = np.array(moved) - np.mean(moved)
        part = effects.influences[model][:, 0]
        assert np.corrcoef(moved, part)[0, 1] > 0.98


@pytest.mark.parametrize("claim", [DIRECT, Claim(1, "absolute", 0.25), Claim(2)])
@pytest.mark.parametrize("sizes", [(1, 4), (3, 4)])
def test_distances_of_tables_match_a_loop(claim, sizes):
    """Cluster sizes are 1 to 3 rows (weights are counted), or always 3 (rows are sorted)."""
    rng = np.random.default_rng(2)
    clusters = [np.repeat(np.arange(12), rng.integers(*sizes, 12)) for _ in range(3)]
    values = [rng.normal(size=len(cluster)) for cluster in clusters]
    sampler, pairs = PilotSampler(ClusteredScores.build(values, clusters, paired=False)), ((0, 1), (2, 0))
    units = sampler.draw_units(np.random.default_rng(5), 8 * 30)
    distances = Distances(sampler, claim, pairs)
    assert (distances._design is None) == (sizes == (3, 4))
    result, rows = distances.for_units(units, 30), sampler.drawn_scores(units)
    for number in range(30):
        parts = [value[cluster // 8 == number] for value, cluster in rows]
        expected = claim.statistic(violation_matrix(parts, order=claim.order)) - claim.boundary
        assert result[number] == pytest.approx([expected[pair] for pair in pairs])


def test_agreement_error_is_positive():
    assert Agreement(10, 2, 26, 26, 0, 0.2).error == pytest.approx(sqrt(0.5) / 27)
    assert Agreement(10, 2, 26, 20, -2, 0.2).error == pytest.approx(sqrt(6.5 + 4) / 27)


def test_biased_disagreement_is_not_confirmed():
    closed, full = np.ones((20, 1), dtype=bool), np.ones((20, 1), dtype=bool)
    full[:7] = False
    result = Agreement.from_verdicts(30, closed, full)
    assert (result.tables, result.verdicts, result.agreed, result.shift) == (20, 20, 13, 7)
    assert not result.confirms
    closed[:7], closed[7:10] = [[True], [True], [False], [False], [False], [False], [False]], False
    assert Agreement.from_verdicts(30, closed, full).confirms


@pytest.mark.slow
def test_reported_error_covers_full_tests(monkeypatch):
    """Two of twenty verdicts differ, both in the same direction."""
    plan = build_plan("normal:0.5", "normal", inference=Inference(variance="clt"))
    size, answers = study_power(plan).size, []

    def test(self, units, stream, jobs, progress):
        answers.append(bool(closed_verdicts(plan, [units], size)[0, 0]))
        return [answers[-1] and sum(answers) > 2]

    monkeypatch.setattr(Plan, "test", test)
    result = study_power(plan)
    assert result.size == size
    agreement = result.agreement
    assert (agreement.tables, agreement.agreed, agreement.shift) == (20, 18, 2)
    assert result.standard_error >= agreement.shift / agreement.verdicts
    assert 0.1 < agreement.verdict_variance < 0.25
    assert result.confirmed
