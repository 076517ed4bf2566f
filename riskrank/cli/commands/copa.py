"""``riskrank copa``: choose among models by objectives that have no common unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.objectives import (
    NormOptions,
    ObjectiveInputs,
    Objectives,
    norm_settings,
    parse_orders,
    read_objectives,
)
from riskrank.cli.options import Names, OutputOptions, split_names
from riskrank.errors import UsageError, listing, nearest

if TYPE_CHECKING:
    from riskrank.cli.session import Session
    from riskrank.report.copa.objectives import RankedTable
    from riskrank.report.document import Result

# The p's every ranking is set beside, from the one that forgives nothing to the mean rank.
USUAL_ORDERS = (float("inf"), 8.0, 2.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What to ask beyond the ranking."""

    explain: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Why this model ranks where it does, and what would choose it."),
    ] = None
    sweep: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which model is chosen as an objective's weight goes from 0 to 1."),
    ] = None
    sweep_p: Annotated[
        bool, typer.Option("--sweep-p", help="Which model is chosen as p goes from 1 to infinity.")
    ] = False
    steps: Annotated[int | None, typer.Option(metavar="N", help="Steps of a sweep. [10000]")] = None
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Set COPA beside the average, Δ, min-max, the usual p-norm, SAW, AHP, MEW."
        ),
    ] = False
    criterion: Annotated[
        Names,
        typer.Option(
            metavar="NAME,...",
            help="Compare with these only: average, delta, min-max, p-norm, saw, ahp, mew. Repeatable.",
        ),
    ] = None
    bootstrap: Annotated[
        int | None,
        typer.Option(metavar="B", help="How often the choice stays in B resampled populations."),
    ] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of --bootstrap. [0]")] = None
    ccdf: Annotated[
        bool, typer.Option("--ccdf", help="Show how each model's ranks spread over the objectives.")
    ] = False
    top: Annotated[int | None, typer.Option(metavar="N", help="Only the N best models, in every format.")] = (
        None
    )


@app.command(short_help="Choose by objectives without a common unit: ranks, their norm, the Pareto front.")
@grouped
def copa(
    context: typer.Context,
    inputs: ObjectiveInputs,
    norm: NormOptions,
    questions: Questions,
    output: OutputOptions,
) -> None:
    """Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

    Every value becomes the share of the other models that do better; a weighted norm of these ranks
    orders the models. The table has one row a model, or is averaged over the samples. Every objective
    needs a direction: --metrics, --lower or --higher.

    The norm's p says how much a bad objective is forgiven. The default, inf, looks at the worst weighted
    rank: it can reach every model of the Pareto front and answers to the weights. p = 1, the mean rank,
    tends to choose extremes whatever the weights are. --sweep shows it.
    """
    from riskrank.cli.session import Session

    orders = parse_orders(norm.p)
    check_questions(questions, norm, orders)
    session = Session(context.obj, inputs, output)
    objectives = read_objectives(session, inputs, norm)
    if questions.explain is not None:
        answer = _explain
    elif questions.sweep is not None or questions.sweep_p:
        answer = _sweep
    elif questions.compare or questions.criterion:
        answer = _compare
    else:
        answer = _rank
    session.finish(answer(session, objectives, questions, norm, orders))


