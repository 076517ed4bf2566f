"""Other ways to label the data of two models: all of them if they are few, else a random sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np

from riskrank.engine.types import Floats

RESAMPLINGS = ("swap", "pooled")

# Relabellings that share a random stream.
_BLOCK = 1000


@dataclass(frozen=True)
class Relabellings:
    """Other ways to label the data.

    Attributes
    ----------
    signs : ndarray, shape (N, units)
        +1 where a unit counts for the first model, -1 for the second. Units are samples when labels are
        swapped within samples, and the first model's samples followed by the second's when pooled.
    exact : bool
        Whether these are all there are; the observed labelling is never among them when they are.
    """

    signs: Floats
    exact: bool


def possible_labellings(samples: int, resampling: str) -> int:
    """Number of ways to label the data, the observed one among them."""
    return 2**samples if resampling == "swap" else comb(2 * samples, samples)


def relabellings(samples: int, *, resampling: str, resamples: int, seed: int) -> Relabellings:
    """Draw relabellings, or list them all if they are few.

    Parameters
    ----------
    samples : int
        Number of samples, s.
    resampling : {"swap", "pooled"}
        Swaps within samples, or all 2s units dealt out anew.
    resamples : int
        How many to draw; all are listed if they are at most that many.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Relabellings
    """
    if possible_labellings(samples, resampling) <= resamples:
        every = _all_swaps(samples) if resampling == "swap" else _all_deals(samples)
        return Relabellings(signs=every[1:], exact=True)  # the first is the observed one
    starts = range(0, resamples, _BLOCK)
    streams = np.random.SeedSequence(seed).spawn(len(starts))
    draw = _random_swaps if resampling == "swap" else _random_deals
    blocks = [
        draw(samples, min(_BLOCK, resamples - start), np.random.default_rng(stream))
        for start, stream in zip(starts, streams, strict=True)
    ]
    return Relabellings(signs=np.concatenate(blocks), exact=False)


def _all_swaps(samples: int) -> Floats:
    return np.array(list(product((1.0, -1.0), repeat=samples)))


def _all_deals(samples: int) -> Floats:
    chosen = list(combinations(range(2 * samples), samples))
    signs = np.full((len(chosen), 2 * samples), -1.0)
    signs[np.arange(len(chosen))[:, None], chosen] = 1.0
    return signs


def _random_swaps(samples: int, count: int, rng: np.random.Generator) -> Floats:
    return rng.choice((1.0, -1.0), size=(count, samples))


def _random_deals(samples: int, count: int, rng: np.random.Generator) -> Floats:
    return rng.permuted(np.tile(np.repeat((1.0, -1.0), samples), (count, 1)), axis=1)
