"""Entry point of ``gsd``, its document with one row per ordered pair and threshold, and its findings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import ceil, log2
from typing import Any

import numpy as np

from riskrank.engine.family import Answer
from riskrank.engine.gsd.analysis import (
    FrontTest,
    GsdAnalysis,
    Witness,
    analyse_dominance,
    find_witness,
    relabelling_count,
    run_front_test,
)
from riskrank.engine.gsd.preference_system import QualityTable, Threshold
from riskrank.engine.gsd.rank_tests import CriteriaTests, run_criteria_tests
from riskrank.engine.gsd.relabelling import Relabelling, count_labellings, null_optima
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.types import Floats
from riskrank.errors import index_of, option
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import findings
from riskrank.studies.checks import refuse_clusters, require_distributions, resolve_pair
from riskrank.studies.document import Document, attributes, computed, rows_from_records
from riskrank.studies.gsd.criteria import build_criteria, tasks_as_samples
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.metric_means import MetricMeans, metric_means
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.wording import counted, format_percent, join_names, others_phrase


@dataclass(frozen=True, slots=True)
class GsdRow:
    """Test whether the model ``winner`` dominates the model ``loser`` at one threshold."""

    winner: str = computed(lambda models, pair: models[pair[0]])
    loser: str = computed(lambda models, pair: models[pair[1]])
    # As a share of ξ, the threshold δ differs between pairs.
    delta: float = computed(
        lambda analysis, pair: (
            float(analysis.relation.slack[pair])
            if analysis.threshold.share is not None
            else analysis.threshold.delta
        )
    )
    optimum: float = computed(lambda analysis, pair: float(analysis.relation.optimum[pair]))
    dominates: bool = computed(lambda analysis, pair: bool(analysis.relation.dominates[pair]))
    p_value: float | None = computed(lambda test: test and test.p_value)
    p_adjusted: float | None = computed(
        lambda analysis, pair, test: test and float(analysis.p_adjusted[pair])
    )
    share_smaller: float | None = computed(lambda test: test and test.share_smaller)
    # Without a test, only the program of the optimum is counted.
    lps_solved: int = computed(lambda test: 1 if test is None else test.lps_solved)
    significant: bool | None = computed(
        lambda analysis, pair, test: test and bool(analysis.significant[pair])
    )
    exact: bool | None = computed(lambda test: test and test.exact)
    survives: int | None = computed(lambda analysis, pair: analysis.tolerated_samples.get(pair))
    regularization: float | None = computed(lambda analysis: analysis.threshold.share)
    delta_max: float = computed(lambda analysis, pair: float(analysis.relation.largest_slack[pair]))
    decided: bool | None = computed(lambda analysis, pair, test: test and not bool(analysis.undecided[pair]))


@dataclass(frozen=True, kw_only=True)
class GsdDocument(Document[GsdRow], schema="gsd"):
    """Dominance relation of all models at every threshold, with tests.

    Attributes
    ----------
    analyses : tuple of GsdAnalysis
        One per threshold.
    criteria : tuple of str
        Names of the n criteria.
    relabelling : Relabelling
        Settings of the tests.
    quality : QualityTable
        Quality vectors of the models.
    system : {"pair", "all"}
        Models whose quality vectors form the preference system: those of a pair, or all models.
    front_tests : tuple of FrontTest
        Tests of front membership, one per tested model.
    witnesses : tuple of Witness
        Utilities that decide the requested comparisons, with quality vectors in the units of the file.
    baselines : CriteriaTests or None
        Rank tests of every criterion, or None unless requested.
    means : tuple of MetricMeans
        Means of every metric in the units of the file.
    unit : {"sample", "task"}
        Sampling unit; "task" if each sample is the mean over a task.
    """

    analyses: tuple[GsdAnalysis, ...]
    criteria: tuple[str, ...]
    relabelling: Relabelling
    quality: QualityTable
    system: str
    front_tests: tuple[FrontTest, ...]
    witnesses: tuple[Witness, ...]
    baselines: CriteriaTests | None
    means: tuple[MetricMeans, ...]
    unit: str = "sample"

    @property
    def lps_solved(self) -> int:
        """Number of linear programs solved for relations, pairwise tests and front tests."""
        front_programs = sum(test.lps_solved for front in self.front_tests for test in front.tests)
        return sum(analysis.lps_solved for analysis in self.analyses) + front_programs

    def null_optima(self, analysis: GsdAnalysis, winner: int, loser: int) -> Floats:
        """Return the test statistic of a pair for every relabelling of the samples, shape (N,).

        `winner` and `loser` are model indices.
        """
        utilities = Utilities(self.quality, analysis.threshold, self.system)
        return null_optima(utilities, winner, loser, self.relabelling)

    def meta(self) -> Mapping[str, Any]:
        """Return results for the JSON object ``meta``: Hasse diagram, front, and requested analyses."""
        models, level = self.provenance.models, self.relabelling.family.interval_level(1)
        threshold, relation = self.analyses[0].threshold, self.analyses[0].relation
        parts = [_threshold_entries(analysis, models) for analysis in self.analyses]
        entries = {name: [entry for part in parts for entry in part[name]] for name in parts[0]}
        contamination = entries.pop("contamination")
        return {
            "delta_max": relation.delta_max,
            "xi": relation.delta_max if threshold.rows == "r1+r2" else None,
            **entries,
            "front_tests": [_front_test_entry(front, models, level) for front in self.front_tests],
            "contamination": contamination,
            "witness": [_witness_entry(witness, models, self.criteria) for witness in self.witnesses],
            "baselines": self.baselines and _baseline_entries(self.baselines, models, self.criteria, level),
            "lps_solved": self.lps_solved,
            "rows_generated": sum(analysis.relation.rows_generated for analysis in self.analyses),
        }


def build_rows(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> list[GsdRow]:
    """Return one row per threshold and ordered pair."""
    pairs = [*permutations(range(len(models)), 2)]
    records = ((analysis, models, pair, analysis.tests.get(pair)) for analysis in analyses for pair in pairs)
    return rows_from_records(GsdRow, "analysis models pair test", records)


def _threshold_entries(analysis: GsdAnalysis, models: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return lists of JSON objects on one threshold: Hasse diagram, equal models, front and contamination."""
    hasse, front = analysis.hasse, np.flatnonzero(analysis.front).tolist()
    entries: dict[str, list[dict[str, Any]]] = {
        # The first model of a class of equals represents it in the edges of the diagram.
        "hasse": [_pair_entry(models, (hasse.nodes[node][0] for node in edge)) for edge in hasse.edges],
        "classes": [
            {"models": [models[i] for i in node], "level": level + 1}
            for node, level in zip(hasse.nodes, hasse.levels, strict=True)
        ],
        "incomparable": [{"models": [models[i] for i in pair]} for pair in analysis.incomparable],
        "front": [{"models": [models[i] for i in front]}],
        "contamination": [
            _pair_entry(models, pair) | {"survives": survived, "p_values": analysis.tests[pair].contamination}
            for pair, survived in analysis.tolerated_samples.items()
        ],
    }
    threshold = _threshold_entry(analysis.threshold)
    return {name: [threshold | entry for entry in part] for name, part in entries.items()}


