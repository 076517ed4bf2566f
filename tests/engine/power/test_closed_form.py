"""Sizes found against closed forms of t tests and of shares, and against every table tested whole."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.dominance.column import Inference
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.distributions import parse_distribution
from riskrank.engine.power.effects import Distances, _influences, effects_of
from riskrank.engine.power.planning import Plan, plan_from_distributions, plan_from_pilot
from riskrank.engine.power.study import Agreement, study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from tests.engine.dominance.helpers import violation_matrix
from tests.engine.power.helpers import closed_verdicts, drawn_units, whole_verdicts

Z = NormalDist()
DIRECT = Claim(2, "direct")
BOTH = Z.inv_cdf(0.975) + Z.inv_cdf(0.8)


def plan_of(*texts, claim=DIRECT, inference=Inference(), pair=(0, 1)):  # noqa: B008
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
def test_sizes_of_normal_and_of_passed_or_not_against_their_tests(texts, claim, exact):
    """Curves of normals cross more often than their means do, which takes a tenth more."""
    found = study_power(plan_of(*texts, claim=claim))
    assert found.size == pytest.approx(exact, rel=0.15)
    assert found.confirmed
    assert found.power == pytest.approx(0.8, abs=0.01)


WHOLE = {
    "normals": (plan_of, ("normal:0.5", "normal"), {}),
    "order 1, absolute": (plan_of, ("normal:0.7", "normal:0,1.5"), {"claim": Claim(1, "absolute", 0.25)}),
    "skewed": (plan_of, ("lognormal:0.4,1", "lognormal:0,1"), {}),
    "limit theorem": (plan_of, ("normal:0.5", "normal"), {"inference": Inference(variance="clt")}),
    "paper": (plan_of, ("normal:0.4", "normal"), {"inference": Inference(paper_exact=True)}),
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
    [*((name, 40) for name in QUICK), *(pytest.param(name, 120, marks=pytest.mark.slow) for name in WHOLE)],
)
def test_the_size_found_against_tables_tested_whole(name, tables):
    """At the size found the real test has the power asked for: of tables that the search did not see."""
    make, given, options = WHOLE[name]
    plan = make(*given, **options)
    found = study_power(plan, repeats=60)
    assert found.size is not None
    whole = whole_verdicts(plan, found.size, tables, seed=99).all(axis=1).mean()
    assert whole == pytest.approx(0.8, abs=3 * sqrt(0.16 / tables) + found.standard_error)
    assert found.standard_error < (1.0 if name == "paper" else 0.25)


@pytest.mark.parametrize("name", ["order 1, absolute", "paper", "unpaired", "ranked by dominance"])
def test_closed_forms_answer_as_whole_tests_do(name):
    """Of the same tables, at sizes at which some are shown."""
    make, given, options = WHOLE[name]
    plan = make(*given, **options)
    agreed = []
    for size in (25, 40):
        closed = closed_verdicts(plan, drawn_units(plan, size, 6, 5), size)
        agreed.append(closed == whole_verdicts(plan, size, 6, seed=5))
    assert np.mean(agreed) > 0.8


@pytest.mark.slow
def test_what_units_add_says_how_a_table_turns_out():
    """The closed form on tables at hand, against their own tests: nine verdicts of ten."""
    plan = plan_from_pilot(pilot(200, 1.0, 0.7, 0.4, 0.0), Claim(2), Inference(resamples=1000))
    closed = closed_verdicts(plan, drawn_units(plan, 60, 20, 0), 60)
    assert np.mean(closed == whole_verdicts(plan, 60, 20, seed=0)) > 0.85


PAPER = Inference(paper_exact=True, resamples=400)
PAPERS = {
    "order 1": (Claim(1, "direct"), ("normal:0.4", "normal"), (0, 1)),
    "order 2": (DIRECT, ("normal:0.4", "normal"), (0, 1)),
    "absolute": (Claim(1, "absolute", 0.25), ("normal:0.7", "normal:0,1.5"), (0, 1)),
    "five models": (Claim(2), tuple(f"normal:{mean}" for mean in (1.0, 0.8, 0.6, 0.4, 0.2)), None),
    "equal": (DIRECT, ("normal", "normal"), (0, 1)),
}


@pytest.mark.parametrize(
    "name", ["order 2", *(pytest.param(name, marks=pytest.mark.slow) for name in PAPERS)]
)
def test_the_papers_rule_against_tables_tested_whole(name):
    """Its error is the spread of the ratio, so that equal models are called different half of the time."""
    claim, texts, pair = PAPERS[name]
    plan = plan_of(*texts, claim=claim, inference=PAPER, pair=pair)
    closed, whole = ClosedForm(plan, 4000).shown(25), whole_verdicts(plan, 25, 120, seed=3)
    assert closed.mean() == pytest.approx(whole.mean(), abs=0.03 + 2.5 * sqrt(0.2 / 120))


@pytest.mark.parametrize("size", [12, *(pytest.param(size, marks=pytest.mark.slow) for size in (10, 20, 35))])
def test_clusters_of_unequal_sizes_against_tables_tested_whole(size):
    """What a table tells hangs on whether its largest cluster was drawn; of too little nothing is tested."""
    plan = WHOLE["clusters"][0](*WHOLE["clusters"][1], pair=(0, 1))
    closed = ClosedForm(plan, 4000).shown(size).mean()
    whole = whole_verdicts(plan, size, 150, seed=4).mean()
    assert closed == pytest.approx(whole, abs=0.05 + 2.5 * sqrt(whole * (1 - whole) / 150))


def test_noise_has_variance_one_and_goes_with_the_pairs():
    scores = pilot(300, 0.5, 0.2, 0.0)
    sampler, pairs = PilotSampler(scores), ((0, 1), (1, 0), (0, 2))
    effects = effects_of(scores, DIRECT, pairs, 0)
    many = effects.noise(np.random.default_rng(0), 20_000)
    assert many.std(axis=0) == pytest.approx(np.ones(3), abs=0.03)
    correlation = np.corrcoef(many.T)
    assert correlation[0, 1] == pytest.approx(-1, abs=1e-6)
    drawn = [effects.noise_of(sampler.chosen(np.random.default_rng(i), 50), 50)[0] for i in range(2000)]
    assert np.corrcoef(np.transpose(drawn)) == pytest.approx(correlation, abs=0.06)
    assert effects.mean[1] == pytest.approx(-effects.mean[0], rel=0.05)


@pytest.mark.parametrize("claim", [DIRECT, Claim(1, "absolute", 0.25)])
def test_influences_against_a_score_moved_by_little(claim):
    """What a unit adds is the derivative of T where that unit weighs a little more."""
    rng = np.random.default_rng(0)
    values = [rng.normal(0.3, 1, 50), rng.normal(0, 1.3, 50)]
    effects = _influences(PilotSampler(ClusteredScores.build(values, paired=False)), claim, ((0, 1),))

    def distance(weights):
        ends = [np.cumsum(own[np.argsort(value)]) for own, value in zip(weights, values, strict=True)]
        grid = (np.arange(50_000) + 0.5) / 50_000
        curves = [
            np.sort(value)[np.minimum(np.searchsorted(end / end[-1], grid), 49)]
            for end, value in zip(ends, values, strict=True)
        ]
        apart = curves[0] - curves[1]
        if claim.order == 2:
            apart = np.cumsum(apart) / grid.size
        b = claim.boundary
        return np.mean(b * np.maximum(apart, 0) ** 2 - (1 - b) * np.minimum(apart, 0) ** 2)

    base, step = [np.ones(50), np.ones(50)], 0.02
    for model in (0, 1):
        moved = []
        for unit in range(50):
            weights = [own.copy() for own in base]
            weights[model][unit] += step
            moved.append((distance(weights) - distance(base)) / step * 50)
        moved = np.array(moved) - np.mean(moved)
        part = effects.parts[model][:, 0]
        assert np.corrcoef(moved, part)[0, 1] > 0.98


@pytest.mark.parametrize("claim", [DIRECT, Claim(1, "absolute", 0.25), Claim(2)])
@pytest.mark.parametrize("sizes", [(1, 4), (3, 4)])
def test_distances_of_tables_against_a_loop(claim, sizes):
    """Of clusters of 1 to 3 rows, whose weights are counted, and of 3 rows each, which are sorted."""
    rng = np.random.default_rng(2)
    clusters = [np.repeat(np.arange(12), rng.integers(*sizes, 12)) for _ in range(3)]
    values = [rng.normal(size=len(cluster)) for cluster in clusters]
    sampler, pairs = PilotSampler(ClusteredScores.build(values, clusters, paired=False)), ((0, 1), (2, 0))
    units = sampler.chosen(np.random.default_rng(5), 8 * 30)
    distances = Distances(sampler, claim, pairs)
    assert (distances._design is None) == (sizes == (3, 4))
    found, rows = distances.of(units, 30), sampler.rows(units)
    for number in range(30):
        parts = [value[cluster // 8 == number] for value, cluster in rows]
        expected = claim.statistic(violation_matrix(parts, order=claim.order)) - claim.boundary
        assert found[number] == pytest.approx([expected[pair] for pair in pairs])


def test_an_error_is_never_none():
    assert Agreement(10, 2, 26, 26, 0, 0.2).error == pytest.approx(sqrt(0.5) / 27)
    assert Agreement(10, 2, 26, 20, -2, 0.2).error == pytest.approx(sqrt(6.5 + 4) / 27)


def test_verdicts_that_differ_to_one_side_confirm_nothing():
    closed, whole = np.ones((20, 1), dtype=bool), np.ones((20, 1), dtype=bool)
    whole[:7] = False
    found = Agreement.of(30, closed, whole)
    assert (found.tables, found.verdicts, found.agreed, found.shift) == (20, 20, 13, 7)
    assert not found.confirms
    closed[:7], closed[7:10] = [[True], [True], [False], [False], [False], [False], [False]], False
    assert Agreement.of(30, closed, whole).confirms


def test_the_error_named_holds_what_whole_tests_saw(monkeypatch):
    """Two of twenty tables answered otherwise, in one direction."""
    plan = plan_of("normal:0.5", "normal", inference=Inference(variance="clt"))
    size, answers = study_power(plan).size, []

    def test(self, drawn, stream, jobs, progress):
        answers.append(bool(closed_verdicts(plan, [drawn], size)[0, 0]))
        return [answers[-1] and sum(answers) > 2]

    monkeypatch.setattr(Plan, "test", test)
    found = study_power(plan)
    assert found.size == size
    agreement = found.agreement
    assert (agreement.tables, agreement.agreed, agreement.shift) == (20, 18, 2)
    assert found.standard_error >= agreement.shift / agreement.verdicts
    assert 0.1 < agreement.divided < 0.25
    assert found.confirmed
