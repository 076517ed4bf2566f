"""One claim about two models."""

from __future__ import annotations

from dataclasses import dataclass, replace

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.evidence.series import worth_in_order
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.listed import place_of

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
        In the units of the scores; of a share what it comes to.
    share : float or None
        The margin as a share of the old mean: the claim is that the mean of new − `times` · old lies above 0.
    tier : {"critical", "supporting", "advisory"} or None
    """

    kind: str
    new: int
    old: int
    column: ScoreColumn
    statistic: str
    level: float | None = None
    dominance: Claim | None = None
    margin: float = 0.0
    share: float | None = None
    tier: str | None = None

    @property
    def of_means(self) -> bool:
        """Whether it is about means of all scores."""
        return self.dominance is None and self.level is None

    @property
    def in_order(self) -> Floats | None:
        """Of a claim on means the differences in the order of time, shape (n,); None where there is none."""
        series = self.column.in_order
        return (
            None if series is None or not self.of_means else series[self.new] - self.times * series[self.old]
        )

    @property
    def times(self) -> float:
        """What the old model's scores are multiplied by (method §17): one more, or less, the share."""
        return 1.0 + (self.share or 0.0) * (1 if self.kind == BETTER else -1) * self.column.units.sign

    @property
    def scores(self) -> ClusteredScores:
        """The scores it is tested on."""
        alone = self.column.one_by_one
        scores = self.column.scores if alone is None or not self.of_means else alone
        if self.share is None:
            return scores
        scaled = tuple(self.times * one if at == self.old else one for at, one in enumerate(scores.values))
        return replace(scores, values=scaled)

    @property
    def where(self) -> str:
        """The task and the group it is about, as a sentence goes on."""
        return place_of(self.column.task, self.column.group)

    @property
    def worth(self) -> int:
        """Independent samples it rests on."""
        if self.in_order is not None:
            return int(worth_in_order(self.in_order))
        return self.pair_scores.effective_size

    @property
    def pair_scores(self) -> ClusteredScores:
        """The scores of its two models."""
        return self.scores.of_models([self.new, self.old])

    @property
    def boundary(self) -> float:
        """The claim is that new minus old, larger is better, lies above it."""
        if self.dominance is not None or self.share is not None:
            return 0.0
        return self.margin if self.kind == BETTER else -self.margin

    def with_scores_of(self, other: GateClaim, model: int) -> GateClaim:
        """The claim with one model's scores of another, on the same samples."""
        column, best = self.column, other.column
        scores = replace(column.scores, values=_with_one(column.scores.values, best.scores.values, model))
        series, alone = None, column.one_by_one
        if alone is not None and best.one_by_one is not None:
            alone = replace(alone, values=_with_one(alone.values, best.one_by_one.values, model))
        if column.in_order is not None and best.in_order is not None:
            series = _with_one(column.in_order, best.in_order, model)
        return replace(self, column=replace(column, scores=scores, in_order=series, one_by_one=alone))


def _with_one(own: tuple[Floats, ...], others: tuple[Floats, ...], model: int) -> tuple[Floats, ...]:
    return (*own[:model], others[model], *own[model + 1 :])
