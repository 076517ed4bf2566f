"""Plan the cheapest numbers of items, prompts, judges and other noise levels (method §15)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.evidence.crossed import Components
from riskrank.errors import option
from riskrank.options.values import check_names
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document
from riskrank.studies.findings import Finding, Remark, verdict_fields
from riskrank.studies.means_only import design_note, difference_components
from riskrank.studies.pairs import require_pair
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.settings import alpha_entry, provenance
from riskrank.studies.wording import format_number, join_names

# Target as a share of the current variance; it halves the standard error.
TARGET_VARIANCE = 0.25


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A noise source: its proportion of the mean's variance, its number of levels, and the number needed."""

    source: str
    share: float
    levels: int | None
    needed: int | None
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class NoisePlanDocument(Document[SourceRow], schema="power-noise"):
    """Cheapest plan that halves the standard error of a difference between means.

    Attributes
    ----------
    components : Components
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
        """Return the ``meta`` entries: the current and planned standard error, and its floor.

        The floor is the standard error that remains with infinitely many items.
        """
        return {"error": self.error, "planned": self.planned, "floor": self.components.minimum_error}


def plan_noise(table: ScoreTable, settings: PowerSettings) -> NoisePlanDocument:
    """Plan the number of levels of each source that halves the standard error of a difference between means.

    Raises
    ------
    UsageError
        If there are several metrics or no pair, or a cost names an unknown source.
    """
    pair = require_pair(table, settings.pair, option("noise", ",".join(table.options.noise)))
    noise = difference_components(table, pair)
    check_names(settings.cost, noise.names, kind="source", parameter="cost")
    costs = {name: settings.cost.get(name, 1.0) for name in noise.names}
    plan = noise.cheapest_plan(costs, TARGET_VARIANCE)
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
    return replace(document, **verdict_fields(table.models, *_describe(document, plan, pair)))


def _describe(doc: NoisePlanDocument, plan: tuple[int, ...] | None, pair: tuple[int, int]) -> list[Remark]:
    """Return the findings: the plan, and the standard error that remains with infinitely many items."""
    components, planned, floor = doc.components, doc.planned, doc.components.minimum_error
    difference = " − ".join(doc.provenance.models[i] for i in pair)
    halve = f"To halve the standard error of {difference} ({format_number(doc.error)})"
    figures = {"error": doc.error} | ({} if planned is None else {"planned": planned})
    if plan is None or planned is None:
        text = f"{halve}, a source would need more than 40 levels."
    else:
        counts = [f"{count} of {name}" for name, count in zip(components.names[1:], plan[1:], strict=True)]
        counts = [f"{plan[0]:,} items", *counts]
        text = f"{halve}, use {join_names(counts, 9)}, the cheapest plan (error {format_number(planned)})."
    limit = f"More items alone cannot reduce the error below {format_number(floor)}."
    floor_text = limit if floor > 0 else ""
    return [
        (Finding(kind="levels-needed", models=pair, figures=figures), text),
        (Finding(kind="floor", models=pair, figures={"error": floor}), floor_text),
    ]
