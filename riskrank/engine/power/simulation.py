"""Tables drawn and tested: how often claims are shown ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats, Integers

# Tables whose random streams have one origin.
_BLOCK = 5

Test = Callable[[int, np.random.SeedSequence], Sequence[bool]]
"""Draws a table of a size, tests it, and says of each claim whether it is shown."""


@dataclass(frozen=True)
class PowerCurve:
    """Share of tables in which claims are shown.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power : ndarray, shape (s, c)
        Share of the tables in which each claim is shown.
    standard_error : ndarray, shape (s, c)
        Error of `power`.
    together, together_error : ndarray, shape (s,)
        The same for all claims at once.
    repeats : int
        Tables per size, R.
    """

    sizes: Integers
    power: Floats
    standard_error: Floats
    together: Floats
    together_error: Floats
    repeats: int

    @classmethod
    def of(cls, sizes: Sequence[int], shown: Sequence[Booleans], doubt: float = 0.0) -> PowerCurve:
        """Count verdicts, of shape (R, c) for each size.

        A doubt is the error that whole tests leave; it weighs most where verdicts may be divided.
        """
        hits = np.array([np.append(own.sum(axis=0), own.all(axis=1).sum()) for own in shown])
        repeats = len(shown[0])
        share = hits / repeats
        turned = share + doubt * (1 - 2 * share)
        error = np.hypot(share_error(hits, repeats), 4 * turned * (1 - turned) * doubt)
        return cls(np.array(sizes), share[:, :-1], error[:, :-1], share[:, -1], error[:, -1], repeats)

    def at(self, sizes: Sequence[int]) -> PowerCurve:
        """The same at some of its sizes."""
        kept = np.isin(self.sizes, sizes)
        shares, errors = self.power[kept], self.standard_error[kept]
        together = self.together[kept], self.together_error[kept]
        return PowerCurve(self.sizes[kept], shares, errors, *together, self.repeats)

    @property
    def hardest_first(self) -> Integers:
        """Claims by their power at the largest size, the least first; smaller sizes settle ties."""
        return np.lexsort(self.power)

    @property
    def easiest_first(self) -> Integers:
        """Claims by their mean power over all sizes, the largest first."""
        return np.argsort(-self.power.mean(axis=0), kind="stable")

    @property
    def largest_error(self) -> float:
        """Largest error of a power."""
        return float(self.standard_error.max())

    def least(self, claims: Integers) -> Floats:
        """Least power of some claims at each size, shape (s,)."""
        return self.power[:, claims].min(axis=1)


def verdicts_of(test: Test, size: int, tables: int, *, seed: int) -> Booleans:
    """Draw tables of a size and test them.

    Parameters
    ----------
    test : callable
    size, tables : int
    seed : int
        Every size has streams of its own, so that its answers do not depend on which others are asked for.

    Returns
    -------
    ndarray of bool, shape (tables, c)
    """
    return np.array([test(size, stream) for stream in streams(size, tables, seed)], dtype=bool)


def streams(size: int, tables: int, seed: int) -> list[np.random.SeedSequence]:
    """The streams of these tables, one after another."""
    starts = range(0, tables, _BLOCK)
    blocks = [np.random.SeedSequence((seed, size, start // _BLOCK + 1)) for start in starts]
    return [
        own
        for block, start in zip(blocks, starts, strict=True)
        for own in block.spawn(min(_BLOCK, tables - start))
    ]


def share_error(hits: Integers | Floats, repeats: Integers | Floats | int) -> Floats:
    """Monte Carlo error of a share, from (x + ½)/(R + 1) so that 0 and 1 have one too."""
    share = (hits + 0.5) / (repeats + 1)
    return np.sqrt(share * (1 - share) / repeats)
