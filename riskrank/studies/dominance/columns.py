"""One column of scores and its tests of dominance, as verdicts, tables and pictures look at it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.claims import DIRECT
from riskrank.engine.dominance.column import DominanceStudy
from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.pair_curves import PairCurves, pair_curves, quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.tails import TailMeans
from riskrank.studies.targets import Target
from riskrank.studies.units import Units


@dataclass(frozen=True)
class DominanceColumn:
    """One column of scores and its tests.

    Attributes
    ----------
    target : Target
        Its scores, and the name it is reported under.
    study : DominanceStudy
    differences : Differences
        Of the means of all pairs, shape (k, k), larger is better.
    units : Units
    tail : TailMeans
    """

    target: Target
    study: DominanceStudy
    differences: Differences
    units: Units
    tail: TailMeans

    @property
    def name(self) -> str:
        """Metric the column is reported under."""
        return self.target.name

    @property
    def scores(self) -> ClusteredScores:
        """What was tested."""
        return self.target.scores

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
        scores = self.target.scores
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
