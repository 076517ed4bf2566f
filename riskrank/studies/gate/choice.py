"""Which of several models to take: the cheapest that is shown not to be worse than a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A model that may cost less; `price` is that of a call, `p_adjusted` of all that is claimed of it."""

    model: str
    price: float
    p_adjusted: float
    shown: bool
    refuted: bool


@dataclass(frozen=True)
class Choice:
    """The model to take, which is the reference where no candidate is shown.

    Attributes
    ----------
    model, reference : str
    reference_price : float
    saves_a_call : float
    saves_a_year : float or None
        At the volume asked about.
    volume : float or None
        Calls a year.
    candidates : sequence of Candidate
        Dearest last.
    """

    model: str
    reference: str
    reference_price: float
    saves_a_call: float
    saves_a_year: float | None
    volume: float | None
    candidates: Sequence[Candidate]
