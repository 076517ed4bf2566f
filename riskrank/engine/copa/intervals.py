"""The winner along a grid, and the intervals on which it stays the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.copa.choice import Key, pick
from riskrank.engine.types import Floats, Integers

# Grid points treated together: near enough for common bounds to rule out nearly every model.
_BLOCK = 64
# Halvings of a grid step when locating where the choice changes; 45 reach the last bits of α.
_HALVINGS = 45


def walk(
    grid: Floats,
    candidates: Integers,
    able: Callable[[Floats], Integers],
    decide: Callable[[Floats, Integers], Integers],
) -> tuple[Integers, Floats, Integers]:
    """Choose along the grid, then locate where the choice changes.

    Returns the model chosen at each grid point (S), the edges of the intervals (I + 1) and the model
    chosen on each (I).
    """
    winners = []
    for start in range(0, grid.size, _BLOCK):
        block = grid[start : start + _BLOCK, None]
        winners.append(decide(block, able(block)[None, :]))
    winner = np.concatenate(winners)

    changes = np.flatnonzero(winner[1:] != winner[:-1])
    low, high = grid[changes], grid[changes + 1]
    pairs = np.stack([winner[changes], winner[changes + 1]], axis=1)
    for _ in range(_HALVINGS if changes.size else 0):
        middle = (low + high) / 2
        stays = decide(middle[:, None], pairs) == pairs[:, 0]
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    edges = np.concatenate([grid[:1], high, grid[-1:]])
    return candidates[winner], edges, candidates[winner[np.append(changes, grid.size - 1)]]


def decide_ties(
    columns: Integers,
    norms: Floats,
    breakers: Sequence[Key],
    name_order: Integers,
) -> Integers:
    """Return, for each row of norms, the entry of `columns` that wins, ties settled as in `rank_models`."""
    columns = np.broadcast_to(columns, norms.shape)

    def on_columns(key: Key) -> Key:
        return lambda rows, at: key(rows, columns[rows, at])

    keys = [on_columns(key) for key in (*breakers, lambda rows, shown: name_order[shown])]
    return columns[np.arange(len(norms)), pick(norms, keys)]
