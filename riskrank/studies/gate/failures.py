"""Failed calls, lost samples that must pass, and cases with the largest losses."""

from collections.abc import Collection, Sequence
from math import erfc, sqrt
from typing import Any

import numpy as np

from riskrank.engine.changes import sign_test
from riskrank.errors import UsageError, listing, option
from riskrank.options.inference import TIERS
from riskrank.scores.files.parsing import ABSENT
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.scores import ScoreCount
from riskrank.studies import cases
from riskrank.studies.gate.claim import FAILED, MUST_PASS, NOT_WORSE
from riskrank.studies.gate.document import GateRow, LostCases
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL, PASS
from riskrank.studies.settings import family_from_settings
from riskrank.studies.statistics import Statistic

# Tiers of the claims by new model, old model and metric.
ClaimTiers = dict[tuple[str, str, str], list[str | None]]


def claim_tiers(rows: Sequence[GateRow], statistics: Sequence[Statistic]) -> ClaimTiers:
    """Return the tiers of the claims about each new model, old model and metric.

    A claim on a ratio of sums is listed under all of its metrics. A claim on one model has no old model ("").
    """
    metrics_of = {item.label: item.metrics for item in statistics if item.sums}
    tiers: ClaimTiers = {}
    for row in rows:
        for metric in metrics_of.get(row.metric, (row.metric,)):
            tiers.setdefault((row.new, row.old or "", metric), []).append(row.tier)
    return tiers


def count_scores(tables: Sequence[ScoreTable], claims: ClaimTiers) -> list[ScoreCount]:
    """Count the scores and calls of every model and metric in the claims, sorted by model and metric."""
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


def _failing_row(
    names: tuple[str, str, str | None, str], statistic: str, p_value: float, **fields: Any
) -> GateRow:
    """Create a row that fails because of counted failures, such as failed calls; it has no interval.

    Parameters
    ----------
    names : tuple of str
        Claim, new model, old model and metric.
    statistic : {"failed", "must-pass"}
    p_value : float
    **fields : object
        Further fields of the row.
    """
    fields |= dict.fromkeys(("group", "low", "high", "samples_needed", "e_value"))
    fields |= {"statistic": statistic, "verdict": FAIL, "direction": "lower"}
    return GateRow(*names, p_value=p_value, p_adjusted=p_value, **fields)


def lost_required_rows(
    tables: Sequence[ScoreTable], rows: Sequence[GateRow], tiers: ClaimTiers
) -> list[GateRow]:
    """Return a failing row for each new model and metric that fails on a sample that must pass.

    A model passes a sample if all its scores are 1, or 0 where lower is better. Only samples that the old
    model passes are required, if there is an old model. Only metrics with scores of 0 and 1 count.

    Parameters
    ----------
    tables : sequence of ScoreTable
    rows : sequence of GateRow
        Results of all claims.
    tiers : mapping of (str, str, str) to list of str
        Its keys are the new models, old models and metrics of the claims.

    Raises
    ------
    UsageError
        If no claim about a model has scores of 0 and 1.
    """
    tables = [table for table in tables if table.required]
    kinds = {(row.new, row.old): row.claim for row in rows} if tables else {}
    compared, lost = {new for new, old in kinds if old}, []
    for (new, old), kind in kinds.items():
        if not old and new in compared:
            continue
        models = [new, *([old] if old else [])]
        metrics = dict.fromkeys(metric for model, _, metric in tiers if model == new)
        for table, metric, number in _binary_columns(tables, models, metrics):
            passed = [_passed_samples(table, model, number) for model in models]
            expected = table.required & (passed[1] if old else {*table.samples})
            if missing := sorted(expected - passed[0]):
                counts = {"estimate": len(missing), "margin": 0.0, "standard_error": 0.0}
                counts["samples"] = len(table.required)
                names = (kind, new, old, metric)
                lost.append(_failing_row(names, MUST_PASS, 0.0, lost_samples=tuple(missing), **counts))
    return lost


def _binary_columns(
    tables: Sequence[ScoreTable], models: Sequence[str], metrics: Collection[str]
) -> list[tuple[ScoreTable, str, int]]:
    """Return the table, name and column number of those metrics on which all scores of the models are 0 or 1.

    Raises
    ------
    UsageError
        If there is no such metric.
    """
    columns = [
        (table, spec.name, number)
        for table in tables
        for number, spec in enumerate(table.metrics)
        if spec.name in metrics
        and all(np.isin(table.raw(table.index(model))[:, number], (0.0, 1.0)).all() for model in models)
    ]
    if not columns:
        problem = f"{option('must_pass')} needs a claim about a metric with scores of 0 and 1"
        hint = f"claim a metric that is 0 or 1 for every sample too: {option('on', 'METRIC')}"
        raise UsageError(problem, found=f"other scores of {models[0]} on {listing(metrics)}", hint=hint)
    return columns


