"""Entry point of ``copa``, and the documents of its questions: comparison, explanation and sweeps."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Annotated, Any, TypeVar

import numpy as np

from riskrank.engine.copa.comparison import BASELINES, ScalarizationComparison, compare_scalarizations
from riskrank.engine.copa.ranking import (
    CopaExplanation,
    choosing_weights,
    complete_weights,
    explain_model,
    rank_models,
)
from riskrank.engine.copa.sweep import Sweep, sweep_all_weights, sweep_p, sweep_weight
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, counted, index_of, option
from riskrank.options.inference import SuiteSettings
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.objectives import (
    USUAL_ORDERS,
    CopaBase,
    CopaRequest,
    build_objectives,
    document_fields,
    json_order,
)
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.copa.ranking import rank_population
from riskrank.studies.document import attributes, computed, rows_from_records
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.targets import rescale_tasks

# Number of models that move most, as listed in meta and on the screen.
MOST_MOVERS = 5


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Rank and score of one model under one scalarization; smaller scores are better."""

    criterion: str = computed(lambda document, m: document.comparison.names[m])
    model: str = computed(lambda document, table, j: table.name(document.comparison.models[j]))
    rank: int = computed(lambda document, m, j: document.comparison.comparison.rank[m, j].item())
    score: float = computed(lambda document, m, j: document.comparison.scores[m, j].item())


