"""Compare the failure rates of models: the proportions of calls without a score."""

from collections.abc import Sequence
from dataclasses import replace
from math import erfc, sqrt

import numpy as np

from riskrank.errors import UsageError, option
from riskrank.options.inference import TIERS
from riskrank.scores.files.parsing import ABSENT
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.scores import ScoreCount
from riskrank.studies.document import rows_from_columns
from riskrank.studies.gate.claim import FAILED, MUST_PASS, NOT_WORSE
from riskrank.studies.gate.document import GateRow
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL
from riskrank.studies.statistics import Statistic

# Tiers of the claims by new model, old model and metric.
ClaimTiers = dict[tuple[str, str, str], list[str | None]]


def claim_tiers(rows: Sequence[GateRow], statistics: Sequence[Statistic]) -> ClaimTiers:
    """Return the tiers of claims by new model, old model and metric.

    A claim on a ratio of sums is listed under all of its metrics. A claim on one model has no old model ("").
    """
    metrics_of = {item.label: item.metrics for item in statistics if item.sums}
    tiers: ClaimTiers = {}
    for row in rows:
        for metric in metrics_of.get(row.metric, (row.metric,)):
            tiers.setdefault((row.new, row.old, metric), []).append(row.tier)
    return tiers


def count_scores(tables: Sequence[ScoreTable], claims: ClaimTiers) -> list[ScoreCount]:
    """Count the scores and the calls for each model and metric in the claims."""
    claimed = dict.fromkeys((model, metric) for new, old, metric in claims for model in (old, new) if model)
    counts: dict[tuple[str, str], ScoreCount] = {}
    for table in tables:
        counts |= {(count.model, count.metric): count for count in table.scored}
        names = [metric.name for metric in table.metrics]
        names += table.suite.metrics
        for model, name in ((model, name) for model, name in claimed if name in names):
            size = len(table.values[table.index(model)])
            complete = ScoreCount(model=model, metric=name, scored=size, total=size, why={})
            counts.setdefault((model, name), complete)
    return [counts[key] for key in sorted(claimed) if key in counts]


def lost_required_rows(tables: Sequence[ScoreTable], rows: Sequence[GateRow]) -> list[GateRow]:
    """Return a failing row for each new model and metric that loses a sample that must pass.

    A sample passes if all its scores are 1. Without an old model, every required sample must pass.

    Raises
    ------
    UsageError
        If scores are not 0 and 1.
    """
    lost: list[GateRow] = []
    for table in (table for table in tables if table.required):
        names = [metric.name for metric in table.metrics]
        claims = dict.fromkeys(
            (row.claim, row.new, row.old, row.metric) for row in rows if row.metric in names
        )
        for claim, new, old, metric in claims:
            passed = [_passed_samples(table, model, names.index(metric)) for model in (new, old) if model]
            expected = table.required & (passed[1] if old else {*table.samples})
            missing = sorted(expected - passed[0])
            if missing:
                lost += rows_from_columns(
                    GateRow,
                    slice(None),
                    claim=claim,
                    new=new,
                    old=old,
                    metric=metric,
                    statistic=MUST_PASS,
                    estimate=np.array([len(missing)]),
                    margin=0.0,
                    verdict=FAIL,
                    p_value=0.0,
                    p_adjusted=0.0,
                    standard_error=0.0,
                    samples=len(table.required),
                    direction="lower",
                )
                lost[-1] = replace(lost[-1], lost_samples=tuple(missing))
    return lost


def _passed_samples(table: ScoreTable, model: str, metric: int) -> set[str]:
    """Return the samples whose scores are all 1."""
    i = table.index(model)
    scores = table.raw(i)[:, metric]
    if not np.isin(scores, (0.0, 1.0)).all():
        raise UsageError(
            f"{option('must_pass')} needs scores of 0 and 1",
            found=f"other scores of {model} on {table.metrics[metric].name}",
            hint=f"choose the metric that says whether a sample passes: {option('metric')}",
        )
    worst = np.ones(len(table.samples))
    np.minimum.at(worst, table.row_samples[i], scores)
    scored = np.zeros(len(table.samples), dtype=bool)
    scored[table.row_samples[i]] = True
    return {table.samples[at] for at in np.flatnonzero((worst == 1) & scored)}


def _failure_share(count: ScoreCount | None, missing: str) -> tuple[float, int]:
    """Return the proportion of calls without a score, and the number of calls."""
    calls = 0 if count is None else count.total - (missing == "drop") * count.why.get(ABSENT, 0)
    return 1 - count.scored / calls if count and calls else 0.0, calls


def failure_rows(
    claims: ClaimTiers, counted: Sequence[ScoreCount], settings: ClaimSettings, tables: Sequence[ScoreTable]
) -> list[GateRow]:
    """Return a failing row for each new model and metric with too high an increase in the failure rate.

    Failed calls are counted, not estimated, so these rows are not part of the family of tests. Samples that
    a model did not receive count as failed, unless missing scores are dropped.

    Parameters
    ----------
    claims : mapping of (str, str, str) to list of str
        Tiers of the claims by new model, old model and metric.
    counted : sequence of ScoreCount
        Number of scores by model and metric.
    settings : ClaimSettings
        Includes the largest acceptable difference of failure rates.
    tables : sequence of ScoreTable
        Their options say how missing scores are treated.
    """
    missing = tables[0].options.missing
    count_of = {(count.model, count.metric): count for count in counted}
    rows: list[GateRow] = []
    for (new, old, metric), tiers in ((claim, tiers) for claim, tiers in claims.items() if claim[1]):
        rates = [_failure_share(count_of.get((model, metric)), missing) for model in (new, old)]
        excess = rates[0][0] - rates[1][0]
        if excess <= 0 or excess < settings.most_failed - 1e-12:
            continue
        error = sqrt(sum(share * (1 - share) / calls for share, calls in rates if calls))
        # Normal approximation for two independent shares; reported only, it does not affect the verdict.
        p_value = erfc(excess / error / sqrt(2)) if error else 0.0
        rows += rows_from_columns(
            GateRow,
            slice(None),
            claim=NOT_WORSE,
            new=new,
            old=old,
            metric=metric,
            statistic=FAILED,
            estimate=np.array([excess]),
            margin=settings.most_failed,
            verdict=FAIL,
            p_value=p_value,
            p_adjusted=p_value,
            standard_error=error,
            samples=rates[0][1],
            direction="lower",
            tier=min(tiers, key=lambda tier: -1 if tier is None else TIERS.index(tier)),
        )
    return rows
