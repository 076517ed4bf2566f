"""``riskrank rank``: the main job, a ranking and how sure it is."""

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


@app.command(short_help="Rank models by stochastic dominance, next to mean win rates.")
@grouped
def rank(
    context: typer.Context,
    inputs: InputOptions,
    portfolio: PortfolioOptions,
    tests: DominanceOptions,
    resampling: ResamplingOptions,
    gates: GateOptions,
    output: OutputOptions,
    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Rank by every metric on its own instead of the portfolio.")
    ] = False,
) -> None:
    """Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

    Models that no test separates share a rank. Under the tables stand the hidden risks: models that
    averages place clearly better than second-order dominance does.
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
    from riskrank.engine.study import study_ranking
    from riskrank.report.document import Provenance, Result
    from riskrank.report.rank import FIELDS, hidden_risk_entries, rank_rows, rank_view

    check_portfolio(portfolio, per_metric=per_metric)
    check_tests(tests, resampling, gates)
    claims, inference = chosen_claims(tests), chosen_inference(tests, resampling)
    session = Session(context.obj, inputs, output)
    table = session.read(portfolio.weight)
    asked = resolve_gates(gates, table.models)
    studies = []
    for target in targets(table, portfolio, per_metric=per_metric):
        with session.progress(f"resampling {target.name}") as progress:
            studies.append((target.name, study_ranking(target.scores, claims, inference, progress=progress)))
    advice = list(dict.fromkeys(line for _, study in studies for line in study.dominance.advice))
    session.warn(advice)
    settings = input_settings(inputs) | inference_settings(tests, resampling) | {"per_metric": per_metric}
    if not per_metric and len(table.metrics) > 1:
        settings |= portfolio_settings(portfolio, table)
    result = Result(
        provenance=Provenance(
            command="rank",
            seed=resampling.seed if inference.test else None,
            resamples=resampling.resamples if inference.test else None,
            settings=settings,
            warnings=[*table.warnings, *advice],
            extra={"hidden_risks": hidden_risk_entries(studies, table.models)},
            **describe_inputs(table),
        ),
        fields=FIELDS,
        rows=rank_rows(studies, table.models),
        view=rank_view(studies, table.models, inference, paired=table.paired),
    )
    session.finish(result)
    check_gates(
        asked, [(name, study.dominance.tests) for name, study in studies], table.models, resampling.alpha
    )
