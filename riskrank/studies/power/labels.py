"""Plan how many human labels a gate needs if a judge scores all samples."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from riskrank.engine.judges.correction import MIN_UNLABELLED
from riskrank.engine.power.labels import LabelNeed
from riskrank.engine.power.required_size import check_search
from riskrank.engine.sampling.design import MIN_LABELS
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, attributes
from riskrank.studies.findings import Case, Finding, Remark, verdict_fields
from riskrank.studies.gate.columns import score_columns
from riskrank.studies.judge.section import GAIN, refuse_options_with_judge
from riskrank.studies.pairs import require_pair
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.verdict import size_sentence
from riskrank.studies.settings import alpha_entry, family_from_settings, provenance
from riskrank.studies.targets import check_portfolio
from riskrank.studies.wording import format_percent, two_digits

# Numbers of labels to show if none is enough and none is requested.
_SIZES = (50, 100, 200)


@dataclass(frozen=True, slots=True)
class LabelsRow:
    """Probability that a gate passes with the given number of labels."""

    metric: str
    new: str
    old: str
    margin: float
    size: int
    power: float

    @property
    def claim(self) -> str:
        """The claim without its subject, such as ``not worse than old by 0.1``."""
        return f"not worse than {self.old} by {self.margin:,g}" if self.margin else f"better than {self.old}"


@dataclass(frozen=True, kw_only=True)
class LabelsDocument(Document[LabelsRow], schema="power-labels"):
    """Power of a gate by number of labels, and the number of labels needed for the target power.

    Attributes
    ----------
    size : int or None
        Number of labels needed, or None if above the limit.
    target : float
    power : float
        Power at `size`, or at the limit.
    without_judge : int or None
        Number of labels needed without the judge.
    endless_samples : int or None
        Number of labels needed if the judge scored infinitely many samples.
    limit : int
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
        """Return the ``meta`` entry on the required number of labels."""
        names = "size target power without_judge endless_samples limit labelled samples"
        return {"required_labels": attributes(self, *names.split())}


def plan_labels(table: ScoreTable, settings: PowerSettings) -> LabelsDocument:
    """Plan the number of labels for a gate, from a pilot with human and judge scores.

    Raises
    ------
    UsageError
        If the settings do not apply to a gate on means, or there are several pairs and none is named.
    """
    assert table.judged is not None
    judged, metric, margin, target = table.judged, table.metrics[0].name, settings.margin, settings.target
    judge_option = option("judge", judged.judge)
    settings.refuse_dominance(judge_option)
    refuse_options_with_judge(table, settings)
    pair = require_pair(table, settings.pair, judge_option)
    check_portfolio(table, settings)
    score_columns(table, {metric: margin}, settings)  # called to reject a margin that is too wide
    need_of = partial(
        LabelNeed.from_pilot,
        boundary=-margin,
        level=family_from_settings(settings).interval_level(1),
    )
    corrections = [judged.corrections[model] for model in pair]
    need = need_of(*corrections)
    samples = len(corrections[0].judge)
    largest = samples - MIN_UNLABELLED
    limit = min(settings.limit or largest, largest)
    size = need.required_labels(target, limit)
    sizes = _label_counts(settings, size, limit, samples)
    check_search(sizes, limit=limit, smallest=MIN_LABELS)
    without_judge = need_of(*(replace(correction, judge_weight=0.0) for correction in corrections))
    new, old = (table.models[model] for model in pair)
    method = {"pair": [new, old], "margin": margin, "sizes": sizes, "limit": limit, **alpha_entry(settings)}
    plan = LabelsDocument(
        provenance=provenance("power", table, settings, method),
        rows=[LabelsRow(metric, new, old, margin, count, need.power(count)) for count in sizes],
        size=size,
        target=target,
        power=need.power(size or (limit if need.effect > 0 else sizes[-1])),
        without_judge=replace(without_judge, effect=need.effect).required_labels(target),
        endless_samples=replace(need, samples=float("inf")).required_labels(target),
        limit=limit,
        labelled=len(judged.labelled),
        samples=samples,
    )
    assuming = Case(table=table, columns={}).assumption
    return replace(plan, **verdict_fields(table.models, *_findings(plan, need, pair), assuming=assuming))


def _label_counts(settings: PowerSettings, size: int | None, limit: int, samples: int) -> list[int]:
    """Return the requested numbers of labels, or about half, once and twice the number needed."""
    if settings.sizes:
        largest = samples - MIN_UNLABELLED
        if max(settings.sizes) > largest:
            raise UsageError(
                f"{option('sizes')} must leave at least {MIN_UNLABELLED} samples without a label",
                found=f"{max(settings.sizes):,} labels of {samples:,} samples",
                hint=f"give at most {largest}",
            )
        return sorted(set(settings.sizes))
    sizes = _SIZES if size is None else [two_digits(size * times) for times in (0.5, 1, 2)]
    return sorted({max(min(count, limit), MIN_LABELS) for count in sizes})


def _findings(document: LabelsDocument, need: LabelNeed, pair: tuple[int, int]) -> list[Remark]:
    """Return findings on the number of labels needed, also if the judge scored infinitely many samples."""
    size, row, limit, samples = document.size, document.rows[0], document.limit, document.samples
    figures = {"limit": float(limit)} if size is None else {"size": float(size)}
    figures |= {"power": document.power, "target": document.target}
    entry, claim = Finding(kind="size-needed", models=pair, figures=figures), f"that {row.new} is {row.claim}"
    if need.effect <= 0:
        return [(entry, f"No number of labels can show {claim}: the claim does not hold in the pilot.")]
    without_judge, note = document.without_judge, ""
    if without_judge is not None and without_judge >= GAIN * (size or 0):
        note = f"; without the judge, about {two_digits(without_judge):,}"
    units, power = f"labels of {samples:,} samples", format_percent(document.target)
    text = size_sentence(size, limit, units, claim, power, least=size == MIN_LABELS, note=note)
    endless = document.endless_samples
    if size is not None or endless is None or limit < samples - MIN_UNLABELLED:
        return [(entry, text)]
    more = f"With unlimited samples for the judge, about {two_digits(endless):,} labels would suffice."
    figures = {"labels": float(endless)}
    return [(entry, text), (Finding(kind="endless-samples", models=pair, figures=figures), more)]
