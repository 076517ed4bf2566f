"""An objective of several models with the scores behind it, from which its doubt is known (method §7)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from riskrank.engine.evidence.costs import Costs
from riskrank.engine.gates.caution import Comparison
from riskrank.engine.gates.replicates import statistics
from riskrank.engine.gates.side import SideScores
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class ObjectiveScores:
    """One objective of N models.

    Attributes
    ----------
    values : ndarray, shape (N,)
        Larger is better; minus infinity where a model has none, which is then the worst.
    scores : ClusteredScores or None
        Of the models that have some, at least two; None where values do not vary with samples, as prices.
    models : ndarray of int
        Which of the N models `scores` are of.
    units : tuple of ndarray of int
        Number in the whole table of each unit of resampling of each of those models.
    level : float or None
        Share of the worst scores whose mean the objective is; None for the mean of all.
    limits : (float, float), or None
        The worst and the best score there can be; None where nobody knows, and those of the models that are
        compared stand for them: a large model's costs say nothing of two small ones.
    margin : float
        Up to what another model counts as as good.
    successes : ClusteredScores or None
        Of a cost per success; `scores` are then the costs, turned around.
    """

    values: Floats
    scores: ClusteredScores | None = None
    models: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    units: tuple[Integers, ...] = ()
    level: float | None = None
    limits: tuple[float, float] | None = None
    margin: float = 0.0
    successes: ClusteredScores | None = None

    @cached_property
    def costs(self) -> tuple[Costs, ...]:
        """Costs and successes of each of those models; empty of other objectives."""
        if self.scores is None or self.successes is None:
            return ()
        parts = zip(self.scores.values, self.successes.values, self.scores.clusters, strict=True)
        return tuple(Costs.of(-own, successes, units) for own, successes, units in parts)

    @property
    def varies(self) -> Booleans:
        """The models whose value would be another with other samples, shape (N,)."""
        found = np.zeros(len(self.values), dtype=bool)
        found[self.models] = True
        return found

    def comparison(self, first: int, second: int) -> Comparison:
        """Two of the models `scores` are of, by their number there."""
        assert self.scores is not None
        both = [self.scores.values[first], self.scores.values[second]]
        ends = self.limits or (float(min(map(np.min, both))), float(max(map(np.max, both))))
        return Comparison.of(self.scores, first, second, self.level, ends, bounded=self.limits is not None)

    def sides(self, model: int) -> tuple[SideScores, SideScores, SideScores]:
        """A model's scores as they are, with one unit more that is bad, and with one that is good.

        Of whole tasks that are drawn there is no unit more, as in a gate.
        """
        if self.costs:
            one = self.costs[model]
            ratio = _RatioSide(-one.costs, one.units, over=one.successes)
            return ratio, ratio, ratio  # nothing is added where t decides
        # Alone no score is another model's: what is added is the worst and the best that this one may have.
        alone = replace(self.comparison(model, model), paired=False)
        return alone.new, alone.against().new, alone.in_favour().new

    def independent(self) -> Floats:
        """Independent units behind each of those models; of a tail mean those in its tail."""
        assert self.scores is not None
        each = np.maximum(self.scores.independent, 2.0)
        if self.level is None:
            return each
        return np.clip(np.rint(each * self.level), 2.0, each)


@dataclass(frozen=True, kw_only=True)
class _RatioSide(SideScores):
    """Costs that are divided by successes, not by their number."""

    over: Floats

    @property
    def sizes(self) -> Floats:  # type: ignore[override]
        return np.asarray(np.bincount(self.clusters, self.over), dtype=np.float64)


def tail_value(side: SideScores, level: float) -> float:
    """Mean of the worst share of a model's scores."""
    return float(statistics(side, np.ones((1, len(side.sizes))), level)[0])
