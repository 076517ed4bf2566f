"""The document of ``gsd``: one row per ordered pair and threshold, with further results in ``meta``."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.gsd.front import FrontTest, Witness
from riskrank.engine.gsd.null_optima import Relabelling, null_optima
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.types import Floats
from riskrank.studies.document import Document, attributes, computed, rows_from_records
from riskrank.studies.metric_means import MetricMeans


@dataclass(frozen=True, slots=True)
class GsdRow:
    """Test of whether ``winner`` dominates ``loser`` at one threshold."""

    winner: str = computed(lambda models, i: models[i])
    loser: str = computed(lambda models, j: models[j])
    delta: float = computed(
        lambda analysis, i, j: (
            float(analysis.relation.slack[i, j])
            if analysis.threshold.share is not None
            else analysis.threshold.delta
        )
    )
    optimum: float = computed(lambda analysis, i, j: float(analysis.relation.optimum[i, j]))
    dominates: bool = computed(lambda analysis, i, j: bool(analysis.relation.dominates[i, j]))
    p_value: float | None = computed(lambda test: test and test.p_value)
    p_adjusted: float | None = computed(
        lambda analysis, i, j, test: test and float(analysis.p_adjusted[i, j])
    )
    share_smaller: float | None = computed(lambda test: test and test.share_smaller)
    # Without a test, only the program of the optimum is counted.
    lps_solved: int = computed(lambda test: 1 if test is None else test.lps_solved)
    significant: bool | None = computed(
        lambda analysis, i, j, test: test and bool(analysis.significant[i, j])
    )
    exact: bool | None = computed(lambda test: test and test.exact)
    survives: int | None = computed(lambda analysis, i, j: analysis.tolerated_samples.get((i, j)))
    regularization: float | None = computed(lambda analysis: analysis.threshold.share)
    delta_max: float = computed(lambda analysis, i, j: float(analysis.relation.largest_slack[i, j]))
    decided: bool | None = computed(lambda analysis, i, j, test: test and not bool(analysis.undecided[i, j]))


@dataclass(frozen=True)
class Explanation:
    """Witness utility that decides a comparison, with its quality vectors in the units of the file."""

    witness: Witness
    scores: Floats


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
    explanations : tuple of Explanation
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
    explanations: tuple[Explanation, ...]
    baselines: CriteriaTests | None
    means: tuple[MetricMeans, ...]
    unit: str = "sample"

    @property
    def lps_solved(self) -> int:
        """Number of linear programs solved for relations, pairwise tests and front tests."""
        return sum(analysis.lps_solved for analysis in self.analyses) + sum(
            test.lps_solved for front in self.front_tests for test in front.tests
        )

    def null_optima(self, analysis: GsdAnalysis, winner: int, loser: int) -> Floats:
        """Return the exact null distribution of a pair's test: the optima of all relabellings, shape (N,)."""
        utilities = Utilities(self.quality, analysis.threshold, self.system)
        return null_optima(utilities, winner, loser, self.relabelling)

    def meta(self) -> Mapping[str, Any]:
        """Return the ``meta`` entries: diagram, front, contamination, witnesses, baselines and cost."""
        models, analyses, level = (
            self.provenance.models,
            self.analyses,
            self.relabelling.family.interval_level(1),
        )
        largest = analyses[0].relation.delta_max

        def for_every_threshold(
            entries_of: Callable[[GsdAnalysis], Iterable[Mapping[str, Any]]],
        ) -> list[dict[str, Any]]:
            """Return the entries of all analyses, each with its threshold."""
            return [
                {**_threshold_entry(analysis.threshold), **entry}
                for analysis in analyses
                for entry in entries_of(analysis)
            ]

        return {
            "delta_max": largest,
            "xi": largest if analyses[0].threshold.rows == "r1+r2" else None,
            # The first model of a class of equals represents it in the edges of the diagram.
            "hasse": for_every_threshold(
                lambda analysis: (
                    _pair_entry(models, (analysis.hasse.nodes[node][0] for node in edge))
                    for edge in analysis.hasse.edges
                )
            ),
            "classes": for_every_threshold(
                lambda analysis: (
                    {"models": [models[i] for i in node], "level": level + 1}
                    for node, level in zip(analysis.hasse.nodes, analysis.hasse.levels, strict=True)
                )
            ),
            "incomparable": for_every_threshold(
                lambda analysis: ({"models": [models[i] for i in pair]} for pair in analysis.incomparable)
            ),
            "front": for_every_threshold(
                lambda analysis: [{"models": [models[i] for i in np.flatnonzero(analysis.front).tolist()]}]
            ),
            "front_tests": [_front_test_entry(front, models, level) for front in self.front_tests],
            "contamination": for_every_threshold(
                lambda analysis: (
                    {
                        **_pair_entry(models, pair),
                        "survives": survived,
                        "p_values": analysis.tests[pair].contamination,
                    }
                    for pair, survived in analysis.tolerated_samples.items()
                )
            ),
            "witness": [
                _witness_entry(explanation, models, self.criteria) for explanation in self.explanations
            ],
            "baselines": self.baselines and _baseline_entries(self.baselines, models, self.criteria, level),
            "lps_solved": self.lps_solved,
            "rows_generated": sum(explanation.relation.rows_generated for explanation in analyses),
        }


def build_rows(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> list[GsdRow]:
    """Return one row per threshold and ordered pair."""
    pairs = [*permutations(range(len(models)), 2)]
    records = ((analysis, models, *pair, analysis.tests.get(pair)) for analysis in analyses for pair in pairs)
    return rows_from_records(GsdRow, "analysis models i j test", records)


def _threshold_entry(threshold: Threshold) -> dict[str, Any]:
    """Return a threshold as the entries ``delta`` and ``regularization``, one of which is None."""
    delta = threshold.delta if threshold.share is None else None
    return {"delta": delta, "regularization": threshold.share}


def _front_test_entry(front: FrontTest, models: Sequence[str], level: float) -> dict[str, Any]:
    """Return the entry of a front test: the static test, and the dynamic test of each competitor."""
    rejected = front.rejected(level)
    contaminated = any(test.contamination for test in front.tests)
    return _threshold_entry(front.threshold) | {
        "model": models[front.model],
        "in_front": front.in_front(level),
        "p_value": front.p_value,
        "survives": front.tolerated_samples(level) if contaminated else None,
        "competitors": [
            {"model": models[test.winner], **attributes(test, "optimum", "p_value")}
            | {"rejected": test.winner in rejected}
            | attributes(test, "share_smaller", "contamination", "lps_solved")
            for test in front.tests
        ],
    }


def _witness_entry(
    explanation: Explanation, models: Sequence[str], criteria: Sequence[str]
) -> dict[str, Any]:
    """Return the entry of a witness utility, the largest contribution first."""
    witness = explanation.witness
    parts = (witness.utility, witness.winner_share, witness.loser_share, witness.contribution)
    names = ("utility", "winner_share", "loser_share", "contribution")
    vectors = zip(explanation.scores.tolist(), *(part.tolist() for part in parts), strict=True)
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
    """Return the entry of the rank tests per criterion, the all-test and the one-test."""
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
    """Return a pair as entries ``winner`` and ``loser``."""
    winner, loser = (models[i] for i in pair)
    return {"winner": winner, "loser": loser}
