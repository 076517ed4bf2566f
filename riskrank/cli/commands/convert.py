"""``riskrank convert``: what is no score table yet becomes one."""

import copy
from dataclasses import replace
from typing import Any

import typer

from riskrank.cli.help import ManyCommands, command_class
from riskrank.cli.typer_functions import Call, callable_of
from riskrank.options.commands import BY_NAME, Command
from riskrank.options.option import options_of
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.catalogue import EXPORTS
from riskrank.studies.convert.options import EXPORT_OPTIONS, VoteSettings

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


convert = typer.Typer(
    cls=Formats,
    name="convert",
    help=BY_NAME["convert"].words,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@convert.callback()
def _convert() -> None:
    """A group of commands."""


def verdicts(call: Call) -> None:
    """Turn votes into scores."""
    from riskrank.cli.session import Session
    from riskrank.studies.convert.study import convert_votes

    session = Session(call, piped="csv")
    document = convert_votes(call.scores, call.group(VoteSettings), session.environment.stdin)
    session.finish(document)
    session.say(document.summary)


def export(call: Call) -> None:
    """Turn what a harness wrote into scores."""
    from riskrank.cli.session import Session
    from riskrank.studies.convert.study import convert_export

    session = Session(call, piped="csv")
    harness = call.context.info_name or "auto"
    document = convert_export(call.scores, call.group(ReadOptions, from_=harness))
    metrics, kept = session.companion(document.metrics_file)
    session.finish(document, beside=metrics)
    session.say(document.summary)
    if kept is not None:
        session.say(f"kept {kept}, which says something else than the export")
    for path in metrics:
        session.say(f"wrote {path}: --metrics-file {path} reads it")


_VERDICTS = replace(
    BY_NAME["convert"],
    short="A judge's verdicts on pairs of answers become scores.",
    scores="VERDICTS...",
    scores_words="CSV, TSV, Parquet or JSONL files (also .gz, .zst), globs, or -.",
    words="""Turn a judge's verdicts on pairs of answers into a score per model and sample.

    A win over another model counts 2, a loss -2, a tie 0. A verdict is a, b, tie, both-good or
    both-bad, or a spelling in use for these, such as model_a, [[A]], "A is better", "tie (bothbad)".
    A pair judged in both orders counts once, with the mean. The result is a long table (model,
    sample, metric, score); --output x.parquet writes Parquet. A pipe gets CSV.""",
)
_EXPORT = replace(
    BY_NAME["convert"],
    short="Recognise which harness wrote it.",
    scores="PATH...",
    scores_words="Files, folders or globs, each also as LABEL=PATH.",
    words="""Turn what a harness wrote into a score table.

    The result is a long table: model, sample, metric, score, draw where samples repeat, and columns
    such as task and split. A pipe gets CSV; --output x.parquet writes Parquet, and x.metrics.toml
    beside it where the export tells which way its metrics are better. LABEL=PATH names the model.""",
)


def _register(name: str, panel: str, row: Command, group: type, answer: Any) -> None:
    """Put one of the two on the group, with all its options shown: they are few."""
    chosen = [one for one in options_of(group) if group is not ReadOptions or one.name in EXPORT_OPTIONS]
    options = [*chosen, *options_of(OutputOptions)]
    convert.command(name, short_help=row.short, rich_help_panel=panel, cls=command_class(options))(
        callable_of(row, options, answer)
    )


_register("verdicts", JUDGES, _VERDICTS, VoteSettings, verdicts)
_register("auto", HARNESSES, _EXPORT, ReadOptions, export)
