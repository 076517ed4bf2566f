"""``riskrank rank``: the main job, a ranking and how sure it is."""

from __future__ import annotations

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
from riskrank.cli.ranking_methods import MethodOptions


@app.command(short_help="Rank models by stochastic dominance, next to mean win rates.")
@grouped
def rank(
    context: typer.Context,
    inputs: InputOptions,
    portfolio: PortfolioOptions,
    methods: MethodOptions,
    tests: DominanceOptions,
    resampling: ResamplingOptions,
    gates: GateOptions,
    output: OutputOptions,
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
    from riskrank.cli.ranking_methods import check_methods, chosen_methods, gated_columns
    from riskrank.cli.session import (
        Session,
        describe_inputs,
        input_settings,
        parse_sizes,
        portfolio_settings,
    )
    from riskrank.cli.targets import check_portfolio, score_tables
    from riskrank.engine.dominance.method_rankings import study_methods
    from riskrank.engine.dominance.stability import stability
    from riskrank.report.aggregation import aggregation_entries
    from riskrank.report.agreement import agreement_entry, stability_entries
    from riskrank.report.document import Provenance, Result
    from riskrank.report.rank import FIELDS, hidden_risk_entries, rank_rows, rank_view

    aggregating = bool(methods.aggregate or methods.method or methods.all_methods)
    check_portfolio(portfolio, per_metric=methods.per_metric and not aggregating)
    check_tests(tests, resampling, gates)
    check_methods(methods, portfolio, tests)
    sizes = parse_sizes(methods.stability, option="--stability")
    claims, inference = chosen_claims(tests), chosen_inference(tests, resampling)
    session = Session(context.obj, inputs, output)
    table = session.read(portfolio.weight)
    asked = resolve_gates(gates, table.models)
    chosen = chosen_methods(methods, portfolio, table, claims)
    gated = gated_columns(chosen) if asked else []
    tables = score_tables(table, portfolio)
    aggregator = methods.aggregate or "kemeny"
    with session.progress("resampling") as progress:
        study = study_methods(
            tables, chosen, inference, names=table.models, aggregator=aggregator, progress=progress
        )
    steady = None
    if sizes:
        with session.progress("subsampling") as progress:
            steady = stability(
                tables,
                chosen,
                inference,
                study,
                names=table.models,
                sizes=sizes,
                repeats=5 if methods.stability_repeats is None else methods.stability_repeats,
                aggregator=aggregator,
                progress=progress,
            )
    advice = list(dict.fromkeys(line for found in study.studies.values() for line in found.dominance.advice))
    if methods.all_methods and any(metric.weight is not None for metric in table.metrics):
        advice.append("P(EC) is left out: the empirical copula has no use for weights")
    session.warn(advice)
    settings = input_settings(inputs) | inference_settings(tests, resampling)
    settings |= {"per_metric": methods.per_metric, "methods": list(study.rankings)}
    settings |= {"aggregate": aggregator if study.aggregations else None}
    if len(table.metrics) > 1 and not (methods.per_metric and not methods.aggregate):
        settings |= portfolio_settings(portfolio, table)
    aggregations = list(study.aggregations.items())
    result = Result(
        provenance=Provenance(
            command="rank",
            seed=resampling.seed if inference.resampled or sizes else None,
            resamples=resampling.resamples if inference.resampled else None,
            settings=settings,
            warnings=[*table.warnings, *advice],
            extra={
                "hidden_risks": hidden_risk_entries(study, table.models),
                "aggregations": aggregation_entries(aggregations, table.models),
                "agreement": agreement_entry(study),
                "stability": stability_entries(steady),
            },
            **describe_inputs(table),
        ),
        fields=FIELDS,
        rows=rank_rows(study, table.models),
        view=rank_view(study, steady, table.models, inference, paired=table.paired),
    )
    session.finish(result)
    check_gates(
        asked,
        [(name, study.studies[name].dominance.tests) for name in gated],
        table.models,
        resampling.alpha,
    )
