"""Is the new model better, or not worse, than the old one: the study behind ``gate``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.errors import GateFailed, GateInconclusive, RiskrankError, UsageError, index_of, option
from riskrank.scores.groups import group_tables
from riskrank.scores.metrics_file import MetricSpec
from riskrank.scores.table import ScoreTable
from riskrank.studies.document import Provenance
from riskrank.studies.gate.claims import BETTER, NOT_WORSE, GateClaim, ScoreColumn, decide, resamples_of
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, GateDocument, GateRow, counts, overall
from riskrank.studies.gate.settings import ClaimSettings
from riskrank.studies.gate.statistics import Statistic, statistics
from riskrank.studies.gate.words import outcome_sentence, row_sentence
from riskrank.studies.grouping import require_samples
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.provenance import described_inputs, reading_settings
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import PortfolioSettings
from riskrank.studies.targets import check_range, targets
from riskrank.studies.units import units_of


def gate(
    table: ScoreTable, settings: ClaimSettings | None = None, runtime: Runtime | None = None
) -> GateDocument:
    """Decide whether new models are better, or not worse, than old ones: pass, fail or inconclusive.

    Parameters
    ----------
    table : ScoreTable
    settings : ClaimSettings, optional
    runtime : Runtime, optional

    Returns
    -------
    GateDocument

    Raises
    ------
    InputError
        If two models share fewer than 10 samples.
    UsageError
        If there is no claim, it names an unknown model or metric, or a margin has the wrong unit.
    """
    settings, runtime = settings or ClaimSettings(), runtime or Runtime()
    names = [metric.name for metric in table.metrics]
    claims = _claims(table, settings, statistics(settings.on, names))
    inference = settings.inference(runtime.jobs)
    with runtime.progress("resampling"):
        rows, advice = decide(claims, inference, table.models)
    outcome = overall(rows)
    samples = [
        min(claim.column.scores.cluster_counts[model] for model in (claim.new, claim.old)) for claim in claims
    ]
    return GateDocument(
        provenance=Provenance(
            command="gate",
            seed=settings.seed,
            resamples=resamples_of(inference, len(claims), max(samples)),
            settings=_described(table, settings, len(claims)),
            warnings=[*table.warnings, *advice],
            **described_inputs(table),
        ),
        rows=rows,
        verdict=outcome_sentence(rows, table.metrics, claims[0].column.scores.unit),
        alpha=settings.alpha,
        correction=settings.correction,
        metrics=table.metrics,
        outcome=outcome,
        failed=_failed(rows, outcome, settings, table.metrics),
        inconclusive=settings.inconclusive,
        comment=settings.comment,
    )


def _claims(table: ScoreTable, settings: ClaimSettings, wanted: Sequence[Statistic]) -> list[GateClaim]:
    """Every claim on every metric it is about, of all samples together and then of each group."""
    columns = _columns(table)
    margins = _margins(settings, [*columns[None].values()], wanted)
    asked = [(BETTER, "better", pair) for pair in settings.better]
    asked += [(NOT_WORSE, "not_worse", pair) for pair in settings.not_worse]
    claims = []
    for kind, parameter, pair in asked:
        new, old = resolve_pair(pair, table.models, parameter=parameter)
        for one in wanted:
            for metric in one.metrics:
                margin = 0.0 if one.dominance is not None else margins.get(metric, 0.0)
                claims += [
                    GateClaim(kind, new, old, found[metric], one.name, one.level, one.dominance, margin)
                    for found in columns.values()
                ]
    return list(dict.fromkeys(claims))


def _columns(table: ScoreTable) -> dict[str | None, dict[str, ScoreColumn]]:
    """Scores by group and metric; no group is all samples together."""
    tables: dict[str | None, ScoreTable] = {None: table}
    if table.groups is not None:
        parts = group_tables(table)
        require_samples(parts, table, otherwise="score more samples")
        tables.update(parts)
    limits = [_limits(table, number) for number in range(len(table.metrics))]
    columns: dict[str | None, dict[str, ScoreColumn]] = {}
    for group, part in tables.items():
        columns[group] = {}
        for target, ends in zip(targets(part, PortfolioSettings(), per_metric=True), limits, strict=True):
            check_range(target.name, target.scores, table.models)
            units = units_of(target.name, table.metrics)
            columns[group][target.name] = ScoreColumn(target.name, target.scores, units, ends, group)
    return columns


def _limits(table: ScoreTable, number: int) -> tuple[float, float]:
    """The worst and the best score there can be: the bounds of the metric, or what was seen of any model."""
    metric, columns = table.metrics[number], table.column(number)
    ends = [float(min(column.min() for column in columns)), float(max(column.max() for column in columns))]
    if metric.bounds is not None and metric.transform == "none":
        ends += [metric.sign * bound for bound in metric.bounds if np.isfinite(bound)]
    return min(ends), max(ends)


def _margins(
    settings: ClaimSettings, columns: Sequence[ScoreColumn], wanted: Sequence[Statistic]
) -> dict[str, float]:
    """Margin of each metric.

    Raises
    ------
    UsageError
        If a metric is unknown, or a margin is none of its unit.
    """
    names = [column.name for column in columns]
    given: dict[str | None, float] = dict(settings.margin)
    for_all = given.get(None, 0.0)
    for metric in given:
        if metric is not None:
            index_of(metric, names, kind="metric", parameter="margin")
    ratios = [one.name for one in wanted if one.dominance is not None]
    if ratios and any(given.values()):
        largest = max(given.values())
        raise UsageError(
            f"{option('margin')} is in the units of a metric, and dominance has none",
            found=f"{option('margin', f'{largest:g}')} with {option('on', ratios[0])}",
            hint=f"leave out {option('margin')}, or claim {option('on', 'mean')}",
        )
    found = {name: given.get(name, for_all) for name in names}
    used = {metric for one in wanted for metric in one.metrics}
    for column in columns:
        worst, best = column.limits
        if column.name in used and found[column.name] >= best - worst:
            raise UsageError(
                f"{option('margin', f'{found[column.name]:g}')} is no margin for {column.name}: no two of "
                "its scores differ by more",
                found=f"scores of {column.name} within {best - worst:g} of each other",
                hint=f"give the margin in the units of the file, a metric each: "
                f"{option('margin', f'{column.name}={0.02 * (best - worst):.2g}')}",
            )
    return found


def _failed(
    rows: Sequence[GateRow], outcome: str, settings: ClaimSettings, metrics: Sequence[MetricSpec]
) -> RiskrankError | None:
    """What the run ends with, after its result is written."""
    found = counts(rows)
    kind: type[RiskrankError]
    if outcome == FAIL or (outcome == INCONCLUSIVE and settings.inconclusive == "fail"):
        kind = GateFailed
    elif outcome == INCONCLUSIVE and settings.inconclusive is None:
        kind = GateInconclusive
    else:
        return None
    first = next(row for row in rows if row.verdict == outcome)
    more = f" (and {found[outcome] - 1} more)" if found[outcome] > 1 else ""
    where = f" in {first.group}" if first.group else ""
    verb = "failed" if outcome == FAIL else "is inconclusive"
    asked = option(first.claim.replace("-", "_"), f"{first.new}:{first.old}")
    return kind(
        f"gate {asked} {verb} on the {first.statistic} of {first.metric}{where}{more}",
        found=row_sentence(first, metrics),
        hint=_advice(first, outcome),
    )


def _advice(row: GateRow, outcome: str) -> str:
    if outcome == FAIL:
        if row.claim == BETTER:
            return f"{row.new} is shown not to be better than {row.old}" + (
                f" by {row.margin:g}" if row.margin else ""
            )
        return f"{row.new} is a step back from {row.old}"
    needed = "" if row.samples_needed is None else f"about {row.samples_needed:,} samples would decide it; "
    wider = ""
    if row.claim == NOT_WORSE and row.statistic not in ("fsd", "ssd"):
        wider = f"{option('margin')} says which loss does not matter; "
    return f"{needed}{wider}{option('inconclusive', 'pass')} lets it through"


def _described(table: ScoreTable, settings: ClaimSettings, family: int) -> dict[str, object]:
    return reading_settings(table.options) | {
        "better": list(settings.better),
        "not_worse": list(settings.not_worse),
        "on": list(settings.on) or ["mean"],
        "margin": {metric or "*": value for metric, value in settings.margin},
        "alpha": settings.alpha,
        "correction": settings.correction,
        "family": f"{family} claims" if family > 1 else "1 claim",
        "resamples": settings.resamples,
        "inconclusive": settings.inconclusive,
    }