def _passed_samples(table: ScoreTable, model: str, metric: int) -> set[str]:
    """Return the samples of a model whose scores on a metric are all 1, or all 0 if lower is better."""
    i = table.index(model)
    failed = table.raw(i)[:, metric] != (0.0 if table.metrics[metric].direction == "lower" else 1.0)
    passed = np.setdiff1d(table.row_samples[i], table.row_samples[i][failed])
    return {table.samples[at] for at in passed}


def _failure_rate(count: ScoreCount | None, missing: str) -> tuple[float, int]:
    """Return the proportion of calls without a score, and the number of calls.

    If `missing` is "drop", samples without a row do not count as calls.
    """
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
        Their reading options determine whether missing scores are dropped.
    """
    missing = tables[0].options.missing
    count_of = {(count.model, count.metric): count for count in counted}
    rows: list[GateRow] = []
    for (new, old, metric), tiers in claims.items():
        rates = [_failure_rate(count_of.get((model, metric)), missing) for model in (new, old)]
        excess = rates[0][0] - rates[1][0]
        if not old or excess <= 0 or excess < settings.most_failed - 1e-12:
            continue
        error = sqrt(sum(rate * (1 - rate) / calls for rate, calls in rates if calls))
        # Normal approximation for two independent rates; reported only, it does not affect the verdict.
        p_value = erfc(excess / error / sqrt(2)) if error else 0.0
        figures = {"estimate": excess, "margin": settings.most_failed, "standard_error": error}
        figures["samples"] = rates[0][1]
        tier = min(tiers, key=lambda tier: -1 if tier is None else TIERS.index(tier))
        rows.append(_failing_row((NOT_WORSE, new, old, metric), FAILED, p_value, tier=tier, **figures))
    return rows


def lost_cases(
    tables: Sequence[ScoreTable], rows: Sequence[GateRow], settings: ClaimSettings
) -> list[LostCases]:
    """Return the cases with the largest losses for each claim that did not pass.

    A pull-request comment also lists those of passed claims on all samples.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Scores in the units of the file.
    rows : sequence of GateRow
    settings : ClaimSettings
        Includes the number of cases to list.
    """
    options, requested = tables[0].options, settings.cases is not None
    if not settings.listed_cases or (not requested and (options.unpaired or options.judge is not None)):
        return []
    selected = {
        (row.new, row.old, row.metric, row.group, row.task): row
        for row in rows
        if row.old and (row.verdict != PASS or (settings.comment and row.task is None and row.group is None))
    }
    return [
        _lost_cases_of_claim(table, number, row, settings)
        for row in selected.values()
        for table in tables
        for number in _metric_columns(table, row.metric, row.task)
    ]


def _lost_cases_of_claim(table: ScoreTable, metric: int, row: GateRow, settings: ClaimSettings) -> LostCases:
    """Return the cases in which the new model of a claim lost most, the largest loss first.

    `metric` is the index of the metric in the table, and `row` the result of the claim.
    """
    names, family = (row.new, row.old or ""), family_from_settings(settings)
    new, old = map(table.index, names)
    comparison = cases.compare_cases(table, new, old, metric, family)
    groups, tasks = cases.sample_groups(table, new), cases.sample_tasks(table)
    keys = zip(groups, tasks, strict=True)
    mask = np.array([row.group in (None, group) and row.task in (None, task) for group, task in keys])
    samples = {table.samples[at] for at in np.flatnonzero(mask)}
    all_cases = cases.case_rows(table, comparison, tasks if table.groups is None else groups)
    claim_cases = [case for case in all_cases if case.sample in samples]
    lost = [case for case in claim_cases if case.change == cases.WORSE]
    in_claim = mask[comparison.samples]
    p = sign_test(comparison.gain[in_claim], comparison.units[in_claim])
    listed = cases.add_texts(table, lost[: settings.listed_cases], *names)
    better, by_chance = sum(case.change == cases.BETTER for case in claim_cases), not family.significant(p)
    counts = (len(lost), better, len(claim_cases))
    return LostCases(*names, row.metric, listed, row.group, row.task, *counts, p, by_chance)


def _metric_columns(table: ScoreTable, metric: str, task: str | None) -> list[int]:
    """Return a list with the index of the metric's column in a table; empty if the table lacks the metric.

    If the tasks of a suite have different metrics, column 0 contains all of them.
    """
    suite = table.suite
    if task is not None and suite.specs:
        spec_by_task = dict(zip(suite.names, suite.specs, strict=True))
        return [0] if task in spec_by_task and spec_by_task[task].name == metric else []
    return [number for number, spec in enumerate(table.metrics) if spec.name == metric]
