"""Plans of human labels with a judge, and of levels of noise sources; findings on the required size."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from riskrank.engine.evidence.crossed import Components
from riskrank.engine.evidence.statistics import samples_for_percentile
from riskrank.engine.judges import MIN_UNLABELLED
from riskrank.engine.power.planning import TASKS
from riskrank.engine.power.study import LabelNeed, PowerStudy, SizeInterval, check_search
from riskrank.engine.sampling.design import MIN_LABELS, MIN_SAMPLES
from riskrank.engine.special import ndtri
from riskrank.errors import UsageError, option
from riskrank.options.values import check_names, contradict
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import require_pair
from riskrank.studies.document import Document, attributes
from riskrank.studies.findings import Case, Finding, Remark, verdict_fields
from riskrank.studies.gate.columns import score_columns
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import row_statistic
from riskrank.studies.gate.study import gate
from riskrank.studies.judge.section import GAIN, refuse_options_with_judge
from riskrank.studies.means_only import design_note, difference_components
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import alpha_entry, family_from_settings, provenance
from riskrank.studies.statistics import parse_statistics
from riskrank.studies.targets import check_portfolio
from riskrank.studies.wording import format_number, format_percent, join_names, round_two_digits


def power_findings(study: PowerStudy) -> list[Remark]:
    """Return findings, with sentences, on the required sample size and its uncertainty."""
    pair = study.plan.pairs[0] if len(study.plan.pairs) == 1 else ()
    size = {"limit": float(study.full_curve.sizes[-1])} if study.size is None else {"size": float(study.size)}
    figures = size | {"power": study.power, "target": study.target} | _disagreement(study)
    endless = {} if study.tasks_needed is None else {"tasks": float(study.tasks_needed)}
    return [
        (Finding(kind="size-needed", models=pair, figures=figures), _required_size_sentence(study)),
        (Finding(kind="endless-samples", models=pair, figures=endless), _required_tasks_sentence(study)),
        *_size_interval_findings(study.interval, pair),
    ]


def _disagreement(study: PowerStudy) -> dict[str, float]:
    """Return the number of fully computed tests, and how many contradict the approximation, by name.

    The dictionary is empty if these tests confirm the sample size.
    """
    if study.confirmed or study.size is None or study.size == study.plan.min_size:
        return {}
    checks = study.agreement
    return {"differing": float(checks.verdicts - checks.agreed), "verdicts": float(checks.verdicts)}


def _size_interval_findings(interval: SizeInterval | None, models: tuple[int, ...]) -> list[Remark]:
    """Return a list with a finding on the sample sizes that are compatible with the pilot, and its sentence.

    `models` is the pair of models, if there is a single one. The list is empty without an informative
    interval.
    """
    if interval is None or interval.low is None or interval.low == interval.high:
        return []
    beyond = interval.limit if interval.high is None else None
    bounds = {"low": interval.low, "high": interval.high, "limit": beyond}
    figures = {name: float(bound) for name, bound in bounds.items() if bound is not None}
    finding = Finding(kind="possible-sizes", models=models, figures=figures)
    above = f"more than {interval.limit:,}" if interval.high is None else f"{interval.high:,}"
    return [(finding, f"The pilot is compatible with sizes from {interval.low:,} to {above}.")]


def _required_size_sentence(study: PowerStudy) -> str:
    """Return a sentence with the required sample size."""
    plan, counts = study.plan, _disagreement(study)
    subject = "the claim" if len(plan.pairs) == 1 else f"all {len(plan.pairs)} claims at once"
    if plan.unattainable_pairs:
        basis = "even without noise" if plan.uses_distributions else "in the pilot"
        unit = "tasks like these" if plan.unit == TASKS else "samples"
        return f"No number of {unit} can show {subject}: {basis} the claim does not hold."
    note = "; {differing:.0f} of {verdicts:.0f} full tests disagree".format(**counts) if counts else ""
    limit, unit = int(study.full_curve.sizes[-1]), describe_unit(study)
    return _size_sentence(study.size, limit, unit, f"{subject}{note}", study.target, plan.min_size)


def _size_sentence(size: int | None, limit: int, units: str, claims: str, target: float, minimum: int) -> str:
    """Return a sentence with the sample size needed for a power, or that it exceeds the limit.

    Parameters
    ----------
    size : int or None
        Sample size needed, or None if above the limit.
    limit : int
        Largest sample size that was tried.
    units : str
        Plural noun for the samples.
    claims : str
        Phrase for the claims to be shown, which may end with a note.
    target : float
        Power.
    minimum : int
        Smallest possible size.
    """
    power = format_percent(target)
    if size is None:
        return f"Even with {limit:,} {units}, there is less than {power} power to show {claims}."
    amount = f"{'At most' if size == minimum else 'About'} {size:,} {units}"
    return f"{amount} give a power of {power} to show {claims}."


def describe_unit(study: PowerStudy) -> str:
    """Return the plural noun for what the sample size counts, with the number of tasks if there are any."""
    plan = study.plan
    if not plan.scores.strata.has_several_tasks:
        return plan.unit
    return f"{plan.unit} " + ("like these" if plan.unit == TASKS else f"on these {plan.sampler.n_strata}")


def _required_tasks_sentence(study: PowerStudy) -> str:
    """Return a sentence about the number of tasks needed with infinitely many samples per task.

    The sentence is empty if there are enough tasks.
    """
    needed, count = study.tasks_needed, len(study.plan.sampler.unit_sizes[0])
    if needed is None or (study.size is not None and study.size <= count):
        return ""
    number = f"at least {needed:,}" if study.size is None else f"about {needed:,}"
    text = f"With unlimited samples per task, {number} tasks would be needed"
    if needed > count:
        return f"{text}, more than the {count} available: only more tasks help."
    return "" if study.size is None else f"{text}, and {count} are available."


# Larger numbers of samples count as infinite.
_MAX_SAMPLES = 10**9
_HOPELESS = "No number of {} can show {}: the claim does not hold in the pilot."
# Numbers of labels to show if no number suffices and none is requested.
_LABEL_COUNTS = (50, 100, 200)
# Smallest planned variance, as a proportion of the current variance; it halves the standard error.
_TARGET_VARIANCE = 0.25


@dataclass(frozen=True, slots=True)
class PlanRow:
    """Probability that a claim passes its test with the given number of labels or samples."""

    metric: str
    new: str
    old: str
    margin: float
    size: int
    power: float

    @property
    def claim(self) -> str:
        """Claim about the new model without its name, such as ``not worse than old by 0.1``."""
        return f"not worse than {self.old} by {self.margin:,g}" if self.margin else f"better than {self.old}"


@dataclass(frozen=True, kw_only=True)
class LabelsDocument(Document[PlanRow], schema="power-labels"):
    """Power of a test of means by number of human labels, and the number needed for the target power.

    Attributes
    ----------
    size : int or None
        Number of labels needed, or None if above the limit.
    target : float
        Required power.
    power : float
        Power at `size`, or at the limit.
    without_judge : int or None
        Number of labels needed without the judge.
    endless_samples : int or None
        Number of labels needed if the judge scored infinitely many samples.
    limit : int
        Largest number of labels that was tried.
    labelled, samples : int
        Numbers of labels and samples in the pilot.
    """

    size: int | None
    target: float
    power: float
    without_judge: int | None
    endless_samples: int | None
    limit: int
    labelled: int
    samples: int

    def meta(self) -> Mapping[str, Any]:
        """Return the required number of labels and related figures for the JSON object ``meta``."""
        names = "size target power without_judge endless_samples limit labelled samples"
        return {"required_labels": attributes(self, *names.split())}


def plan_labels(table: ScoreTable, settings: PowerSettings) -> LabelsDocument:
    """Calculate the number of human labels for a test of means, from a pilot with human and judge scores.

    Raises
    ------
    UsageError
        If the settings do not apply to a test of means, or there are several pairs and none is named.
    """
    assert table.judged is not None
    judged, metric, margin, target = table.judged, table.metrics[0].name, settings.margin, settings.target
    judge_option = option("judge", judged.judge)
    settings.refuse_dominance(judge_option)
    refuse_options_with_judge(table, settings)
    pair = require_pair(table, settings.pair, judge_option)
    check_portfolio(table, settings)
    score_columns(table, {metric: margin}, settings)  # called to reject a margin that is too wide
    corrections = [judged.corrections[model] for model in pair]
    labels_alone = [replace(correction, judge_weight=0.0) for correction in corrections]
    level = family_from_settings(settings).interval_level(1)
    need, without_judge = (
        LabelNeed.from_pilot(*both, boundary=-margin, level=level) for both in (corrections, labels_alone)
    )
    samples = len(corrections[0].judge)
    largest = samples - MIN_UNLABELLED
    limit = min(settings.limit or largest, largest)
    size = need.required_labels(target, limit)
    sizes = _label_counts(settings, size, limit, samples)
    check_search(sizes, limit=limit, smallest=MIN_LABELS)
    new, old = (table.models[model] for model in pair)
    method = {"pair": [new, old], "margin": margin, "sizes": sizes, "limit": limit, **alpha_entry(settings)}
    plan = LabelsDocument(
        provenance=provenance("power", table, settings, method),
        rows=[PlanRow(metric, new, old, margin, count, need.power(count)) for count in sizes],
        size=size,
        target=target,
        power=need.power(size or (limit if need.effect > 0 else sizes[-1])),
        without_judge=replace(without_judge, effect=need.effect).required_labels(target),
        endless_samples=replace(need, samples=float("inf")).required_labels(target),
        limit=limit,
        labelled=len(judged.labelled),
        samples=samples,
    )
    assumption = Case(table=table, columns={}).assumption
    findings = _label_findings(plan, need, pair)
    return replace(plan, **verdict_fields(table.models, *findings, assumption=assumption))


def _label_counts(settings: PowerSettings, size: int | None, limit: int, samples: int) -> list[int]:
    """Return the requested numbers of labels or, by default, half, once and twice the required number.

    `size` is the required number, or None if it exceeds the limit. `samples` is the number of samples.

    Raises
    ------
    UsageError
        If a requested number leaves too few samples without a label.
    """
    if settings.sizes:
        largest = samples - MIN_UNLABELLED
        if max(settings.sizes) > largest:
            problem = f"{option('sizes')} must leave at least {MIN_UNLABELLED} samples without a label"
            detail = f"{max(settings.sizes):,} labels of {samples:,} samples"
            raise UsageError(problem, found=detail, hint=f"give at most {largest}")
        return sorted(set(settings.sizes))
    sizes = _LABEL_COUNTS if size is None else [round_two_digits(size * factor) for factor in (0.5, 1, 2)]
    return sorted({max(min(count, limit), MIN_LABELS) for count in sizes})


def _label_findings(document: LabelsDocument, need: LabelNeed, pair: tuple[int, int]) -> list[Remark]:
    """Return findings, with sentences, on the required number of labels.

    `pair` has the indices of the new and the old model.
    """
    size, row, limit, samples = document.size, document.rows[0], document.limit, document.samples
    figures = {"limit": float(limit)} if size is None else {"size": float(size)}
    figures |= {"power": document.power, "target": document.target}
    finding = Finding(kind="size-needed", models=pair, figures=figures)
    claim = f"that {row.new} is {row.claim}"
    if need.effect <= 0:
        return [(finding, _HOPELESS.format("labels", claim))]
    without_judge, note = document.without_judge, ""
    if without_judge is not None and without_judge >= GAIN * (size or 0):
        note = f"; without the judge, about {round_two_digits(without_judge):,}"
    units = f"labels of {samples:,} samples"
    text = _size_sentence(size, limit, units, f"{claim}{note}", document.target, MIN_LABELS)
    endless = document.endless_samples
    if size is not None or endless is None or limit < samples - MIN_UNLABELLED:
        return [(finding, text)]
    more = f"With unlimited samples for the judge, about {round_two_digits(endless):,} labels would suffice."
    figures = {"labels": float(endless)}
    return [(finding, text), (Finding(kind="endless-samples", models=pair, figures=figures), more)]


@dataclass(frozen=True, kw_only=True)
class ClaimsDocument(Document[PlanRow], schema="power-claims"):
    """Power of tests of statistics by number of samples, and the number that each claim needs.

    Attributes
    ----------
    target : float
        Required power.
    needed : mapping of str to int or None
        Number of samples by statistic, or None if there is none.
    unit : str
        Plural noun for the samples.
    """

    target: float
    needed: Mapping[str, int | None]
    unit: str

    def meta(self) -> Mapping[str, Any]:
        """Return the required numbers of samples for the JSON object ``meta``."""
        return {"required_sizes": attributes(self, "target", "needed", "unit")}


def plan_claims(table: ScoreTable, settings: PowerSettings, runtime: Runtime) -> ClaimsDocument:
    """Calculate the numbers of samples for tests of statistics, from estimates and errors of a pilot.

    If no pair is named, the model with the better first statistic is the new one.

    Raises
    ------
    UsageError
        If the settings do not apply to such tests, or there are several pairs and none is named.
    """
    source = option("on", settings.on[0])
    settings.refuse_dominance(source)
    parsed = parse_statistics(settings.on, [metric.name for metric in table.metrics], suite=bool(table.suite))
    if any(item.dominance for item in parsed):
        contradict(source, "means", f"leave out {option('on')} to plan a test of dominance")
    fewest = {item.name: samples_for_percentile(item.percentile) for item in parsed if item.percentile}
    named = require_pair(table, settings.pair, source, several_metrics=True)
    kind, margin = ("not_worse", (("", settings.margin),)) if settings.margin else ("better", ())
    names = [":".join(table.models[i] for i in pair) for pair in (named, named[::-1])]
    claimed: dict[str, Any] = {kind: names[:1] if settings.pair else names, "margin": margin}
    shared = attributes(settings, "on", "alpha", "seed", "tasks", "task_scale")
    tested = gate(table, ClaimSettings(**claimed, **shared), runtime)
    first = max(tested.claims, key=lambda row: (row.statistic == tested.claims[0].statistic, row.effect_size))
    rows = [row for row in tested.claims if row.new == first.new]
    claims = {f"{row_statistic(row)} of {row.metric}{row.subset}": row for row in rows}
    critical = -float(ndtri(tested.family.interval_level(len(claims)) / 2))
    limit, remarks = settings.limit or _MAX_SAMPLES, list[Remark]()
    needed: dict[str, int | None] = {}
    for name, row in claims.items():
        hopeless, smallest = row.effect_size <= 0, fewest.get(row.statistic, MIN_SAMPLES)
        claim = f"that {row.claim_text} on the {name}".replace(row.new, f"{row.new} is", 1)
        ratio = inf if hopeless else (float(ndtri(settings.target)) + critical) / row.effect_size
        size = max(row.samples * ratio**2, smallest)
        needed[name] = ceil(size) if size <= limit else None
        text = _size_sentence(needed[name], limit, tested.unit, claim, settings.target, smallest)
        text = _HOPELESS.format(tested.unit, claim) if hopeless else text
        figures = {"target": settings.target} | ({"size": ceil(size)} if size <= limit else {})
        pair = table.models.index(row.new), table.models.index(row.old)
        remarks.append((Finding(kind="size-needed", models=pair, on=name, figures=figures), text))
    largest = max(filter(None, needed.values()), default=row.samples)
    sizes = [max(round_two_digits(largest * factor), MIN_SAMPLES) for factor in (0.5, 1, 2)]
    sizes = sorted({*(settings.sizes or sizes)})
    return ClaimsDocument(
        provenance=provenance("power", table, settings, {"sizes": sizes, **alpha_entry(settings)}),
        rows=[
            PlanRow(name, row.new, row.old or "", row.margin, size, power)
            for name, row in claims.items()
            for size in sizes
            for power in [row.power(size, critical) * (size >= fewest.get(row.statistic, 0))]
        ],
        target=settings.target,
        needed=needed,
        unit=tested.unit,
        **verdict_fields(table.models, *remarks),
    )


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source of noise: its share of the variance of a difference, its levels, and the number needed.

    ``levels``, ``needed`` and ``cost`` are None for an interaction of sources, which has no levels.
    """

    source: str
    share: float
    levels: int | None
    needed: int | None
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class NoisePlanDocument(Document[SourceRow], schema="power-noise"):
    """Cheapest numbers of items, judges and so on that halve the standard error of a mean difference.

    Attributes
    ----------
    components : Components
        Variance components of the difference.
    error, planned : float
        Current standard error, and that under the plan, or None if no plan suffices.
    note : str
        Sentence about the noise sources.
    """

    components: Components
    error: float
    planned: float | None
    note: str

    def meta(self) -> Mapping[str, Any]:
        """Return the standard error, its planned value and its lower bound for the JSON object ``meta``.

        The lower bound is the standard error that remains with infinitely many items.
        """
        return {"error": self.error, "planned": self.planned, "floor": self.components.minimum_error}


