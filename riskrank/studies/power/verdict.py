"""How many samples are needed, in a sentence or two."""

from riskrank.engine.power.planning import TASKS
from riskrank.engine.power.required_size import SizeInterval
from riskrank.engine.power.study import PowerStudy
from riskrank.studies.findings import Finding, Said
from riskrank.studies.wording import percent


def power_findings(study: PowerStudy) -> list[Said]:
    """Say how many samples it takes, or that no number does; of a pilot also what else is possible."""
    pair = study.plan.pairs[0] if len(study.plan.pairs) == 1 else ()
    size = {"limit": float(study.tried.sizes[-1])} if study.size is None else {"size": float(study.size)}
    figures = size | {"power": study.power, "target": study.target} | _whole_tests(study)
    endless = {} if study.endless is None else {"tasks": float(study.endless)}
    return [
        (Finding(kind="size-needed", models=pair, figures=figures), _size_needed(study)),
        (Finding(kind="endless-samples", models=pair, figures=endless), _endless(study)),
        *_possible_sizes(study.interval, pair),
    ]


def _whole_tests(study: PowerStudy) -> dict[str, float]:
    """Return how many whole tests differ from the closed form; nothing if they confirm the size."""
    if study.confirmed or study.size is None or study.size == study.plan.smallest:
        return {}
    checks = study.agreement
    return {"differing": float(checks.verdicts - checks.agreed), "verdicts": float(checks.verdicts)}


def _possible_sizes(interval: SizeInterval | None, models: tuple[int, ...]) -> list[Said]:
    """What else a pilot is compatible with, where that says something."""
    if interval is None or interval.low is None or interval.low == interval.high:
        return []
    beyond = interval.limit if interval.high is None else None
    ends = {"low": interval.low, "high": interval.high, "limit": beyond}
    figures = {name: float(end) for name, end in ends.items() if end is not None}
    found = Finding(kind="possible-sizes", models=models, figures=figures)
    above = f"more than {interval.limit:,}" if interval.high is None else f"{interval.high:,}"
    return [(found, f"From this pilot anything from {interval.low:,} to {above} is possible.")]


def _size_needed(study: PowerStudy) -> str:
    plan, counts = study.plan, _whole_tests(study)
    what = "the pair" if len(plan.pairs) == 1 else f"all {len(plan.pairs)} pairs at once"
    if plan.unattainable:
        where = "even without noise" if plan.named else "in the pilot"
        number = "tasks like these" if plan.unit == TASKS else "samples"
        return f"No number of {number} shows {what}: {where} the claim does not hold."
    least, limit = study.size == plan.smallest, int(study.tried.sizes[-1])
    note = (
        "; {differing:.0f} of {verdicts:.0f} verdicts of the whole test differ".format(**counts)
        if counts
        else ""
    )
    return needed(study.size, limit, unit_words(study), what, percent(study.target), least=least, note=note)


def needed(
    size: int | None, limit: int, units: str, what: str, power: str, *, least: bool, note: str = ""
) -> str:
    """Say which size shows something with a power, or that it takes more than the limit."""
    if size is None:
        return f"More than {limit:,} {units} are needed to show {what} with a power of {power}{note}."
    return f"{'At most' if least else 'About'} {size:,} {units} show {what} with a power of {power}{note}."


def unit_words(study: PowerStudy) -> str:
    """What sizes count; of a suite with the tasks there are."""
    plan = study.plan
    if not plan.scores.strata.several:
        return plan.unit
    return f"{plan.unit} like these" if plan.unit == TASKS else f"{plan.unit} on these {plan.sampler.width}"


def _endless(study: PowerStudy) -> str:
    """Whether more samples on the tasks there are would do, where tasks are drawn and more are needed."""
    fewest, count = study.endless, len(study.plan.sampler.lengths[0])
    if fewest is None or (study.size is not None and study.size <= count):
        return ""
    least = f"at least {fewest:,}" if study.size is None else f"about {fewest:,}"
    said = f"With endless samples on each it would take {least}"
    if fewest > count:
        return f"{said}, more than the {count} there are: more tasks are the only help."
    return "" if study.size is None else f"{said}, and there are {count}."
