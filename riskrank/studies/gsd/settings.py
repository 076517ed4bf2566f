"""What ``gsd`` asks of the engine."""

from __future__ import annotations

from typing import Any

from riskrank.engine.gsd.analysis import Relabelling, labellings_for
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.threshold import Threshold
from riskrank.studies.document import entries
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.settings import family_of


def thresholds(settings: GsdSettings) -> tuple[Threshold, ...]:
    """Thresholds to compare at, each once, in the order given."""
    if settings.regularization:
        return tuple(Threshold(share=share) for share in settings.regularization)
    return tuple(Threshold(delta=delta, on=settings.delta_on or "r1") for delta in settings.delta or (0.0,))


def relabelling(settings: GsdSettings, quality: QualityTable) -> Relabelling:
    """How the engine is to test."""
    auto = settings.resamples == "auto"
    return Relabelling(
        pairs=_pairs(settings),
        family=family_of(settings),
        resamples=labellings_for(quality, family_of(settings)) if auto else int(settings.resamples),
        closing=auto,
        **entries(settings, "resampling", "seed", "contamination"),
    )


def _pairs(settings: GsdSettings) -> str:
    return "none" if settings.no_test else settings.pairs or "dominant"


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
        "pairs": _pairs(settings) if tested else None,
        "resampling": settings.resampling if tested else None,
        **family_of(settings).settings,
        "correction": settings.correction if tested else "none",
        "family": "ordered pairs of one threshold" if tested else None,
        "contamination": settings.contamination,
    }
