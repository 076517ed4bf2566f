"""One claim about two models."""

from __future__ import annotations

from dataclasses import dataclass, replace

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.gate.columns import ScoreColumn

BETTER, NOT_WORSE = "better", "not-worse"


@dataclass(frozen=True)
class GateClaim:
    """One claim about two models on one column.

    Attributes
    ----------
    kind : {"better", "not-worse"}
    new, old : int
        Models by number.
    column : ScoreColumn
    statistic : str
        ``mean``, ``tvar@0.05``, ``fsd``, ``ssd``.
    level : float or None
        Share of the worst scores of a tail mean.
    dominance : Claim or None
        The dominance that is tested, if it is.
    margin : float
        In the units of the scores.
    """

    kind: str
    new: int
    old: int
    column: ScoreColumn
    statistic: str
    level: float | None = None
    dominance: Claim | None = None
    margin: float = 0.0

    @property
    def of_means(self) -> bool:
        """Whether it is about means of all scores."""
        return self.dominance is None and self.level is None

    @property
    def pair_scores(self) -> ClusteredScores:
        """The scores of its two models."""
        return self.column.scores.of_models([self.new, self.old])

    @property
    def boundary(self) -> float:
        """The claim is that new minus old, larger is better, lies above it."""
        if self.dominance is not None:
            return 0.0
        return self.margin if self.kind == BETTER else -self.margin

    def with_scores_of(self, other: GateClaim, model: int) -> GateClaim:
        """The claim with one model's scores of another, on the same samples."""
        scores = self.column.scores
        values = [*scores.values]
        values[model] = other.column.scores.values[model]
        return replace(self, column=replace(self.column, scores=replace(scores, values=tuple(values))))
