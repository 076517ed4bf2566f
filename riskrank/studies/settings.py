"""What settings ask of the engine: claims, and how to test them."""

from typing import Any

from riskrank.asked.resampling import FamilySettings
from riskrank.engine.dominance.inference import PAPER_THRESHOLDS, Claim, Inference, claims
from riskrank.engine.family import Family
from riskrank.engine.sampling.processes import Jobs
from riskrank.studies.dominance.options import ABSOLUTE, DIRECT, RELATIVE, DominanceTestSettings

_HOW = ("resamples", "seed", "paper_exact", "variance", "work_limit")


def claims_of(settings: DominanceTestSettings) -> tuple[Claim, ...]:
    """Claims to test."""
    thresholds = tuple(dict.fromkeys(settings.threshold or PAPER_THRESHOLDS))
    return claims(
        settings.orders,
        direct=DIRECT in settings.kinds,
        relative=RELATIVE in settings.kinds,
        thresholds=thresholds if ABSOLUTE in settings.kinds else (),
    )


def family_of(settings: Any) -> Family:
    """The level and the correction that are asked for."""
    return Family(settings.alpha, getattr(settings, "correction", "holm"))


def level_of(settings: Any) -> dict[str, float]:
    """The level alone, for documents of what is not corrected."""
    return {"alpha": settings.alpha}


def inference_of(settings: FamilySettings, jobs: Jobs) -> Inference:
    """How the engine is to test, on so many processes."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _HOW if hasattr(settings, name)}
    family = family_of(settings).one_sided
    return Inference(**given, family=family, jobs=jobs, test=not getattr(settings, "no_test", False))


def described_tests(settings: DominanceTestSettings) -> dict[str, Any]:
    """How tests were done, for the document."""
    thresholds = {claim.threshold for claim in claims_of(settings) if claim.threshold is not None}
    tested = not settings.no_test
    return {
        "order": settings.order,
        "test": list(settings.kinds),
        "thresholds": sorted(thresholds),
        "alpha": settings.alpha,
        "correction": ("k^2" if settings.paper_exact else settings.correction) if tested else "none",
        "family": "ordered pairs of one metric, order, test and threshold" if tested else None,
        "variance": settings.variance if tested else None,
        "no_test": settings.no_test,
        "paper_exact": settings.paper_exact,
        "resamples": settings.resamples if tested and settings.variance != "clt" else None,
        "work_limit": settings.work_limit if settings.resamples == "auto" and tested else None,
    }
