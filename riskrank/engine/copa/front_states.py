"""Who is on the Pareto front for sure, who is off it for sure, and of whom that is open (method §7).

"j dominates i" is an intersection–union claim: shown if j is shown to be as good on every objective (the
largest of the p-values), Holm over all ordered pairs. Where margins or equal prices leave open whether j is
better anywhere, that has to be shown besides. A model is off the front if another dominates it; on it if
against every other some objective is shown to be better (the smallest p-value times the number of objectives,
largest over the others, Holm over models); open otherwise.

References
----------
R. L. Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), 295-300.
doi:10.1080/00401706.1982.10487790
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.front_evidence import ObjectiveEvidence
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Booleans, Floats, Integers

ON, OFF, OPEN = "on", "off", "open"
SHOWN, VIOLATED = "shown", "violated"


@dataclass(frozen=True, eq=False)
class FrontStates:
    """The front with its doubt.

    Attributes
    ----------
    state : tuple of N str
        ``on``, ``off``, ``open``.
    dominates : ndarray, shape (N, N)
        Adjusted p-values of "the first dominates the second"; 1 on the diagonal.
    dominator : ndarray of int, shape (N,)
        The model that dominates each with the smallest p-value; −1 of those that nobody is shown to.
    stands : ndarray, shape (N,)
        Adjusted p-values of "no other dominates it".
    rival : ndarray of int, shape (N,)
        The other model that each is least shown to be better than somewhere; −1 where there is none.
    best_on : ndarray of int, shape (N, N)
        The objective on which the first is best shown to be better than the second; −1 where on none.
    """

    state: tuple[str, ...]
    dominates: Floats
    dominator: Integers
    stands: Floats
    rival: Integers
    best_on: Integers


def front_states(
    evidence: Sequence[ObjectiveEvidence],
    *,
    alpha: float = 0.05,
    correction: str = "holm",
    allowed: Booleans | None = None,
    meets: Sequence[str] | None = None,
) -> FrontStates:
    """Find the front with its doubt.

    Parameters
    ----------
    evidence : sequence of K ObjectiveEvidence
    alpha : float
        Level of either family.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.
    allowed : ndarray of bool, shape (N,), optional
        The models that meet constraints as measured: nobody else rules a model out.
    meets : sequence of N str, optional
        Whether each is ``shown`` to meet them, ``violated`` or ``open``.

    Returns
    -------
    FrontStates
    """
    N = len(evidence[0].as_good)
    allowed = np.ones(N, dtype=bool) if allowed is None else allowed
    answers = [SHOWN] * N if meets is None else list(meets)
    dominates = _adjusted(_domination(evidence), correction)
    against = np.where(allowed[:, None], dominates, np.inf)
    np.fill_diagonal(against, np.inf)
    dominator = np.where(against.min(axis=0) <= alpha, against.argmin(axis=0), -1)
    better, best_on = _better_somewhere(evidence)
    open_to = np.where(allowed, better, -1.0)
    np.fill_diagonal(open_to, -1.0)
    rival = np.where(open_to.max(axis=1) >= 0, open_to.argmax(axis=1), -1)
    stands = adjust(np.maximum(open_to.max(axis=1), 0.0), correction)
    state = []
    for i in range(N):
        if dominator[i] >= 0 or answers[i] == VIOLATED:
            state.append(OFF)
        else:
            state.append(ON if stands[i] <= alpha and answers[i] == SHOWN else OPEN)
    return FrontStates(tuple(state), dominates, dominator, stands, rival, best_on)


def _domination(evidence: Sequence[ObjectiveEvidence]) -> Floats:
    """P-values of "the first dominates the second", before any correction."""
    everywhere = np.max([one.as_good for one in evidence], axis=0)
    # Shown to be as good without a margin is shown to be better; a lower price is one.
    strict = np.zeros(everywhere.shape, dtype=bool)
    for one in evidence:
        strict |= np.where(one.tested, one.margin == 0, one.better == 0)
    somewhere, _ = _better_somewhere(evidence)
    return np.where(strict, everywhere, np.maximum(everywhere, somewhere))


def _better_somewhere(evidence: Sequence[ObjectiveEvidence]) -> tuple[Floats, Integers]:
    """P-values of "the first is better on some objective", and the objective that shows it best."""
    p = np.stack([one.better for one in evidence])
    tests = np.sum([one.tested for one in evidence], axis=0)
    # What was not tested is known, and costs nothing.
    p = np.where(p == 0, 0.0, np.minimum(p * np.maximum(tests, 1), 1.0))
    least = p.min(axis=0)
    return least, np.where(least < 1, p.argmin(axis=0), -1)


def _adjusted(p_values: Floats, correction: str) -> Floats:
    """Of all ordered pairs; 1 on the diagonal."""
    pairs = ~np.eye(len(p_values), dtype=bool)
    found = np.ones(p_values.shape)
    found[pairs] = adjust(p_values[pairs], correction)
    return found
