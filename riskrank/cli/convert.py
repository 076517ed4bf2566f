"""The ``riskrank convert`` command, which converts judge verdicts and exports to score tables."""

import copy
from dataclasses import replace
from typing import Any

import typer

from riskrank.cli.help import SubcommandGroup, command_class
from riskrank.cli.options import Call, command_function
from riskrank.options.commands import BY_NAME
from riskrank.options.option import options_of
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.catalogue import EXPORTS
from riskrank.studies.convert.options import EXPORT_OPTIONS, VoteSettings

# Panels of --help.
JUDGES, HARNESSES = "Verdicts of judges", "Exports of harnesses"


class ExportCommands(SubcommandGroup):
    """Subcommands for all export formats, copied from one command because building each would be slow."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Add one subcommand per export format, each a copy of ``auto``."""
        super().__init__(*args, **options)
        for name, form in EXPORTS.items():
            command = copy.copy(self.commands["auto"])
            command.name, command.short_help = name, form.text
            self.commands[name] = command


convert = typer.Typer(
    cls=ExportCommands,
    name="convert",
    help=BY_NAME["convert"].words,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@convert.callback()
def _convert() -> None:
    """Group the conversion commands."""


def convert_verdicts(call: Call) -> None:
    """Convert a judge's verdicts to scores."""
    from riskrank.cli.session import Session
    from riskrank.studies.convert.study import convert_votes

    session = Session(call, piped="csv")
    document = convert_votes(call.scores, call.group(VoteSettings), session.environment.stdin)
    session.finish(document)
    session.log(document.summary)


def convert_exports(call: Call) -> None:
    """Convert the export of an evaluation harness to scores."""
    from riskrank.cli.session import Session
    from riskrank.studies.convert.study import convert_export

    session = Session(call, piped="csv")
    harness = call.context.info_name or "auto"
    document = convert_export(call.scores, call.group(ReadOptions, from_=harness))
    metrics, existing = session.metrics_file_to_write(document.metrics_file)
    session.finish(document, extra_files=metrics)
    session.log(document.summary)
    if existing is not None:
        session.log(f"kept {existing}, although it differs from the export")
    for path in metrics:
        session.log(f"wrote {path}; use it with --metrics-file {path}")


def _register(name: str, panel: str, group: type, run: Any) -> None:
    """Register a conversion command in the group, with all its options visible."""
    command = replace(BY_NAME["convert"], **BY_NAME["convert"].subcommands[name])
    chosen = [opt for opt in options_of(group) if group is not ReadOptions or opt.name in EXPORT_OPTIONS]
    options = [*chosen, *options_of(OutputOptions)]
    convert.command(name, short_help=command.short, rich_help_panel=panel, cls=command_class(options))(
        command_function(command, options, run)
    )


_register("verdicts", JUDGES, VoteSettings, convert_verdicts)
_register("auto", HARNESSES, ReadOptions, convert_exports)
