"""Entry point of ``gate``: test whether new models are better, or not worse, than old ones."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from riskrank.engine.dominance.ranking import identically_distributed
from riskrank.errors import listing, option
from riskrank.options.inference import RANDOM
from riskrank.scores.table.designs import ITEM
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.scores import ScoreCount
from riskrank.studies.checks import refuse_assumed_costs, refuse_clusters, require_distributions
from riskrank.studies.document import Provenance, attributes
from riskrank.studies.findings import (
    Remark,
    detection_limit_remark,
    group_sentence,
    size_findings,
    verdict_fields,
)
from riskrank.studies.gate import failures
from riskrank.studies.gate.anytime import betting_test, record_look
from riskrank.studies.gate.cheapest import choose_cheapest
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.claim_list import best_case_claims, build_claims, threshold_notes
from riskrank.studies.gate.columns import unclaimed_task_notes
from riskrank.studies.gate.decisions import decide, detectable_distances, find_worse_tails
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.evidence import resample_count
from riskrank.studies.gate.findings import SENTENCES, gate_findings
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import build_quotes, gate_error
from riskrank.studies.gate.verdicts import INCONCLUSIVE, joint_verdict
from riskrank.studies.judge.section import JudgeAnalysis, analyze_judge, refuse_options_with_judge
from riskrank.studies.means_only import design_note, difference_components
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import family_from_settings, inference_from_settings, provenance
from riskrank.studies.statistics import MACRO, MEAN, TASK, Statistic, parse_statistics
from riskrank.studies.targets import rescale_tasks, scale_notes


def gate(
    table: ScoreTable | Sequence[ScoreTable], settings: ClaimSettings, runtime: Runtime = SERIAL
) -> GateDocument:
    """Decide whether new models are better, or not worse, than old ones: pass, fail or inconclusive.

    Parameters
    ----------
    table : ScoreTable or sequence of ScoreTable
        One table, or several with the same models if metrics have different samples.
    settings : ClaimSettings
    runtime : Runtime, optional

    Returns
    -------
    GateDocument

    Raises
    ------
    InputError
        If two models share fewer than 10 samples, or 6 if only means are compared.
    UsageError
        If there is no claim, a claim names an unknown model or metric, or a margin has the wrong unit. Also
        if the direction of a metric that sounds like a cost is undeclared.
    """
    tables = [table] if isinstance(table, ScoreTable) else list(table)
    refuse_options_with_judge(tables[0], settings)
    _refuse_unsupported(tables[0], settings)
    if settings.cheapest is not None:
        return choose_cheapest(tables, settings, partial(gate, runtime=runtime))
    return _decide_claims(tables, settings, runtime)


def _decide_claims(inputs: Sequence[ScoreTable], settings: ClaimSettings, runtime: Runtime) -> GateDocument:
    """Test all claims of a gate and return its document.

    Parameters
    ----------
    inputs : sequence of ScoreTable
        Tables with the scores of each task on the scale of the file.
    settings : ClaimSettings
    runtime : Runtime
    """
    tables = [rescale_tasks(table, settings) for table in inputs]
    models, metrics = [*tables[0].models, ""], [metric for table in tables for metric in table.metrics]
    names = [metric.name for metric in metrics]
    stats = parse_statistics(settings.on, names, suite=bool(inputs[0].suite), random=settings.tasks == RANDOM)
    used = {settings.price, *(name for item in stats for name in item.directed)}
    refuse_assumed_costs((metric for metric in metrics if metric.name in used), command="the claim")
    # Claims on single tasks need no common scale.
    claims = build_claims(tables, inputs if settings.task_scale is None else tables, settings, stats)
    best_case = best_case_claims(inputs, settings, stats)
    inference = inference_from_settings(settings, runtime.jobs)
    looks = record_look(tables, settings, claims) if settings.anytime else None
    make_bet = partial(betting_test, settings=settings) if settings.anytime else None
    with runtime.progress("resampling"):
        rows, advice = decide(claims, inference, models, make_bet=make_bet, best_case=best_case)
    plain = best_case is None and not settings.anytime and not tables[0].means_only
    plain = plain and not any(claim.scores.judged for claim in claims)
    worse_tails = find_worse_tails(claims, rows, inference, models) if plain else []
    judged_pairs = {(claim.new, claim.old) for claim in claims if claim.compares_means and not claim.is_level}
    judged = analyze_judge(tables[0], judged_pairs)
    detectable = detectable_distances(rows, claims, settings)
    claimed = failures.claim_tiers(rows, stats)
    counted = [] if judged is not None else failures.count_scores(inputs, claimed)
    unbounded = _unbounded_metrics(inputs, stats)
    rows = _withhold_verdicts(rows, judged, unbounded, settings.min_samples or 0)
    rows = [
        *failures.lost_required_rows(inputs, rows, claimed),
        *failures.failure_rows(claimed, counted, settings, inputs),
        *rows,
    ]
    advice = [*dict.fromkeys(threshold_notes(claims)), *_table_notes(tables, stats), *advice]
    n = max(min(claim.pair_scores.cluster_counts) for claim in claims)
    resamples = resample_count(inference, len(claims), n)
    units = {claim.scores.unit_name for claim in claims}
    document = GateDocument(
        provenance=_gate_provenance(tables, settings, len(claims), advice, resamples, counted),
        rows=rows,
        quotes=build_quotes(rows),
        unit="tasks" if "tasks" in units else min(units),
        unbounded=unbounded,
        noise_source=_largest_noise_source(inputs[0], rows),
        effective_size=min(claim.effective_size for claim in claims),
        family=family_from_settings(settings),
        outcome=joint_verdict(rows),
        inconclusive=settings.inconclusive,
        comment=settings.comment,
        worse_tails=worse_tails,
        required=max(len(table.required) for table in inputs),
        looks=looks,
        overlap=tables[0].overlap,
        unmatched=tables[0].unmatched,
        lost_cases=failures.lost_cases(inputs, rows, settings),
        texts=next((table.texts.summary for table in inputs if table.texts is not None), ""),
        judged=judged,
        counted_as=design_note(inputs[0]) if inputs[0].means_only else None,
        detectable=detectable,
    )
    cases = not settings.listed_cases and not inputs[0].options.unpaired and judged is None
    document = replace(document, **_verdict_fields(document, claims, exact=not best_case))
    return replace(document, failed=gate_error(document, settings, cases=cases))


def _verdict_fields(document: GateDocument, claims: Sequence[GateClaim], *, exact: bool) -> dict[str, Any]:
    """Return the document fields that describe the result: verdict, findings and limitations.

    Parameters
    ----------
    document : GateDocument
    claims : sequence of GateClaim
    exact : bool
        True if no missing score was replaced by its worst and best values.
    """
    models, unit, of_samples = document.provenance.models, document.unit, not document.counted_as
    pairs = (claim.pair_scores for claim in claims)
    # A pass cannot rule out rare losses if their size is unknown or tasks are random.
    rare = unit == "tasks" or any(claim.column.width is None for claim in claims)
    compared = not any(claim.is_level or claim.is_derived for claim in claims)
    same = of_samples and exact and compared and all(map(identically_distributed, pairs))
    group = min(claims, key=lambda claim: claim.effective_size).column.group if of_samples and rare else None
    findings = gate_findings(document, same=same, rare=of_samples and rare, group=group)
    sentences = SENTENCES.add_sentences(findings, document)
    return verdict_fields(models, *sentences, limits=_sample_limits(claims, unit) if of_samples else ())


def _sample_limits(claims: Sequence[GateClaim], unit: str) -> list[Remark]:
    """Return findings about small sample sizes with their sentences, for all samples and then for each group.

    `unit` is the plural noun for samples in the sentences.
    """
    all_limits: list[Remark] = []
    for group in dict.fromkeys(claim.column.group for claim in claims):
        group_claims = [claim for claim in claims if claim.column.group == group]
        smallest = min(group_claims, key=lambda claim: claim.effective_size)
        size = smallest.effective_size
        limits = [*size_findings(smallest.pair_scores, size), detection_limit_remark(size, unit)]
        all_limits += [(replace(item, on=group or ""), group_sentence(group, text)) for item, text in limits]
    return all_limits


def _refuse_unsupported(table: ScoreTable, settings: ClaimSettings) -> None:
    """Raise an error for options that need independent samples, if the samples are dependent."""
    if settings.anytime and table.units is not None:
        reason = "its bets assume independent samples"
        hint = f"leave out {option('anytime')}: clusters are then resampled as units"
        refuse_clusters(table, command=option("anytime", True), reason=reason, hint=hint)
    means = (MEAN, *(metric.name for metric in table.metrics))
    unsupported = [option("on", name) for name in settings.on if name not in means]
    unsupported += [option("anytime")] if settings.anytime else []
    unsupported += [option(name) for name in ("at_least", "at_most") if getattr(settings, name)]
    if unsupported or table.groups is not None:
        require_distributions(table, (unsupported or [option("group_by")])[0], "needs independent samples")


def _withhold_verdicts(
    rows: Sequence[GateRow], judged: JudgeAnalysis | None, unbounded: Collection[str], min_samples: int
) -> list[GateRow]:
    """Return the rows, with each verdict that the data cannot support replaced by *inconclusive*.

    Parameters
    ----------
    rows : sequence of GateRow
    judged : JudgeAnalysis or None
        If its labels were not chosen at random, all verdicts are inconclusive.
    unbounded : collection of str
        Metrics whose missing scores have no bounds.
    min_samples : int
        Smallest number of samples for a verdict.
    """
    if judged is not None and (chosen_p := judged.entry.chosen_p) is not None:
        rows = [replace(row, verdict=INCONCLUSIVE, samples_needed=None, chosen_p=chosen_p) for row in rows]
    rows = [replace(row, verdict=INCONCLUSIVE) if row.samples < min_samples else row for row in rows]
    return [row.with_unbounded_scores() if row.metric in unbounded else row for row in rows]


def _unbounded_metrics(tables: Sequence[ScoreTable], stats: Sequence[Statistic]) -> dict[str, str]:
    """Return the metrics and ratios of sums whose missing scores could have any value.

    Keys are their names. Values are TOML lines that would declare likely bounds, or empty strings.
    """
    unbounded: dict[str, str] = {name: line for table in tables for name, line in table.unbounded.items()}
    ratios = ((item.label, item.metrics) for item in stats if item.sums)
    return unbounded | {label: "" for label, metrics in ratios if unbounded.keys() & {*metrics}}


def _largest_noise_source(table: ScoreTable, rows: Sequence[GateRow]) -> str:
    """Return a phrase for the largest source of noise in the first inconclusive claim.

    The phrase is empty if samples are the only source of noise.
    """
    row = next((row for row in rows if row.verdict == INCONCLUSIVE and row.old), None)
    names = [spec.name for spec in table.metrics]
    if row is None or row.metric not in names or table.noise is None or table.noise.samples_only:
        return ""
    pair = (table.models.index(row.new), table.models.index(row.old))
    shares = difference_components(table, pair, names.index(row.metric)).shares
    largest = max((sources for sources in shares if sources), key=shares.__getitem__)
    return " and ".join("samples" if name == ITEM else f"values of {name}" for name in sorted(largest))


def _table_notes(tables: Sequence[ScoreTable], stats: Sequence[Statistic]) -> Iterator[str]:
    """Yield notes about tasks without a claim, and about means that a few scores dominate."""
    if any(item.name == TASK for item in stats):
        yield from unclaimed_task_notes(tables)
    files = tables[0].inputs
    if len(files) > 1 and len({file.sha256 for file in files}) == 1 and files[0].sha256 is not None:
        yield f"{listing([file.path for file in files], 4)} are identical: was the new version scored?"
    averaged = {name for item in stats if item.name in (MEAN, MACRO) for name in item.metrics}
    yield from (note for table in tables for note in scale_notes(table, averaged))


def _gate_provenance(
    tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    n_claims: int,
    advice: Sequence[str],
    resamples: int,
    scored: Sequence[ScoreCount],
) -> Provenance:
    """Return the provenance of a gate: its inputs, settings, sample counts and warnings.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
    n_claims : int
    advice : sequence of str
        Warnings to add to those of the tables.
    resamples : int
    scored : sequence of ScoreCount
        Number of scores by model and metric.
    """
    method = {
        **attributes(settings, "better", "not_worse"),
        **{name: dict(value) for name, value in attributes(settings, "at_least", "at_most").items() if value},
        "on": list(settings.on) or ["mean"],
        "margin": {metric or "*": value for metric, value in settings.margin},
        **family_from_settings(settings).settings,
        "family": f"{n_claims} claims" if n_claims > 1 else "1 claim",
        "resamples": settings.resamples,
        "inconclusive": settings.inconclusive,
    }
    return provenance(
        "gate",
        tables[0],
        settings,
        method,
        seed=settings.seed,
        warnings=[*dict.fromkeys(line for table in tables[1:] for line in table.warnings), *advice],
        metrics=[metric for table in tables for metric in table.metrics],
        samples=len({sample for table in tables for sample in table.samples}),
        resamples=resamples,
        scored=scored,
    )
