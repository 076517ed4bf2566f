"""Simulate suites with a known truth: false wins and power, for fixed and for random tasks.

Models share the difficulty of samples. With random tasks, each model also has a random effect with mean zero
on every task. It is no difference between the models, but it is one on the given tasks. Used by ``make
calibrate``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.tests import REPLACED
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign

CLAIMS = (Claim(1), Claim(2))
CORRELATION = 0.5


@dataclass(frozen=True)
class SuiteCase:
    """Distribution of simulated suites of one kind.

    Attributes
    ----------
    sizes : tuple of int
        Number of samples of every task.
    k : int
        Number of models.
    kind : str
        Scores: ``normal``, ``0/1``, ``5-point`` or ``lognormal``.
    random : bool
        Whether the tasks are treated as a random sample.
    effect : float
        Standard deviation of each model's own effect on a task.
    ahead : float
        Lead of the last model over all others, in standard deviations.
    promised : bool
        Whether the tests must keep their level; False if the scope does not fit the simulation.
    costs : int
        Divisor of the number of simulated tables, for slow cases.
    """

    sizes: tuple[int, ...]
    k: int
    kind: str = "normal"
    random: bool = False
    effect: float = 0.0
    ahead: float = 0.0
    promised: bool = True
    costs: int = 1

    @property
    def name(self) -> str:
        """Description of the case."""
        low, high = min(self.sizes), max(self.sizes)
        size = f"{low}" if low == high else f"{low} to {high:,}"
        effect = f", task effects {self.effect:g} sd" if self.effect else ""
        ahead = f", one ahead by {self.ahead:g} sd" if self.ahead else ""
        return f"{len(self.sizes)} tasks of {size}, k = {self.k}, {self.kind}{effect}{ahead}"

    @property
    def scope(self) -> str:
        """Scope of the analysis: the given tasks, or similar tasks."""
        return "tasks like these" if self.random else "these tasks"

    @property
    def key(self) -> str:
        """Key of the case in the store of results."""
        return f"{self.name}; {self.scope}"

    def draw(self, rng: np.random.Generator) -> ClusteredScores:
        """Draw one table."""
        of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        shared = rng.normal(size=of.size)
        noise = rng.normal(size=(self.k, of.size))
        latent = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * noise
        # The difficulty of a task is the same for all models.
        latent += rng.normal(size=len(self.sizes))[of] * 0.5
        latent += self.effect * rng.normal(size=(self.k, len(self.sizes)))[:, of]
        latent[-1] += self.ahead
        names = [f"task {task}" for task in range(len(self.sizes))]
        design = TaskDesign.build(names, [of] * self.k, random=self.random)
        return ClusteredScores.build([*_scores(latent, self.kind)], tasks=design)


def _scores(latent: np.ndarray, kind: str) -> np.ndarray:
    if kind == "0/1":
        return (latent > -0.5).astype(float)
    if kind == "5-point":
        return np.digitize(latent, (-1, -0.3, 0.3, 1)).astype(float)
    return np.exp(1.5 * latent) if kind == "lognormal" else latent


SMALL, LOPSIDED = (10, 12, 18, 24, 30), (400, 10, 10, 10, 10, 10)
LARGE = (20, 30, 40, 60, 80, 120, 180, 260, 400, 600, 900, 1400)
KINDS = ("0/1", "normal", "lognormal", "5-point")
TWENTY = (30,) * 20

SUITE_CASES = (
    *(SuiteCase(SMALL, k, kind) for k in (5, 2) for kind in KINDS),
    *(SuiteCase(LOPSIDED, 2, kind) for kind in KINDS),
    *(SuiteCase(LARGE, 5, kind, costs=8) for kind in ("0/1", "lognormal", "5-point")),
    *(SuiteCase((30,) * tasks, k, random=True, effect=0.3) for k in (2, 4) for tasks in (6, 8, 9, 12)),
    SuiteCase(TWENTY, 2, effect=0.3, promised=False),
    SuiteCase(TWENTY, 2, random=True, effect=0.3),
    SuiteCase(TWENTY, 5, ahead=0.35),
    SuiteCase(LARGE, 5, ahead=0.35, costs=8),
    SuiteCase((30,) * 12, 2, random=True, effect=0.3, ahead=0.35),
)


def suite_rows(case: SuiteCase, seeds: Sequence[int]) -> list[list[float]]:
    """Return false and true wins in orders 1 and 2, and whether means replaced dominance, for each table."""
    outcomes = []
    for seed in seeds:
        scores = case.draw(np.random.default_rng([seed, zlib.crc32(case.key.encode())]))
        tests = study_dominance(scores, CLAIMS, Inference(seed=seed)).tests
        truth = np.zeros((case.k, case.k), dtype=bool)
        truth[-1, :-1] = case.ahead > 0
        false = [int(np.any(test.dominates & ~truth)) for test in tests]
        detected = [int(np.count_nonzero(test.dominates & truth)) for test in tests]
        outcomes.append([*false, *detected, int(any(test.mean_test == REPLACED for test in tests))])
    return outcomes
