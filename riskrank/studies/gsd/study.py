"""Entry point of ``gsd``: compute and test the dominance relation of the models in a score table."""

from itertools import product
from math import ceil, log2
from typing import Any

from riskrank.engine.gsd.analysis import analyse_dominance, relabelling_count
from riskrank.engine.gsd.front import find_witness, run_front_test
from riskrank.engine.gsd.null_optima import Relabelling, count_labellings
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.rank_tests import run_criteria_tests
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.errors import index_of, option
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import attributes
from riskrank.studies.findings import same_score_findings
from riskrank.studies.groups.study import refuse_clusters
from riskrank.studies.gsd.criteria import build_criteria, tasks_as_samples
from riskrank.studies.gsd.document import Explanation, GsdDocument, build_rows
from riskrank.studies.gsd.findings import SENTENCES, GsdCase, gsd_findings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.metric_means import metric_means
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.sample_findings import detection_limit_remark
from riskrank.studies.settings import family_from_settings, provenance


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Return the thresholds at which models are compared, in the requested order."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    return tuple(
        Threshold(delta=delta, slack_on=settings.delta_on or "r1") for delta in settings.delta or (0.0,)
    )


def build_relabelling(settings: GsdSettings, quality: QualityTable) -> Relabelling:
    """Build the engine's settings for the relabelling tests."""
    auto = settings.resamples == "auto"
    return Relabelling(
        pairs="none" if settings.no_test else settings.pairs or "dominant",
        family=family_from_settings(settings),
        resamples=relabelling_count(quality, family_from_settings(settings))
        if auto
        else int(settings.resamples),
        stops_early=auto,
        **attributes(settings, "resampling", "seed", "contamination"),
    )


def method_settings(settings: GsdSettings) -> dict[str, Any]:
    """Return the provenance entries on the relation and its tests."""
    tested = not settings.no_test
    all_thresholds = thresholds(settings)
    return {
        "delta": [threshold.delta for threshold in all_thresholds if threshold.share is None],
        "regularization": list(settings.regularization),
        "delta_on": all_thresholds[0].rows,
        **attributes(settings, "system", "epsilon", "no_test"),
        "pairs": settings.pairs or "dominant" if tested else None,
        "resampling": settings.resampling if tested else None,
        **family_from_settings(settings).settings,
        "correction": settings.correction if tested else "none",
        "family": "pairs of one threshold" if tested else None,
        "contamination": settings.contamination,
    }


def gsd(table: ScoreTable, settings: GsdSettings, runtime: Runtime = SERIAL) -> GsdDocument:
    """Determine which models dominate others, that is, are at least as good under every admissible utility.

    Parameters
    ----------
    table : ScoreTable
        Read with the reading options of ``gsd``.
    settings : GsdSettings
    runtime : Runtime, optional
        Processes and progress display.

    Returns
    -------
    GsdDocument

    Raises
    ------
    InputError
        If a threshold is too large for any utility, or scores lie outside their bounds.
    UsageError
        If a criterion has no direction, a name is unknown, or the treatment of a suite's tasks is not chosen.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    refuse_distributions(table, "gsd")
    means, tasks = metric_means(table), bool(table.suite)
    table, tested = tasks_as_samples(table, settings), not settings.no_test
    if tested:
        _refuse_clusters(table)
    scales = build_criteria(table, settings)
    front_models = [
        index_of(name, table.models, kind="model", parameter="front_test") for name in settings.front_test
    ]
    pairs = [resolve_pair(pair, table.models, parameter="witness") for pair in settings.witness]
    relabelling = build_relabelling(settings, scales.quality)
    quality = scales.quality
    utilities = [Utilities(quality, threshold, settings.system) for threshold in thresholds(settings)]
    analyses, fronts = [], []
    for part in utilities:
        with runtime.progress(f"comparing at {part.threshold}") as progress:
            analyses.append(
                analyse_dominance(part, relabelling, settings.epsilon, jobs=runtime.jobs, progress=progress)
            )
    for part, model in product(utilities, front_models):
        with runtime.progress(f"front test of {table.models[model]}") as progress:
            fronts.append(run_front_test(part, model, relabelling, jobs=runtime.jobs, progress=progress))
    explanations = tuple(
        Explanation(witness, to_original_units(witness.values, scales.specs))
        for witness in (find_witness(part, *pair) for part, pair in product(utilities, pairs))
    )
    names = tuple(spec.name for spec in scales.specs)
    identical = quality.models_are_identical and not (settings.digits or settings.tolerance)
    duplicate_findings = [] if identical else same_score_findings(table, table.models)
    scope = "on these tasks" if tasks else "in these samples"
    case = GsdCase(analyses[-1], table.models, names, identical, scope)
    size, units = len(table.samples), "tasks" if tasks else "samples"
    if table.cluster_names is not None:
        size, units = int(kish_size(table.clusters[0])), "clusters of samples"
    limit = detection_limit_remark(size, units)
    return GsdDocument(
        provenance=provenance(
            "gsd",
            table,
            settings,
            scales.method_settings | method_settings(settings),
            seed=settings.seed if tested else None,
            resamples=relabelling.resamples if tested else None,
            warnings=[*scales.warnings, *(power_warnings(quality, relabelling) if tested else ())],
            metrics=scales.specs,
        ),
        rows=build_rows(analyses, table.models),
        **SENTENCES.fields([*gsd_findings(case), *duplicate_findings], case, table.models, limits=[limit]),
        means=means,
        analyses=tuple(analyses),
        criteria=names,
        relabelling=relabelling,
        quality=scales.quality,
        system=settings.system,
        unit="task" if tasks else "sample",
        front_tests=tuple(fronts),
        explanations=explanations,
        baselines=run_criteria_tests(scales.scores) if settings.baselines else None,
    )


def _refuse_clusters(table: ScoreTable) -> None:
    """Raise a UsageError if the samples are clustered."""
    reason, cluster = "its relabelling swaps models on single samples", table.options.cluster or "COL"
    repeat_options = f"{option('columns', f'sample={cluster}')} and {option('repeats', 'mean')}"
    hint = f"compare cluster means with {repeat_options} instead of {option('cluster')}; or use riskrank rank"
    refuse_clusters(table, command="gsd", reason=reason, hint=hint)


def power_warnings(quality: QualityTable, relabelling: Relabelling) -> list[str]:
    """Return a warning if no result could be significant, whatever the scores."""
    samples, k = quality.samples, quality.models
    n_labellings = count_labellings(samples, relabelling.resampling)
    n_used = min(n_labellings, relabelling.resamples + 1)
    # Every correction multiplies the smallest p-value by the size of the family. Benjamini-Hochberg then
    # divides it by the number of results with this p-value, which may be all of them.
    n_tests = 1 if relabelling.family.correction in ("none", "bh") else k * (k - 1)
    if n_tests / n_used <= relabelling.family.interval_level(1):
        return []
    needed = ceil(n_tests / relabelling.family.interval_level(1))
    hint = f"{option('resamples', needed)} gives smaller p-values"
    if n_labellings < needed:
        least = ceil(log2(needed)) if relabelling.resampling == "swap" else "more"
        hint = f"use at least {least} samples"
    family = f" times {n_tests} ordered pairs" if n_tests > 1 else ""
    return [
        f"no result can be significant at {relabelling.family.interval_level(1):g}: "
        f"the smallest p-value of {n_used:,} "
        f"labellings, 1/{n_used}{family}, is {n_tests / n_used:.3g}; {hint}"
    ]