def check_questions(questions: Questions, norm: NormOptions, orders: Sequence[float]) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    UsageError
    """
    asked = {
        "--explain": questions.explain is not None,
        "--sweep": questions.sweep is not None,
        "--sweep-p": questions.sweep_p,
        "--compare": questions.compare or bool(questions.criterion),
    }
    given = [option for option, on in asked.items() if on]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} are different questions", found=" ".join(given), hint="ask one at a time"
        )
    question = given[0] if given else None
    for option, on, homes in (
        ("--steps", questions.steps is not None, ("--sweep", "--sweep-p")),
        ("--top", questions.top is not None, (None, "--compare")),
        ("--bootstrap", questions.bootstrap is not None, (None,)),
        ("--ccdf", questions.ccdf, (None,)),
    ):
        if on and question not in homes:
            raise UsageError(
                f"{option} says nothing about {question}" if question else f"{option} needs a sweep",
                found=f"{option} with {question}" if question else f"{option} without --sweep or --sweep-p",
                hint=f"leave out {option}" if question else "add --sweep NAME, or leave it out",
            )
    if questions.seed is not None and questions.bootstrap is None:
        raise UsageError(
            "--seed has nothing to seed", found="--seed without --bootstrap", hint="add --bootstrap 1000"
        )
    if questions.seed is not None and questions.seed < 0:
        raise UsageError("--seed must not be negative", found=str(questions.seed), hint="0 is the default")
    for option, number in (
        ("--steps", questions.steps),
        ("--bootstrap", questions.bootstrap),
        ("--top", questions.top),
    ):
        if number is not None and number < 1:
            raise UsageError(
                f"{option} must be at least 1", found=str(number), hint=f"leave out {option} for its default"
            )
    if questions.sweep_p and norm.p:
        raise UsageError(
            "--sweep-p takes every p, so that none can be given",
            found=f"--sweep-p with --p {norm.p[0]}",
            hint="leave out --p, or sweep a weight with --sweep NAME",
        )
    if questions.explain is not None and len(orders) > 1:
        raise UsageError(
            "--explain works with one p", found=f"--p {listing(norm.p)}", hint="explain them one by one"
        )


def check_sweep(name: str, metrics: Sequence[str], weights: Names) -> int:
    """Find the objective to sweep.

    Raises
    ------
    UsageError
        If there is none of that name, or its weight is given as well.
    """
    from riskrank.cli.session import parse_weights

    if name not in metrics:
        close = nearest(name, metrics)
        hint = f"did you mean --sweep {close}?" if close else "name one of these objectives"
        raise UsageError(
            f"--sweep {name}: there is no such objective",
            found=f"the objectives are {listing(metrics)}",
            hint="--sweep-p turns the order of the norm" if name == "p" else hint,
        )
    if len(metrics) == 1:
        raise UsageError(
            "sweeping a weight needs at least two objectives",
            found=f"only {name}",
            hint="select further objectives with --metric",
        )
    if name in parse_weights(weights):
        raise UsageError(
            f"--sweep {name} gives it every weight, so that none can be set",
            found=f"--sweep {name} with --weight {name}=…",
            hint=f"leave out --weight {name}=…; weights of the others set their proportions",
        )
    return list(metrics).index(name)


def _rank(
    session: Session, objectives: Objectives, questions: Questions, norm: NormOptions, orders: Sequence[float]
) -> Result:
    from riskrank.engine.copa.population import rank_models
    from riskrank.engine.copa.stability import bootstrap_choice, leave_one_out
    from riskrank.engine.copa.sweep import sweep_each_weight
    from riskrank.report.copa.ranking import FIELDS, CopaStudy, copa_meta, copa_rows, copa_view

    population = objectives.population
    weights, notes = _weights(session, objectives)
    table = _table(objectives, weights)
    bootstrap = None
    if questions.bootstrap is not None:
        bootstrap = bootstrap_choice(
            population, weights, p=orders[0], resamples=questions.bootstrap, seed=questions.seed or 0
        )
    study = CopaStudy(
        rankings=tuple(rank_models(population, weights, p=p) for p in orders),
        others=tuple(rank_models(population, weights, p=p) for p in reversed(USUAL_ORDERS)),
        sweeps=sweep_each_weight(population, weights, p=orders[0]) if len(weights) > 1 else (),
        influence=leave_one_out(population, weights, p=orders[0]) if len(population.names) > 2 else None,
        bootstrap=bootstrap,
    )
    return _result(
        objectives,
        norm,
        settings=_weight_settings(table) | _order_settings(orders),
        extra=copa_meta(table, study),
        fields=FIELDS,
        rows=copa_rows(table, study, questions.top),
        view=copa_view(table, study, top=questions.top, ccdf=questions.ccdf),
        resamples=questions.bootstrap,
        seed=None if bootstrap is None else questions.seed or 0,
        inputs=session.inputs,
        notes=notes,
    )


def _explain(
    session: Session, objectives: Objectives, questions: Questions, norm: NormOptions, orders: Sequence[float]
) -> Result:
    import numpy as np

    from riskrank.engine.copa.explanation import choosing_weights, explain_model
    from riskrank.engine.copa.sweep import sweep_each_weight
    from riskrank.report.copa.explanation import (
        FIELDS,
        SCHEMA,
        ModelStudy,
        explain_meta,
        explain_rows,
        explain_view,
    )

    population = objectives.population
    if questions.explain in objectives.dropped:
        raise UsageError(
            f"--explain {questions.explain}: the model was dropped",
            found="no score for some objective, and --missing drop",
            hint="--missing worst keeps it, ranked last where its score is missing",
        )
    model = list(population.names).index(objectives.table.models[objectives.table.index(questions.explain)])
    weights, notes = _weights(session, objectives)
    table = _table(objectives, weights)
    p = orders[0]
    study = ModelStudy(
        explanation=explain_model(population, model, weights, p=p),
        worst_case_weights=choosing_weights(population, model, p=np.inf),
        sweeps=sweep_each_weight(population, weights, p=p) if len(weights) > 1 else (),
        broken=tuple(
            constraint.text(population.metrics)
            for constraint in objectives.constraints
            if not constraint.holds(objectives.values)[model]
        ),
    )
    return _result(
        objectives,
        norm,
        settings=_weight_settings(table) | _order_settings(orders) | {"explain": questions.explain},
        extra=explain_meta(table, study),
        fields=FIELDS,
        rows=explain_rows(table, study),
        view=explain_view(table, study),
        schema=SCHEMA,
        inputs=session.inputs,
        notes=notes,
    )


def _sweep(
    session: Session, objectives: Objectives, questions: Questions, norm: NormOptions, orders: Sequence[float]
) -> Result:
    import numpy as np

    from riskrank.engine.copa.population import share_weights
    from riskrank.engine.copa.sweep import sweep_p, sweep_weight
    from riskrank.report.copa.sweep import (
        ORDER_FIELDS,
        SCHEMA,
        WEIGHT_FIELDS,
        sweep_meta,
        sweep_rows,
        sweep_view,
    )

    population, given = objectives.population, objectives.given_weights()
    steps = questions.steps or 10_000
    settings: dict[str, Any]
    notes: list[str] = []
    if questions.sweep_p:
        weights, notes = _weights(session, objectives)
        table = _table(objectives, weights)
        sweeps = [(None, sweep_p(population, weights, steps=steps))]
        settings, fields = _weight_settings(table) | {"parameter": "p"}, ORDER_FIELDS
    else:
        objective = check_sweep(questions.sweep, population.metrics, norm.weight)
        others = [name for name in population.metrics if name != questions.sweep]
        rest = share_weights(others, {name: given[name] for name in given if name != questions.sweep})
        rest = np.insert(rest, objective, 0.0)
        table = _table(objectives, rest)
        sweeps = [(p, sweep_weight(population, objective, p=p, rest=rest, steps=steps)) for p in orders]
        settings = {"rest": table.by_metric(rest)} | _order_settings(orders)
        settings |= {"parameter": "alpha", "objective": questions.sweep}
        fields = WEIGHT_FIELDS
    return _result(
        objectives,
        norm,
        settings=settings | {"steps": steps},
        extra=sweep_meta(sweeps),
        fields=fields,
        rows=sweep_rows(table, sweeps),
        view=sweep_view(table, sweeps),
        schema=SCHEMA,
        inputs=session.inputs,
        notes=notes,
    )


def _compare(
    session: Session, objectives: Objectives, questions: Questions, norm: NormOptions, orders: Sequence[float]
) -> Result:
    from riskrank.engine.copa.comparison import BASELINES, compare_criteria
    from riskrank.report.copa.comparison import (
        FIELDS,
        SCHEMA,
        comparison_meta,
        comparison_rows,
        comparison_view,
        left_out_warnings,
    )

    criteria = split_names(questions.criterion)
    for name in criteria:
        if name not in BASELINES:
            close = nearest(name, BASELINES)
            raise UsageError(
                f"--criterion {name} is not a criterion",
                found=f"the criteria are {listing(BASELINES)}",
                hint=f"did you mean --criterion {close}?"
                if close
                else "name one of these; COPA is always there",
            )
    weights, notes = _weights(session, objectives)
    table = _table(objectives, weights)
    orders = orders if norm.p else USUAL_ORDERS
    found = compare_criteria(
        objectives.population,
        objectives.values,
        objectives.larger_is_better,
        weights,
        orders=orders,
        baselines=criteria or BASELINES,
        lenient=not criteria,
    )
    left_out = left_out_warnings(found)
    session.warn(left_out)
    return _result(
        objectives,
        norm,
        settings=_weight_settings(table) | _order_settings(orders) | {"criteria": found.names},
        extra=comparison_meta(table, found),
        fields=FIELDS,
        rows=comparison_rows(table, found, questions.top),
        view=comparison_view(table, found, questions.top),
        schema=SCHEMA,
        inputs=session.inputs,
        notes=[*notes, *left_out],
    )


def _weights(session: Session, objectives: Objectives) -> tuple[Any, list[str]]:
    """Weights of the objectives, and a warning, shown here, if some have got nothing of them."""
    from riskrank.engine.copa.population import share_weights

    metrics, given = objectives.population.metrics, objectives.given_weights()
    weights = share_weights(metrics, given)
    idle = [name for name, weight in zip(metrics, weights, strict=True) if weight == 0 and name not in given]
    notes = [f"the weights given sum to 1, nothing is left for {listing(idle)}"] if idle else []
    session.warn(notes)
    return weights, notes


def _table(objectives: Objectives, weights: Any) -> RankedTable:
    from riskrank.report.copa.objectives import RankedTable

    population = objectives.population
    return RankedTable(
        population=population,
        values=objectives.values,
        larger_is_better=objectives.larger_is_better,
        weights=weights,
        constraints=[constraint.text(population.metrics) for constraint in objectives.constraints],
    )


def _weight_settings(table: RankedTable) -> dict[str, Any]:
    return {"weights": table.by_metric(table.weights)}


def _order_settings(orders: Sequence[float]) -> dict[str, Any]:
    from riskrank.report.copa.ranking import order_value

    return {"p": [order_value(p) for p in orders]}


def _result(
    objectives: Objectives,
    norm: NormOptions,
    *,
    settings: Mapping[str, Any],
    extra: Mapping[str, Any],
    fields: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    view: Sequence[Any],
    inputs: ObjectiveInputs,
    schema: str | None = None,
    seed: int | None = None,
    resamples: int | None = None,
    notes: Sequence[str] = (),
) -> Result:
    from riskrank.cli.session import describe_inputs, input_settings
    from riskrank.report.document import Provenance, Result

    described = describe_inputs(objectives.table) | {"models": objectives.population.names}
    return Result(
        provenance=Provenance(
            command="copa",
            schema=schema,
            seed=seed,
            resamples=resamples,
            settings=input_settings(inputs) | norm_settings(norm, objectives) | settings,
            warnings=[*objectives.warnings, *notes],
            extra={"dropped_models": objectives.dropped} | extra,
            **described,
        ),
        fields=fields,
        rows=rows,
        view=view,
    )
