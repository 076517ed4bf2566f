"""The objectives ``copa`` works on: one oriented value per model and metric, ranked in their population."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from riskrank.cli.directions import require_directions
from riskrank.cli.options import InputOptions, Names, split_names
from riskrank.errors import InputError, UsageError, listing, nearest

if TYPE_CHECKING:
    import numpy as np

    from riskrank.cli.session import Session
    from riskrank.engine.copa.constraints import Constraint
    from riskrank.engine.copa.population import Population
    from riskrank.scores.averages import ModelAverages
    from riskrank.scores.table import ScoreTable


@dataclass(frozen=True, kw_only=True)
class ObjectiveInputs(InputOptions):
    """Which scores to read; a model without a score can be dropped or counted as the worst."""

    cluster: Annotated[str | None, typer.Option("--cluster", hidden=True)] = None
    missing: Annotated[
        Literal["error", "drop", "worst"],
        typer.Option(help="A model without a score: refuse, drop the model, or rank it last there."),
    ] = "error"
    repeats: Annotated[
        Literal["error", "mean", "min", "max"],
        typer.Option(
            help="Several scores of a model on a sample: refuse, average, or take the worst run (min) or the "
            "best (max)."
        ),
    ] = "error"


@dataclass(frozen=True, kw_only=True)
class NormOptions:
    """The knobs of COPA."""

    p: Annotated[
        Names,
        typer.Option(
            metavar="P",
            help="Norm of the ranks: 1 is the mean rank and forgives a bad objective, inf looks at the worst "
            "one only and alone can reach every model of the front. Repeatable; the first one decides. [inf]",
        ),
    ] = None
    weight: Annotated[
        Names,
        typer.Option(
            metavar="NAME=VALUE",
            help="Weight of an objective; the others share what is left of 1. Repeatable. [equal]",
        ),
    ] = None
    require: Annotated[
        Names,
        typer.Option(
            metavar="'NAME <= VALUE'",
            help="Choose only among such models, in the units of the file; they are ranked among all. "
            "Repeatable.",
        ),
    ] = None
    ties: Annotated[
        Literal["min", "average", "max"],
        typer.Option(help="Whether none, half or all of the models of equal value count as better."),
    ] = "min"
    denominator: Annotated[
        Literal["n-1", "n"], typer.Option(help="Ranks are shares of the other models, or of all.")
    ] = "n-1"


@dataclass(frozen=True)
class Objectives:
    """A population of models and how it came about.

    Attributes
    ----------
    table : ScoreTable
    population : Population
    values : array of shape (N, K)
        In original units; NaN where missing.
    larger_is_better : array of bool, shape (K,)
        In original units.
    constraints : tuple of Constraint
    warnings : tuple of str
        Of reading and of the population; already shown.
    dropped : tuple of str
        Models left out of the population.
    """

    table: ScoreTable
    population: Population
    values: np.ndarray
    larger_is_better: np.ndarray
    constraints: tuple[Constraint, ...]
    warnings: tuple[str, ...]
    dropped: tuple[str, ...]

    def given_weights(self) -> dict[str, float]:
        """Weights somebody gave, on the command line or in the metrics file."""
        return {spec.name: spec.weight for spec in self.table.metrics if spec.weight is not None}


def read_objectives(session: Session, inputs: ObjectiveInputs, norm: NormOptions) -> Objectives:
    """Read a table, average it per model and metric, and rank every model in the population.

    Raises
    ------
    InputError, UsageError
        As `riskrank.scores.table.read_scores`; for objectives without a direction, missing scores under
        ``--missing error``, and constraints no model meets.
    """
    import numpy as np

    from riskrank.engine.copa.constraints import feasible_models
    from riskrank.engine.copa.population import population
    from riskrank.scores.averages import model_averages
    from riskrank.scores.table import read_scores, refuse_clusters

    options = session.read_options(norm.weight, sample_optional=True, allow_constant=True, missing="keep")
    table = read_scores(inputs.scores, options, session.environment.stdin)
    refuse_clusters(table, command="copa", why="it draws no samples: models are its population")
    require_directions(table, command="copa", metrics="objectives")
    averages = model_averages(table)
    kept = np.arange(len(table.models))
    notes: list[str] = []
    if averages.missing_scores:
        kept, note = _treat_missing(table, averages, inputs.missing)
        notes.append(note)
    models = tuple(table.models[i] for i in kept)
    metrics = tuple(spec.name for spec in table.metrics)
    values = averages.raw[kept]
    constraints = tuple(parse_constraint(text, metrics) for text in norm.require or ())
    feasible = feasible_models(values, constraints, names=models, metrics=metrics) if constraints else None
    ranked = population(
        averages.oriented[kept],
        names=models,
        metrics=metrics,
        feasible=feasible,
        ties=norm.ties,
        denominator=norm.denominator,
        missing="worst" if inputs.missing == "worst" else "error",
    )
    warnings = (*table.warnings, *notes, *_population_warnings(ranked))
    session.warn(warnings)
    return Objectives(
        table=table,
        population=ranked,
        values=values,
        larger_is_better=averages.larger_is_better,
        constraints=constraints,
        warnings=warnings,
        dropped=tuple(np.delete(table.models, kept).tolist()),
    )


_CONSTRAINT = re.compile(r"\s*(?P<name>.*?\S)\s*(?P<relation><=|>=|==|<|>|=)\s*(?P<bound>[^<>=]+?)\s*")


def parse_constraint(text: str, metrics: Sequence[str]) -> Constraint:
    """Read a constraint such as ``co2 <= 0.5``.

    Raises
    ------
    UsageError
        If it has another form or bounds something that is not an objective.
    """
    from math import isfinite

    from riskrank.engine.copa.constraints import Constraint

    match = _CONSTRAINT.fullmatch(text)
    try:
        bound = float(match["bound"]) if match else None
    except ValueError:
        bound = None
    if bound is None or not isfinite(bound):
        raise UsageError(
            "--require needs an objective, one of <= < >= > =, and a number",
            found=repr(text),
            hint=f'write --require "{metrics[0]} <= 0.5", in quotes',
        )
    if match["name"] not in metrics:
        close = nearest(match["name"], metrics)
        raise UsageError(
            f"--require bounds {match['name']!r}, which is not an objective",
            found=f"the objectives are {listing(metrics)}",
            hint=f"did you mean {close!r}?"
            if close
            else "select it with --metric and a direction; --weight NAME=0 keeps it out of the norm",
        )
    relation = "==" if match["relation"] == "=" else match["relation"]
    return Constraint(objective=metrics.index(match["name"]), relation=relation, bound=bound)


def parse_orders(texts: Names) -> tuple[float, ...]:
    """Read the values of ``--p``, each once, infinity by default.

    Raises
    ------
    UsageError
        For anything but numbers from 1 and ``inf``.
    """
    orders = []
    for text in ("inf",) if texts is None else split_names(texts) or ("",):
        try:
            order = float("inf" if text == "∞" else text)
        except ValueError:
            order = float("nan")
        if not order >= 1:
            raise UsageError(
                "--p must be a number of at least 1, or inf",
                found=f"--p {text}",
                hint="1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank",
            )
        orders.append(order)
    return tuple(dict.fromkeys(orders))


def norm_settings(norm: NormOptions, objectives: Objectives) -> dict[str, Any]:
    """Settings of the ranks and constraints that decide the result."""
    metrics = objectives.population.metrics
    return {
        "require": [constraint.text(metrics) for constraint in objectives.constraints],
        "ties": norm.ties,
        "denominator": norm.denominator,
    }


def _treat_missing(table: ScoreTable, averages: ModelAverages, treatment: str) -> tuple[np.ndarray, str]:
    """Return the models that stay and what to warn of."""
    import numpy as np

    lacking = np.isnan(averages.oriented)
    cells = [f"{table.models[i]}/{table.metrics[k].name}" for i, k in np.argwhere(lacking)]
    affected = np.flatnonzero(lacking.any(axis=1))
    names = listing(table.models[i] for i in affected)
    models = f"{affected.size} of {len(table.models)} models"
    if treatment == "worst":
        count = "1 missing value counts" if len(cells) == 1 else f"{len(cells)} missing values count"
        return np.arange(len(table.models)), f"{count} as the worst rank, u = 1: {listing(cells)}"
    if treatment == "drop":
        kept = np.flatnonzero(~lacking.any(axis=1))
        if kept.size < 2:
            raise InputError(
                "fewer than two models have a score for every objective",
                found=f"{models} lack one: {listing(cells)}",
                hint="leave out an objective with --metric, or use --missing worst",
            )
        return kept, f"dropped {models} from the population, they lack a score: {names}"
    model, sample, metric = averages.first_missing
    where = f"model '{model}'" + (f", sample '{sample}'" if sample else "")
    files = listing((file.path for file in table.inputs), 3)
    raise InputError(
        f"{files}: no score for {where}, metric '{metric}'",
        found=f"{averages.missing_scores:,} of {averages.expected_scores:,} scores missing, of {models}: "
        + listing(cells),
        hint="--missing drop takes these models out of the population, --missing worst ranks them last there",
    )


def _population_warnings(ranked: Population) -> list[str]:
    from riskrank.engine.copa.population import constant_objectives, duplicated_models

    warnings = [
        f"objective '{ranked.metrics[k]}' has the same value for every model: it says nothing"
        for k in constant_objectives(ranked)
    ]
    copies = duplicated_models(ranked)
    if copies:
        groups = listing((" = ".join(ranked.names[i] for i in group) for group in copies), 3)
        count = sum(len(group) for group in copies) - len(copies)
        warnings.append(
            f"{count} model{'s are copies' if count > 1 else ' is a copy'} of another, value by value, and "
            f"shift{'' if count > 1 else 's'} the ranks of all others: {groups}"
        )
    return warnings
