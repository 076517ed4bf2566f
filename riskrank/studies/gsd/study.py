"""Entry point of ``gsd``: from a score table to the dominance relation of its models, with tests."""

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
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.errors import index_of, option
from riskrank.scores.table.metrics import original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import entries
from riskrank.studies.findings import same_scores
from riskrank.studies.groups.study import refuse_clusters
from riskrank.studies.gsd.criteria import build_criteria, tasks_as_samples
from riskrank.studies.gsd.document import Explanation, GsdDocument, build_rows
from riskrank.studies.gsd.findings import SENTENCES, GsdCase, gsd_findings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.metric_means import metric_means
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import blind_limit
from riskrank.studies.settings import family_of, provenance


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Return the thresholds at which models are compared, in the order given."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    return tuple(
        Threshold(delta=delta, slack_on=settings.delta_on or "r1") for delta in settings.delta or (0.0,)
    )


def build_relabelling(settings: GsdSettings, quality: QualityTable) -> Relabelling:
    """Return the settings of the relabelling tests."""
    auto = settings.resamples == "auto"
    return Relabelling(
        pairs="none" if settings.no_test else settings.pairs or "dominant",
        family=family_of(settings),
        resamples=relabelling_count(quality, family_of(settings)) if auto else int(settings.resamples),
        stops_early=auto,
        **entries(settings, "resampling", "seed", "contamination"),
    )


def method_settings(settings: GsdSettings) -> dict[str, Any]:
    """Return the settings of the relation and its tests, for the provenance of the document."""
    tested = not settings.no_test
    all_thresholds = thresholds(settings)
    return {
        "delta": [threshold.delta for threshold in all_thresholds if threshold.share is None],
        "regularization": list(settings.regularization),
        "delta_on": all_thresholds[0].rows,
        **entries(settings, "system", "epsilon", "no_test"),
        "pairs": settings.pairs or "dominant" if tested else None,
        "resampling": settings.resampling if tested else None,
        **family_of(settings).settings,
        "correction": settings.correction if tested else "none",
        "family": "ordered pairs of one threshold" if tested else None,
        "contamination": settings.contamination,
    }


def gsd(table: ScoreTable, settings: GsdSettings, runtime: Runtime = HERE) -> GsdDocument:
    """Find which models dominate others: at least as good under every utility that respects the criteria.

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
        If a threshold is larger than any utility allows, or scores lie outside their bounds.
    UsageError
        For criteria without a direction, unknown names, and a suite without a choice of how to treat its
        tasks.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    refuse_distributions(table, "gsd")
    means, tasks = metric_means(table), bool(table.suite)
    table, tested = tasks_as_samples(table, settings), not settings.no_test
    if tested:
        reason, cluster = "its relabelling swaps models on single samples", table.options.cluster or "COL"
        repeat_options = f"{option('columns', f'sample={cluster}')} and {option('repeats', 'mean')}"
        hint = (
            f"compare the means of clusters, {repeat_options} in the place of {option('cluster')}; "
            "or riskrank rank"
        )
        refuse_clusters(table, command="gsd", reason=reason, hint=hint)
    scales = build_criteria(table, settings)
    front_models = [
        index_of(name, table.models, kind="model", parameter="front_test") for name in settings.front_test
    ]
    pairs = [resolve_pair(pair, table.models, parameter="witness") for pair in settings.witness]
    relabelling = build_relabelling(settings, scales.quality)
    quality, all_thresholds = scales.quality, thresholds(settings)
    utilities, analyses, fronts = [], [], []
    for threshold in all_thresholds:
        with runtime.progress(f"comparing at {threshold}") as progress:
            threshold_utilities = Utilities(quality, threshold, settings.system)
            utilities.append(threshold_utilities)
            analyses.append(
                analyse_dominance(
                    threshold_utilities, relabelling, settings.epsilon, jobs=runtime.jobs, progress=progress
                )
            )
    for threshold_utilities, model in product(utilities, front_models):
        with runtime.progress(f"front test of {table.models[model]}") as progress:
            fronts.append(
                run_front_test(threshold_utilities, model, relabelling, jobs=runtime.jobs, progress=progress)
            )
    witnesses = [
        find_witness(threshold_utilities, *pair) for threshold_utilities, pair in product(utilities, pairs)
    ]
    explanations = tuple(
        Explanation(witness, original_units(witness.values, scales.specs)) for witness in witnesses
    )
    names = tuple(spec.name for spec in scales.specs)
    identical = quality.models_are_identical and not (settings.digits or settings.tolerance)
    duplicate_findings = [] if identical else same_scores(table, table.models)
    scope = "on these tasks" if tasks else "in these samples"
    case = GsdCase(analyses[-1], table.models, names, identical, scope)
    if table.cluster_names is None:
        limit = blind_limit(len(table.samples), "tasks" if tasks else "samples")
    else:
        limit = blind_limit(int(kish(table.clusters[0])), "clusters of samples")
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
        **SENTENCES.told([*gsd_findings(case), *duplicate_findings], case, table.models, limits=[limit]),
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


def power_warnings(quality: QualityTable, relabelling: Relabelling) -> list[str]:
    """Return a warning if no result can be significant, whatever the scores."""
    samples, k = quality.samples, quality.models
    n_labellings = count_labellings(samples, relabelling.resampling)
    n_used = min(n_labellings, relabelling.resamples + 1)
    # Every correction multiplies the smallest p-value by the size of the family; only Benjamini-Hochberg
    # divides again by the number of results that share it.
    n_tests = 1 if relabelling.family.correction in ("none", "bh") else k * (k - 1)
    if n_tests / n_used <= relabelling.family.level(1):
        return []
    needed = ceil(n_tests / relabelling.family.level(1))
    hint = f"{option('resamples', needed)} can show more"
    if n_labellings < needed:
        least = ceil(log2(needed)) if relabelling.resampling == "swap" else "more"
        hint = f"it takes {least} samples"
    family = f" times {n_tests} ordered pairs" if n_tests > 1 else ""
    return [
        f"no result can be significant at {relabelling.family.level(1):g}: "
        f"the smallest p-value of {n_used:,} "
        f"labellings, 1/{n_used}{family}, is {n_tests / n_used:.3g}; {hint}"
    ]
