"""A simulated data set is tested as a real one, with all its models.

The relative test and the correction for many tests then see the same family.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.column import Inference, study_dominance
from riskrank.engine.power.samplers import Draw
from riskrank.engine.sampling.design import ClusteredScores


@dataclass(frozen=True)
class DominanceDecision:
    """Test a data set and look at some pairs; a `Decide` that can travel between processes.

    Attributes
    ----------
    claim : Claim
    inference : Inference
    paired : bool
    pairs : tuple of (int, int)
        Winner and loser of each claim looked at.
    alone : bool
        Whether these pairs are the whole family, instead of all ordered pairs.
    """

    claim: Claim
    inference: Inference
    paired: bool
    pairs: tuple[tuple[int, int], ...]
    alone: bool = False

    def __call__(self, draw: Draw, seed: np.random.SeedSequence) -> list[bool]:
        """Whether each pair's dominance is significant."""
        tasks = draw.tasks
        if tasks is not None and tasks.random:
            # Whole tasks are drawn, the same for all models, and their samples are not told apart.
            scores = ClusteredScores.build(draw.samples, paired=False, tasks=tasks)
        else:
            scores = ClusteredScores.build(draw.samples, draw.clusters, paired=self.paired, tasks=tasks)
        number = int.from_bytes(seed.generate_state(4).tobytes(), "little")
        inference = replace(self.inference, seed=number, jobs=1)
        study = study_dominance(scores, [self.claim], inference, pairs=self.pairs if self.alone else None)
        return [bool(study.tests[0].dominates[pair]) for pair in self.pairs]
