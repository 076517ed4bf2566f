"""Wholes that samples belong to, as what is drawn."""

from collections.abc import Sequence
from typing import Any

from riskrank.asked.baseline import GateReading
from riskrank.asked.reading import SHARED, RankReading, ReadOptions

# What noise is not asked beside.
_NO_NOISE = ("human", "noise", "unpaired", "cluster", "group_by", "time", "folds")


def as_drawn(wholes: Sequence[str], options: ReadOptions, *, few: bool) -> dict[str, Any]:
    """Options that draw wholes; too few to be drawn anew, and several kinds, are noise of means."""
    means = isinstance(options, RankReading | GateReading) and options.missing != SHARED
    if (few or len(wholes) > 1) and means and not any(getattr(options, one) for one in _NO_NOISE):
        return {"noise": tuple(wholes)}
    return {"cluster": wholes[0]}


def drawn_whole(name: str) -> str:
    """What is said of a cluster."""
    return f"each {name} is a cluster, drawn whole"
