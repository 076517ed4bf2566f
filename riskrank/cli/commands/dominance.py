"""``riskrank dominance``: who stochastically dominates whom, pair by pair."""

from __future__ import annotations

from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import (
    DominanceOptions,
    GateOptions,
    InputOptions,
    OutputOptions,
    PortfolioOptions,
    ResamplingOptions,
)


@app.command(short_help="Test which model dominates which, pair by pair.")
@grouped
def dominance(
    context: typer.Context,
    inputs: InputOptions,
    portfolio: PortfolioOptions,
    tests: DominanceOptions,
    resampling: ResamplingOptions,
    gates: GateOptions,
    output: OutputOptions,
    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Test every metric on its own instead of the portfolio.")
    ] = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Also show the full matrix of ratios of every test.")
    ] = False,
) -> None:
    """Test which model stochastically dominates which, with exact violation ratios.

    One row an ordered pair: the violation ratio of "winner dominates loser" (0: everywhere better,
    0.5: a draw), the p-value, and the verdict.
    """
    from riskrank.cli.inference import (
        check_gates,
        check_tests,
        chosen_claims,
        chosen_inference,
        inference_settings,
        resolve_gates,
    )
    from riskrank.cli.session import Session, describe_inputs, input_settings, portfolio_settings
    from riskrank.cli.targets import check_portfolio, targets
    from riskrank.engine.dominance.column import study_dominance
    from riskrank.report.document import Provenance, Result
    from riskrank.report.dominance import FIELDS, dominance_rows, dominance_view

    check_portfolio(portfolio, per_metric=per_metric)
    check_tests(tests, resampling, gates)
    claims, inference = chosen_claims(tests), chosen_inference(tests, resampling)
    session = Session(context.obj, inputs, output)
    table = session.read(portfolio.weight)
    asked = resolve_gates(gates, table.models)
    studies = []
    for target in targets(table, portfolio, per_metric=per_metric):
        with session.progress(f"resampling {target.name}") as progress:
            studies.append(
                (target.name, study_dominance(target.scores, claims, inference, progress=progress))
            )
    advice = list(dict.fromkeys(line for _, study in studies for line in study.advice))
    session.warn(advice)
    settings = input_settings(inputs) | inference_settings(tests, resampling) | {"per_metric": per_metric}
    if not per_metric and len(table.metrics) > 1:
        settings |= portfolio_settings(portfolio, table)
    result = Result(
        provenance=Provenance(
            command="dominance",
            seed=resampling.seed if inference.resampled else None,
            resamples=resampling.resamples if inference.resampled else None,
            settings=settings,
            warnings=[*table.warnings, *advice],
            **describe_inputs(table),
        ),
        fields=FIELDS,
        rows=dominance_rows(studies, table.models),
        view=dominance_view(studies, table.models, inference, paired=table.paired, matrix=matrix),
    )
    session.finish(result)
    check_gates(asked, [(name, study.tests) for name, study in studies], table.models, resampling.alpha)
