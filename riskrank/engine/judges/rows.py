"""Whose score a row of a judged column is (method §12)."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class JudgedRows:
    """A judged column of one model: people's scores, and the judge's of the same samples and of the others.

    Attributes
    ----------
    values, signed : ndarray, shape (n,)
        The scores, and how much each weighs.
    labelled : ndarray of bool, shape (n,)
        Rows of samples that people scored, theirs and the judge's.
    people : ndarray of bool, shape (n,)
        People's own.
    """

    values: Floats
    signed: Floats
    labelled: Booleans
    people: Booleans

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> JudgedRows:
        """Those of one model; the scores must have signed weights."""
        labelled, signed = scores.strata.of_cluster[model][scores.clusters[model]] == 0, scores.shares[model]
        return cls(scores.values[model], signed, labelled, labelled & (signed > 0))
