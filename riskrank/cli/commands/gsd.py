"""``riskrank gsd``: generalized stochastic dominance over criteria of mixed scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, Names, OutputOptions, ResamplingOptions, split_names
from riskrank.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class CriteriaInputs(InputOptions):
    """Which scores to read; models share their samples."""

    unpaired: Annotated[bool, typer.Option("--unpaired", hidden=True)] = False
    cluster: Annotated[str | None, typer.Option("--cluster", hidden=True)] = None


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """What the scores of a criterion mean."""

    ordinal: Annotated[
        Names,
        typer.Option(
            metavar="NAME,...", help="Criteria of which only the order means something. Repeatable."
        ),
    ] = None
    digits: Annotated[
        Names,
        typer.Option(
            metavar="[NAME=]N",
            help="Decimal places that count, of all cardinal criteria or of one. Repeatable. [all there are]",
        ),
    ] = None
    tolerance: Annotated[
        Names,
        typer.Option(metavar="[NAME=]STEP", help="Instead: the step cardinal scores are rounded to."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RelationOptions:
    """Which relation."""

    delta: Annotated[
        Names,
        typer.Option(
            metavar="D,...", help="Least difference in utility of a better and a worse score. Repeatable. [0]"
        ),
    ] = None
    delta_on: Annotated[
        Literal["r1", "r1+r2"] | None,
        typer.Option(help="Where --delta holds: between scores, or also between differences. [r1]"),
    ] = None
    regularization: Annotated[
        Names,
        typer.Option(metavar="R,...", help="Instead of --delta: this share of the largest one on r1+r2."),
    ] = None
    system: Annotated[
        Literal["pair", "all"],
        typer.Option(help="Utilities know the scores of the two models compared, or of all."),
    ] = "pair"
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="How nearly another must dominate to leave the front.")
    ] = 0.0


@dataclass(frozen=True, kw_only=True)
class RelabellingOptions(ResamplingOptions):
    """How to test."""

    resamples: Annotated[
        int, typer.Option(metavar="N", help="Random relabellings; all, exactly, if there are no more.")
    ] = 1000
    resampling: Annotated[
        Literal["swap", "pooled"],
        typer.Option(help="Swap two models' scores within samples, or deal all of them out anew."),
    ] = "swap"
    pairs: Annotated[
        Literal["dominant", "all"] | None,
        typer.Option(help="Test pairs with dominance in the sample, or all. [dominant]"),
    ] = None
    correction: Annotated[
        Literal["bonferroni", "holm", "bh", "none"],
        typer.Option(help="Correction over all ordered pairs."),
    ] = "bonferroni"
    contamination: Annotated[
        bool,
        typer.Option(
            "--contamination",
            help="How many samples may be arbitrary before a result is significant no more.",
        ),
    ] = False
    no_test: Annotated[bool, typer.Option("--no-test", help="The relation only: no relabelling.")] = False


@dataclass(frozen=True, kw_only=True)
class GsdQuestions:
    """What to ask beyond the relation."""

    front_test: Annotated[
        Names,
        typer.Option(metavar="MODEL", help="Test that no other model dominates this one. Repeatable."),
    ] = None
    explain: Annotated[
        Names,
        typer.Option(metavar="A:B", help="The utility under which A compares worst with B. Repeatable."),
    ] = None
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Friedman and Nemenyi per criterion, all-test and one-test."),
    ] = False


@dataclass(frozen=True, kw_only=True)
class DiagramOptions(OutputOptions):
    """Where the result goes, and its diagram."""

    dot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the Hasse diagram for Graphviz as well.")
    ] = None


@app.command(short_help="Generalized stochastic dominance over cardinal and ordinal metrics.")
@grouped
def gsd(
    context: typer.Context,
    inputs: CriteriaInputs,
    scales: ScaleOptions,
    relation: RelationOptions,
    relabelling: RelabellingOptions,
    questions: GsdQuestions,
    output: DiagramOptions,
) -> None:
    """Find which model is at least as good as which for every utility that respects the metrics.

    A sample is what models are compared on, usually a data set. A utility may weigh the metrics as it
    likes, as long as better scores are no worse and, on cardinal metrics, larger differences count for no
    less. The table shows the order this leaves, from the top, and tests it by swapping scores.

    Every metric needs a direction: --metrics-file, --lower or --higher; ordinal ones are named by
    --ordinal or in the metrics file, where bounds also say the worst and the best score there can be.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.gsd import READING, GsdSettings
    from riskrank.studies.gsd import gsd as study

    session = Session(context.obj, inputs, output)
    check_dot(output, session.named)
    options = session.settings(scales, relation, relabelling, questions)
    options["ordinal"] = split_names(scales.ordinal)
    settings = GsdSettings(**options)
    with session.runtime(relabelling) as runtime:
        document = study(session.read(**READING), settings, runtime)
    beside = {}
    if output.dot is not None:
        from riskrank.shown.gsd.hasse import to_dot

        diagram = to_dot(document.analyses, document.provenance.models)
        beside[output.dot] = diagram.encode("utf-8")
    session.finish(document, beside=beside)


def check_dot(output: DiagramOptions, named: Sequence[str]) -> None:
    """Refuse early a file for the diagram that could not be written.

    Raises
    ------
    UsageError
    """
    from pathlib import Path

    from riskrank.shown.files import check_writable

    check_writable(output.dot, named, parameter="dot")
    files = [Path(file).resolve() for file in output.files]
    if output.dot is not None and Path(output.dot).resolve() in files:
        raise UsageError(
            "--dot and --output name the same file",
            found=output.dot,
            hint="write the diagram to a file of its own",
        )
