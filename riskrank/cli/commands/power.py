"""``riskrank power``: how many samples a comparison needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions, PortfolioOptions, ResamplingOptions
from riskrank.errors import UsageError, listing, nearest

if TYPE_CHECKING:
    from riskrank.engine.dominance.column import Inference
    from riskrank.engine.dominance.tests import Claim
    from riskrank.engine.power.distributions import Distribution


@dataclass(frozen=True, kw_only=True)
class PilotOptions(InputOptions):
    """A pilot table to read, or distributions in its place."""

    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES...|DISTRIBUTION...",
            help="A pilot table, or two or more distributions, the better first: normal:0.5,2, "
            "lognormal:MU,SIGMA, beta:A,B, exponential:MEAN, uniform:LOW,HIGH, t:DF; NAME=normal:0.5,2 "
            "names one.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """The one test whose power is wanted."""

    order: Annotated[Literal["1", "2"], typer.Option(help="Order of dominance.")] = "2"
    test: Annotated[
        Literal["relative", "absolute"] | None,
        typer.Option(help="Relative or absolute dominance. [relative, unless --threshold is given]"),
    ] = None
    threshold: Annotated[
        list[float] | None, typer.Option(metavar="TAU", help="Largest violation ratio of an absolute test.")
    ] = None
    correction: Annotated[
        Literal["bonferroni", "holm", "bh", "none"], typer.Option(help="Correction for many tests.")
    ] = "bonferroni"
    variance: Annotated[
        Literal["bootstrap", "clt"],
        typer.Option(help="Test by resampling, or by the limit theorem, many times faster."),
    ] = "bootstrap"
    paper_exact: Annotated[
        bool, typer.Option("--paper-exact", help="Reject as the paper's Algorithm 1 prints it (liberal).")
    ] = False
    resamples: Annotated[int, typer.Option(metavar="B", help="Bootstrap resamples of each test.")] = 400
    alpha: Annotated[float, typer.Option(metavar="LEVEL", help="Significance level of a family.")] = 0.05
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random streams.")] = 0
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; results do not depend on it. [all cores]")
    ] = None


@app.command(short_help="Plan how many samples a comparison needs.")
@grouped
def power(
    context: typer.Context,
    inputs: PilotOptions,
    portfolio: PortfolioOptions,
    tests: TestOptions,
    output: OutputOptions,
    sizes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Samples per model to simulate.")
    ] = "100,500,1000",
    pair: Annotated[
        str | None, typer.Option(metavar="BETTER:WORSE", help="One pair instead of the whole order.")
    ] = None,
    target: Annotated[float, typer.Option(metavar="POWER", help="Power to find the sample size of.")] = 0.8,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Largest size to try. [5 times the largest of --sizes]")
    ] = None,
    simulations: Annotated[int, typer.Option(metavar="R", help="Data sets to simulate per size.")] = 100,
) -> None:
    """Say how often dominance would be significant with so many samples, and how many it takes.

    Data sets are drawn with replacement from a pilot table, or from named distributions; each is
    tested as `dominance` would test it. The order planned for is every dominance that is significant
    in the pilot, or that each distribution dominates those after it.
    """
    from riskrank.cli.session import (
        Session,
        check_resampling,
        count_jobs,
        describe_inputs,
        input_settings,
        portfolio_settings,
    )
    from riskrank.engine.dominance.column import Inference
    from riskrank.report.document import Provenance, Result
    from riskrank.report.power import FIELDS, power_rows, power_view, required_entry

    resampling = ResamplingOptions(
        resamples=tests.resamples, alpha=tests.alpha, seed=tests.seed, jobs=tests.jobs
    )
    check_resampling(resampling)
    claim = _chosen_claim(tests)
    wanted = _parse_sizes(sizes)
    if simulations < 1:
        raise UsageError(
            "--simulations must be at least 1", found=str(simulations), hint="100 is the default"
        )
    inference = Inference(
        resamples=tests.resamples,
        alpha=tests.alpha,
        correction=tests.correction,
        seed=tests.seed,
        jobs=count_jobs(resampling),
        paper_exact=tests.paper_exact,
        variance=tests.variance,
    )
    distributions = _distributions(inputs.scores)
    if distributions:
        _refuse_table_options(inputs, portfolio)
        session = Session(context.obj, dataclasses.replace(inputs, scores=[]), output)
        name, models = None, tuple(distributions)
        plan = _plan_distributions(distributions, claim, inference, pair)
        described: dict[str, Any] = {"inputs": [], "models": models, "metrics": [], "samples": 0}
        warnings: tuple[str, ...] = ()
        settings: dict[str, Any] = {"distributions": {key: str(one) for key, one in distributions.items()}}
    else:
        session = Session(context.obj, inputs, output)
        table, name, plan = _plan_pilot(session, portfolio, claim, inference, pair)
        models, described, warnings = table.models, describe_inputs(table), table.warnings
        settings = input_settings(inputs)
        settings |= portfolio_settings(portfolio, table) if len(table.metrics) > 1 else {}
    from riskrank.engine.power.planning import study_power

    with session.progress("simulating") as progress:
        study = study_power(plan, wanted, target=target, limit=limit, repeats=simulations, progress=progress)
    advice = _advice(plan, models)
    session.warn(advice)
    settings |= {
        "sizes": study.curve.sizes,
        "simulations": simulations,
        "target": target,
        "limit": limit,
        "pair": None if pair is None else [models[at] for at in plan.pairs[0]],
        "order": claim.order,
        "test": claim.test,
        "threshold": claim.threshold,
        "alpha": tests.alpha,
        "correction": "k^2" if tests.paper_exact else tests.correction,
        "variance": tests.variance,
        "paper_exact": tests.paper_exact,
    }
    session.finish(
        Result(
            provenance=Provenance(
                command="power",
                seed=tests.seed,
                resamples=tests.resamples if inference.resampled else None,
                settings=settings,
                warnings=[*warnings, *advice],
                extra={"required_size": required_entry(study)},
                **described,
            ),
            fields=FIELDS,
            rows=power_rows(name, study, models),
            view=power_view(name, study, models, pilot=not distributions),
        )
    )


def _chosen_claim(options: TestOptions) -> Claim:
    from riskrank.engine.dominance.tests import Claim

    thresholds = options.threshold or []
    if options.test == "relative" and thresholds:
        raise UsageError(
            "--threshold belongs to an absolute test",
            found=f"--test relative with --threshold {thresholds[0]:g}",
            hint="use --test absolute, or leave out --threshold",
        )
    if len(thresholds) > 1 or (options.test == "absolute" and not thresholds):
        raise UsageError(
            "an absolute test needs one threshold",
            found=listing(f"{tau:g}" for tau in thresholds),
            hint="give one, e.g. --threshold 0.25, and run again for another",
        )
    if options.paper_exact and options.variance == "clt":
        raise UsageError(
            "--paper-exact and --variance clt contradict each other",
            found="both",
            hint="leave out one of them: Algorithm 1 is a bootstrap",
        )
    return Claim(int(options.order), thresholds[0] if thresholds else None)


def _parse_sizes(text: str) -> list[int]:
    sizes = []
    for part in text.split(","):
        try:
            sizes.append(int(part.strip().replace("_", "")))
        except ValueError:
            raise UsageError(
                "--sizes takes whole numbers", found=part.strip() or "nothing", hint="write --sizes 100,500"
            ) from None
    return sizes


def _distributions(arguments: list[str]) -> dict[str, Distribution]:
    """Distributions by name, or nothing where the arguments are files."""
    from riskrank.engine.power.distributions import FAMILIES, parse_distribution

    def family(argument: str) -> str:
        text = argument.partition("=")[2] if "=" in argument else argument
        return text.partition(":")[0].strip().casefold()

    named = [family(one) in FAMILIES and not Path(one).exists() for one in arguments]
    if not any(named):
        return {}
    if not all(named):
        stranger = arguments[named.index(False)]
        close = nearest(family(stranger), FAMILIES)
        raise UsageError(
            "files and distributions do not go together",
            found=f"{stranger} beside {arguments[named.index(True)]}",
            hint=f"did you mean {close}?" if close else f"the distributions are {listing(FAMILIES)}",
        )
    found: dict[str, Distribution] = {}
    for argument in arguments:
        label, equals, text = argument.rpartition("=")
        distribution = parse_distribution(text)
        name = label.strip() if equals else str(distribution)
        if not name or name in found:
            raise UsageError(
                "every distribution needs a name of its own",
                found=argument,
                hint="name them: riskrank power new=normal:0.5,2 old=normal:0,1",
            )
        found[name] = distribution
    return found


def _refuse_table_options(*groups: Any) -> None:
    for group in groups:
        for option in dataclasses.fields(group):
            value = getattr(group, option.name)
            if option.name != "scores" and value != option.default:
                raise UsageError(
                    f"--{option.name.replace('_', '-')} belongs to a pilot table",
                    found="distributions, which are not read from a table",
                    hint="leave it out",
                )


def _plan_distributions(
    distributions: dict[str, Distribution], claim: Claim, inference: Inference, pair: str | None
) -> Any:
    from riskrank.cli.inference import resolve_pair
    from riskrank.engine.power.planning import plan_from_distributions

    names = list(distributions)
    chosen = None if pair is None else _indices(names, resolve_pair(pair, names, option="--pair"))
    return plan_from_distributions(list(distributions.values()), claim, inference, pair=chosen)


def _plan_pilot(
    session: Any, portfolio: PortfolioOptions, claim: Claim, inference: Inference, pair: str | None
) -> tuple[Any, str, Any]:
    """Table, name of the score column, plan."""
    from riskrank.cli.inference import resolve_pair
    from riskrank.cli.targets import check_portfolio, targets
    from riskrank.engine.power.planning import plan_from_pilot

    check_portfolio(portfolio)
    table = session.read(portfolio.weight)
    chosen = None
    if pair is not None:
        chosen = _indices(table.models, resolve_pair(pair, table.models, option="--pair"))
    column = targets(table, portfolio)[0]
    return table, column.name, plan_from_pilot(column.scores, claim, inference, pair=chosen)


def _indices(names: Any, pair: tuple[str, str]) -> tuple[int, int]:
    names = list(names)
    return names.index(pair[0]), names.index(pair[1])


def _advice(plan: Any, models: Any) -> list[str]:
    advice = []
    if plan.unattainable:
        pairs = listing((f"{models[i]} over {models[j]}" for i, j in plan.unattainable), 4)
        advice.append(f"no number of samples will show {pairs}: even without noise the claim does not hold")
    if plan.inference.paper_exact:
        advice.append(
            "--paper-exact divides the bootstrap standard error by √n once more, as the paper prints it: "
            "it rejects true null hypotheses about half of the time, so its power is not worth having"
        )
    return advice