def _threshold_entry(threshold: Threshold) -> dict[str, Any]:
    """Return a threshold as a dictionary with ``delta`` and ``regularization``. One of them is None."""
    delta = threshold.delta if threshold.share is None else None
    return {"delta": delta, "regularization": threshold.share}


def _front_test_entry(front: FrontTest, models: Sequence[str], level: float) -> dict[str, Any]:
    """Return the tests whether other models dominate a model as a dictionary for the JSON output.

    `level` is the significance level.
    """
    rejected = front.rejected(level)
    return _threshold_entry(front.threshold) | {
        "model": models[front.model],
        "in_front": front.in_front(level),
        "p_value": front.p_value,
        "survives": front.tolerated_samples(level),
        "competitors": [
            {"model": models[test.winner], **attributes(test, "optimum", "p_value")}
            | {"rejected": test.winner in rejected}
            | attributes(test, "share_smaller", "contamination", "lps_solved")
            for test in front.tests
        ],
    }


def _witness_entry(witness: Witness, models: Sequence[str], criteria: Sequence[str]) -> dict[str, Any]:
    """Return the utility under which one model compares worst with another, as a dictionary.

    The vectors with the largest contributions come first.
    """
    names = ("utility", "winner_share", "loser_share", "contribution")
    parts = [getattr(witness, name).tolist() for name in names]
    vectors = zip(witness.values.tolist(), *parts, strict=True)
    return {
        "delta": witness.slack,
        "regularization": witness.threshold.share,
        **_pair_entry(models, (witness.winner, witness.loser)),
        "optimum": witness.optimum,
        "vectors": [
            {"scores": dict(zip(criteria, scores, strict=True)), **dict(zip(names, numbers, strict=True))}
            for scores, *numbers in vectors
        ],
    }


