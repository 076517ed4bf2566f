"""Descriptions of pictures: name, caption and drawing function."""

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
        Kind of picture, followed by further parts if there are several of a kind:
        ``scatter@gini-tail@accuracy``. Leading parts select the first matching picture.
    caption : str
        One-sentence description, for readers who cannot see the picture.
    draw : callable
        Draws and returns the figure.
    """

    name: str
    caption: str
    draw: Callable[[], Plot]

    @property
    def kind(self) -> str:
        """First part of the name."""
        return self.name.partition("@")[0]


def renumber_pictures(
    pictures: Sequence[Picture], models: Sequence[str], all_models: Sequence[str]
) -> list[Picture]:
    """Renumber the models in a study's pictures by their position in a larger table.

    Parameters
    ----------
    pictures : sequence of Picture
    models : sequence of str
        Models of the study.
    all_models : sequence of str
        Models of the table.
    """
    from riskrank.render.figures.legend import with_model_numbers
    from riskrank.render.figures.text import renumber_marks

    place = {name: number for number, name in enumerate(all_models)}
    numbers = [place[name] for name in models]

    def draw_renumbered(draw: Callable[[], Plot]) -> Plot:
        return renumber_marks(with_model_numbers(draw, numbers)(), numbers)

    return [replace(picture, draw=partial(draw_renumbered, picture.draw)) for picture in pictures]
