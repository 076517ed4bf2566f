"""Models that rankings put first, while another is better by a test on one metric and worse on none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.portfolio.score_tables import ScoreTables


@dataclass(frozen=True)
class PassedOver:
    """A model that another betters on balance: significantly on some metrics, and is worse on none.

    Attributes
    ----------
    model, rival : int
    metrics : tuple of int
        Where the rival is significantly better.
    """

    model: int
    rival: int
    metrics: tuple[int, ...]


def passed_over(tables: ScoreTables, unbeaten: list[int], inference: Inference) -> tuple[PassedOver, ...]:
    """Those before the first that no other betters on balance; nobody where every one is bettered."""
    if len(tables.metrics) == 1:
        return ()  # a better mean of the one metric may be a worse tail
    found: list[PassedOver] = []
    for model in unbeaten:
        held = contrasts(tables, model, inference.family)
        rivals = [i for i in unbeaten if i in held.on_balance]
        if not rivals:
            return tuple(found)
        better = held.better[rivals[0]]
        found.append(PassedOver(model, rivals[0], tuple(np.flatnonzero(better).tolist())))
    return ()
