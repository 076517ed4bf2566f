"""``riskrank convert``: what is no score table yet becomes one."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, Names, OutputOptions, split_names

convert = typer.Typer(
    name="convert",
    help="Turn other tables into a score table that every command reads.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(convert)


@convert.callback()
def _convert() -> None:
    """Turn other tables into a score table that every command reads."""


@convert.command(short_help="A judge's verdicts on pairs of answers become scores.")
@grouped
def verdicts(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="VERDICTS...", help="CSV, TSV, Parquet or JSONL files (also .gz, .zst), globs, or -."
        ),
    ],
    output: OutputOptions,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE=NAME,...",
            help="Name sample, model_a, model_b, verdict, e.g. sample=question_id,verdict=winner.",
        ),
    ] = None,
    models: Annotated[
        Names,
        typer.Option("--models", metavar="A,B,...", help="All models there are; any other is an error."),
    ] = None,
    metric_name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the metric that is written.")
    ] = "verdict",
    input_format: Annotated[
        Literal["csv", "tsv", "parquet", "jsonl"] | None,
        typer.Option(help="Format of the input where no file name tells it."),
    ] = None,
) -> None:
    """Turn a judge's verdicts on pairs of answers into a score per model and sample.

    A win over another model counts 2, a loss -2, a tie 0. A verdict is a, b, tie, both-good or
    both-bad, or a spelling in use for these, such as model_a, [[A]], "A is better", "tie (bothbad)".
    A pair judged in both orders counts once, with the mean. The result is a long table (model,
    sample, metric, score); --output x.parquet writes Parquet.
    """
    from riskrank.cli.session import FORMATS, Session
    from riskrank.engine.portfolio.judge_verdicts import score_verdicts
    from riskrank.report.convert import (
        FIELDS,
        verdict_counts,
        verdict_rows,
        verdict_summary,
        verdict_view,
        verdict_warnings,
    )
    from riskrank.report.document import Provenance, Result
    from riskrank.scores.verdicts import read_verdicts

    inputs = InputOptions(scores=files, columns=columns, models=models, input_format=input_format)
    session = Session(context.obj, inputs, output, formats=(*FORMATS, "parquet"))
    table = read_verdicts(files, columns=columns, input_format=input_format, stdin=session.environment.stdin)
    scores = score_verdicts(
        table.samples,
        table.first,
        table.second,
        table.verdicts,
        models=split_names(models) or None,
        place=table.place,
    )
    warnings = verdict_warnings(scores, table.without_verdict)
    if not output.quiet:
        session.environment.say(verdict_summary(scores))
    session.warn(warnings)
    rows = verdict_rows(scores, metric_name)
    session.finish(
        Result(
            provenance=Provenance(
                command="convert",
                schema="convert-verdicts",
                seed=None,
                resamples=None,
                settings={"format": "verdicts", "columns": columns, "metric_name": metric_name},
                inputs=[vars(entry) for entry in table.inputs],
                models=scores.models,
                metrics=[metric_name],
                samples=len(scores.samples),
                warnings=warnings,
                extra={"verdicts": verdict_counts(scores, table.without_verdict)},
            ),
            fields=FIELDS,
            rows=rows,
            view=verdict_view(scores, rows),
        )
    )
