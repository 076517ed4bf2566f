"""Claims about two models, or about one model and a number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.inference import Claim
from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.evidence.statistics import pseudo_logarithms
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.gate.columns import ScoreColumn

# Statistics of rows that are counted, not tested: failed calls, and lost samples that must pass.
FAILED, MUST_PASS = "failed", "must-pass"
COUNTED = (FAILED, MUST_PASS)
BETTER, NOT_WORSE = "better", "not-worse"
AT_LEAST, AT_MOST = "at-least", "at-most"
LEVELS = (AT_LEAST, AT_MOST)
# Relative rounding error of the mean of constant scores.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class GateClaim:
    """A claim that a gate tests, such as "model B is not worse than model A in mean accuracy".

    It is about two models, or about one model and a number.

    Attributes
    ----------
    kind : {"better", "not-worse", "at-least", "at-most"}
    new, old : int
        Indices of the two models. For a claim about a number, the scores of `old` are 0.
    column : ScoreColumn
    statistic : str
        Name of the statistic, such as ``mean``, ``tvar@0.05`` or ``fsd``.
    level : float or None
        Proportion of worst scores that a tail mean averages.
    dominance : Claim or None
        Dominance claim to test, if any.
    margin : float
        Margin in the units of the scores, even if it was given as a proportion; or the number that one model
        is compared with.
    share : float or None
        Margin as a proportion of the old statistic; the claim is then that new − `factor` · old exceeds 0.
    tier : {"critical", "supporting", "advisory"} or None
    relative : float or None
        Margin as a proportion if the scores are logarithms, so that their differences are ratios.
    percentile : float or None
        Proportion of scores below the percentile that is compared; larger scores are better.
    opposes_metric : bool
        True for "at most" if higher scores are better, and for "at least" if lower scores are better.
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
    relative: float | None = None
    percentile: float | None = None
    opposes_metric: bool = False

    @property
    def compares_means(self) -> bool:
        """True if the claim compares means of all scores."""
        return self.dominance is None and self.level is None and self.percentile is None

    @property
    def is_derived(self) -> bool:
        """True if the compared scores are computed from the table's scores, such as sums or pass rates."""
        return self.statistic.startswith(("sum(", "share", "pass")) or self.percentile is not None

    @property
    def is_level(self) -> bool:
        """True if one model is compared with a number."""
        return self.kind in LEVELS

    @property
    def mean_contrast(self) -> MeanContrast:
        """Difference between the two models' means, or one model's mean in a claim about a number.

        With a relative margin, the old model's scores are multiplied by `factor`.
        """
        if self.is_level:
            return MeanContrast.from_mean(self.scores, self.new)
        return MeanContrast.from_scores(self.scores, self.new, self.old, self.factor)

    @property
    def factor(self) -> float:
        """Factor on the old model's scores: 1 plus or minus the relative margin (method §17)."""
        return 1.0 + (self.share or 0.0) * (1 if self.kind == BETTER else -1) * self.column.units.sign

    @property
    def scores(self) -> ClusteredScores:
        """Scores of all models in the column."""
        return self.column.scores

    @property
    def subset(self) -> str:
        """Phrase for task and group, such as `` on gsm8k in hard``; empty for a claim about all samples."""
        return describe_subset(self.column.task, self.column.group)

    @property
    def effective_size(self) -> int:
        """Smaller effective sample size of the two models."""
        return self.pair_scores.min_effective_size

    @property
    def independent_samples(self) -> int:
        """Smaller number of independent samples of the two models; with a judge, the number of labels."""
        return self.scores.n_labelled or min(self.pair_scores.cluster_counts)

    @property
    def pair_scores(self) -> ClusteredScores:
        """Scores of the two models only, the new model first."""
        return self.scores.select_models([self.new, self.old])

    def to_file_units(self, estimate: np.ndarray) -> float:
        """Convert an estimate to the units of the input file.

        For a dominance claim, the result is the violation ratio.
        """
        if self.dominance is not None:
            return float(self.dominance.boundary - estimate)
        return float(self.column.units.to_file_units(estimate)) + self._offset

    def error_to_file_units(self, error: np.ndarray, estimate: np.ndarray) -> float:
        """Convert a standard error to the units of the input file.

        For logarithms of one model's scores, the error is relative and is multiplied by the estimate.
        """
        return float(error) * (self.to_file_units(estimate) if self._offset else 1.0)

    def interval_to_file_units(self, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
        """Convert interval limits to the units of the input file."""
        if self.dominance is None:
            low, high = self.column.units.interval_to_file_units(low, high)
        return float(low) + self._offset, float(high) + self._offset

    @property
    def _offset(self) -> float:
        """1 if the estimate is a relative change that must be reported as a ratio, otherwise 0."""
        return float(self.is_level and self.column.units.relative)

    @property
    def boundary(self) -> float:
        """Value that new − old must exceed for the claim to hold. Scores are oriented: larger is better."""
        if self.dominance is not None or self.share is not None:
            return 0.0
        if self.is_level:
            number = np.log(self.margin) if self.column.units.relative else self.margin
            # The claim includes equality, so constant scores may equal the number.
            return self.column.units.sign * number - _ROUNDING * abs(number)
        return self.margin if self.kind == BETTER else -self.margin

    def as_ratio(self) -> GateClaim | None:
        """Convert a claim with a relative margin to a claim about a difference of logarithms.

        Returns None if a mean is not positive.
        """
        column, units = self.column, replace(self.column.units, relative=True)
        log_margin = units.sign * float(np.log(self.factor)) * (1 if self.kind == BETTER else -1)
        claim = replace(self, margin=log_margin, share=None, relative=self.share)
        if column.units.relative or self.percentile is not None:
            return replace(claim, column=replace(column, units=units))
        scores = pseudo_logarithms(self.pair_scores, units.sign)
        if scores is None:
            return None
        values = list(self.scores.values)
        values[self.new], values[self.old] = scores.values
        scores = replace(self.scores, values=tuple(values))
        return replace(claim, column=replace(column, scores=scores, units=units))

    def with_scores_from(self, source: GateClaim, model: int) -> GateClaim:
        """Return a copy of the claim in which one model's scores come from another claim on the same samples.

        Parameters
        ----------
        source : GateClaim
            Claim that provides the scores.
        model : int
            Index of the model.
        """
        values = [*self.scores.values]
        values[model] = source.scores.values[model]
        scores = replace(self.scores, values=tuple(values))
        return replace(self, column=replace(self.column, scores=scores))


def describe_subset(task: str | None, group: str | None) -> str:
    """Return a phrase such as `` on gsm8k in hard``, which is empty if task and group are None."""
    return (f" on {task}" if task else "") + (f" in {group}" if group else "")
