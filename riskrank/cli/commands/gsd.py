"""``riskrank gsd``: generalized stochastic dominance over criteria of mixed scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.criteria import Criteria, CriteriaInputs, ScaleOptions, original_units, read_criteria
from riskrank.cli.grouped import grouped
from riskrank.cli.inference import resolve_pair
from riskrank.cli.options import Names, OutputOptions, ResamplingOptions
from riskrank.errors import UsageError

if TYPE_CHECKING:
    from riskrank.cli.session import Session
    from riskrank.engine.gsd.analysis import GsdStudy, Relabelling
    from riskrank.engine.gsd.relation import Threshold
    from riskrank.report.gsd.front import FrontStudy
    from riskrank.report.gsd.relation import GsdReport
    from riskrank.report.gsd.witness import WitnessStudy


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
class Questions:
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
    questions: Questions,
    output: OutputOptions,
) -> None:
    """Find which model is at least as good as which for every utility that respects the metrics.

    A sample is what models are compared on, usually a data set. A utility may weigh the metrics as it
    likes, as long as better scores are no worse and, on cardinal metrics, larger differences count for no
    less. The table shows the order this leaves, from the top, and tests it by swapping scores.

    Every metric needs a direction: --metrics, --lower or --higher; ordinal ones are named by --ordinal or
    in the metrics file, where bounds also say the worst and the best score there can be.
    """
    from riskrank.cli.session import Session, check_resampling, describe_inputs, input_settings
    from riskrank.engine.gsd.analysis import Relabelling
    from riskrank.report.document import Provenance, Result
    from riskrank.report.gsd.relation import FIELDS, GsdReport, gsd_meta, gsd_rows, gsd_view

    thresholds = chosen_thresholds(relation)
    check_resampling(relabelling)
    check_questions(relabelling, questions)
    session = Session(context.obj, inputs, output)
    check_dot(questions.dot, output.output, inputs)
    criteria = read_criteria(session, inputs, scales)
    models = criteria.table.models
    front_models = [criteria.table.index(name) for name in questions.front_test or ()]
    explained = [resolve_pair(pair, models, option="--explain") for pair in questions.explain or ()]
    how = Relabelling(
        pairs="none" if relabelling.no_test else relabelling.pairs or "dominant",
        resampling=relabelling.resampling,
        resamples=relabelling.resamples,
        seed=relabelling.seed,
        alpha=relabelling.alpha,
        correction=relabelling.correction,
        contamination=relabelling.contamination,
    )
    notes = [] if relabelling.no_test else power_warnings(criteria, how)
    session.warn(notes)
    studies = [_study(session, criteria, relation, how, threshold, relabelling) for threshold in thresholds]
    report = GsdReport(
        models=models,
        metrics=tuple(spec.name for spec in criteria.table.metrics),
        samples=len(criteria.table.samples),
        studies=tuple(studies),
        relabelling=how,
        fronts=tuple(_fronts(session, criteria, relation, how, thresholds, front_models, relabelling)),
        witnesses=tuple(_witnesses(criteria, relation, thresholds, explained)),
        baselines=_baselines(criteria) if questions.baselines else None,
    )
    if questions.dot is not None:
        _write_dot(session, questions.dot, report)
    described = describe_inputs(criteria.table)
    session.finish(
        Result(
            provenance=Provenance(
                command="gsd",
                seed=None if relabelling.no_test else relabelling.seed,
                resamples=None if relabelling.no_test else relabelling.resamples,
                settings=input_settings(inputs) | criteria.settings | _settings(relation, relabelling, how),
                warnings=[*criteria.warnings, *notes],
                extra=gsd_meta(report),
                **described,
            ),
            fields=FIELDS,
            rows=gsd_rows(report),
            view=gsd_view(report),
        )
    )


def chosen_thresholds(options: RelationOptions) -> tuple[Threshold, ...]:
    """Thresholds to compare at, each once, in the order given.

    Raises
    ------
    UsageError
        On numbers that are none, and on a threshold given in two ways.
    """
    from riskrank.cli.session import parse_numbers
    from riskrank.engine.gsd.relation import Threshold

    if options.regularization is not None:
        if options.delta is not None or options.delta_on is not None:
            other = "--delta" if options.delta is not None else "--delta-on"
            raise UsageError(
                f"--regularization and {other} are two ways to set a threshold",
                found=f"--regularization with {other}",
                hint="leave out one: a regularization is a share of the largest threshold on r1+r2",
            )
        shares = parse_numbers(options.regularization, option="--regularization")
        return tuple(Threshold(share=share) for share in dict.fromkeys(shares))
    deltas = parse_numbers(options.delta, option="--delta") or (0.0,)
    return tuple(Threshold(delta=delta, on=options.delta_on or "r1") for delta in dict.fromkeys(deltas))


def check_questions(relabelling: RelabellingOptions, questions: Questions) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    UsageError
    """
    for option, given in (
        ("--pairs", relabelling.pairs is not None),
        ("--contamination", relabelling.contamination),
        ("--front-test", bool(questions.front_test)),
    ):
        if relabelling.no_test and given:
            raise UsageError(
                f"{option} asks for tests, which --no-test leaves out",
                found=f"--no-test with {option}",
                hint="leave out one of them",
            )


