"""What ``gsd`` found: a row an ordered pair and threshold, and in ``meta`` what is not about one pair."""

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
from riskrank.studies.document import Document, entries, of, rows_from
from riskrank.studies.metric_means import MetricMeans


@dataclass(frozen=True, slots=True)
class GsdRow:
    """One ordered pair at one threshold; ``winner`` is the model whose dominance is looked at."""

    winner: str = of(lambda models, i: models[i])
    loser: str = of(lambda models, j: models[j])
    delta: float = of(
        lambda found, i, j: (
            float(found.relation.slack[i, j]) if found.threshold.share is not None else found.threshold.delta
        )
    )
    optimum: float = of(lambda found, i, j: float(found.relation.optimum[i, j]))
    dominates: bool = of(lambda found, i, j: bool(found.relation.dominates[i, j]))
    p_value: float | None = of(lambda test: test and test.p_value)
    p_adjusted: float | None = of(lambda found, i, j, test: test and float(found.p_adjusted[i, j]))
    share_smaller: float | None = of(lambda test: test and test.share_smaller)
    # Without a test only the optimum's own.
    lps_solved: int = of(lambda test: 1 if test is None else test.lps_solved)
    significant: bool | None = of(lambda found, i, j, test: test and bool(found.significant[i, j]))
    exact: bool | None = of(lambda test: test and test.exact)
    survives: int | None = of(lambda found, i, j: found.survives.get((i, j)))
    regularization: float | None = of(lambda found: found.threshold.share)
    delta_max: float = of(lambda found, i, j: float(found.relation.largest_slack[i, j]))
    decided: bool | None = of(lambda found, i, j, test: test and not bool(found.undecided[i, j]))


@dataclass(frozen=True)
class Explanation:
    """The utility behind an answer, and its quality vectors in the units of the file, shape (d, n)."""

    witness: Witness
    scores: Floats


@dataclass(frozen=True, kw_only=True)
class GsdDocument(Document[GsdRow], schema="gsd"):
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
        utilities = Utilities(self.quality, analysis.threshold, self.system)
        return null_optima(utilities, winner, loser, self.relabelling)

    def meta(self) -> Mapping[str, Any]:
        """Diagram, front, contamination, witnesses, baselines, and the work done."""
        models, analyses, level = self.provenance.models, self.analyses, self.relabelling.family.level(1)
        largest = analyses[0].relation.delta_max

        def everywhere(told: Callable[[GsdAnalysis], Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
            return [{**_at(one.threshold), **entry} for one in analyses for entry in told(one)]

        return {
            "delta_max": largest,
            "xi": largest if analyses[0].threshold.rows == "r1+r2" else None,
            # Of a class of equals the first model names it in the edges of the diagram.
            "hasse": everywhere(
                lambda one: (
                    _pair(models, (one.hasse.nodes[node][0] for node in edge)) for edge in one.hasse.edges
                )
            ),
            "classes": everywhere(
                lambda one: (
                    {"models": [models[i] for i in node], "level": level + 1}
                    for node, level in zip(one.hasse.nodes, one.hasse.levels, strict=True)
                )
            ),
            "incomparable": everywhere(
                lambda one: ({"models": [models[i] for i in pair]} for pair in one.incomparable)
            ),
            "front": everywhere(
                lambda one: [{"models": [models[i] for i in np.flatnonzero(one.front).tolist()]}]
            ),
            "front_tests": [_front_test(front, models, level) for front in self.front_tests],
            "contamination": everywhere(
                lambda one: (
                    {**_pair(models, pair), "survives": survived, "p_values": one.tests[pair].contamination}
                    for pair, survived in one.survives.items()
                )
            ),
            "witness": [_witness(found, models, self.criteria) for found in self.explanations],
            "baselines": self.baselines and _baselines(self.baselines, models, self.criteria, level),
            "lps_solved": self.lps_solved,
            "rows_generated": sum(found.relation.rows_generated for found in analyses),
        }


def rows(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> list[GsdRow]:
    """All ordered pairs, threshold by threshold."""
    pairs = [*permutations(range(len(models)), 2)]
    records = ((one, models, *pair, one.tests.get(pair)) for one in analyses for pair in pairs)
    return rows_from(GsdRow, "found models i j test", records)


def _at(threshold: Threshold) -> dict[str, Any]:
    delta = threshold.delta if threshold.share is None else None
    return {"delta": delta, "regularization": threshold.share}


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
    parts = (one.utility, one.winner_share, one.loser_share, one.contribution)
    names = ("utility", "winner_share", "loser_share", "contribution")
    vectors = zip(found.scores.tolist(), *(part.tolist() for part in parts), strict=True)
    return {
        "delta": one.slack,
        "regularization": one.threshold.share,
        **_pair(models, (one.winner, one.loser)),
        "optimum": one.optimum,
        "vectors": [
            {"scores": dict(zip(criteria, scores, strict=True)), **dict(zip(names, own, strict=True))}
            for scores, *own in vectors
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
                    {**_pair(models, pair), "p_value": float(tests.nemenyi_p_value[j, *pair])}
                    for pair in tests.ahead(j)
                ],
            }
            for j, name in enumerate(criteria)
        ],
        "all_test": [_pair(models, pair) for pair in np.argwhere(tests.all_test(level)).tolist()],
        "one_test": [_pair(models, pair) for pair in np.argwhere(tests.one_test(level)).tolist()],
    }


def _pair(models: Sequence[str], pair: Iterable[int]) -> dict[str, str]:
    winner, loser = (models[i] for i in pair)
    return {"winner": winner, "loser": loser}
