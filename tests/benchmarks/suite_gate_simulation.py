"""Simulate gates over suites at their boundary, where the new model loses exactly the margin."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gate_simulation import BOUNDED, answered

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.studies.gate.claim import NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.statistics import MACRO, TASK
from riskrank.studies.targets import Units

EQUAL, SMALL = (30,) * 8, (10, 12, 18, 24, 30)
LOPSIDED, LARGE = (400, 10, 10, 10, 10, 10), (20, 30, 40, 60, 80, 120, 180, 260, 400, 600, 900, 1400)
NORMAL, SHARES = "normal", "0/1"
LOSS = {NORMAL: 0.2, SHARES: 0.05}


@dataclass(frozen=True)
class SuiteGate:
    """Gate over a suite.

    Attributes
    ----------
    on : {"macro", "task"}
        Claim about the macro mean, or one claim per task in a single family.
    sizes : tuple of int
        Number of samples of every task.
    kind : {"normal", "0/1"}
        Paired normal scores, or an old model that is always right and a new one that is rarely wrong.
    uneven : bool
        Whether the losses of tasks vary from zero to twice the mean, instead of being equal.
    """

    on: str
    sizes: tuple[int, ...]
    kind: str
    uneven: bool = False

    @property
    def key(self) -> str:
        """Key of the case on the page and in the store."""
        low, high = min(self.sizes), max(self.sizes)
        size = f"{low}" if low == high else f"{low} to {high:,}"
        loss = "losing 0 to twice the margin" if self.uneven else "each losing the margin"
        return f"`{self.on}`, {len(self.sizes)} tasks of {size}, {self.kind}, {loss}"

    @property
    def promised(self) -> float:
        """Largest promised error rate."""
        return BOUNDED if self.kind == SHARES else 0.05

    @property
    def losses(self) -> np.ndarray:
        """Loss of the new model on every task, shape (tasks,)."""
        count = len(self.sizes)
        return LOSS[self.kind] * (np.linspace(0, 2, count) if self.uneven else np.ones(count))

    def draw(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw the scores of the new and the old model on every task, shapes (2, n_t)."""
        tasks = []
        for n, loss in zip(self.sizes, self.losses, strict=True):
            if self.kind == SHARES:
                tasks.append(np.stack([(rng.random(n) >= loss).astype(float), np.ones(n)]))
                continue
            scores = np.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(2, n))) + 0.5 * rng.normal()
            scores[0] -= loss
            tasks.append(scores)
        return tasks

    def columns(self, rng: np.random.Generator) -> list[ClusteredScores]:
        """Return the score columns of the claims in one table."""
        tasks = self.draw(rng)
        if self.on == TASK:
            return [ClusteredScores.build([*scores]) for scores in tasks]
        of = np.repeat(np.arange(len(tasks)), self.sizes)
        design = TaskDesign.build([str(task) for task in range(len(tasks))], [of] * 2)
        return [ClusteredScores.build([*np.concatenate(tasks, axis=1)], tasks=design)]


SUITE_GATES = (
    *(SuiteGate(MACRO, sizes, kind) for sizes in (EQUAL, SMALL, LOPSIDED, LARGE) for kind in LOSS),
    *(SuiteGate(MACRO, sizes, kind, uneven=True) for sizes in (EQUAL, LARGE) for kind in LOSS),
    *(SuiteGate(TASK, sizes, kind) for sizes in (EQUAL, LOPSIDED, LARGE) for kind in LOSS),
)


def suite_gate_rows(case: SuiteGate, seeds: Sequence[int]) -> list[list[int]]:
    """Return whether any claim passes, any fails, and all intervals cover the truth, one row per table."""
    return [_outcome(case, seed) for seed in seeds]


def _outcome(case: SuiteGate, seed: int) -> list[int]:
    rng = np.random.default_rng([seed, zlib.crc32(case.key.encode())])
    margin, claims = LOSS[case.kind], []
    for scores in case.columns(rng):
        highest, lowest = max(map(np.max, scores.values)), min(map(np.min, scores.values))
        limits = min(float(lowest), 0.0), max(float(highest), 1.0)
        column = ScoreColumn(case.on, scores, Units(1.0, ""), limits)
        claims.append(GateClaim(NOT_WORSE, 0, 1, column, case.on, margin=margin))
    truths = -case.losses if case.on == TASK else [-margin]
    return answered(claims, Inference(seed=int(rng.integers(2**31))), truths)
