"""Tiers of claims: critical claims gate supporting claims, and advisory claims never fail a gate."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.errors import UsageError
from riskrank.render.junit import workflow_annotations, write_junit
from riskrank.studies.gate.screen import suite

GOOD, EVEN, BAD = 0.95, 0.7, 0.4


def frame(n=300, **skills):
    """A new model with the given skill on each metric, and an old model with skill 0.7."""
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
    """Holm's step-down procedure as a plain loop."""
    rejected = np.zeros(len(p), dtype=bool)
    for rank, at in enumerate(np.argsort(p, kind="stable")):
        if p[at] > alpha / (len(p) - rank):
            break
        rejected[at] = True
    return rejected


@pytest.mark.parametrize("seed", range(40))
def test_tiers_match_serial_gatekeeping_by_hand(seed):
    rng = np.random.default_rng(seed)
    tier = rng.integers(0, 3, size=7)
    estimate = rng.normal(1.8, 1.8, size=7)
    student = Student(estimate, np.ones(7), np.full(7, 99.0))
    evidence = student.evidence(np.zeros(7), np.full(7, 100))
    result = Family().answer_in_tiers(evidence, tier)
    passed = np.zeros(7, dtype=bool)
    significant = np.zeros(7, dtype=bool)
    for at in range(3):
        significant[tier == at] = holm(evidence.p_value[tier == at], 0.05)
    passed = significant & (estimate > 0)
    if not passed[tier == 0].all():
        passed[tier == 1] = significant[tier == 1] = False
    assert result.significant.tolist() == passed.tolist()
    assert result.contradicted.tolist() == (significant & (estimate < 0)).tolist()
    waits = (tier == 1) & ~passed[tier == 0].all()
    assert (result.p_adjusted[waits] == 1).all()
    assert np.isfinite(result.low).all()


@pytest.mark.parametrize("source", ["option", "several", "file"])
def test_verdicts_and_outcome_of_tiers(source):
    tier = {
        "option": "critical=a,supporting=b,advisory=c",
        "several": ["supporting=b", "advisory=c"],
        "file": (),
    }
    for (a, b, c), (verdicts, outcome) in {
        (GOOD, GOOD, BAD): (("pass", "pass", "fail"), "pass"),
        (EVEN, GOOD, BAD): (("inconclusive", "inconclusive", "fail"), "inconclusive"),
        (GOOD, BAD, GOOD): (("pass", "fail", "pass"), "fail"),
        (BAD, GOOD, GOOD): (("fail", "inconclusive", "pass"), "fail"),
    }.items():
        options = (
            {"metrics": {"b": {"tier": "supporting"}, "c": {"tier": "advisory"}}} if source == "file" else {}
        )
        result = rr.gate(frame(a=a, b=b, c=c), better="new:old", tier=tier[source], resamples=500, **options)
        assert {row.metric: row.tier for row in result.rows} == {
            "a": "critical",
            "b": "supporting",
            "c": "advisory",
        }
        assert tuple(row.verdict for row in result.rows) == verdicts
        assert result.document.outcome == outcome
        assert (result.document.failed is None) == (outcome == "pass")


def test_advisory_claim_is_a_warning_and_a_skipped_case():
    _, result = answers("advisory=c", a=GOOD, c=BAD)
    (note,) = workflow_annotations(suite(result.document), failed=False)
    assert note.startswith("::warning")
    assert b"<skipped" in write_junit(suite(result.document))
    assert b"<failure" not in write_junit(suite(result.document))
    assert "0 of 1 advisory" in result.verdict
    _, result = answers("supporting=b,advisory=c", a=EVEN, b=GOOD, c=GOOD)
    assert "UNTESTED" in str(result)


def test_statistics_have_tiers_and_the_closest_name_counts():
    result = rr.gate(
        frame(a=GOOD),
        better="new:old",
        on=["mean", "tvar@0.3"],
        tier="supporting=a,critical=mean:a",
        resamples=500,
    )
    assert [row.tier for row in result.rows] == ["critical", "supporting"]


def test_failures_on_advisory_metrics_do_not_fail_the_gate():
    table = frame(a=GOOD, c=GOOD).with_columns(
        c=pl.when((pl.col("model") == "new") & (pl.col("sample") < 60)).then(None).otherwise("c")
    )
    failing = rr.gate(table, better="new:old", resamples=500)
    assert (failing.document.outcome, failing.rows[0].statistic) == ("fail", "failed")
    assert rr.gate(table, better="new:old", tier="advisory=c", resamples=500).document.outcome == "pass"


@pytest.mark.parametrize(
    ("tier", "message"),
    [
        ("critical=d", "there is no claim 'd'"),
        ("vital=a", "needs a valid tier"),
        ("a", "needs a valid tier"),
        ("critical=a,advisory=a", "two tiers"),
        ("critical=", "assigns critical to no claim"),
        ("advisory=a,c", "only advisory claims"),
    ],
)
def test_invalid_tiers_are_refused(tier, message):
    with pytest.raises(UsageError, match=message) as error:
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
def test_error_rate_and_power_of_tiers(truth, tier, power):
    """One-sided tests at 0.025, correlation 0.5; the error of 5,000 tables is 0.0022."""
    rng, tables, truth, tier = np.random.default_rng(11), 5000, np.array(truth), np.array(tier)
    noise = np.sqrt(0.5) * (rng.normal(size=(tables, 1)) + rng.normal(size=(tables, 6)))
    false, alone, together = 0, 0, 0
    for row in noise + truth:
        evidence = Student(row, np.ones(6), np.full(6, 199.0)).evidence(np.zeros(6), np.full(6, 200))
        result = Family().answer_in_tiers(evidence, tier)
        false += bool(result.significant[truth == 0].any())
        critical = (tier == 0) & (truth > 0)
        alone += int(np.count_nonzero(result.significant[critical]))
        together += int(np.count_nonzero(Family().answer(evidence).significant[critical]))
    assert false / tables <= 0.03
    assert alone >= power * together
