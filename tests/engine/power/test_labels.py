"""Labels that a gate needs: against gates on whole tables, against variances of many, and the closed form."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.judges.correction import Correction, for_differences
from riskrank.engine.power import labels
from riskrank.engine.power.labels import LabelClaim, LabelNeed, LabelPilot, LabelSearch, labels_interval
from riskrank.engine.power.required_size import RequiredSize
from riskrank.studies.gate.claim import BETTER, GateClaim
from riskrank.studies.gate.claims import decide
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.targets import Units
from tests.engine.judges.test_correction import column

CLAIM = LabelClaim(0, 1, 0.0, 0.05, 4.0, bounded=True)


def pilot(seed=0, n=100, total=400, ahead=0.25, noise=0.7):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=total)
    human = 3 + 0.7 * shared + 0.7 * rng.normal(size=(2, total)) + [[ahead], [0.0]]
    human = np.clip(np.rint(human), 1, 5)
    judge = np.clip(np.rint(human + rng.normal(0, noise, human.shape)), 1, 5)
    both = zip(human[:, :n], judge, strict=True)
    return for_differences([Correction.of(*scores) for scores in both])


def passes(corrections, claim, seed):
    """What the gate itself says."""
    limits = (1.0, 1.0 + claim.reach)
    scores = ScoreColumn("people", column(corrections), Units(1.0, ""), limits, bounded=claim.bounded)
    asked = GateClaim(BETTER, claim.new, claim.old, scores, "mean", margin=claim.boundary)
    rows, _ = decide([asked], Inference(seed=seed), ["new", "old"])
    return rows[0].verdict == PASS


def drawn(found, rng, labels):
    """A table, as a pilot draws it."""
    return for_differences(found.drawn(rng, labels))


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "bounded"), [(20, True), (80, False)])
def test_tables_are_decided_as_a_gate_decides_them(labels, bounded):
    """By t as by 2,000 resamples, but for those whose p-value is next to the level."""
    claim = replace(CLAIM, bounded=bounded)
    found, rng = LabelPilot.of(pilot(ahead=0.3), claim), np.random.default_rng(labels)
    tables = [drawn(found, rng, labels) for _ in range(20)]
    plain = [claim.shown(table) for table in tables]
    gates = [passes(table, claim, seed) for seed, table in enumerate(tables)]
    assert 0 < np.mean(gates) < 1
    assert np.mean(np.array(plain) != gates) <= 0.05


@pytest.mark.slow
def test_gates_with_the_labels_found_have_the_power_asked_for():
    """Gates themselves, with their resamples, at the number that is said."""
    found = LabelPilot.of(pilot(), CLAIM)
    required = LabelSearch(found, 400, 0).required([50], target=0.8, smallest=20, limit=398)
    assert required.size is not None
    rng = np.random.default_rng(11)
    gates = [passes(drawn(found, rng, required.size), CLAIM, seed) for seed in range(40)]
    assert np.mean(gates) == pytest.approx(0.8, abs=2.5 * np.sqrt(0.16 / 40))


@pytest.mark.parametrize("labels", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (40, 300))])
def test_variance_of_the_difference_over_many_tables(labels):
    found, rng = LabelPilot.of(pilot(), CLAIM), np.random.default_rng(labels)
    means = [[one.mean for one in drawn(found, rng, labels)] for _ in range(800)]
    differences = np.subtract(*np.transpose(means))
    need = found.need
    assert np.var(differences) == pytest.approx(need.variance(labels), rel=0.15)
    own = pilot()
    assert need.effect == pytest.approx(own[0].mean - own[1].mean)
    assert differences.mean() == pytest.approx(need.effect, abs=4 * np.std(differences) / np.sqrt(800))


def test_labels_that_follow_from_a_height():
    need = LabelNeed(effect=0.2, alone=1.0, gain=0.6, samples=1000)
    size = need.labels(1.96, 0.8)
    assert 0.2 / np.sqrt(need.variance(size)) == pytest.approx(1.96 + 0.8416, rel=1e-4)
    assert need.without_judge(1.96, 0.8) == pytest.approx((2.8016 / 0.2) ** 2, rel=1e-4)
    assert need.endless(1.96, 0.8) == pytest.approx(0.4 * (2.8016 / 0.2) ** 2, rel=1e-4)
    assert need.height(100, 0.5) == pytest.approx(0.2 / np.sqrt(0.4 / 100 + 0.6 / 1000))
    assert replace(need, samples=100).labels(1.96, 0.8) == np.inf
    assert replace(need, effect=-0.1).labels(1.96, 0.8) == np.inf


@pytest.mark.slow
def test_an_interval_holds_what_was_found_and_opens_with_doubt():
    corrections = pilot()
    found = LabelPilot.of(corrections, CLAIM)
    required = LabelSearch(found, 200, 0).required([50], target=0.8, smallest=20, limit=398)
    height = found.need.height(required.size, required.power)
    interval = labels_interval(corrections, CLAIM, required, height, limit=398, seed=0)
    assert interval.low <= required.size
    assert interval.high is None or interval.high >= required.size
    large = pilot(n=2000, total=8000)
    near = labels_interval(large, CLAIM, replace(required, size=None), height, limit=7998, seed=0)
    assert near.high / near.low < 3
    against = LabelClaim(1, 0, 0.0, 0.05, 4.0, bounded=True)
    none = labels_interval(large, against, replace(required, size=None), height, limit=7998, seed=0)
    assert none.low is None


@pytest.mark.parametrize("above", [-0.6, 0.0, 0.9])
@pytest.mark.parametrize("target", [0.5, 0.9])
def test_the_search_finds_where_gates_of_any_height_have_the_power(monkeypatch, above, target):
    """Gates that stand higher than 1.96 standard errors need what follows from their height."""
    found, asked = LabelPilot.of(pilot(n=1000, total=4000, ahead=0.15), CLAIM), set()

    def verdicts(_, size, repeats, *, seed):
        asked.add((size, repeats, seed))
        share = ndtr(found.need.effect / np.sqrt(found.need.variance(size)) - 1.96 - above)
        return (np.arange(repeats) < share * repeats)[:, None]

    monkeypatch.setattr(labels, "verdicts_of", verdicts)
    required = LabelSearch(found, 2000, 7).required([50, 90], target=target, smallest=20, limit=3998)
    assert required.size == pytest.approx(found.need.labels(1.96 + above, target), rel=0.02, abs=1)
    assert required.power == pytest.approx(target, abs=0.01)
    assert required.confirmed
    assert asked == {(size, 2000, 7) for size in required.sizes.tolist()}
    # Where the gate stands as high as its level says, the first look agrees.
    assert (required.sizes.size == 1) == (above == 0)


def test_an_interval_is_as_wide_as_the_effect_is_uncertain(monkeypatch):
    """Labels go with 1/δ²: their logarithm errs by twice the relative error of δ."""
    monkeypatch.setattr(labels, "_RESAMPLES", 150)
    corrections = pilot(n=1000, total=4000)
    need = LabelPilot.of(corrections, CLAIM).need
    size, doubt = need.labels(1.96, 0.8), 2 * np.sqrt(need.variance(1000)) / need.effect
    nothing = RequiredSize(None, 0.8, 0.0, 0.0, False, np.array([]), np.array([]))
    found = labels_interval(corrections, CLAIM, nothing, 1.96, limit=3998, seed=0)
    ends = np.log([found.low, found.high])
    assert ends == pytest.approx(np.log(size) + doubt * np.array([-1.96, 1.96]), abs=0.1)
    outside = replace(nothing, size=found.low - 1)
    ends = labels_interval(corrections, CLAIM, outside, 1.96, limit=found.high - 1, seed=0)
    assert (ends.low, ends.high) == (found.low - 1, None)


def test_models_that_are_equal_show_nothing():
    same = Correction.of(np.tile([1.0, 2.0], 20), np.tile([1.0, 2.0], 100))
    found = LabelPilot.of([same, same], CLAIM)
    assert found.need.effect == 0
    assert LabelSearch(found, 5, 0).curve([20]).together.tolist() == [0]
