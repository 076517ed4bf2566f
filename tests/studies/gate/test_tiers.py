"""Tiers of claims: what must hold, what is asked only then, and what fails nothing."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.errors import UsageError
from riskrank.render.junit import write_junit, workflow_annotations
from riskrank.studies.gate.screen.junit import suite

GOOD, EVEN, BAD = 0.95, 0.7, 0.4


def frame(n=300, **skills):
    """A new model of some skill on each metric, and an old one of .7."""
    rng = np.random.default_rng(3)
    columns = {
        name: [*(rng.random(n) < skill).astype(float), *(rng.random(n) < EVEN).astype(float)]
        for name, skill in skills.items()
    }
    return pl.DataFrame({"model": ["new"] * n + ["old"] * n, "sample": [*range(n)] * 2} | columns)


def answers(tier, **skills):
    result = rr.gate(frame(**skills), better="new:old", tier=tier, resamples=500)
    return {row.metric: (row.tier, row.verdict) for row in result.rows}, result


def holm(p, alpha):
    """Step down, written plainly."""
    shown = np.zeros(len(p), dtype=bool)
    for rank, at in enumerate(np.argsort(p, kind="stable")):
        if p[at] > alpha / (len(p) - rank):
            break
        shown[at] = True
    return shown


@pytest.mark.parametrize("seed", range(40))
def test_serial_gatekeeping_is_two_families_by_hand(seed):
    rng = np.random.default_rng(seed)
    tier = rng.integers(0, 3, size=7)
    estimate = rng.normal(1.8, 1.8, size=7)
    student = Student(estimate, np.ones(7), np.full(7, 99.0))
    evidence = student.evidence(np.zeros(7), np.full(7, 100))
    found = Family().serial(evidence, tier)
    shown = np.zeros(7, dtype=bool)
    significant = np.zeros(7, dtype=bool)
    for at in range(3):
        significant[tier == at] = holm(evidence.p_value[tier == at], 0.05)
    shown = significant & (estimate > 0)
    if not shown[tier == 0].all():
        shown[tier == 1] = significant[tier == 1] = False
    assert found.shown.tolist() == shown.tolist()
    assert found.refuted.tolist() == (significant & (estimate < 0)).tolist()
    waits = (tier == 1) & ~shown[tier == 0].all()
    assert (found.p_adjusted[waits] == 1).all()
    assert np.isfinite(found.low).all()


@pytest.mark.parametrize("way", ["option", "several", "file"])
def test_what_waits_and_what_fails_nothing(way):
    tier = {
        "option": "critical=a,supporting=b,advisory=c",
        "several": ["supporting=b", "advisory=c"],
        "file": (),
    }
    for (a, b, c), (wanted, outcome) in {
        (GOOD, GOOD, BAD): (("pass", "pass", "fail"), "pass"),
        (EVEN, GOOD, BAD): (("inconclusive", "inconclusive", "fail"), "inconclusive"),
        (GOOD, BAD, GOOD): (("pass", "fail", "pass"), "fail"),
        (BAD, GOOD, GOOD): (("fail", "inconclusive", "pass"), "fail"),
    }.items():
        told = {"metrics": {"b": {"tier": "supporting"}, "c": {"tier": "advisory"}}} if way == "file" else {}
        result = rr.gate(frame(a=a, b=b, c=c), better="new:old", tier=tier[way], resamples=500, **told)
        assert {row.metric: row.tier for row in result.rows} == {
            "a": "critical",
            "b": "supporting",
            "c": "advisory",
        }
        assert tuple(row.verdict for row in result.rows) == wanted
        assert result.document.outcome == outcome
        assert (result.document.failed is None) == (outcome == "pass")


def test_what_is_advisory_is_a_warning_and_a_case_that_is_skipped():
    _, result = answers("advisory=c", a=GOOD, c=BAD)
    (note,) = workflow_annotations(suite(result.document), failed=False)
    assert note.startswith("::warning")
    assert b"<skipped" in write_junit(suite(result.document))
    assert b"<failure" not in write_junit(suite(result.document))
    assert "0 of 1 advisory" in result.verdict
    _, result = answers("supporting=b,advisory=c", a=EVEN, b=GOOD, c=GOOD)
    assert "WAITS" in str(result)


def test_statistics_have_tiers_and_the_closest_name_counts():
    result = rr.gate(
        frame(a=GOOD),
        better="new:old",
        on=["mean", "tvar@0.3"],
        tier="supporting=a,critical=mean:a",
        resamples=500,
    )
    assert [row.tier for row in result.rows] == ["critical", "supporting"]


def test_more_failures_on_what_is_advisory_fail_nothing():
    table = frame(a=GOOD, c=GOOD).with_columns(
        c=pl.when((pl.col("model") == "new") & (pl.col("sample") < 60)).then(None).otherwise("c")
    )
    failing = rr.gate(table, better="new:old", resamples=500)
    assert (failing.document.outcome, failing.rows[0].statistic) == ("fail", "failed")
    assert rr.gate(table, better="new:old", tier="advisory=c", resamples=500).document.outcome == "pass"


@pytest.mark.parametrize(
    ("tier", "what"),
    [
        ("critical=d", "there is no claim 'd'"),
        ("vital=a", "names no tier"),
        ("a", "names no tier"),
        ("critical=a,advisory=a", "two tiers"),
        ("critical=", "puts nothing into critical"),
        ("advisory=a,c", "advisory claims alone"),
    ],
)
def test_tiers_that_make_no_sense_are_refused(tier, what):
    with pytest.raises(UsageError, match=what) as error:
        answers(tier, a=GOOD, c=GOOD)
    assert len(str(error.value).splitlines()) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "tier", "power"),
    [
        ([0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], 0.0),
        ([8, 8, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], 1.0),
        ([8, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], 0.0),
        ([3, 3, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], 1.1),
    ],
)
def test_false_claims_of_tiers_and_what_they_gain(truth, tier, power):
    """One-sided at .025, correlated .5: 5,000 tables, whose error is .0022."""
    rng, tables, truth, tier = np.random.default_rng(11), 5000, np.array(truth), np.array(tier)
    noise = np.sqrt(0.5) * (rng.normal(size=(tables, 1)) + rng.normal(size=(tables, 6)))
    false, alone, together = 0, 0, 0
    for row in noise + truth:
        evidence = Student(row, np.ones(6), np.full(6, 199.0)).evidence(np.zeros(6), np.full(6, 200))
        found = Family().serial(evidence, tier)
        false += bool(found.shown[truth == 0].any())
        critical = (tier == 0) & (truth > 0)
        alone += int(np.count_nonzero(found.shown[critical]))
        together += int(np.count_nonzero(Family().answer(evidence).shown[critical]))
    assert false / tables <= 0.03
    assert alone >= power * together
