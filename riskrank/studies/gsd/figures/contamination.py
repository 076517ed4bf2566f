"""How many arbitrary samples a significant result survives: p-values under contamination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from riskrank.engine.gsd.relabelling import RelabellingTest
from riskrank.engine.types import Floats
from riskrank.shown.figures.key import Key, beside_key, looks
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.style import GREY, Plot, drawn


@dataclass(frozen=True)
class Contamination:
    """What is plotted of t tests.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Winner and loser.
    p_values : tuple of t ndarrays
        p-values if 0, 1, 2, ... samples may be arbitrary.
    order : tuple of int
        Tests, those that survive most first.
    """

    pairs: tuple[tuple[int, int], ...]
    p_values: tuple[Floats, ...]
    order: tuple[int, ...]


def contamination(tests: Iterable[RelabellingTest], level: float) -> Contamination:
    """Arrange the tests that contamination has something to take away from.

    Parameters
    ----------
    tests : iterable of RelabellingTest
    level : float
        Level below which the p-value without contamination has to be.
    """
    asked = [test for test in tests if test.contamination and test.contamination[0] <= level]
    order = sorted(range(len(asked)), key=lambda at: (-len(asked[at].contamination), asked[at].p_value, at))
    return Contamination(
        tuple((test.winner, test.loser) for test in asked),
        tuple(np.array(test.contamination) for test in asked),
        tuple(order),
    )


@drawn
def draw_contamination(
    found: Contamination, names: Sequence[str], *, level: float, samples: int, label: str
) -> Plot:
    """Draw a rising line a pair, against the level of the test; the label names the threshold."""
    labels = [f"{names[i]} over {names[j]}" for i, j in found.pairs]
    given = looks(len(labels), found.order, models=False)
    marks = [model_mark(i, j) for i, j in found.pairs]
    key = Key.of(labels, found.order, given, marks)
    page, axes, legend = beside_key(
        key,
        f"p-values if some samples may be arbitrary, {label}",
        f"Dashed: the level {level:g}, before any correction. The further right a line crosses it, the more "
        f"of the {samples:,} samples could be wrong without changing the result.",
    )
    for look, p_values, mark in zip(given, found.p_values, marks, strict=True):
        axes.plot(np.arange(p_values.size), p_values, marker=look.marker, markersize=4, **look.line, gid=mark)
    axes.axhline(level, color=GREY, linestyle=(0, (4, 2)), linewidth=1.0, zorder=1)
    longest = max((p_values.size for p_values in found.p_values), default=1)
    axes.set(xlabel="samples that may be arbitrary", ylabel="p-value", xlim=(-0.3, max(longest - 0.7, 1.3)))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend()
    return page.figure
