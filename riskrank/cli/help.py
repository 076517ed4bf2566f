"""Help pages with grouped options and examples."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

from riskrank.cli.config import ConfiguredCommand
from riskrank.errors import SET_KEYS
from riskrank.options.commands import BY_NAME
from riskrank.options.option import OUTPUT, PANELS, Option
from riskrank.scores.exports.catalogue import EXPORTS

HELP_ALL = "--help-all"

# Commands for a first try, with their arguments.
_FIRST_COMMANDS = (
    ("check", "scores.csv"),
    ("rank", "scores.csv"),
    ("gate", "scores.csv --not-worse new:old --margin 0.02"),
)


def command_examples(command: str) -> tuple[tuple[str, str], ...]:
    """Return the examples of a command, or of an export format of ``convert``.

    Returns
    -------
    tuple of (str, str)
        Purpose and command line of each example. Examples for export formats use placeholder paths.
    """
    if command != "auto" and command not in EXPORTS:
        return BY_NAME[command if command in BY_NAME else "convert"].examples
    purpose = "Convert a folder of logs into a file that every command reads:"
    folder = f"riskrank convert {command} logs/ --output scores.parquet"
    runs = f"riskrank convert {command} new=logs/a old=logs/b"
    return (purpose, folder), ("Convert two runs, and name their models:", runs)


def first_steps() -> str:
    """Return the text that ``riskrank`` prints without arguments: first steps, and where to find help."""
    lines = ["Usage: riskrank COMMAND SCORES... [OPTIONS]", "", "Start with one of these commands:"]
    for name, line in _FIRST_COMMANDS:
        lines += [f"  {BY_NAME[name].short}", f"    riskrank {name} {line}"]
    lines += ["", "riskrank examples writes sample data, riskrank --help lists all commands,"]
    lines += ["riskrank COMMAND --help lists the options of a command."]
    return "\n".join(lines)


def _write_examples(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the examples without line wrapping, ready to copy."""
    examples = command_examples(command.name or "")
    if not examples:
        return
    with formatter.section("Examples"):
        for purpose, line in examples:
            formatter.write_text(purpose)
            formatter.write(f"    {line}\n")


class OptionsCommand(ConfiguredCommand):
    """Command with grouped options and examples in its help.

    ``--help`` shows the common options, and ``--help-all`` all options.
    """

    format_epilog = _write_examples

    def __init__(self, *args: Any, rare: frozenset[str] = frozenset(), **options: Any) -> None:
        """Add ``--help-all``, which also lists the options named in `rare`."""
        super().__init__(*args, **options)
        self._rare = rare | {"config"}
        self.params.append(
            TyperOption(
                param_decls=[HELP_ALL],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                default=False,
                callback=_show_all,
                help="Show all options and exit.",
            )
        )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then one section per option group."""
        arguments: list[tuple[str, str]] = []
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        hidden = 0
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                arguments.append(record)
            elif parameter.name in self._rare and not ctx.meta.get(HELP_ALL):
                hidden += 1
            else:
                panel = getattr(parameter, "rich_help_panel", None) or OUTPUT
                groups.setdefault(panel, []).append(record)
        for title, records in [("Arguments", arguments), *groups.items()]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options: {ctx.command_path} {HELP_ALL}")


def _show_all(ctx: Any, _parameter: Any, requested: bool) -> None:
    """Print the help with all options and exit, if requested by ``--help-all``."""
    if requested and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def command_class(options: Iterable[Option]) -> Any:
    """Return a command class configured with the rare options and ``--set`` keys among `options`."""
    opts = list(options)
    rare = frozenset(opt.name for opt in opts if not opt.spec.common)
    return partial(OptionsCommand, rare=rare, machine=tuple(opt.name for opt in opts if opt.name in SET_KEYS))


class SubcommandGroup(TyperGroup):
    """Command group whose help lists its subcommands by panel and ends with examples."""

    format_epilog = _write_examples

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the subcommands by panel, then the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(str(panel), []).append((name, command.get_short_help_str(200)))
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        groups[OUTPUT] = [record for record in records if record is not None]
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
