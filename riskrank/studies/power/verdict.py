"""Findings and sentences on the required sample size."""

from riskrank.engine.power.planning import TASKS
from riskrank.engine.power.required_size import SizeInterval
from riskrank.engine.power.study import PowerStudy
from riskrank.studies.findings import Finding, Remark
from riskrank.studies.wording import format_percent


def power_findings(study: PowerStudy) -> list[Remark]:
    """Return the findings: size needed, limit for infinitely many samples per task, and possible sizes."""
    pair = study.plan.pairs[0] if len(study.plan.pairs) == 1 else ()
    size = {"limit": float(study.full_curve.sizes[-1])} if study.size is None else {"size": float(study.size)}
    figures = size | {"power": study.power, "target": study.target} | _disagreement(study)
    endless = {} if study.tasks_needed is None else {"tasks": float(study.tasks_needed)}
    return [
        (Finding(kind="size-needed", models=pair, figures=figures), _required_size(study)),
        (Finding(kind="endless-samples", models=pair, figures=endless), _endless_sentence(study)),
        *_possible_sizes(study.interval, pair),
    ]


def _disagreement(study: PowerStudy) -> dict[str, float]:
    """Return the number of full tests that disagree with the approximation.

    The result is empty if the full tests confirm the size.
    """
    if study.confirmed or study.size is None or study.size == study.plan.min_size:
        return {}
    checks = study.agreement
    return {"differing": float(checks.verdicts - checks.agreed), "verdicts": float(checks.verdicts)}


def _possible_sizes(interval: SizeInterval | None, models: tuple[int, ...]) -> list[Remark]:
    """Return the finding on the range of sample sizes that are compatible with the pilot.

    The result is empty if the range is not informative.
    """
    if interval is None or interval.low is None or interval.low == interval.high:
        return []
    beyond = interval.limit if interval.high is None else None
    bounds = {"low": interval.low, "high": interval.high, "limit": beyond}
    figures = {name: float(bound) for name, bound in bounds.items() if bound is not None}
    finding = Finding(kind="possible-sizes", models=models, figures=figures)
    above = f"more than {interval.limit:,}" if interval.high is None else f"{interval.high:,}"
    return [(finding, f"The pilot is compatible with sizes from {interval.low:,} to {above}.")]


def _required_size(study: PowerStudy) -> str:
    """Return a sentence with the required sample size."""
    plan, counts = study.plan, _disagreement(study)
    subject = "the claim" if len(plan.pairs) == 1 else f"all {len(plan.pairs)} claims at once"
    if plan.unattainable_pairs:
        basis = "even without noise" if plan.uses_distributions else "in the pilot"
        unit = "tasks like these" if plan.unit == TASKS else "samples"
        return f"No number of {unit} can show {subject}: {basis} the claim does not hold."
    least, limit = study.size == plan.min_size, int(study.full_curve.sizes[-1])
    units = describe_unit(study)
    note = "; {differing:.0f} of {verdicts:.0f} full tests disagree".format(**counts) if counts else ""
    return size_sentence(
        study.size, limit, units, subject, format_percent(study.target), least=least, note=note
    )


def size_sentence(
    size: int | None, limit: int, units: str, subject: str, power: str, *, least: bool, note: str = ""
) -> str:
    """Return a sentence with the sample size needed for a power, or stating that it exceeds the limit.

    Parameters
    ----------
    size : int or None
        Sample size needed, or None if above the limit.
    limit : int
    units : str
        Plural noun for the samples.
    subject : str
        Phrase for the claims to be shown.
    power : str
        Power as a percentage.
    least : bool
        True if `size` is the smallest possible size.
    note : str, optional
        Text to append.
    """
    if size is None:
        return f"Even {limit:,} {units} give a power below {power} to show {subject}{note}."
    amount = f"{'At most' if least else 'About'} {size:,} {units}"
    return f"{amount} give a power of {power} to show {subject}{note}."


def describe_unit(study: PowerStudy) -> str:
    """Return the plural noun for sample sizes, including the number of tasks for a suite."""
    plan = study.plan
    if not plan.scores.strata.has_several_tasks:
        return plan.unit
    return f"{plan.unit} " + ("like these" if plan.unit == TASKS else f"on these {plan.sampler.n_strata}")


def _endless_sentence(study: PowerStudy) -> str:
    """Return a sentence on the number of tasks needed with infinitely many samples per task.

    The sentence is empty if there are enough tasks.
    """
    fewest, count = study.tasks_needed, len(study.plan.sampler.unit_sizes[0])
    if fewest is None or (study.size is not None and study.size <= count):
        return ""
    least = f"at least {fewest:,}" if study.size is None else f"about {fewest:,}"
    text = f"With unlimited samples per task, {least} tasks would be needed"
    if fewest > count:
        return f"{text}, more than the {count} available: only more tasks help."
    return "" if study.size is None else f"{text}, and {count} are available."
