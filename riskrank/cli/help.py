"""Help a person can read: options in groups, and two commands to copy at the end."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

from riskrank.cli.config import ConfiguredCommand
from riskrank.options.commands import BY_NAME
from riskrank.options.option import OUTPUT, PANELS, Option
from riskrank.scores.exports.catalogue import EXPORTS

ALL = "--help-all"

# What to begin with, and what a line of it looks like.
_FIRST = (
    ("check", "scores.csv"),
    ("rank", "scores.csv"),
    ("gate", "scores.csv --not-worse new:old --margin 0.02"),
)

_OF_VERDICTS = (
    (
        "Who won how often, as a table:",
        "riskrank convert verdicts sample_data/verdicts.csv --format table",
    ),
    (
        "Columns of other names, and a name for the metric:",
        "riskrank convert verdicts sample_data/verdicts.csv --columns sample=sample,verdict=verdict "
        "--metric-name preference",
    ),
)


def examples_of(command: str) -> tuple[tuple[str, str], ...]:
    """Examples of a command, or of a harness that ``convert`` reads: of those no logs are at hand."""
    if command != "auto" and command not in EXPORTS:
        return BY_NAME[command].examples if command in BY_NAME else _OF_VERDICTS
    return (
        (
            "A folder of logs into a file every command reads:",
            f"riskrank convert {command} logs/ --output scores.parquet",
        ),
        ("Two runs, each under a name of yours:", f"riskrank convert {command} new=logs/a old=logs/b"),
    )


def first_steps() -> str:
    """What ``riskrank`` alone says: the commands to begin with, and where the others are."""
    lines = ["Usage: riskrank COMMAND SCORES... [OPTIONS]", "", "Begin with one of these:"]
    for name, line in _FIRST:
        lines += [f"  {BY_NAME[name].short}", f"    riskrank {name} {line}"]
    lines += ["", "riskrank examples writes tables to try them on, riskrank --help lists all commands,"]
    lines += ["riskrank COMMAND --help lists the options of one."]
    return "\n".join(lines)


def _write_examples(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the examples as they are: a wrapped command could not be copied."""
    examples = examples_of(command.name or "")
    if not examples:
        return
    with formatter.section("Examples"):
        for purpose, line in examples:
            formatter.write_text(purpose)
            formatter.write(f"    {line}\n")


class OptionsCommand(ConfiguredCommand):
    """A command whose help shows its options in groups and ends with examples.

    ``--help`` shows the options that people use, ``--help-all`` shows all.
    """

    format_epilog = _write_examples

    def __init__(self, *given: Any, rare: frozenset[str] = frozenset(), **options: Any) -> None:
        super().__init__(*given, **options)
        self._rare = rare | {"config", "isolated"}
        self.params.append(
            TyperOption(
                param_decls=[ALL],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                default=False,
                callback=_show_all,
                help="Show all options and exit.",
            )
        )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then a section a group."""
        arguments: list[tuple[str, str]] = []
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        left_out = 0
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                arguments.append(record)
            elif parameter.name in self._rare and not ctx.meta.get(ALL):
                left_out += 1
            else:
                panel = getattr(parameter, "rich_help_panel", None) or OUTPUT
                groups.setdefault(panel, []).append(record)
        for title, records in [("Arguments", arguments), *groups.items()]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"{left_out} more options: {ctx.command_path} {ALL}")


def _show_all(ctx: Any, _parameter: Any, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def command_class(options: Iterable[Option]) -> Any:
    """A command class that knows which options are rare."""
    return partial(OptionsCommand, rare=frozenset(one.name for one in options if not one.asking.common))


class ManyCommands(TyperGroup):
    """A command of several, in groups by what they read (their panel), with examples at the end."""

    format_epilog = _write_examples

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write its commands by group, then its options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(str(panel), []).append((name, command.get_short_help_str(200)))
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        groups[OUTPUT] = [record for record in records if record is not None]
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
