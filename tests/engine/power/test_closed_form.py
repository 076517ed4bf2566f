"""Sizes found against closed forms of t tests and of shares, and against every table tested whole."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import Inference
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.power.distributions import parse_distribution
from riskrank.engine.power.effects import _influences, _sorted_ratios, _weighted_ratios, effects_of
from riskrank.engine.power.planning import plan_from_distributions, plan_from_pilot
from riskrank.engine.power.simulation import PilotSampler, streams, verdicts_of
from riskrank.engine.power.study import Agreement, _Search, study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Workers
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from tests.engine.dominance.helpers import violation_matrix

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
    assert found.required.size == pytest.approx(exact, rel=0.15)
    assert found.required.confirmed
    assert found.required.power == pytest.approx(0.8, abs=0.01)


def with_stricter_tests(monkeypatch, by, unlike=0):
    """A search whose whole tests ask for so much more, and answer some tables otherwise."""
    plan = plan_of("normal:0.5", "normal", inference=Inference(variance="clt"))
    search = _Search(plan, 100, Workers(1))

    def stricter(_, size, tables, *, seed):
        rngs = [np.random.default_rng(stream.spawn(1)[0]) for stream in streams(size, tables, seed)]
        drawn = [plan.sampler.chosen(rng, size) for rng in rngs]
        found = search._closed.answering(drawn, size)(by)[:, search._claimed].astype(int)
        found[np.flatnonzero(found)[:unlike]] = 0
        return found

    monkeypatch.setattr("riskrank.engine.power.study.verdicts_of", stricter)
    return plan, search


def test_whole_tests_that_stand_higher_are_met(monkeypatch):
    _, search = with_stricter_tests(monkeypatch, 1.0)
    assert search.look(50, 0.0) == pytest.approx(1.0, abs=0.2)
    assert search.agreement.agreed == search.agreement.verdicts


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
    assert found.required.size is not None
    whole = verdicts_of(plan, found.required.size, tables, seed=99).all(axis=1).mean()
    assert whole == pytest.approx(0.8, abs=3 * sqrt(0.16 / tables) + found.required.standard_error)
    assert found.required.standard_error < (1.0 if name == "paper" else 0.25)


@pytest.mark.parametrize("name", ["order 1, absolute", "paper", "unpaired", "ranked by dominance"])
def test_closed_forms_answer_as_whole_tests_do(name):
    """Of the same tables, at sizes at which some are shown."""
    make, given, options = WHOLE[name]
    plan = make(*given, **options)
    search, agreed = _Search(plan, 40, Workers(1)), []
    for size in (25, 40):
        rngs = [np.random.default_rng(stream.spawn(1)[0]) for stream in streams(size, 6, 5)]
        drawn = [plan.sampler.chosen(rng, size) for rng in rngs]
        closed = search._closed.answering(drawn, size)(0.0)[:, search._claimed]
        agreed.append(closed == verdicts_of(plan, size, 6, seed=5))
    assert np.mean(agreed) > 0.8


@pytest.mark.slow
def test_tables_that_whole_tests_see_otherwise_move_the_size(monkeypatch):
    """A test a whole standard error higher than the closed form has it."""

    def higher(test, size, tables, *, seed):
        closed = _Search(plan, 1, Workers(1))._closed
        generators = (np.random.default_rng(one.spawn(1)[0]) for one in streams(size, tables, seed))
        return closed.answering([plan.sampler.chosen(rng, size) for rng in generators], size)(1.0)[:, :1]

    plan = plan_of("normal:0.5", "normal")
    plain = study_power(plan, repeats=150).required
    monkeypatch.setattr("riskrank.engine.power.study.verdicts_of", higher)
    found = study_power(plan, repeats=150).required
    assert sqrt(found.size / plain.size) == pytest.approx((BOTH + 1) / BOTH, rel=0.06)
    assert found.confirmed


@pytest.mark.slow
def test_what_units_add_says_how_a_table_turns_out():
    """The closed form on tables at hand, against their own tests: nine verdicts of ten."""
    plan = plan_from_pilot(pilot(200, 1.0, 0.7, 0.4, 0.0), Claim(2), Inference(resamples=1000))
    closed = _Search(plan, 1, Workers(1))._closed
    claimed = [plan.family.index(pair) for pair in plan.pairs]
    same = []
    for stream, twin in zip(streams(60, 20, 0), streams(60, 20, 0), strict=True):
        units = plan.sampler.chosen(np.random.default_rng(twin.spawn(1)[0]), 60)
        same.append(closed.answering([units], 60)(0.0)[0, claimed] == plan(60, stream))
    assert np.mean(same) > 0.85


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
def test_ratios_of_tables_of_uneven_clusters_against_a_loop(claim):
    rng = np.random.default_rng(2)
    clusters = [np.repeat(np.arange(12), rng.integers(1, 4, 12)) for _ in range(3)]
    values = [rng.normal(size=len(cluster)) for cluster in clusters]
    scores = ClusteredScores.build(values, clusters, paired=False)
    sampler = PilotSampler(scores)
    units = sampler.chosen(np.random.default_rng(5), 8 * 30)
    draw, pairs = sampler.of(units), ((0, 1), (2, 0))
    kernel = ViolationKernel.of(3, orders=(claim.order,), pairs=pairs)
    found = [_sorted_ratios(sampler, kernel, units, 30)]
    found.append(_weighted_ratios(sampler, kernel, units, 30, design=WeightedDesign(scores)))
    for number in range(30):
        parts = [
            value[cluster // 8 == number] for value, cluster in zip(draw.samples, draw.clusters, strict=True)
        ]
        expected = violation_matrix(parts, order=claim.order)
        for own in found:
            assert [own[number][pair] for pair in pairs] == pytest.approx([expected[pair] for pair in pairs])


def test_doubt_is_never_none():
    assert Agreement(10, 2, 26, 26, 0, 0.2).doubt == pytest.approx(sqrt(0.5) / 27)
    assert Agreement(10, 2, 26, 20, -2, 0.2).doubt == pytest.approx(sqrt(6.5 + 4) / 27)


def test_the_error_named_holds_what_whole_tests_saw(monkeypatch):
    """Two of twenty tables answered otherwise, in one direction: too few to move a forecast."""
    plan, _ = with_stricter_tests(monkeypatch, 0.0, unlike=2)
    found = study_power(plan)
    agreement, required = found.agreement, found.required
    assert (agreement.tables, agreement.agreed, agreement.shift) == (20, 18, 2)
    assert found.largest_error >= required.standard_error >= agreement.shift / agreement.verdicts
    assert 0.1 < agreement.divided < 0.25