def _baseline_entries(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> dict[str, Any]:
    """Return the rank tests of every criterion and the two baseline methods as a dictionary.

    `level` is the significance level.
    """
    return {
        "criteria": [
            {
                "metric": name,
                "friedman_statistic": float(tests.friedman_statistic[j]),
                "friedman_p_value": float(tests.friedman_p_value[j]),
                "mean_rank": dict(zip(models, tests.mean_rank[j].tolist(), strict=True)),
                "nemenyi": [
                    {**_pair_entry(models, pair), "p_value": float(tests.nemenyi_p_value[j, *pair])}
                    for pair in tests.ordered_pairs(j)
                ],
            }
            for j, name in enumerate(criteria)
        ],
        "all_test": [_pair_entry(models, pair) for pair in np.argwhere(tests.all_test(level)).tolist()],
        "one_test": [_pair_entry(models, pair) for pair in np.argwhere(tests.one_test(level)).tolist()],
    }


def _pair_entry(models: Sequence[str], pair: Iterable[int]) -> dict[str, str]:
    """Return the names of two models as a dictionary with the keys ``winner`` and ``loser``."""
    winner, loser = (models[i] for i in pair)
    return {"winner": winner, "loser": loser}


_FOR_EVERY_UTILITY = "for every utility function of the metrics"


@dataclass(frozen=True, eq=False)
class GsdCase:
    """Results from which the findings and their sentences are derived.

    Attributes
    ----------
    analysis : GsdAnalysis
        Analysis at the last threshold.
    models, criteria : sequence of str
        Names of the models and criteria.
    identical : bool
        True if all models have the same distribution of quality vectors.
    scope : str
        Phrase for the scope of the results, such as "in these samples".
    """

    analysis: GsdAnalysis
    models: Sequence[str]
    criteria: Sequence[str]
    identical: bool
    scope: str = "in these samples"


def gsd_findings(case: GsdCase) -> list[findings.Finding]:
    """Return the findings: models that dominate all others, or else the front, and the significant pairs.

    The front consists of all models that no other model dominates.
    """
    analysis, k = case.analysis, len(case.models)
    dominates = analysis.relation.dominates  # False on the diagonal
    best = np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()
    front = np.flatnonzero(analysis.front).tolist()
    kind = "same-distribution" if case.identical else "best" if best else "front"
    first = findings.Finding(kind=kind, models=tuple(best or front))
    if not analysis.tests:
        return [first, *findings.untested_findings(tested=False)]
    figures = {
        "relabellings": min(test.resamples for test in analysis.tests.values()),
        "pairs": int(dominates.sum()),
        "significant": int(analysis.significant.sum()),
        "undecided": int(analysis.undecided.sum()),
        "level": analysis.family.interval_level(1),
    }
    answer = Answer.SIGNIFICANT if figures["significant"] else Answer.UNDECIDED
    return [first, findings.Finding(kind="pairs-shown", figures=figures, answer=answer)]


def _describe_best(finding: findings.Finding, case: GsdCase) -> str:
    """Return the sentence about the models that dominate all others."""
    best = [case.models[i] for i in finding.models]
    rivals_text = others_phrase([model for model in case.models if model not in best] or best[1:])
    subject = f"{case.scope.capitalize()} {join_names(best)} {_is_or_are(len(best))}"
    return f"{subject} at least as good as {rivals_text}, {_FOR_EVERY_UTILITY}."


def _describe_front(finding: findings.Finding, case: GsdCase) -> str:
    """Return the sentence about the models that no other model dominates."""
    front = join_names([case.models[i] for i in finding.models], 6).replace(" and ", " or ")
    best = f"{case.scope.capitalize()} no model is at least as good as all others, {_FOR_EVERY_UTILITY}"
    return f"{best}; no model is better than {front} in this sense."


def _describe_significant_pairs(finding: findings.Finding, case: GsdCase) -> str:
    """Return the sentence about how many of the dominated pairs are significant."""
    keys = ("pairs", "significant", "undecided", "relabellings")
    pairs, significant, undecided, relabellings = (int(finding.figures[key]) for key in keys)
    if not pairs:
        return f"No model dominates another {case.scope}."
    level_text = f"significant at {format_percent(case.analysis.family.interval_level(1))}"
    undecided_text = f"; {undecided} undecided at {relabellings:,} relabellings" if undecided else ""
    significant_text = f"{significant} {_is_or_are(significant)}" if significant else "none is"
    pairs_text = f"Of {counted(pairs, 'pair')} with dominance {case.scope}"
    return f"{pairs_text}, {significant_text} {level_text}{undecided_text}."


def _is_or_are(count: int) -> str:
    """Return "is" or "are" to agree with a count."""
    return "is" if count == 1 else "are"


# Sentence of each kind of finding.
SENTENCES: findings.Sentences[GsdCase] = findings.Sentences(
    {
        "same-distribution": lambda _, case: findings.same_distribution_sentence(
            case.models, join_names(case.criteria)
        ),
        "best": _describe_best,
        "front": _describe_front,
        "pairs-shown": _describe_significant_pairs,
    }
)


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Return the thresholds at which dominance is determined, in the requested order."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    slack_on = settings.delta_on or "r1"
    return tuple(Threshold(delta=delta, slack_on=slack_on) for delta in settings.delta or (0.0,))


def build_relabelling(settings: GsdSettings, quality: QualityTable) -> Relabelling:
    """Return the settings of the relabelling tests as a `Relabelling`."""
    auto, family = settings.resamples == "auto", family_from_settings(settings)
    return Relabelling(
        pairs="none" if settings.no_test else settings.pairs or "dominant",
        family=family,
        resamples=relabelling_count(quality, family) if auto else int(settings.resamples),
        stops_early=auto,
        **attributes(settings, "resampling", "seed", "contamination"),
    )


def method_settings(settings: GsdSettings) -> dict[str, Any]:
    """Return a description of the dominance relation and its tests for the provenance, as a dictionary."""
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
        Options of ``gsd``.
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
    require_distributions(table, "gsd")
    means, tasks = metric_means(table), bool(table.suite)
    table, tested = tasks_as_samples(table, settings), not settings.no_test
    if tested:
        _refuse_clusters(table)
    scales = build_criteria(table, settings)
    names = settings.front_test
    front_models = [index_of(name, table.models, kind="model", parameter="front_test") for name in names]
    pairs = [resolve_pair(pair, table.models, parameter="witness") for pair in settings.witness]
    quality, relabelling = scales.quality, build_relabelling(settings, scales.quality)
    utilities = [Utilities(quality, threshold, settings.system) for threshold in thresholds(settings)]
    analyses, fronts = [], []
    for part in utilities:
        with runtime.progress(f"comparing at {part.threshold}") as progress:
            epsilon, jobs = settings.epsilon, runtime.jobs
            analyses.append(analyse_dominance(part, relabelling, epsilon, jobs=jobs, progress=progress))
    for part, model in product(utilities, front_models):
        with runtime.progress(f"front test of {table.models[model]}") as progress:
            fronts.append(run_front_test(part, model, relabelling, jobs=runtime.jobs, progress=progress))
    witnesses = tuple(
        replace(witness, values=to_original_units(witness.values, scales.specs))
        for witness in (find_witness(part, *pair) for part, pair in product(utilities, pairs))
    )
    criteria = tuple(spec.name for spec in scales.specs)
    identical = quality.models_are_identical and not (settings.digits or settings.tolerance)
    scope = "on these tasks" if tasks else "in these samples"
    case = GsdCase(analyses[-1], table.models, criteria, identical, scope)
    same_scores = [] if identical else findings.same_score_findings(table, table.models)
    size, units = len(table.samples), "tasks" if tasks else "samples"
    if table.cluster_names is not None:
        size, units = int(kish_size(table.clusters[0])), "clusters of samples"
    limit = findings.detection_limit_remark(size, units)
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
        **SENTENCES.fields([*gsd_findings(case), *same_scores], case, table.models, limits=[limit]),
        means=means,
        analyses=tuple(analyses),
        criteria=criteria,
        relabelling=relabelling,
        quality=quality,
        system=settings.system,
        unit="task" if tasks else "sample",
        front_tests=tuple(fronts),
        witnesses=witnesses,
        baselines=run_criteria_tests(scales.scores) if settings.baselines else None,
    )