def plan_noise(table: ScoreTable, settings: PowerSettings) -> NoisePlanDocument:
    """Calculate how many levels of each source of noise halve the standard error of a mean difference.

    Raises
    ------
    UsageError
        If there are several metrics or no pair, or a cost names an unknown source.
    """
    pair = require_pair(table, settings.pair, option("noise", ",".join(table.options.noise)))
    noise = difference_components(table, pair)
    check_names(settings.cost, noise.names, kind="source", parameter="cost")
    costs = {name: settings.cost.get(name, 1.0) for name in noise.names}
    plan = noise.cheapest_plan(costs, _TARGET_VARIANCE)
    error = float(np.sqrt(noise.variance(noise.levels)))
    planned = None if plan is None else float(np.sqrt(noise.variance(plan)))
    needed = dict.fromkeys(noise.names) if plan is None else dict(zip(noise.names, plan, strict=True))
    levels = dict(zip(noise.names, noise.levels, strict=True))
    rows = []
    for sources, share in sorted(noise.shares.items(), key=lambda item: -item[1]):
        source = " × ".join(name for name in noise.names if name in sources) or "rest"
        # Interactions of sources have no levels or costs.
        single = next(iter(sources)) if len(sources) == 1 else ""
        rows.append(SourceRow(source, share, levels.get(single), needed.get(single), costs.get(single)))
    method = {"pair": [table.models[i] for i in pair], **alpha_entry(settings)}
    document = NoisePlanDocument(
        provenance=provenance("power", table, settings, method),
        rows=rows,
        components=noise,
        error=error,
        planned=planned,
        note=design_note(table).sentence,
    )
    return replace(document, **verdict_fields(table.models, *_noise_findings(document, plan, pair)))


