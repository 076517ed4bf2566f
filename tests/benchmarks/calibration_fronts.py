"""Simulate Pareto fronts with a known truth, and measure false and true statements about membership.

A model's objectives are correlated over the samples, and all models share the difficulty of a sample. In the
difficult cases, models are barely on the front or barely off it. Used by ``make calibrate``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.front import (
    ObjectiveScores,
    front_membership,
    objective_evidence,
    resample_objectives,
)
from riskrank.engine.family import Answer
from riskrank.engine.sampling.design import ClusteredScores

CORRELATION = 0.5
# A large difference for any n, in standard deviations of a score.
_FAR = 3.0
# Number of resamples for tail means.
_RESAMPLES = 4000


@dataclass(frozen=True)
class FrontCase:
    """Distribution of simulated tables of one kind.

    Attributes
    ----------
    truth : str
        ``barely on``: nearly equal on the first objective and far apart on the others, so that every model is
        on the front; ``barely off``: pairs along a trade-off, with the second slightly worse on each
        objective; ``equal``; ``chain``: each model is better than the next on each objective; ``line``: a
        trade-off.
    k, d, n : int
        Numbers of models, objectives and samples.
    kind : str
        Scores: ``normal``, ``0/1``, ``lognormal`` or ``mixed`` (a different kind for each objective).
    level : float or None
        If given, objectives are tail means over this share of the worst scores.
    costs : int
        Divisor of the number of simulated tables, for slow cases.
    """

    truth: str
    k: int
    d: int
    n: int
    kind: str = "mixed"
    level: float | None = None
    costs: int = 1

    @property
    def name(self) -> str:
        """Description of the case."""
        of = "" if self.level is None else f", means of the worst {100 * self.level:g} %"
        return f"{self.truth}, {self.k} models, {self.d} objectives, n = {self.n:,}, {self.kind}{of}"

    @property
    def on(self) -> np.ndarray:
        """Mask of the models on the front, shape (k,); equal models count as neither on nor off."""
        if self.truth == "barely off":
            return np.arange(self.k) % 2 == 0
        if self.truth == "chain":
            return np.arange(self.k) == 0
        return np.full(self.k, self.truth != "equal")

    @property
    def off(self) -> np.ndarray:
        """Mask of the models off the front, shape (k,)."""
        return ~self.on & (self.truth != "equal")

    def shifts(self) -> np.ndarray:
        """Return the advantage of every model on every objective, in standard deviations, shape (k, d)."""
        place = np.arange(self.k, dtype=np.float64)
        advantages = np.zeros((self.k, self.d))
        if self.truth == "barely on":
            advantages[:, 1:] = -_FAR * place[:, None]
        if self.truth == "barely off":
            advantages[:, 0], advantages[:, 1] = _FAR * (place // 2), -_FAR * (place // 2)
        if self.truth == "chain":
            advantages[:] = -0.3 * place[:, None]
        if self.truth == "line":
            advantages[:, 0], advantages[:, 1] = 0.3 * place, -0.3 * place
        return advantages

    def draw(self, rng: np.random.Generator) -> list[ObjectiveScores]:
        """Draw one table."""
        shared, individual = rng.normal(size=(1, self.n, 1)), rng.normal(size=(self.k, self.n, 1))
        noise = rng.normal(size=(self.k, self.n, self.d))
        latent = np.sqrt(0.4) * shared + np.sqrt(0.2) * individual + np.sqrt(0.4) * noise
        objectives = []
        for objective, shift in enumerate(self.shifts().T):
            objectives.append(self._objective(_scores(latent[..., objective], shift, self._kind(objective))))
        return objectives

    def _kind(self, objective: int) -> str:
        return (
            ("0/1", "lognormal", "normal", "lognormal")[objective % 4] if self.kind == "mixed" else self.kind
        )

    def _objective(self, scores: np.ndarray) -> ObjectiveScores:
        units = tuple(np.arange(self.n) for _ in range(self.k))
        worst = max(round((self.level or 1.0) * self.n), 1)
        return ObjectiveScores(
            values=np.sort(scores, axis=1)[:, :worst].mean(axis=1),
            scores=ClusteredScores.build([*scores]),
            models=np.arange(self.k),
            units=units,
            level=self.level,
            limits=(0.0, 1.0) if np.isin(scores, (0, 1)).all() else None,
        )


def _scores(latent: np.ndarray, shift: np.ndarray, kind: str) -> np.ndarray:
    """Draw the scores of all models on one objective; larger is better, equal shifts are identical models."""
    if kind == "0/1":
        most = max(float(np.abs(shift).max()), 1.5)  # further shifts hardly change any score
        return (latent + 1.5 / most * shift[:, None] > 0.3).astype(float)
    if kind == "lognormal":  # costs: lower is better, and a few are large
        return -np.exp(latent) + 2 * shift[:, None]
    return latent + shift[:, None]


TRUTHS = ("barely on", "barely off", "equal")
FRONT_CASES = (
    *(
        FrontCase(truth, k, d, n, costs=1 if k == 5 else 4)
        for truth in TRUTHS
        for k, d in ((5, 2), (5, 4), (20, 2), (20, 4))
        for n in (50, 200, 1000)
    ),
    *(
        FrontCase(truth, 5, 2, n, kind)
        for truth in TRUTHS
        for n in (50, 200)
        for kind in ("0/1", "lognormal")
    ),
    *(FrontCase(truth, 5, 2, 400, "lognormal", 0.1, costs=4) for truth in TRUTHS),
    *(FrontCase(truth, 5, d, n, "normal") for truth in ("chain", "line") for d in (2, 4) for n in (50, 400)),
)


def front_rows(case: FrontCase, seeds: Sequence[int]) -> list[list[float]]:
    """Return for each table whether any model is falsely off or on the front, and the true statements."""
    outcomes = []
    for seed in seeds:
        objectives = case.draw(np.random.default_rng([seed, zlib.crc32(case.name.encode())]))
        low = high = None
        if case.level is not None:
            resampled = resample_objectives(
                objectives, [case.n] * case.k, shared_units=True, resamples=_RESAMPLES, seed=seed
            )
            low, high = resampled.low, resampled.high
        evidence = [
            objective_evidence(
                scores, None if low is None else low[..., at], None if high is None else high[..., at]
            )
            for at, scores in enumerate(objectives)
        ]
        state = np.array(front_membership(evidence).state)
        off, on = state == Answer.CONTRADICTED, state == Answer.SIGNIFICANT
        outcomes.append(
            [
                int(np.any(off & ~case.off)),
                int(np.any(on & ~case.on)),
                int(np.count_nonzero(off & case.off)),
                int(np.count_nonzero(on & case.on)),
            ]
        )
    return outcomes
