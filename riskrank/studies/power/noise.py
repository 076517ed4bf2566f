"""What to buy where noise has several sources: items, wordings, judges (method §15)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.evidence.crossed import Components
from riskrank.errors import option
from riskrank.options.values import require_known
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, of, rows_from
from riskrank.studies.findings import Finding, Said, stated
from riskrank.studies.means_only import components_of, why_means
from riskrank.studies.pairs import require_pair
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.settings import level_of, provenance
from riskrank.studies.wording import names, number

# Of the variance today, so that the standard error is halved.
KEPT = 0.25


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source of noise: what it is of the variance of the mean, how many levels there are and would do."""

    source: str = of(lambda some, names: source_words(some, names))
    share: float = of(lambda share: share)
    levels: int | None = of(lambda some, beside: _of_one(some, beside["levels"]))
    needed: int | None = of(lambda some, beside: _of_one(some, beside["needed"]))
    cost: float | None = of(lambda some, beside: _of_one(some, beside["cost"]))


@dataclass(frozen=True, kw_only=True)
class NoisePlanDocument(Document[SourceRow], schema="power-noise"):
    """What halves the standard error of a difference of means, at the least cost.

    Attributes
    ----------
    components : Components
    error, planned : float
        Standard error today, and of the plan; NaN where there is none.
    why : str
        What the sources are.
    """

    components: Components
    error: float
    planned: float | None
    why: str

    def meta(self) -> Mapping[str, Any]:
        """Standard errors today, of the plan, and that no number of items passes."""
        return {"error": self.error, "planned": self.planned, "floor": self.components.floor}


def plan_of_noise(table: ScoreTable, settings: PowerSettings) -> NoisePlanDocument:
    """Plan how many levels of each source halve the standard error of a difference of means.

    Raises
    ------
    UsageError
        If there are several metrics, no pair, or a cost of what is no source.
    """
    pair = require_pair(table, settings.pair, option("noise", ",".join(table.options.noise)))
    found = components_of(table, pair)
    costs = _costs(found, settings)
    plan = found.cheapest(costs, KEPT)
    error = float(np.sqrt(found.variance(found.levels)))
    planned = None if plan is None else float(np.sqrt(found.variance(plan)))
    wanted = dict.fromkeys(found.names) if plan is None else dict(zip(found.names, plan, strict=True))
    beside = {"levels": dict(zip(found.names, found.levels, strict=True)), "needed": wanted, "cost": costs}
    shares = sorted(found.shares.items(), key=lambda one: -one[1])
    rows = rows_from(
        SourceRow, "some share names beside", ((some, share, found.names, beside) for some, share in shares)
    )
    described = {"pair": [table.models[i] for i in pair], **level_of(settings)}
    document = NoisePlanDocument(
        provenance=provenance("power", table, settings, described),
        rows=rows,
        components=found,
        error=error,
        planned=planned,
        why=why_means(table).sentence,
    )
    return replace(document, **stated(table.models, *_said(document, plan, pair)))


def source_words(some: frozenset[str], names_: tuple[str, ...]) -> str:
    """A source of noise, or several together; what is left is the rest."""
    return " × ".join(name for name in names_ if name in some) or "rest"


def _of_one(some: frozenset[str], values: Mapping[str, Any]) -> Any:
    """What is known of a source by itself; None of several together and of the rest."""
    return values.get(*some) if len(some) == 1 else None


def _costs(found: Components, settings: PowerSettings) -> dict[str, float]:
    require_known(settings.cost, found.names, kind="source", parameter="cost")
    return {name: settings.cost.get(name, 1.0) for name in found.names}


def _said(document: NoisePlanDocument, plan: tuple[int, ...] | None, pair: tuple[int, int]) -> list[Said]:
    """What halves the standard error, and what no number of items brings it below."""
    found, planned, floor = document.components, document.planned, document.components.floor
    what = " − ".join(document.provenance.models[i] for i in pair)
    halve = f"To halve the standard error of {what}, {number(document.error)}"
    figures = {"error": document.error} | ({} if planned is None else {"planned": planned})
    if plan is None or planned is None:
        text = f"{halve}, more than 40 levels of a source would be needed."
    else:
        counts = [
            f"{plan[0]:,} items",
            *(f"{n} of {name}" for name, n in zip(found.names[1:], plan[1:], strict=True)),
        ]
        text = f"{halve}: {names(counts, 9)}, the cheapest that do ({number(planned)})."
    alone = f"More items alone never bring it below {number(floor)}." if floor > 0 else ""
    return [
        (Finding(kind="levels-needed", models=pair, figures=figures), text),
        (Finding(kind="floor", models=pair, figures={"error": floor}), alone),
    ]
