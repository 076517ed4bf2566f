"""One column of scores and its tests of dominance, as verdicts, tables and pictures look at it."""

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.column import DominanceStudy
from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.inference import DIRECT, Inference
from riskrank.engine.dominance.pair_curves import PairCurves, pair_curves, quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.family import Family, Side
from riskrank.studies.findings import Case
from riskrank.studies.metric_means import TailMeans
from riskrank.studies.targets import Target, Units


@dataclass(frozen=True)
class DominanceColumn(Target):
    """One column of scores and its tests.

    Attributes
    ----------
    study : DominanceStudy
    differences : Differences
        Of the means of all pairs, shape (k, k), larger is better.
    units : Units
    tail : TailMeans
    """

    study: DominanceStudy
    differences: Differences
    units: Units
    tail: TailMeans

    @property
    def leading(self) -> DominanceTests:
        """The claim a careful reader asks for: of the highest order, direct where it was tested."""
        return max(self.study.tests, key=lambda tests: (tests.claim.order, tests.claim.kind == DIRECT))

    @property
    def orders(self) -> dict[int, DominanceTests]:
        """The tests of each order that are of the leading kind, the first of several."""
        kind = self.leading.claim.kind
        return {tests.claim.order: tests for tests in reversed(self.study.tests) if tests.claim.kind == kind}

    @property
    def standing(self) -> list[int]:
        """Models by their ratios against all others in the leading order, the best first."""
        ratios = self.study.estimates.ratios[self.leading.claim.order - 1]
        return np.argsort(ratios.sum(axis=1), kind="stable").tolist()

    def pair_curves(self, winner: int, loser: int, inference: Inference) -> PairCurves:
        """Both models' quantile functions, with a band around their difference where there are resamples."""
        scores = self.scores
        ratios = self.study.estimates.ratios[:, winner, loser].tolist()
        weights = scores.weights[winner], scores.weights[loser]
        found = pair_curves(scores.values[winner], scores.values[loser], ratios, weights=weights)
        if not inference.resampled:
            return found
        band = quantile_difference(
            scores, winner, loser, found.levels, level=inference.family.level(1), seed=inference.seed
        )
        assert band.low is not None
        assert band.high is not None
        return replace(found, band=(band.low, band.high))


@dataclass(frozen=True, kw_only=True)
class DominanceCase(Case):
    """What sentences are made from: the tests of every column of scores."""

    tests: dict[str, DominanceColumn]
    family: Family

    def answered(self, side: Side) -> Side | None:
        """An answer, where anything was tested."""
        return side if self.tested else None

    def against(self, column: DominanceColumn, i: int, j: int) -> str:
        """Whose means, and where the difference lies: ``777 against 785 of b (difference −23 to 6)``."""
        mean = self.mean_of(column.name)
        if mean is None:
            return ""
        both, ends = f"{mean.against(i, j)} of {self.models[j]}", self._ends(column, i, j)
        return f"{both} (difference {mean.span(**ends)})" if ends else both

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Whether the interval told of two means leaves out 0."""
        ends = self._ends(column, i, j)
        return self.mean_of(column.name) is not None and bool(ends) and (ends["low"] > 0 or ends["high"] < 0)

    def _ends(self, column: DominanceColumn, i: int, j: int) -> dict[str, float]:
        known = column.units.label in self.metrics
        return column.units.span(column.differences, (i, j)) if known else {}
