"""What ``gsd`` asks of the engine."""

from __future__ import annotations

from typing import Any

from riskrank.engine.gsd.analysis import Relabelling
from riskrank.engine.gsd.threshold import Threshold
from riskrank.studies.document import entries
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.settings import family_of


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Thresholds to compare at, each once, in the order given."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    return tuple(Threshold(delta=delta, on=settings.delta_on or "r1") for delta in settings.delta or (0.0,))


def relabelling(settings: GsdSettings) -> Relabelling:
    """How the engine is to test."""
    pairs = "none" if settings.no_test else settings.pairs or "dominant"
    how = entries(settings, "resampling", "resamples", "seed", "contamination")
    return Relabelling(pairs=pairs, family=family_of(settings), **how)


def described(settings: GsdSettings) -> dict[str, Any]:
    """Relation and tests, for the document."""
    tested = not settings.no_test
    found = thresholds(settings)
    return {
        "delta": [threshold.delta for threshold in found if threshold.share is None],
        "regularization": list(settings.regularization),
        "delta_on": found[0].rows,
        "system": settings.system,
        "epsilon": settings.epsilon,
        "no_test": settings.no_test,
        "pairs": relabelling(settings).pairs if tested else None,
        "resampling": settings.resampling if tested else None,
        **family_of(settings).settings,
        "correction": settings.correction if tested else "none",
        "family": "ordered pairs of one threshold" if tested else None,
        "contamination": settings.contamination,
    }