def _refuse_clusters(table: ScoreTable) -> None:
    """Raise a UsageError if the samples are clustered, and suggest to compare cluster means."""
    reason, cluster = "its relabelling swaps models on single samples", table.options.cluster or "COL"
    repeat_options = f"{option('columns', f'sample={cluster}')} and {option('repeats', 'mean')}"
    hint = f"compare cluster means with {repeat_options} instead of {option('cluster')}; or use riskrank rank"
    refuse_clusters(table, command="gsd", reason=reason, hint=hint)


def power_warnings(quality: QualityTable, relabelling: Relabelling) -> list[str]:
    """Return a list with a warning if no result could be significant, whatever the scores."""
    samples, k = quality.samples, quality.models
    n_labellings = count_labellings(samples, relabelling.resampling)
    n_used = min(n_labellings, relabelling.resamples + 1)
    # Every correction multiplies the smallest p-value by the size of the family. Benjamini-Hochberg then
    # divides it by the number of results with this p-value, which may be all of them.
    n_tests = 1 if relabelling.family.correction in ("none", "bh") else k * (k - 1)
    level = relabelling.family.interval_level(1)
    if n_tests / n_used <= level:
        return []
    needed = ceil(n_tests / level)
    hint = f"{option('resamples', needed)} gives smaller p-values"
    if n_labellings < needed:
        least = ceil(log2(needed)) if relabelling.resampling == "swap" else "more"
        hint = f"use at least {least} samples"
    family = f" times {n_tests} ordered pairs" if n_tests > 1 else ""
    smallest = f"the smallest p-value of {n_used:,} labellings, 1/{n_used}{family}, is {n_tests / n_used:.3g}"
    return [f"no result can be significant at {level:g}: {smallest}; {hint}"]