def _noise_findings(
    document: NoisePlanDocument, plan: tuple[int, ...] | None, pair: tuple[int, int]
) -> list[Remark]:
    """Return findings, with sentences: the plan, and the standard error that more items cannot remove.

    `plan` has the number of levels of each source, or is None if no plan suffices. `pair` has the indices of
    the compared models.
    """
    components, planned, floor = document.components, document.planned, document.components.minimum_error
    difference = " − ".join(document.provenance.models[i] for i in pair)
    halve = f"To halve the standard error of {difference} ({format_number(document.error)})"
    figures = {"error": document.error} | ({} if planned is None else {"planned": planned})
    if plan is None or planned is None:
        text = f"{halve}, a source would need more than 40 levels."
    else:
        counts = [f"{n} values of {name}" for name, n in zip(components.names[1:], plan[1:], strict=True)]
        counts = [f"{plan[0]:,} items", *counts]
        text = f"{halve}, use {join_names(counts, 9)}, the cheapest plan (error {format_number(planned)})."
    limit = f"More items alone cannot reduce the error below {format_number(floor)}."
    return [
        (Finding(kind="levels-needed", models=pair, figures=figures), text),
        (Finding(kind="floor", models=pair, figures={"error": floor}), limit if floor > 0 else ""),
    ]
