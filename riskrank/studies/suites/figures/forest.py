"""One model's lead over another, a row a task, and over all tasks below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import FAINT, INK, MARGIN, PALETTE, QUIET, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit
from riskrank.studies.suites.figures.strip import LOOKS
from riskrank.studies.wording import percent


@dataclass(frozen=True)
class TaskForest:
    """What is plotted, the task with the largest lead first, all tasks together last.

    Attributes
    ----------
    names : tuple of str
        Of the rows.
    estimate, low, high : ndarray, shape (rows,)
        In favour of the first model.
    marks : ndarray of int, shape (rows,)
        1 better, −1 worse, 0 open.
    whole : int
        How many rows at the end are of all tasks.
    """

    names: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    marks: Integers
    whole: int = 0

    @classmethod
    def of_tasks(
        cls, names: Sequence[str], estimate: Floats, low: Floats, high: Floats, marks: Integers
    ) -> TaskForest:
        """Sort tasks by the lead."""
        order = np.argsort(-estimate, kind="stable")
        return cls(
            tuple(names[task] for task in order), estimate[order], low[order], high[order], marks[order]
        )

    def with_whole(self, name: str, estimate: float, low: float, high: float) -> TaskForest:
        """Add a row of all tasks together."""
        mark = 1 if low > 0 else -1 if high < 0 else 0
        return replace(
            self,
            names=(*self.names, name),
            estimate=np.append(self.estimate, estimate),
            low=np.append(self.low, low),
            high=np.append(self.high, high),
            marks=np.append(self.marks, mark),
            whole=self.whole + 1,
        )


@drawn
def draw_task_forest(
    found: TaskForest, models: tuple[str, str], pair: tuple[int, int], metric: str, *, confidence: float
) -> Plot:
    """Draw an interval a row against no difference.

    Parameters
    ----------
    found : TaskForest
    models : (str, str)
        The first model, and the one it is compared with.
    pair : (int, int)
        Their numbers.
    metric : str
    confidence : float
        Coverage of a bar.
    """
    rows = Rows.of(found.names, [model_mark(*pair)] * len(found.names))
    width, below = 340.0, 40.0
    page = sheet(
        f"{models[0]} against {models[1]}, task by task",
        f"Right of the line {models[0]} is better. Bar: {percent(confidence)} interval of the mean "
        f"difference in {metric}, each for itself; ▲ ▼ where the difference is significant among all tasks "
        "and pairs. Diamonds: all tasks, weighed.",
        width=rows.width + width + MARGIN + 10,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    unit = Unit.of(found.estimate, found.low, found.high)
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    first_whole = len(found.names) - found.whole
    for at, (y, mark) in enumerate(zip(rows.y, rows.marks, strict=True)):
        color, marker, size, full = LOOKS[int(found.marks[at])]
        if at >= first_whole:
            color, marker, size, full = INK, "D", 5.5, True
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
        ends = unit.apply([found.low[at], found.high[at]])
        axes.plot(ends, [y, y], color=color, linewidth=2.0, solid_capstyle="butt", zorder=2, gid=mark)
        axes.plot(
            [float(unit.apply(found.estimate[at]))],
            [y],
            marker=marker,
            markersize=size,
            color=color,
            markerfacecolor=color if full else "white",
            zorder=3,
            gid=mark,
        )
    if 0 < found.whole < len(found.names):
        line = float(rows.y[first_whole - 1] + rows.y[first_whole]) / 2
        axes.axhline(line, color=PALETTE[5], linewidth=0.6, zorder=1)
    axes.margins(x=0.06)
    rows.lay_out(axes, unit.label(f"difference in {metric}, in favour of {models[0]}"), 5)
    rows.draw(page.canvas(), below)
    return page.figure