@dataclass(frozen=True, kw_only=True)
class ComparisonDocument(CopaBase[ComparisonRow], schema="copa-comparison"):
    """Ranks of all models under COPA and other scalarizations.

    Attributes
    ----------
    comparison : ScalarizationComparison
        Ranks by all scalarizations, and their agreement.
    """

    comparison: ScalarizationComparison

    @property
    def movers(self) -> list[int]:
        """Models whose rank depends most on the scalarization, as indices into ``comparison.models``."""
        ranks = self.comparison.comparison
        return [j for j in ranks.movers[:MOST_MOVERS].tolist() if ranks.movement[j] > 0]

    def result_entries(self) -> dict[str, Any]:
        """Return entries for the JSON object ``meta``: Kendall's tau, rank changes and exclusions."""
        comparison, table, ranks = self.comparison, self.objectives, self.comparison.comparison

        def by_scalarization(entries: Iterable[Any]) -> dict[str, Any]:
            """Return a dictionary of the entries keyed by the name of the scalarization."""
            return dict(zip(comparison.names, entries, strict=True))

        return {
            "kendall_tau": by_scalarization(map(by_scalarization, ranks.tau.tolist())),
            "movers": [
                {
                    "model": table.name(comparison.models[j]),
                    "movement": ranks.movement[j].item(),
                    "ranks": by_scalarization(ranks.rank[:, j].tolist()),
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
        problem = "a comparison needs at least two models that meet the constraints"
        detail = f"{counted(n_feasible, 'model')} of {table.population.feasible.size}"
        hint = f"loosen {option('require')}, or leave out {option('compare')}"
        raise InputError(problem, found=detail, hint=hint)
    orders = settings.p or USUAL_ORDERS
    values = table.values, table.larger_is_better, table.weights
    methods: dict[str, Any] = {"baselines": settings.against or BASELINES, "lenient": not settings.against}
    comparison = compare_scalarizations(table.population, *values, orders=orders, **methods)
    criteria, messages = {"criteria": comparison.names}, exclusion_messages(comparison)
    shared_fields = document_fields(request, orders, criteria, messages)
    places = [
        (m, j)
        for m, ranks in enumerate(comparison.comparison.rank)
        for j in np.argsort(ranks, kind="stable")
        if settings.top is None or j < settings.top
    ]
    return ComparisonDocument(**shared_fields, comparison=comparison).with_rows("m j", places)


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
    """Return one message for each reason why scalarizations were excluded."""
    reasons: dict[str, list[str]] = {}
    for name, error in comparison.excluded.items():
        reason = f"{error.problem.removeprefix(scalarization_label(name)).strip()} ({error.found})"
        reasons.setdefault(reason, []).append(scalarization_label(name))
    return [f"excluded {', '.join(names)}: {reason}" for reason, names in reasons.items()]


@dataclass(frozen=True, slots=True)
class ExplanationRow:
    """Contribution of one objective to the rank of the explained model."""

    model: str = computed(lambda document, table: table.name(document.model))
    metric: str = computed(lambda table, k: table.population.metrics[k])
    value: float = computed(lambda document, table, k: table.values[document.model, k].item())
    u: float = computed(lambda document, table, k: table.population.u[document.model, k].item())
    weight: float = computed(lambda table, k: table.weights[k].item())
    weighted_u: float = computed(lambda document, k: document.explanation.weighted[k].item())
    contribution: float = computed(lambda document, k: document.explanation.contribution[k].item())
    binding: bool = computed(lambda document, k: k in document.explanation.binding)
    choosing_weight: float | None = computed(lambda document, k: document.choosing_weight(k))
    chosen_between: list[list[float]] = computed(lambda document, k: [*map(list, document.intervals(k))])


@dataclass(frozen=True, kw_only=True)
class ExplanationDocument(CopaBase[ExplanationRow], schema="copa-explain"):
    """Explanation of one model's rank: the contribution of each objective.

    Attributes
    ----------
    explanation : CopaExplanation
        Contributions to the rank, and weights that choose the model.
    worst_case_weights : ndarray, shape (K,), or None
        Weights for which the model is chosen at p = ∞, or None if there are none.
    sweeps : tuple of Sweep
        One sweep per weight; the other weights keep their proportions. Empty for a single objective.
    """

    explanation: CopaExplanation
    worst_case_weights: Floats | None
    sweeps: tuple[Sweep, ...]

    @property
    def model(self) -> int:
        """Index of the explained model."""
        return self.explanation.model

    @property
    def violated_constraints(self) -> list[str]:
        """Constraints that the model violates, as texts such as "cost <= 0.5"."""
        table = self.objectives
        pairs = zip(table.constraints, table.bounds, strict=True)
        return [text for text, bound in pairs if not bound.holds(table.values)[self.model]]

    def choosing_weight(self, objective: int) -> float | None:
        """Return the weight of one objective in a set of weights that chooses the model, or None.

        `objective` is an index.
        """
        weights = self.explanation.weights
        return None if weights is None else float(weights[objective])

    def intervals(self, objective: int) -> list[tuple[float, float]]:
        """Return the intervals of one objective's weight for which the model is chosen.

        `objective` is an index. Each interval is a pair of lower and upper limit.
        """
        return self.sweeps[objective].intervals_of(self.model) if self.sweeps else []

    def result_entries(self) -> dict[str, Any]:
        """Return entries for ``meta``: rank, models that dominate it, and weights for which it is chosen."""
        table, explanation, i = self.objectives, self.explanation, self.model
        ranking = explanation.ranking

        def weights_by_metric(weights: Floats | None) -> dict[str, float] | None:
            """Return a dictionary of weights keyed by metric, or None if there are none."""
            return None if weights is None else table.by_objective(weights)

        return {
            "explanation": {
                "model": table.name(i),
                "p": json_order(ranking.p),
                "rank": ranking.rank_of(i),
                "norm": ranking.norm[i].item(),
                "chosen": table.name(ranking.chosen),
                "chosen_norm": ranking.norm[ranking.chosen].item(),
                "pareto": bool(table.population.front[i]),
                "feasible": bool(table.population.feasible[i]),
                "broken_constraints": self.violated_constraints,
                "dominated_by": [table.name(j) for j in explanation.dominators],
                "choosing_weights": weights_by_metric(explanation.weights),
                "choosing_weights_at_p_inf": weights_by_metric(self.worst_case_weights),
            }
        }


def explain_requested_model(request: CopaRequest) -> ExplanationDocument:
    """Explain the rank of the model that the option ``why`` names.

    Raises
    ------
    UsageError
        If the model is unknown or was excluded.
    """
    settings, table, name = request.settings, request.objectives, request.settings.why or ""
    if name in table.dropped:
        detail = f"no score on some objective, with {option('missing', 'drop')}"
        hint = f"{option('missing', 'worst')} keeps the model and ranks it last on that objective"
        raise UsageError(f"{option('why', name)}: the model was dropped", found=detail, hint=hint)
    index_of(name, request.table.models, kind="model", parameter="why")
    model = list(table.population.names).index(name)
    population, ranking = table.population, rank_models(table.population, table.weights, p=settings.orders[0])
    document = ExplanationDocument(
        **document_fields(request, settings.orders, {"why": settings.why}),
        explanation=explain_model(population, model, ranking),
        worst_case_weights=choosing_weights(population, model, p=inf),
        sweeps=sweep_all_weights(population, ranking),
    )
    return document.with_rows("k", ((k,) for k in range(len(table.weights))))


Row = TypeVar("Row")

# Default number of steps.
_STEPS = 10_000
# Fields that contain an order p.
_ORDERS = ("p", "p_low", "p_high")
Order = Annotated[float, {"anyOf": [{"type": "number"}, {"const": "inf"}]}]


@dataclass(frozen=True, slots=True)
class WeightIntervalRow:
    """Model chosen on an interval of the weight, for one p; ``u`` and ``values`` are keyed by objective."""

    alpha_low: float = computed(lambda low: low)
    alpha_high: float = computed(lambda high: high)
    model: str = computed(lambda table, i: table.name(i))
    p: Order = computed(lambda p: p)
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    values: dict[str, float] = computed(lambda table, i: table.by_objective(table.values[i]))


@dataclass(frozen=True, slots=True)
class OrderIntervalRow:
    """Model chosen on an interval of p; ``u`` and ``values`` are keyed by objective."""

    p_low: Order = computed(lambda low: low)
    p_high: Order = computed(lambda high: high)
    model: str = computed(lambda table, i: table.name(i))
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    values: dict[str, float] = computed(lambda table, i: table.by_objective(table.values[i]))


@dataclass(frozen=True, kw_only=True)
class SweepDocument(CopaBase[Row], schema="copa-sweep"):
    """Models chosen as a weight or the order p of the norm varies, one row per interval.

    Attributes
    ----------
    sweeps : tuple of (float or None, Sweep)
        Pairs of the order p and the sweep; p is None if p itself is swept.
    """

    sweeps: tuple[tuple[float | None, Sweep], ...]

    def stored_columns(self) -> dict[str, list[Any]]:
        """Return the columns as stored in JSON and CSV, with p = ∞ as text."""
        columns = self.columns()
        return columns | {name: [*map(json_order, columns[name])] for name in _ORDERS if name in columns}

    def result_entries(self) -> dict[str, Any]:
        """Return entries for the JSON object ``meta``: how much of the Pareto front each sweep chooses."""
        return {
            "sweeps": [
                {
                    "p": None if p is None else json_order(p),
                    "intervals": int(sweep.model.size),
                    **attributes(sweep, "models_chosen", "front_size", "coverage", "evenness"),
                }
                for p, sweep in self.sweeps
            ]
        }


@dataclass(frozen=True, kw_only=True)
class WeightSweepDocument(SweepDocument[WeightIntervalRow]):
    """Models chosen as the weight of one objective increases from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class OrderSweepDocument(SweepDocument[OrderIntervalRow]):
    """Models chosen as p increases from 1 to infinity."""


Swept = TypeVar("Swept", WeightSweepDocument, OrderSweepDocument)


def sweep_requested_weight(request: CopaRequest) -> WeightSweepDocument:
    """Find the model chosen for every weight of one objective, once per requested order p.

    The other objectives keep the proportions of their weights.

    Raises
    ------
    UsageError
        If the objective is unknown or the only one, or if its weight is also set.
    """
    settings, table = request.settings, request.objectives
    objective = _swept_objective(request)
    other_objectives = [name for name in table.population.metrics if name != settings.sweep]
    weights = {name: weight for name, weight in table.explicit_weights.items() if name != settings.sweep}
    other_weights = np.insert(complete_weights(other_objectives, weights), objective, 0.0)
    request = replace(request, objectives=replace(table, weight_override=other_weights))
    steps = settings.steps or _STEPS
    sweeps = [
        sweep_weight(table.population, objective, p=p, other_weights=other_weights, steps=steps)
        for p in settings.orders
    ]
    question_settings = {"parameter": "alpha", "objective": settings.sweep, "steps": steps}
    pairs = zip(settings.orders, sweeps, strict=True)
    return _sweep_document(WeightSweepDocument, request, [*pairs], question_settings)


def sweep_norm(request: CopaRequest) -> OrderSweepDocument:
    """Find the model chosen for every order p of the norm, from 1 (mean rank) to ∞ (worst rank)."""
    table, steps = request.objectives, request.settings.steps or _STEPS
    sweep = sweep_p(table.population, table.weights, steps=steps)
    return _sweep_document(OrderSweepDocument, request, [(None, sweep)], {"parameter": "p", "steps": steps})


def _sweep_document(
    kind: type[Swept],
    request: CopaRequest,
    sweeps: list[tuple[float | None, Sweep]],
    question_settings: dict[str, Any],
) -> Swept:
    """Build the document of one or more sweeps.

    Parameters
    ----------
    kind : type
        Document class.
    request : CopaRequest
        Table, settings and objectives of the study.
    sweeps : list of (float or None, Sweep)
        Pairs of the order p and the sweep.
    question_settings : dict
        Settings of the sweep to record in the provenance.
    """
    shared_fields = document_fields(request, [p for p, _ in sweeps if p is not None], question_settings)
    intervals = (
        (request.objectives, p, low, high, model)
        for p, sweep in sweeps
        for low, high, model in zip(sweep.low.tolist(), sweep.high.tolist(), sweep.model, strict=True)
    )
    shared_fields["rows"] = rows_from_records(kind.row_type, "table p low high i", intervals)
    return kind(**shared_fields, sweeps=tuple(sweeps))


def _swept_objective(request: CopaRequest) -> int:
    """Return the index of the objective whose weight is swept.

    Raises
    ------
    UsageError
        If the objective is unknown or the only one, or if its weight is also set.
    """
    name, metrics = request.settings.sweep or "", request.objectives.population.metrics
    if name == "p" and name not in metrics:
        problem = f"{option('sweep', name)}: no objective has this name"
        detail = "p is the order of the norm"
        raise UsageError(problem, found=detail, hint=f"{option('sweep_p', True)} varies it")
    objective = index_of(name, metrics, kind="objective", parameter="sweep")
    if len(metrics) == 1:
        hint = f"select further objectives with {option('metric')}"
        raise UsageError("sweeping a weight needs at least two objectives", found=f"only {name}", hint=hint)
    if name in request.table.options.weight:
        weight = option("weight", f"{name}=…")
        problem = f"{option('sweep', name)} varies this weight, so it cannot be set"
        hint = f"leave out {weight}; set weights of the other objectives only"
        raise UsageError(problem, found=f"{option('sweep', name)} with {weight}", hint=hint)
    return objective


__all__ = ["copa"]

_STUDIES_BY_QUESTION: dict[str, Callable[[CopaRequest], CopaBase]] = {
    "why": explain_requested_model,
    "sweep": sweep_requested_weight,
    "sweep_p": sweep_norm,
    "compare": compare_with_scalarizations,
}


def copa(table: ScoreTable, settings: CopaSettings, runtime: Runtime = SERIAL) -> CopaBase:
    """Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

    Parameters
    ----------
    table : ScoreTable
        Read with the reading options of ``copa``.
    settings : CopaSettings
        Options of ``copa``.
    runtime : Runtime, optional
        Processes and progress display.

    Returns
    -------
    CopaBase
        A :class:`CopaDocument`, or the document of ``why``, ``sweep``, ``sweep_p`` or ``compare``.

    Raises
    ------
    InputError
        If the ``missing`` rule does not handle missing scores, no model meets the constraints, or a
        scalarization requested by name would divide by zero.
    UsageError
        If an objective has no direction, or a name is unknown.
    """
    if table.suite.specs:
        table = rescale_tasks(table, SuiteSettings())
    request = CopaRequest(table=table, settings=settings, objectives=build_objectives(table, settings))
    if settings.question is None:
        return rank_population(request, runtime)
    return _STUDIES_BY_QUESTION[settings.question](request)
