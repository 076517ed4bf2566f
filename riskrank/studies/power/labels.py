"""How many labels a gate needs where a judge scores all samples: what a study of power plans for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import Any

from scipy.special import ndtri

from riskrank.engine.judges.correction import FEWEST_OTHERS
from riskrank.engine.power.labels import LabelClaim, LabelNeed, LabelPilot, LabelSearch, labels_interval
from riskrank.engine.power.required_size import RequiredSize, SizeInterval, check_search
from riskrank.engine.power.simulation import PowerCurve
from riskrank.engine.sampling.design import FEWEST_LABELS
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, entries, of, rows_from
from riskrank.studies.findings import Case, Finding, Said, stated
from riskrank.studies.gate.columns import score_columns
from riskrank.studies.judged.chapter import GAIN, refuse_with_judge
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.planned import PlannedClaim, PlannedRow, planned_pair, size_found
from riskrank.studies.power.verdict import needed, possible_sizes, size_finding
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_of, level_of, provenance
from riskrank.studies.targets import check_portfolio
from riskrank.studies.wording import two_digits

# Where no number of labels is to be expected, and nobody asked for one.
_SIZES = (50, 100, 200)

# Numbers of labels nobody will ever have.
_ENDLESS = 1e9

# Labels by which a number may lie above a whole one by rounding alone.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class LabelsRow(PlannedRow):
    """Share of simulated tables with so many labels in which the gate passes."""

    power: float = of(lambda curve, at: float(curve.together[at]))
    standard_error: float = of(lambda curve, at: float(curve.together_error[at]))


@dataclass(frozen=True, kw_only=True)
class LabelsDocument(Document[LabelsRow], schema="power-labels"):
    """Power of a gate by labels, and the labels the target needs.

    Attributes
    ----------
    curve : PowerCurve
    required : RequiredSize
    interval : SizeInterval
        What else the pilot could have suggested.
    need : LabelNeed
    height : float
        Standard errors from its boundary at which the gate passes.
    reached : float
        Power that labels alone and endless samples are to have, too: that of the size found, on which the
        height rests, or the target where all sizes do, or none.
    labelled, samples : int
        Of the pilot.
    """

    curve: PowerCurve
    required: RequiredSize
    interval: SizeInterval
    need: LabelNeed
    height: float
    reached: float
    labelled: int
    samples: int

    @property
    def without_judge(self) -> int | None:
        """Labels that would do alone."""
        return _whole(self.need.without_judge(self.height, self.reached))

    @property
    def endless(self) -> int | None:
        """Labels that would do if the judge scored samples without end."""
        found = _whole(self.need.endless(self.height, self.reached))
        return None if found is None else max(found, FEWEST_LABELS)

    def meta(self) -> Mapping[str, Any]:
        """The labels the target needs."""
        return {
            "required_labels": {
                **size_found(self.required, self.interval),
                "without_judge": self.without_judge,
                "endless_samples": self.endless,
                "limit": self.interval.limit,
                **entries(self, "labelled", "samples"),
            }
        }


def labels_of_pilot(table: ScoreTable, settings: PowerSettings, _runtime: Runtime) -> LabelsDocument:
    """Plan a gate with a pilot that people and a judge scored.

    Raises
    ------
    UsageError
        If settings are not about a gate on means, or there are several pairs and none is named.
    """
    assert table.judged is not None
    judged, metric = table.judged, table.metrics[0]
    asked = option("judge", judged.judge)
    settings.refuse_dominance(asked)
    refuse_with_judge(table, settings)
    pair = planned_pair(settings, table.models, f"with {asked}")
    check_portfolio(table, settings)
    column = score_columns(table, {metric.name: settings.margin}, settings)[metric.name][0]
    reach = column.limits[1] - column.limits[0]
    claim = LabelClaim(*pair, -settings.margin, family_of(settings).level(1), reach, column.bounded)
    pilot = LabelPilot.of(judged.corrections, claim)
    need, most = pilot.need, pilot.samples - FEWEST_OTHERS
    limit = min(settings.limit or most, most)
    sizes = _sizes(settings, need, claim, limit)
    check_search(sizes, target=settings.target, limit=limit, smallest=FEWEST_LABELS)
    search = LabelSearch(pilot, settings.simulations, settings.seed)
    curve = search.curve(sizes)
    required = search.required(sizes, target=settings.target, smallest=FEWEST_LABELS, limit=limit)
    height, reached = _passing(need, required, settings.simulations)
    interval = labels_interval(judged.corrections, claim, required, height, limit=limit, seed=settings.seed)
    new, old = (table.models[model] for model in pair)
    planned = PlannedClaim(metric.name, new, old, settings.margin)
    rows = rows_from(
        LabelsRow, "claim size curve at", ((planned, size, curve, at) for at, size in enumerate(curve.sizes))
    )
    case = Case(table=table, columns={})
    described = {
        "pair": [new, old],
        "margin": settings.margin,
        "sizes": [row.size for row in rows],
        "simulations": settings.simulations,
        "limit": limit,
        **level_of(settings),
    }
    document = LabelsDocument(
        provenance=provenance("power", table, settings, described, seed=settings.seed),
        rows=rows,
        curve=curve,
        required=required,
        interval=interval,
        need=need,
        height=height,
        reached=reached,
        labelled=len(judged.labelled),
        samples=pilot.samples,
    )
    said = stated(table.models, *_said(document, planned, pair), assuming=case.assuming)
    return replace(document, **said)


def _sizes(settings: PowerSettings, need: LabelNeed, claim: LabelClaim, limit: int) -> list[int]:
    """Labels to simulate: half of those needed, as many, and twice as many, by the normal approximation."""
    if settings.sizes:
        most = need.samples - FEWEST_OTHERS
        if max(settings.sizes) > most:
            raise UsageError(
                f"{option('sizes')} are labels, and {FEWEST_OTHERS} samples at least are left to the judge",
                found=f"{max(settings.sizes):,} labels of {need.samples:,} samples",
                hint=f"give at most {most}",
            )
        return sorted(set(settings.sizes))
    wanted = need.labels(-float(ndtri(claim.level / 2)), settings.target)
    found = [two_digits(wanted * times) for times in (0.5, 1, 2)] if isfinite(wanted) else _SIZES
    return sorted({max(min(size, limit), FEWEST_LABELS) for size in found})


def _passing(need: LabelNeed, required: RequiredSize, repeats: int) -> tuple[float, float]:
    """Standard errors at which the gate passes, and the power to compare with labels alone at."""
    at = int(required.sizes[-1]) if required.size is None else required.size
    half = 0.5 / (repeats + 1)
    power = min(max(required.power, half), 1 - half)
    return need.height(at, power), required.target if required.size is None or _least(required) else power


def _said(document: LabelsDocument, planned: PlannedClaim, pair: tuple[int, int]) -> list[Said]:
    """How many labels it takes, what the judge saves, and what else the pilot is compatible with."""
    required, samples, interval = document.required, document.samples, document.interval
    claim, found = planned.sentence, size_finding(required, pair)
    if document.need.effect <= 0:
        return [(found, f"No number of labels shows that {claim}: in the pilot it does not hold.")]
    alone, beside = document.without_judge, ""
    if alone is not None and alone >= GAIN * (required.size or 0):
        beside = f"; without the judge about {two_digits(alone):,}"
    units, least = f"labels of {samples:,} samples", _least(required)
    told = [(found, needed(required, document.curve, units, f"that {claim}", least=least, beside=beside))]
    endless = document.endless
    if required.size is None and endless is not None and interval.limit == samples - FEWEST_OTHERS:
        text = f"If the judge scored samples without end, about {two_digits(endless):,} would do."
        told.append((Finding(kind="endless-samples", models=pair, figures={"labels": endless}), text))
    return [*told, *possible_sizes(interval, pair)]


def _least(required: RequiredSize) -> bool:
    """Whether the fewest labels there can be have the power asked for."""
    return required.power >= required.target and required.size == FEWEST_LABELS


def _whole(labels: float) -> int | None:
    return ceil(labels - _ROUNDING) if isfinite(labels) and labels < _ENDLESS else None
