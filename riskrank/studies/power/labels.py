"""How many labels a gate needs where a judge scores all samples: what a study of power plans for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from riskrank.engine.judges.correction import FEWEST_OTHERS
from riskrank.engine.power.labels import LabelNeed
from riskrank.engine.power.required_size import check_search
from riskrank.engine.sampling.design import FEWEST_LABELS
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, entries
from riskrank.studies.findings import Case, Finding, Said, stated
from riskrank.studies.gate.columns import score_columns
from riskrank.studies.judge.section import GAIN, refuse_with_judge
from riskrank.studies.pairs import require_pair
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.verdict import needed
from riskrank.studies.settings import family_of, level_of, provenance
from riskrank.studies.targets import check_portfolio
from riskrank.studies.wording import percent, two_digits

# Where no number of labels is enough, and nobody asked for one.
_SIZES = (50, 100, 200)


@dataclass(frozen=True, slots=True)
class LabelsRow:
    """Probability that a gate passes with so many labels."""

    metric: str
    new: str
    old: str
    margin: float
    size: int
    power: float

    @property
    def claim(self) -> str:
        """The claim without its subject: ``not worse than old by 0.1``."""
        return f"not worse than {self.old} by {self.margin:,g}" if self.margin else f"better than {self.old}"


@dataclass(frozen=True, kw_only=True)
class LabelsDocument(Document[LabelsRow], schema="power-labels"):
    """Power of a gate by labels, and the labels that the target needs.

    Attributes
    ----------
    size : int or None
        Labels needed; None if those up to the limit are not enough.
    target : float
    power : float
        At the size, or at the limit.
    without_judge : int or None
        Labels that would do without the judge.
    endless_samples : int or None
        Labels that would do if the judge scored samples without end.
    limit : int
    labelled, samples : int
        Of the pilot.
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
        """The labels that the target needs."""
        names = "size target power without_judge endless_samples limit labelled samples"
        return {"required_labels": entries(self, *names.split())}


def labels_of_pilot(table: ScoreTable, settings: PowerSettings) -> LabelsDocument:
    """Plan a gate with a pilot that people and a judge scored.

    Raises
    ------
    UsageError
        If settings are not about a gate on means, or there are several pairs and none is named.
    """
    assert table.judged is not None
    judged, metric, margin, target = table.judged, table.metrics[0].name, settings.margin, settings.target
    asked = option("judge", judged.judge)
    settings.refuse_dominance(asked)
    refuse_with_judge(table, settings)
    pair = require_pair(table, settings.pair, asked)
    check_portfolio(table, settings)
    lowest, highest = score_columns(table, {metric: margin}, settings)[metric][0].limits
    need_of = partial(
        LabelNeed.of, boundary=-margin, level=family_of(settings).level(1), reach=highest - lowest
    )
    corrections = [judged.corrections[model] for model in pair]
    need = need_of(*corrections)
    samples = len(corrections[0].judge)
    most = samples - FEWEST_OTHERS
    limit = min(settings.limit or most, most)
    size = need.labels(target, limit)
    sizes = _sizes(settings, size, limit, samples)
    check_search(sizes, target=target, limit=limit, smallest=FEWEST_LABELS)
    alone = need_of(*(replace(correction, power=0.0) for correction in corrections))
    new, old = (table.models[model] for model in pair)
    described = {
        "pair": [new, old],
        "margin": margin,
        "sizes": sizes,
        "limit": limit,
        **level_of(settings),
    }
    document = LabelsDocument(
        provenance=provenance("power", table, settings, described),
        rows=[LabelsRow(metric, new, old, margin, count, need.power(count)) for count in sizes],
        size=size,
        target=target,
        power=need.power(size or (limit if need.effect > 0 else sizes[-1])),
        without_judge=replace(alone, effect=need.effect).labels(target),
        endless_samples=replace(need, samples=float("inf")).labels(target),
        limit=limit,
        labelled=len(judged.labelled),
        samples=samples,
    )
    assuming = Case(table=table, columns={}).assuming
    return replace(document, **stated(table.models, *_findings(document, need, pair), assuming=assuming))


def _sizes(settings: PowerSettings, size: int | None, limit: int, samples: int) -> list[int]:
    """Return the sizes asked for, or about half of the labels needed, as many, and twice as many."""
    if settings.sizes:
        most = samples - FEWEST_OTHERS
        if max(settings.sizes) > most:
            raise UsageError(
                f"{option('sizes')} are labels, and {FEWEST_OTHERS} samples at least are left to the judge",
                found=f"{max(settings.sizes):,} labels of {samples:,} samples",
                hint=f"give at most {most}",
            )
        return sorted(set(settings.sizes))
    sizes = _SIZES if size is None else [two_digits(size * times) for times in (0.5, 1, 2)]
    return sorted({max(min(count, limit), FEWEST_LABELS) for count in sizes})


def _findings(document: LabelsDocument, need: LabelNeed, pair: tuple[int, int]) -> list[Said]:
    """Say how many labels it takes, what the judge saves, and what more samples would."""
    size, row, limit, samples = document.size, document.rows[0], document.limit, document.samples
    figures = {"limit": float(limit)} if size is None else {"size": float(size)}
    figures |= {"power": document.power, "target": document.target}
    found, claim = Finding(kind="size-needed", models=pair, figures=figures), f"that {row.new} is {row.claim}"
    if need.effect <= 0:
        return [(found, f"No number of labels shows {claim}: in the pilot it does not hold.")]
    alone, note = document.without_judge, ""
    if alone is not None and alone >= GAIN * (size or 0):
        note = f"; without the judge about {two_digits(alone):,}"
    units, power = f"labels of {samples:,} samples", percent(document.target)
    text = needed(size, limit, units, claim, power, least=size == FEWEST_LABELS, note=note)
    endless = document.endless_samples
    if size is not None or endless is None or limit < samples - FEWEST_OTHERS:
        return [(found, text)]
    more = f"If the judge scored samples without end, about {two_digits(endless):,} would do."
    figures = {"labels": float(endless)}
    return [(found, text), (Finding(kind="endless-samples", models=pair, figures=figures), more)]
