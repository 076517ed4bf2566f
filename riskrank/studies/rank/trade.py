"""Who wins what: the two models of a verdict that ships nobody, a row a metric."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.engine.types import Floats, Integers
from riskrank.studies.rank.document import RankDocument


@dataclass(frozen=True)
class Trade:
    """What is plotted of m metrics.

    Attributes
    ----------
    pair : (int, int)
    lead, error : ndarray, shape (m,)
        Of the first of the two over the other by its mean, larger is better, and standard errors.
    side : ndarray of int, shape (m,)
        1 where the first is shown to be better, −1 where the other is, 0 where that is open.
    """

    pair: tuple[int, int]
    lead: Floats
    error: Floats
    side: Integers


def trade(document: RankDocument) -> Trade | None:
    """The two models that a verdict on several metrics speaks of; None where it names one or nothing."""
    found = [*document.leading.values()]
    if document.named or len(document.means) < 2 or len(found) != 1 or found[0].recommendation is None:
        return None
    held, (first, other) = found[0].recommendation.leader.contrasts, found[0].pair
    assert held.against == first
    return Trade((first, other), -held.difference[other], held.error[other], -held.answers.side[other])
