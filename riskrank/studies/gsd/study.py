"""From a table to the relation of its models, tested and explained."""

from itertools import product
from math import ceil, log2
from typing import Any

from riskrank.engine.gsd.analysis import analyse, labellings_for
from riskrank.engine.gsd.front import front_test, witness
from riskrank.engine.gsd.null_optima import Relabelling, possible_labellings
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.rank_tests import criteria_tests
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.errors import index_of, option
from riskrank.scores.table.metrics import original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import entries
from riskrank.studies.findings import same_scores
from riskrank.studies.groups.study import refuse_clusters
from riskrank.studies.gsd.criteria import criteria, tasks_as_samples
from riskrank.studies.gsd.document import Explanation, GsdDocument, rows
from riskrank.studies.gsd.findings import SENTENCES, GsdCase, gsd_findings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.metric_means import metric_means
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import blind_limit
from riskrank.studies.settings import family_of, provenance


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Thresholds to compare at, each once, in the order given."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    return tuple(Threshold(delta=delta, on=settings.delta_on or "r1") for delta in settings.delta or (0.0,))


def relabelling(settings: GsdSettings, quality: QualityTable) -> Relabelling:
    """How the engine is to test."""
    auto = settings.resamples == "auto"
    return Relabelling(
        pairs="none" if settings.no_test else settings.pairs or "dominant",
        family=family_of(settings),
        resamples=labellings_for(quality, family_of(settings)) if auto else int(settings.resamples),
        closing=auto,
        **entries(settings, "resampling", "seed", "contamination"),
    )


def described(settings: GsdSettings) -> dict[str, Any]:
    """Relation and tests, for the document."""
    tested = not settings.no_test
    found = thresholds(settings)
    return {
        "delta": [threshold.delta for threshold in found if threshold.share is None],
        "regularization": list(settings.regularization),
        "delta_on": found[0].rows,
        **entries(settings, "system", "epsilon", "no_test"),
        "pairs": settings.pairs or "dominant" if tested else None,
        "resampling": settings.resampling if tested else None,
        **family_of(settings).settings,
        "correction": settings.correction if tested else "none",
        "family": "ordered pairs of one threshold" if tested else None,
        "contamination": settings.contamination,
    }


def gsd(table: ScoreTable, settings: GsdSettings, runtime: Runtime = HERE) -> GsdDocument:
    """Find which model is at least as good as which for every utility that respects the criteria.

    Parameters
    ----------
    table : ScoreTable
        Read as the command needs it.
    settings : GsdSettings
    runtime : Runtime, optional

    Returns
    -------
    GsdDocument

    Raises
    ------
    InputError
        If a threshold is larger than any utility allows, or scores lie outside their bounds.
    UsageError
        For criteria without a direction, names that are none, and a suite that nobody said how to take.
    NumericalError
        If a linear program cannot be solved for certain.
    """
    refuse_distributions(table, "gsd")
    means, tasks = metric_means(table), bool(table.suite)
    table, tested = tasks_as_samples(table, settings), not settings.no_test
    if tested:
        why, cluster = "its relabelling swaps models on single samples", table.options.cluster or "COL"
        by = f"{option('columns', f'sample={cluster}')} and {option('repeats', 'mean')}"
        hint = f"compare the means of clusters, {by} in the place of {option('cluster')}; or riskrank rank"
        refuse_clusters(table, command="gsd", why=why, hint=hint)
    scales = criteria(table, settings)
    front_models = [
        index_of(name, table.models, kind="model", parameter="front_test") for name in settings.front_test
    ]
    pairs = [resolve_pair(pair, table.models, parameter="witness") for pair in settings.witness]
    how = relabelling(settings, scales.quality)
    quality, at = scales.quality, thresholds(settings)
    utilities, analyses, fronts = [], [], []
    for threshold in at:
        with runtime.progress(f"comparing at {threshold}") as progress:
            one = Utilities(quality, threshold, settings.system)
            utilities.append(one)
            analyses.append(analyse(one, how, settings.epsilon, jobs=runtime.jobs, progress=progress))
    for one, model in product(utilities, front_models):
        with runtime.progress(f"front test of {table.models[model]}") as progress:
            fronts.append(front_test(one, model, how, jobs=runtime.jobs, progress=progress))
    found = [witness(one, *pair) for one, pair in product(utilities, pairs)]
    explanations = tuple(Explanation(one, original_units(one.values, scales.specs)) for one in found)
    names = tuple(spec.name for spec in scales.specs)
    alike = quality.alike and not (settings.digits or settings.tolerance)
    twins = [] if alike else same_scores(table, table.models)
    there = "on these tasks" if tasks else "in these samples"
    case = GsdCase(analyses[-1], table.models, names, alike, there)
    if table.cluster_names is None:
        limit = blind_limit(len(table.samples), "tasks" if tasks else "samples")
    else:
        limit = blind_limit(int(kish(table.clusters[0])), "clusters of samples")
    return GsdDocument(
        provenance=provenance(
            "gsd",
            table,
            settings,
            scales.described | described(settings),
            seed=settings.seed if tested else None,
            resamples=how.resamples if tested else None,
            warnings=[*scales.warnings, *(power_warnings(quality, how) if tested else ())],
            metrics=scales.specs,
        ),
        rows=rows(analyses, table.models),
        **SENTENCES.told([*gsd_findings(case), *twins], case, table.models, limits=[limit]),
        means=means,
        analyses=tuple(analyses),
        criteria=names,
        relabelling=how,
        quality=scales.quality,
        system=settings.system,
        unit="task" if tasks else "sample",
        front_tests=tuple(fronts),
        explanations=explanations,
        baselines=criteria_tests(scales.scores) if settings.baselines else None,
    )


def power_warnings(quality: QualityTable, how: Relabelling) -> list[str]:
    """Say when no result could be significant, whatever the scores."""
    samples, k = quality.samples, quality.models
    every = possible_labellings(samples, how.resampling)
    labellings = min(every, how.resamples + 1)
    # Every correction multiplies the smallest p-value by the size of the family; only Benjamini-Hochberg
    # divides again by the number of results that share it.
    tests = 1 if how.family.correction in ("none", "bh") else k * (k - 1)
    if tests / labellings <= how.family.level(1):
        return []
    needed = ceil(tests / how.family.level(1))
    hint = f"{option('resamples', needed)} can show more"
    if every < needed:
        least = ceil(log2(needed)) if how.resampling == "swap" else "more"
        hint = f"it takes {least} samples"
    family = f" times {tests} ordered pairs" if tests > 1 else ""
    return [
        f"no result can be significant at {how.family.level(1):g}: the smallest p-value of {labellings:,} "
        f"labellings, 1/{labellings}{family}, is {tests / labellings:.3g}; {hint}"
    ]
