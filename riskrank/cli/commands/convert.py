"""``riskrank convert``: what is no score table yet becomes one."""

from __future__ import annotations

import copy
from typing import Annotated, Any, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.help import Application, ManyCommands
from riskrank.cli.options import (
    Columns,
    Filters,
    InputOptions,
    Matrix,
    MaxBytes,
    ModelFromPath,
    Names,
    OutputOptions,
    Parts,
    Query,
    SkipBad,
    Splits,
    Where,
    split_names,
)
from riskrank.scores.exports.catalogue import EXPORTS

# Groups on the page of --help.
JUDGES, HARNESSES = "Verdicts of judges", "Exports of harnesses"


class Formats(ManyCommands):
    """Commands of all formats, which are one command under other names: building each would take its time."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        for name, (_module, text) in EXPORTS.items():
            command = copy.copy(self.commands["auto"])
            command.name, command.short_help = name, text
            self.commands[name] = command


convert = Application(
    cls=Formats,
    name="convert",
    help="Turn what harnesses and judges write into a score table that every command reads.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(convert)


@convert.callback()
def _convert() -> None:
    """Turn what harnesses and judges write into a score table that every command reads."""


@convert.command(short_help="A judge's verdicts on pairs of answers become scores.", rich_help_panel=JUDGES)
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
        Literal["csv", "tsv", "parquet", "jsonl", "json", "xlsx"] | None,
        typer.Option(help="Format of the input where no file name tells it."),
    ] = None,
) -> None:
    """Turn a judge's verdicts on pairs of answers into a score per model and sample.

    A win over another model counts 2, a loss -2, a tie 0. A verdict is a, b, tie, both-good or
    both-bad, or a spelling in use for these, such as model_a, [[A]], "A is better", "tie (bothbad)".
    A pair judged in both orders counts once, with the mean. The result is a long table (model,
    sample, metric, score); --output x.parquet writes Parquet. A pipe gets CSV.
    """
    from riskrank.cli.session import FORMATS, Session
    from riskrank.shown.votes import summary
    from riskrank.studies.convert import VoteSettings, convert_votes

    inputs = InputOptions(scores=files, columns=columns, models=models, input_format=input_format)
    session = Session(context.obj, inputs, output, formats=(*FORMATS, "parquet"), piped="csv")
    settings = VoteSettings(
        columns=columns, models=split_names(models), metric_name=metric_name, input_format=input_format
    )
    document = convert_votes(files, settings, session.environment.stdin)
    session.say(summary(document.scores))
    session.finish(document)


@grouped
def export(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders or globs, each also as LABEL=PATH."),
    ],
    output: OutputOptions,
    metric: Annotated[Names, typer.Option(metavar="NAME", help="Keep this metric. Repeatable.")] = None,
    columns: Columns = None,
    where: Where = None,
    sql: Query = None,
    matrix: Matrix = None,
    filter: Filters = None,
    split: Splits = None,
    model_from_path: ModelFromPath = None,
    parts: Parts = False,
    skip_bad: SkipBad = False,
    max_bytes: MaxBytes = None,
) -> None:
    """Turn what a harness wrote into a score table.

    The result is a long table: model, sample, metric, score, draw where samples repeat, and columns
    such as task and split. A pipe gets CSV; --output x.parquet writes Parquet, and x.metrics.toml
    beside it where the export tells which way its metrics are better. LABEL=PATH names the model.
    """
    from riskrank.cli.session import FORMATS, Session
    from riskrank.scores.exports.interface import export_rules
    from riskrank.shown.convert import summary
    from riskrank.studies.convert import ExportSettings, convert_export

    inputs = InputOptions(
        scores=paths,
        from_=context.info_name,
        metric=metric,
        columns=columns,
        where=where,
        sql=sql,
        matrix=matrix,
        filter=filter,
        split=split,
        model_from_path=model_from_path,
        parts=parts,
        skip_bad=skip_bad,
        max_bytes=max_bytes,
    )
    session = Session(context.obj, inputs, output, formats=(*FORMATS, "parquet"), piped="csv")
    settings = ExportSettings(
        format=context.info_name or "auto",
        rules=export_rules(session.read_options()),
        columns=columns,
        where=where,
        sql=sql,
        matrix=matrix,
    )
    document = convert_export(paths, settings)
    session.say(summary(document))
    session.finish(document)
    session.write_beside(document.metrics_file, ".metrics.toml", use="--metrics-file")


convert.command("auto", short_help="Recognise which harness wrote it.", rich_help_panel=HARNESSES)(export)
