"""How many samples are needed, in a sentence or two."""

from __future__ import annotations

from riskrank.engine.power.planning import PowerStudy
from riskrank.engine.power.size_interval import SizeInterval
from riskrank.studies.wording import percent


def power_verdict(study: PowerStudy, target: float) -> str:
    """How many samples it takes, or that no number does; of a pilot also what else is possible."""
    said = _required_size(study, target)
    possible = None if study.interval is None else sizes_possible(study.interval)
    return said if possible is None else f"{said} From this pilot anything from {possible} is possible."


def _required_size(study: PowerStudy, target: float) -> str:
    required = study.required
    what = "the pair" if len(study.plan.pairs) == 1 else f"all {len(study.plan.pairs)} pairs at once"
    if study.plan.unattainable:
        where = "even without noise" if study.plan.pilot is None else "in the pilot"
        return f"No number of samples shows {what}: {where} the claim does not hold."
    if required.size is None:
        return (
            f"More than {int(required.sizes[-1]):,} samples a model are needed to show {what} with a power "
            f"of {percent(target)}."
        )
    least = required.power >= required.target and required.size == required.sizes[0]
    size = f"{'At most' if least else 'About'} {required.size:,} samples a model"
    doubt = "" if required.confirmed or least else "; more simulations would make it surer"
    return f"{size} show {what} with a power of {percent(target)}{doubt}."


def sizes_possible(found: SizeInterval) -> str | None:
    """The sizes a pilot is compatible with: 40 to more than 5,000; None where all lie above the limit."""
    if found.low is None:
        return None
    above = f"more than {found.limit:,}" if found.high is None else f"{found.high:,}"
    return f"{found.low:,} to {above}"
