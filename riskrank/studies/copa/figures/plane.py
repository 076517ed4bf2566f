"""Two objectives against each other: where the models lie, in which units, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.types import Booleans, Floats
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.scatter import name_points
from riskrank.shown.figures.style import FAINT, SMALL
from riskrank.shown.figures.units import Unit
from riskrank.studies.copa.objectives import Objectives


@dataclass(frozen=True, eq=False)
class Plane:
    """Two objectives.

    Attributes
    ----------
    labels : (str, str)
        Their names, as long as there is room.
    at : (ndarray, ndarray), shapes (N,)
        Where the models lie, in the units of the axes; NaN where nothing is known.
    heads : (str, str)
        Of the axes.
    spans : tuple of ndarray, shapes (N, 2)
        Intervals along either axis, where there are some.
    """

    labels: Sequence[str]
    at: tuple[Floats, ...]
    heads: Sequence[str]
    spans: tuple[Floats, ...] = ()

    @classmethod
    def of(cls, table: Objectives, pair: tuple[int, int], *ends: Floats) -> Plane:
        """Two objectives as measured, and the ends of intervals of all of them."""
        labels = fitted([table.population.metrics[k] for k in pair], 150.0)
        parts = [[of[:, k] for of in (table.values, *ends)] for k in pair]
        units = [Unit.of(*own, percent=bool(table.percent[k])) for own, k in zip(parts, pair, strict=True)]
        arrows = ["→ better" if table.larger_is_better[k] else "← better" for k in pair]
        heads = [
            f"{one.label(label)}  {arrow}" for one, label, arrow in zip(units, labels, arrows, strict=True)
        ]
        both = [*zip(units, parts, strict=True)]
        spans = tuple(one.apply(np.stack(own[1:], axis=-1)) for one, own in both if ends)
        return cls(labels, tuple(one.apply(own[0]) for one, own in both), heads, spans)

    @property
    def known(self) -> Booleans:
        """Which models lie somewhere, shape (N,)."""
        return np.asarray(~np.isnan(self.at).any(axis=0))

    def finish(
        self, page: Any, axes: Axes, names: Sequence[str], named: Sequence[int], line: Any = ((), ())
    ) -> None:
        """Label the axes, and name some models beside their points, clear of a line."""
        axes.margins(0.07)
        axes.grid(visible=True, color=FAINT)
        axes.set_xlabel(self.heads[0], size=SMALL)
        axes.set_ylabel(self.heads[1], size=SMALL)
        name_points(page.canvas(), axes, self.at[0], self.at[1], names, named, line=line)
