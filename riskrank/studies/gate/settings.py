"""What ``gate`` is asked: claims, statistics, margins, and what becomes of no answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.processes import Jobs
from riskrank.errors import UsageError, one_of, option
from riskrank.studies.settings import CORRECTIONS, ResamplingSettings, names


@dataclass(frozen=True, kw_only=True)
class ClaimSettings(ResamplingSettings):
    """Claims about two models, and how to decide them.

    Parameters
    ----------
    better : sequence of str
        ``NEW:OLD`` each: NEW is better than OLD, by more than the margin.
    not_worse : sequence of str
        ``NEW:OLD`` each: NEW is not worse than OLD, by less than the margin.
    on : sequence of str
        Statistics the claims are about: ``mean``, ``tvar@0.05`` (the mean of the worst 5 %), ``fsd``,
        ``ssd``, of all metrics or, as in ``tvar@0.05:accuracy``, of one; a metric alone is its mean.
    margin : float, mapping of str to float, or sequence of str
        The difference that matters, in the units of the metrics; ``METRIC=VALUE`` each for some.
    resamples : int or "auto"
        Bootstrap resamples; "auto" takes as many as the family of claims needs.
    correction : {"holm", "bonferroni", "bh", "none"}
        Correction for many claims.
    inconclusive : {"pass", "fail"}, optional
        What a claim that is neither shown nor refuted counts as; by default it is an outcome of its own.
    comment : bool
        Mark the Markdown, so that the next run can find a comment made of it and replace it.
    """

    auto_resamples: ClassVar[bool] = True

    better: tuple[str, ...] = ()
    not_worse: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    margin: Any = ()
    resamples: int | str = "auto"  # type: ignore[assignment]
    correction: str = "holm"
    inconclusive: str | None = None
    comment: bool = False

    def __post_init__(self) -> None:
        for name in ("better", "not_worse", "on"):
            self._normalise(name, tuple(dict.fromkeys(names(getattr(self, name)))))
        self._normalise("margin", margins(self.margin))
        one_of("correction", self.correction, CORRECTIONS)
        one_of("inconclusive", self.inconclusive, ("pass", "fail", None))
        if not self.better and not self.not_worse:
            raise UsageError(
                "a gate needs a claim",
                found=f"neither {option('better')} nor {option('not_worse')}",
                hint=f"write {option('not_worse', 'NEW:OLD')} with two of the models",
            )
        super().__post_init__()

    def inference(self, jobs: Jobs) -> Inference:
        """How the engine is to test, on so many processes."""
        return Inference(
            resamples=self.resamples,  # type: ignore[arg-type]
            alpha=self.alpha,
            correction=self.correction,
            seed=self.seed,
            jobs=jobs,
        )


def margins(given: Any) -> tuple[tuple[str | None, float], ...]:
    """Margins by metric; None stands for all metrics that have none of their own.

    Raises
    ------
    UsageError
        If one is no number, is negative, or is given twice.
    """
    pairs: list[tuple[str | None, Any]]
    if isinstance(given, Mapping):
        pairs = [*given.items()]
    elif isinstance(given, str | int | float):
        pairs = [_named(given)]
    else:
        # Settings made from settings hold pairs already.
        pairs = [one if isinstance(one, tuple) else _named(one) for one in given or ()]
    found: dict[str | None, float] = {}
    for metric, value in pairs:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            raise UsageError(
                f"{option('margin')} is a difference that matters, a number not below 0",
                found=str(value),
                hint=f"write it in the units of the metric, as in {option('margin', '0.02')}",
            )
        if metric in found:
            raise UsageError(
                f"{option('margin')} is given twice" + (f" for {metric}" if metric else ""),
                found=f"{found[metric]:g} and {number:g}",
                hint=f"give it once, or a metric each: {option('margin', 'METRIC=0.02')}",
            )
        found[metric] = number
    return tuple(found.items())


def _named(text: Any) -> tuple[str | None, Any]:
    if isinstance(text, str) and "=" in text:
        metric, _, value = text.rpartition("=")
        return metric, value
    return None, text
