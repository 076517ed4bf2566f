"""Ranks by group beside those of all samples, joined model by model ([RAB] Tables 2 and 6)."""

from __future__ import annotations

from functools import partial

import numpy as np

from riskrank.shown.figures.bump import Bump, bump, draw_bump
from riskrank.shown.figures.picture import Picture
from riskrank.shown.figures.style import Plot
from riskrank.studies.groups.study import Groups

ALL_TOGETHER = "all together"


def pictures(groups: Groups) -> list[Picture]:
    """A chart of the leading method on each column of scores."""
    return [
        Picture(
            f"groups@{method}",
            f"Rank of every model by {method} on all samples and in each group of {groups.column}.",
            partial(_ranks, groups, method),
        )
        for method in groups.leading
    ]


def group_ranks(groups: Groups, method: str) -> Bump:
    """Arrange the ranks of all samples and of each group."""
    standings = [groups.whole[method], *(part.standings[method] for part in groups.parts)]
    return bump(np.array([one.ranks for one in standings]))


def _ranks(groups: Groups, method: str) -> Plot:
    heads = [ALL_TOGETHER, *(part.name for part in groups.parts)]
    title = f"Ranks by {groups.column}, {method}"
    return draw_bump(group_ranks(groups, method), groups.models, heads, title, what="group")