def check_dot(dot: str | None, output: str | None, inputs: CriteriaInputs) -> None:
    """Refuse early a file for the diagram that could not be written.

    Raises
    ------
    UsageError
    """
    from pathlib import Path

    from riskrank.report.files import check_writable

    named = [*inputs.scores, *([inputs.metrics] if inputs.metrics else [])]
    check_writable(dot, named, parameter="dot")
    if dot is not None and output is not None and Path(dot).resolve() == Path(output).resolve():
        raise UsageError(
            "--dot and --output name the same file", found=dot, hint="write the diagram to a file of its own"
        )


def power_warnings(criteria: Criteria, how: Relabelling) -> list[str]:
    """Say before the work when no result could be significant."""
    from math import ceil, comb, log2

    samples, k = criteria.quality.samples, criteria.quality.models
    every = 2**samples if how.resampling == "swap" else comb(2 * samples, samples)
    labellings = min(every, how.resamples + 1)
    # Every correction multiplies the smallest p-value by the size of the family; only Benjamini-Hochberg
    # divides again by the number of results that share it.
    tests = 1 if how.correction in ("none", "bh") else k * (k - 1)
    if tests / labellings <= how.alpha:
        return []
    needed = ceil(tests / how.alpha)
    if every < needed:
        hint = (
            f"it takes {ceil(log2(needed))} samples" if how.resampling == "swap" else "it takes more samples"
        )
    else:
        hint = f"--resamples {needed} can show more"
    family = f" times {tests} ordered pairs" if tests > 1 else ""
    return [
        f"no result can be significant at {how.alpha:g}: the smallest p-value of {labellings:,} labellings, "
        f"1/{labellings}{family}, is {tests / labellings:.3g}; {hint}"
    ]


def _study(
    session: Session,
    criteria: Criteria,
    relation: RelationOptions,
    how: Relabelling,
    threshold: Threshold,
    options: RelabellingOptions,
) -> GsdStudy:
    from riskrank.cli.session import count_jobs
    from riskrank.engine.gsd.analysis import study_gsd
    from riskrank.report.gsd.relation import threshold_label

    with session.progress(f"comparing at {threshold_label(threshold)}") as progress:
        return study_gsd(
            criteria.quality,
            how,
            threshold=threshold,
            system=relation.system,
            epsilon=relation.epsilon,
            jobs=count_jobs(options),
            progress=progress,
        )


def _fronts(
    session: Session,
    criteria: Criteria,
    relation: RelationOptions,
    how: Relabelling,
    thresholds: Sequence[Threshold],
    models: Sequence[int],
    options: RelabellingOptions,
) -> list[FrontStudy]:
    from riskrank.cli.session import count_jobs
    from riskrank.engine.gsd.analysis import counting_programs
    from riskrank.engine.gsd.front import front_test
    from riskrank.report.gsd.front import FrontStudy

    found = []
    for threshold in thresholds:
        for model in models:
            with session.progress(f"front test of {criteria.table.models[model]}") as progress:
                test = front_test(
                    criteria.quality,
                    model,
                    threshold=threshold,
                    system=relation.system,
                    resampling=how.resampling,
                    resamples=how.resamples,
                    seed=how.seed,
                    contamination_level=how.alpha if how.contamination else None,
                    jobs=count_jobs(options),
                    progress=counting_programs(progress),
                )
            found.append(FrontStudy(threshold=threshold, test=test, alpha=how.alpha))
    return found


def _witnesses(
    criteria: Criteria,
    relation: RelationOptions,
    thresholds: Sequence[Threshold],
    pairs: Sequence[tuple[str, str]],
) -> list[WitnessStudy]:
    from riskrank.engine.gsd.front import witness
    from riskrank.report.gsd.witness import WitnessStudy

    table = criteria.table
    found = []
    for threshold in thresholds:
        for better, worse in pairs:
            utility = witness(
                criteria.quality,
                table.models.index(better),
                table.models.index(worse),
                threshold=threshold,
                system=relation.system,
            )
            raw = original_units(utility.values, table.metrics)
            found.append(WitnessStudy(threshold=threshold, witness=utility, values=raw))
    return found


def _baselines(criteria: Criteria) -> Any:
    from riskrank.engine.gsd.rank_tests import criteria_tests

    return criteria_tests(criteria.scores)


def _write_dot(session: Session, path: str, report: GsdReport) -> None:
    from riskrank.report.files import write
    from riskrank.report.gsd.hasse import to_dot

    write(to_dot(report.studies, report.models).encode("utf-8"), path, session.environment.stdout)


def _settings(relation: RelationOptions, relabelling: RelabellingOptions, how: Relabelling) -> dict[str, Any]:
    """Settings of relation and tests that decide the result."""
    thresholds = chosen_thresholds(relation)
    tested = not relabelling.no_test
    return {
        "delta": [threshold.delta for threshold in thresholds if threshold.share is None],
        "regularization": [threshold.share for threshold in thresholds if threshold.share is not None],
        "delta_on": thresholds[0].rows,
        "system": relation.system,
        "epsilon": relation.epsilon,
        "no_test": relabelling.no_test,
        "pairs": how.pairs if tested else None,
        "resampling": how.resampling if tested else None,
        "alpha": how.alpha,
        "correction": how.correction if tested else "none",
        "family": "ordered pairs of one threshold" if tested else None,
        "contamination": how.contamination,
    }
