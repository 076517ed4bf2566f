"""Is the new model better, or not worse, than the old one: the study behind ``gate``."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from riskrank.engine.dominance.ranking import alike
from riskrank.errors import option
from riskrank.options.suites import RANDOM
from riskrank.scores.table.designs import ITEM
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_assumed_costs, refuse_distributions
from riskrank.studies.document import entries
from riskrank.studies.findings import Said, stated
from riskrank.studies.gate.anytime import look, wagered
from riskrank.studies.gate.cheapest import cheapest
from riskrank.studies.gate.claim import MEAN, TASK, GateClaim, Statistic, statistics
from riskrank.studies.gate.claim_list import claims_at_best, claims_of, wanted_metrics
from riskrank.studies.gate.claims import decide, visible
from riskrank.studies.gate.columns import without_a_claim
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.evidence import resamples_of
from riskrank.studies.gate.failing_cases import lost_cases
from riskrank.studies.gate.failures import claimed_metrics, counted_scores, failures
from riskrank.studies.gate.findings import SENTENCES, gate_findings
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import ending, quoted
from riskrank.studies.gate.verdicts import INCONCLUSIVE, overall
from riskrank.studies.groups.study import refuse_clusters
from riskrank.studies.judge.section import judged_chapter, refuse_with_judge
from riskrank.studies.means_only import components_of, why_means
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import blind_limit, of_group, size_findings
from riskrank.studies.settings import family_of, inference_of, provenance
from riskrank.studies.task_scale import on_task_scale


def gate(
    table: ScoreTable | Sequence[ScoreTable],
    settings: ClaimSettings,
    runtime: Runtime = HERE,
) -> GateDocument:
    """Decide whether new models are better, or not worse, than old ones: pass, fail or inconclusive.

    Parameters
    ----------
    table : ScoreTable or sequence of ScoreTable
        Several where metrics were scored on samples of their own, all of the same models.
    settings : ClaimSettings
    runtime : Runtime, optional

    Returns
    -------
    GateDocument

    Raises
    ------
    InputError
        If two models share fewer than 10 samples.
    UsageError
        If there is no claim, it names an unknown model or metric, a margin has the wrong unit, or nobody
        declared the direction of a metric that sounds like a cost.
    """
    given = [table] if isinstance(table, ScoreTable) else list(table)
    refuse_with_judge(given[0], settings)
    _refuse_of_rows(given[0], settings)
    if settings.cheapest is not None:
        return cheapest(given, settings, lambda one: gate(given, one, runtime))
    return _decided(given, settings, runtime)


def _decided(given: Sequence[ScoreTable], settings: ClaimSettings, runtime: Runtime) -> GateDocument:
    """Decide all claims on tables whose tasks are on one scale."""
    tables = [on_task_scale(one, settings) for one in given]
    models, metrics = tables[0].models, tuple(metric for one in tables for metric in one.metrics)
    names = [metric.name for metric in metrics]
    used = wanted_metrics(settings, names)
    refuse_assumed_costs((metric for metric in metrics if metric.name in used), command="gate")
    wanted = statistics(settings.on, names, suite=bool(given[0].suite), drawn=settings.tasks == RANDOM)
    # A task by itself needs no scale in common with others.
    claims = claims_of(tables, given if settings.task_scale is None else tables, settings, wanted)
    at_best = claims_at_best(given, settings, wanted)
    inference = inference_of(settings, runtime.jobs)
    looks = look(tables, settings, claims) if settings.anytime else None
    wager = partial(wagered, settings=settings) if settings.anytime else None
    with runtime.progress("resampling"):
        rows, advice = decide(claims, inference, models, wager=wager, at_best=at_best)
    judged = judged_chapter(tables[0], {(claim.new, claim.old) for claim in claims if claim.of_means})
    seen = {} if settings.anytime else visible(rows, claims, family_of(settings))
    claimed = claimed_metrics(rows, wanted)
    counted = [] if judged is not None else counted_scores(given, claimed)
    if judged is not None and (chosen_p := judged.entry.chosen_p) is not None:
        rows = [row.with_chosen_labels(chosen_p) for row in rows]
    rows = [*failures(claimed, counted, settings, given[0].options.missing), *rows]
    most = max(min(one.column.scores.of_models([one.new, one.old]).cluster_counts) for one in claims)
    document = GateDocument(
        provenance=provenance(
            "gate",
            tables[0],
            settings,
            _described(settings, len(claims)),
            seed=settings.seed,
            resamples=resamples_of(inference, len(claims), most),
            warnings=[*_notes(tables, wanted), *advice],
            metrics=metrics,
            samples=len({sample for one in tables for sample in one.samples}),
            scored=counted,
        ),
        rows=rows,
        quotes=quoted(rows),
        unit=_unit(claims),
        noisiest=_noisiest(given[0], rows),
        worth=min(claim.worth for claim in claims),
        family=family_of(settings),
        outcome=overall(rows),
        inconclusive=settings.inconclusive,
        comment=settings.comment,
        looks=looks,
        overlap=tables[0].overlap,
        unshared=tables[0].unshared,
        lost=lost_cases(given, rows, settings),
        texts=next((one.texts.said for one in given if one.texts is not None), ""),
        judged=judged,
        counted_as=why_means(given[0]) if given[0].means_only else None,
        visible=seen,
    )
    # Cases could be listed that are not: models with samples of their own may share none.
    cases = not settings.listed and not given[0].options.unpaired and judged is None
    document = replace(document, **_told(document, claims, exact=not at_best))
    return replace(document, failed=ending(document, settings, cases=cases))


def _told(document: GateDocument, claims: Sequence[GateClaim], *, exact: bool) -> dict[str, Any]:
    """The sentences, and what the samples leave open where claims rest on samples."""
    models, unit, of_samples = document.provenance.models, document.unit, not document.counted_as
    pairs = (claim.column.scores.of_models([claim.new, claim.old]) for claim in claims)
    # A score that may be as bad as any, or a task of another kind, is what a pass does not speak of.
    rare = unit == "tasks" or any(not claim.column.bounded for claim in claims)
    same = of_samples and exact and all(map(alike, pairs))
    least = min(claims, key=lambda claim: claim.worth).column.group if of_samples and rare else None
    findings = gate_findings(document, alike=same, rare=of_samples and rare, least=least)
    said = SENTENCES.said(findings, document)
    return stated(models, *said, limits=_limits(claims, unit) if of_samples else ())


def _limits(claims: Sequence[GateClaim], unit: str) -> list[Said]:
    """What the samples of all, and of each group, leave open."""
    found: list[Said] = []
    for group in dict.fromkeys(claim.column.group for claim in claims):
        own = [claim for claim in claims if claim.column.group == group]
        least = min(own, key=lambda claim: claim.worth)
        limits = [*size_findings(least.pair_scores, least.worth), blind_limit(least.worth, unit)]
        found += [(replace(one, on=group or ""), of_group(group, text)) for one, text in limits]
    return found


def _refuse_of_rows(table: ScoreTable, settings: ClaimSettings) -> None:
    """Refuse claims on anything but the means of folds, and looks at samples in the order of time."""
    if settings.anytime and table.units is not None:
        why = "it bets on independent samples"
        hint = f"leave out {option('anytime')}: clusters are drawn whole"
        refuse_clusters(table, command=option("anytime", True), reason=why, hint=hint)
    means = (MEAN, *(metric.name for metric in table.metrics))
    asked = [option("on", name) for name in settings.on if name not in means]
    asked += [option("anytime")] if settings.anytime else []
    if asked or table.groups is not None:
        refuse_distributions(table, (asked or [option("group_by")])[0])


def _unit(claims: Sequence[GateClaim]) -> str:
    """What is drawn: clusters before samples, as of some groups each cluster may hold one."""
    units = {claim.scores.unit for claim in claims}
    return "tasks" if "tasks" in units else min(units)


def _noisiest(table: ScoreTable, rows: Sequence[GateRow]) -> str:
    """What most of the variance of the first open claim comes from, where it is not of items alone."""
    row = next((one for one in rows if one.verdict == INCONCLUSIVE), None)
    if row is None or table.noise is None or table.noise.shared:
        return ""
    names = [spec.name for spec in table.metrics]
    if row.metric not in names:
        return ""
    pair = (table.models.index(row.new), table.models.index(row.old))
    shares = components_of(table, pair, names.index(row.metric)).shares
    most = max((some for some in shares if some), key=shares.__getitem__)
    return " and ".join("samples" if name == ITEM else f"values of {name}" for name in sorted(most))


def _notes(tables: Sequence[ScoreTable], wanted: Sequence[Statistic]) -> list[str]:
    """Warnings of further tables, and the tasks that nothing is claimed of."""
    found = list(dict.fromkeys(line for one in tables[1:] for line in one.warnings))
    return [*found, *(without_a_claim(tables) if any(one.name == TASK for one in wanted) else ())]


def _described(settings: ClaimSettings, family: int) -> dict[str, object]:
    return {
        **entries(settings, "better", "not_worse"),
        "on": list(settings.on) or ["mean"],
        "margin": {metric or "*": value for metric, value in settings.margin},
        **family_of(settings).settings,
        "family": f"{family} claims" if family > 1 else "1 claim",
        "resamples": settings.resamples,
        "inconclusive": settings.inconclusive,
    }
