"""The document of COPA's option ``compare``: COPA compared with classical scalarizations."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.copa.comparison import BASELINES, ScalarizationComparison, compare_scalarizations
from riskrank.errors import InputError, counted, option
from riskrank.studies.copa.document_base import USUAL_ORDERS, CopaBase, CopaRequest, document_fields
from riskrank.studies.document import computed, rows_from_records

# Number of models that move most, as listed in meta and on the screen.
MOST_MOVERS = 5


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Rank and score of one model under one scalarization; smaller scores are better."""

    criterion: str = computed(lambda document, m: document.comparison.names[m])
    model: str = computed(lambda document, j: document.objectives.name(document.comparison.models[j]))
    rank: int = computed(lambda document, m, j: document.comparison.comparison.rank[m, j].item())
    score: float = computed(lambda document, m, j: document.comparison.scores[m, j].item())


@dataclass(frozen=True, kw_only=True)
class ComparisonDocument(CopaBase[ComparisonRow], schema="copa-comparison"):
    """Ranks of all models under COPA and other scalarizations.

    Attributes
    ----------
    comparison : ScalarizationComparison
    """

    comparison: ScalarizationComparison

    @property
    def movers(self) -> list[int]:
        """Models whose rank depends most on the scalarization, as positions in ``comparison.models``."""
        return self.comparison.movers(MOST_MOVERS)

    def result_entries(self) -> dict[str, Any]:
        """Return the ``meta`` entries: Kendall's tau, largest rank changes and excluded scalarizations."""
        comparison, table = self.comparison, self.objectives
        ranks = comparison.comparison.rank
        return {
            "kendall_tau": {
                name: dict(zip(comparison.names, row, strict=True))
                for name, row in zip(comparison.names, comparison.comparison.tau.tolist(), strict=True)
            },
            "movers": [
                {
                    "model": table.name(comparison.models[j]),
                    "movement": comparison.comparison.movement[j].item(),
                    "ranks": dict(zip(comparison.names, ranks[:, j].tolist(), strict=True)),
                }
                for j in self.movers
            ],
            "left_out": {name: error.problem for name, error in comparison.excluded.items()},
        }


def compare_with_scalarizations(request: CopaRequest) -> ComparisonDocument:
    """Rank the models by COPA with several orders p, and by other scalarizations.

    Raises
    ------
    InputError
        If a scalarization requested by name cannot be computed, or fewer than two models are feasible.
    """
    settings, table = request.settings, request.objectives
    if (n_feasible := int(table.population.feasible.sum())) < 2:
        raise InputError(
            "a comparison needs at least two models that meet the constraints",
            found=f"{counted(n_feasible, 'model')} of {table.population.feasible.size}",
            hint=f"loosen {option('require')}, or leave out {option('compare')}",
        )
    orders = settings.p or USUAL_ORDERS
    comparison = compare_scalarizations(
        table.population,
        table.values,
        table.larger_is_better,
        table.weights,
        orders=orders,
        baselines=settings.against or BASELINES,
        lenient=not settings.against,
    )
    shared_fields = document_fields(
        request, orders, {"criteria": comparison.names}, exclusion_messages(comparison)
    )
    document = ComparisonDocument(**shared_fields, rows=[], comparison=comparison)
    records = [
        (document, m, j)
        for m, ranks in enumerate(comparison.comparison.rank)
        for j in np.argsort(ranks, kind="stable")
        if settings.top is None or j < settings.top
    ]
    return replace(document, rows=rows_from_records(ComparisonRow, "document m j", records))


def scalarization_label(name: str) -> str:
    """Return the display name of a scalarization.

    For example, ``copa(p=2)`` becomes ``COPA p = 2``.
    """
    if name in ("saw", "ahp", "mew"):
        return name.upper()
    text = {"min-max": "min–max", "delta": "Δ"}.get(name, name)
    for key, word in (("copa", "COPA"), ("p-norm", "usual")):
        text = text.replace(f"{key}(p=", f"{word} p = ")
    return text.removesuffix(")").replace("p = inf", "p = ∞")


def exclusion_messages(comparison: ScalarizationComparison) -> list[str]:
    """Return one message per reason for excluding scalarizations, with the column that causes it."""
    reasons: dict[str, list[str]] = {}
    for name, error in comparison.excluded.items():
        reason = f"{error.problem.removeprefix(scalarization_label(name)).strip()} ({error.found})"
        reasons.setdefault(reason, []).append(scalarization_label(name))
    return [f"excluded {', '.join(names)}: {reason}" for reason, names in reasons.items()]
