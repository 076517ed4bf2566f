"""What ``gsd`` found: a row an ordered pair and threshold, and in ``meta`` what is not about one pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis, Relabelling
from riskrank.engine.gsd.front import FrontTest, Witness
from riskrank.engine.gsd.null_distribution import null_optima
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.gsd.threshold import Threshold
from riskrank.engine.types import Booleans, Floats
from riskrank.studies.document import Document, entries
from riskrank.studies.metric_means import MetricMeans


@dataclass(frozen=True, slots=True)
class GsdRow:
    """One ordered pair at one threshold; ``winner`` is the model whose dominance is looked at."""

    winner: str
    loser: str
    delta: float
    optimum: float
    dominates: bool
    p_value: float | None
    p_adjusted: float | None
    share_smaller: float | None
    lps_solved: int
    significant: bool | None
    exact: bool | None
    survives: int | None
    regularization: float | None
    delta_max: float
    decided: bool | None


@dataclass(frozen=True)
class Explanation:
    """The utility behind an answer, and its quality vectors in the units of the file, shape (d, n)."""

    witness: Witness
    scores: Floats


@dataclass(frozen=True, kw_only=True)
class GsdDocument(Document[GsdRow]):
    """The relation of all models at every threshold, tested.

    Attributes
    ----------
    analyses : tuple of GsdAnalysis
        One a threshold.
    criteria : tuple of str
        Names of the n criteria.
    relabelling : Relabelling
        How it was tested.
    quality : QualityTable
        The models' quality vectors.
    system : {"pair", "all"}
        Models whose vectors the utilities are about.
    front_tests : tuple of FrontTest
    explanations : tuple of Explanation
    baselines : CriteriaTests or None
        None unless asked for.
    means : tuple of MetricMeans
        Raw means of every metric.
    unit : {"sample", "task"}
        What a sample is: of a suite a task, by its means.
    """

    schema: ClassVar[str] = "gsd"
    row_type: ClassVar[type] = GsdRow

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
        """Linear programs solved for relations, tests and front tests."""
        return sum(found.lps_solved for found in self.analyses) + sum(
            test.lps_solved for front in self.front_tests for test in front.tests
        )

    def null_optima(self, analysis: GsdAnalysis, winner: int, loser: int) -> Floats:
        """Optima of all relabelled samples of one test; the test itself needed only some of them."""
        how = self.relabelling
        return null_optima(
            self.quality,
            winner,
            loser,
            threshold=analysis.threshold,
            system=self.system,
            **entries(how, "resampling", "resamples", "seed"),
        )

    def meta(self) -> Mapping[str, Any]:
        """Diagram, front, contamination, witnesses, baselines, and the work done."""
        models, analyses, level = self.provenance.models, self.analyses, self.relabelling.family.level(1)
        largest = analyses[0].relation.delta_max
        return {
            "delta_max": largest,
            "xi": largest if analyses[0].threshold.rows == "r1+r2" else None,
            "hasse": [entry for found in analyses for entry in _edges(found, models)],
            "classes": [entry for found in analyses for entry in _classes(found, models)],
            "incomparable": [
                _at(found.threshold) | {"models": [models[i], models[j]]}
                for found in analyses
                for i, j in found.incomparable
            ],
            "front": [
                _at(found.threshold)
                | {"models": [name for name, inside in zip(models, found.front, strict=True) if inside]}
                for found in analyses
            ],
            "front_tests": [_front_test(front, models, level) for front in self.front_tests],
            "contamination": [entry for found in analyses for entry in _contamination(found, models)],
            "witness": [_witness(found, models, self.criteria) for found in self.explanations],
            "baselines": None
            if self.baselines is None
            else _baselines(self.baselines, models, self.criteria, level),
            "lps_solved": self.lps_solved,
            "rows_generated": sum(found.relation.rows_generated for found in analyses),
        }


def rows(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> list[GsdRow]:
    """All ordered pairs, threshold by threshold."""
    k = len(models)
    return [_row(found, i, j, models) for found in analyses for i in range(k) for j in range(k) if i != j]


def _row(found: GsdAnalysis, i: int, j: int, models: Sequence[str]) -> GsdRow:
    relation, test = found.relation, found.tests.get((i, j))
    share = found.threshold.share
    return GsdRow(
        winner=models[i],
        loser=models[j],
        delta=found.threshold.delta if share is None else float(relation.slack[i, j]),
        optimum=float(relation.optimum[i, j]),
        dominates=bool(relation.dominates[i, j]),
        p_value=None if test is None else test.p_value,
        p_adjusted=None if test is None else float(found.p_adjusted[i, j]),
        share_smaller=None if test is None else test.share_smaller,
        lps_solved=1 if test is None else test.lps_solved,  # without a test only the optimum's own
        significant=None if test is None else bool(found.significant[i, j]),
        exact=None if test is None else test.exact,
        survives=found.survives.get((i, j)),
        regularization=share,
        delta_max=float(relation.largest_slack[i, j]),
        decided=None if test is None else not bool(found.undecided[i, j]),
    )


def _at(threshold: Threshold) -> dict[str, Any]:
    return {
        "delta": threshold.delta if threshold.share is None else None,
        "regularization": threshold.share,
    }


def _edges(found: GsdAnalysis, models: Sequence[str]) -> list[dict[str, Any]]:
    """Edges of the diagram; a class of equals is named by its first model."""
    nodes = found.hasse.nodes
    return [
        _at(found.threshold) | {"winner": models[nodes[upper][0]], "loser": models[nodes[lower][0]]}
        for upper, lower in found.hasse.edges
    ]


def _classes(found: GsdAnalysis, models: Sequence[str]) -> list[dict[str, Any]]:
    """Nodes of the diagram: models of equal utility, and how far from the top they are."""
    return [
        _at(found.threshold) | {"models": [models[i] for i in node], "level": level + 1}
        for node, level in zip(found.hasse.nodes, found.hasse.levels, strict=True)
    ]


def _contamination(found: GsdAnalysis, models: Sequence[str]) -> list[dict[str, Any]]:
    return [
        _at(found.threshold)
        | {
            "winner": models[i],
            "loser": models[j],
            "survives": survived,
            "p_values": found.tests[i, j].contamination,
        }
        for (i, j), survived in found.survives.items()
    ]


def _front_test(front: FrontTest, models: Sequence[str], level: float) -> dict[str, Any]:
    """The static test, and the dynamic one competitor by competitor."""
    rejected = front.rejected(level)
    contaminated = any(test.contamination for test in front.tests)
    return _at(front.threshold) | {
        "model": models[front.model],
        "in_front": front.in_front(level),
        "p_value": front.p_value,
        "survives": front.survives(level) if contaminated else None,
        "competitors": [
            {"model": models[test.winner], **entries(test, "optimum", "p_value")}
            | {"rejected": test.winner in rejected}
            | entries(test, "share_smaller", "contamination", "lps_solved")
            for test in front.tests
        ],
    }


def _witness(found: Explanation, models: Sequence[str], criteria: Sequence[str]) -> dict[str, Any]:
    """The whole utility, the largest contribution first."""
    one = found.witness
    vectors = zip(
        found.scores.tolist(),
        one.utility.tolist(),
        one.winner_share.tolist(),
        one.loser_share.tolist(),
        one.contribution.tolist(),
        strict=True,
    )
    return {
        "delta": one.slack,
        "regularization": one.threshold.share,
        "winner": models[one.winner],
        "loser": models[one.loser],
        "optimum": one.optimum,
        "vectors": [
            {
                "scores": dict(zip(criteria, scores, strict=True)),
                "utility": utility,
                "winner_share": winner,
                "loser_share": loser,
                "contribution": contribution,
            }
            for scores, utility, winner, loser, contribution in vectors
        ],
    }


def _baselines(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> dict[str, Any]:
    """Friedman and Nemenyi of every criterion, and the pairs of the all-test and the one-test."""
    return {
        "criteria": [
            {
                "metric": name,
                "friedman_statistic": float(tests.friedman_statistic[j]),
                "friedman_p_value": float(tests.friedman_p_value[j]),
                "mean_rank": dict(zip(models, tests.mean_rank[j].tolist(), strict=True)),
                "nemenyi": [
                    {
                        "winner": models[a],
                        "loser": models[b],
                        "p_value": float(tests.nemenyi_p_value[j, a, b]),
                    }
                    for a, b in tests.ahead(j)
                ],
            }
            for j, name in enumerate(criteria)
        ],
        "all_test": _pairs(tests.all_test(level), models),
        "one_test": _pairs(tests.one_test(level), models),
    }


def _pairs(relation: Booleans, models: Sequence[str]) -> list[dict[str, str]]:
    return [{"winner": models[i], "loser": models[j]} for i, j in np.argwhere(relation).tolist()]
