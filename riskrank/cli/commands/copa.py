"""``riskrank copa``: choose among models by objectives that have no common unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, Names, OutputOptions, split_names


@dataclass(frozen=True, kw_only=True)
class ObjectiveInputs(InputOptions):
    """Which scores to read; a model without a score can be dropped or counted as the worst."""

    cluster: Annotated[str | None, typer.Option("--cluster", hidden=True)] = None
    missing: Annotated[
        Literal["error", "drop", "worst"],
        typer.Option(help="A model without a score: refuse, drop the model, or rank it last there."),
    ] = "error"  # type: ignore[assignment]  # one choice more than elsewhere
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


@dataclass(frozen=True, kw_only=True)
class CopaQuestions:
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
    against: Annotated[
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
    questions: CopaQuestions,
    output: OutputOptions,
) -> None:
    """Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

    Every value becomes the share of the other models that do better; a weighted norm of these ranks
    orders the models. The table has one row a model, or is averaged over the samples. Every objective
    needs a direction: --metrics-file, --lower or --higher.

    The norm's p says how much a bad objective is forgiven. The default, inf, looks at the worst weighted
    rank: it can reach every model of the Pareto front and answers to the weights. p = 1, the mean rank,
    tends to choose extremes whatever the weights are. --sweep shows it.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.copa import READING, CopaSettings
    from riskrank.studies.copa import copa as study

    session = Session(context.obj, inputs, output)
    options = session.settings(norm, questions) | {"missing": inputs.missing}
    options["p"] = split_names(norm.p)
    options["against"] = split_names(questions.against)
    settings = CopaSettings(**options)
    session.finish(study(session.read(norm.weight, **READING), settings))
