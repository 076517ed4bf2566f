"""A picture before it is drawn: its name, what it shows, and how to draw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riskrank.render.figures.style import Plot


@dataclass(frozen=True)
class Picture:
    """One picture of a document.

    Attributes
    ----------
    name : str
        A word, and where there are several of a kind what each is of: ``scatter@gini-tail@accuracy``. The
        first parts are enough to name the first of them.
    caption : str
        What it shows, in a sentence: for those who cannot see it.
    draw : callable
        Makes the figure.
    """

    name: str
    caption: str
    draw: Callable[[], Plot]

    @property
    def kind(self) -> str:
        """The first part of its name."""
        return self.name.partition("@")[0]


def numbered(found: Sequence[Picture], models: Sequence[str], whole: Sequence[str]) -> list[Picture]:
    """Pictures of a study of some models, marked by their numbers in a larger table.

    Parameters
    ----------
    found : sequence of Picture
    models, whole : sequence of str
        Names by number, those of the study and those of the table.
    """
    from riskrank.render.figures.legend import counted_as
    from riskrank.render.figures.marks import renumbered

    place = {name: number for number, name in enumerate(whole)}
    numbers = [place[name] for name in models]

    def drawing(draw: Callable[[], Plot]) -> Plot:
        return renumbered(counted_as(draw, numbers)(), numbers)

    return [replace(picture, draw=partial(drawing, picture.draw)) for picture in found]
