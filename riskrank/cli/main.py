"""The ``riskrank`` command, a Typer application that builds each subcommand on first use."""

import atexit
import dataclasses
import gc
import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from riskrank.cli.app import ErrorBoundary
from riskrank.cli.help import command_class
from riskrank.cli.options import Call, all_options, command_function
from riskrank.options.commands import BY_NAME, COMMANDS, load_object
from riskrank.version import __version__


def run_command(call: Call) -> None:
    """Run a command with its own steps if it has any, otherwise with the default steps."""
    load_object("riskrank", call.row.steps)(call)


class LazyCommands(Mapping[str, Any]):
    """Typer commands by name in the order of ``--help``, built on first access."""

    def __getitem__(self, name: str) -> Any:
        return _build_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)


@cache
def _build_command(name: str) -> Any:
    """Build the Typer command with the given name, and cache it."""
    row = BY_NAME[name]
    if name == "convert":
        from riskrank.cli.convert import convert

        return typer.main.get_command(convert)
    options = all_options(row)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    kind = command_class(options)
    alone.command(name, short_help=row.short, cls=kind)(command_function(row, options, run_command))
    return typer.main.get_command(alone)


class RootGroup(ErrorBoundary):
    """Top-level command group with all subcommands."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = LazyCommands()  # type: ignore[assignment]  # never modified

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(BY_NAME)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the group's options, without ``--install-completion``, which would edit shell files."""
        return [parameter for parameter in super().get_params(ctx) if parameter.name != "install_completion"]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a table of commands and summaries, without building the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(row.name, row.short) for row in COMMANDS])


app = typer.Typer(
    cls=RootGroup,
    name="riskrank",
    help="Rank models from score tables, and test which differences are significant.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(requested: bool) -> None:
    """Print the version and exit, if requested."""
    if requested:
        kernel = "compiled" if find_spec("riskrank.engine._kernel") else "NumPy"
        typer.echo(f"riskrank {__version__}\nkernel: {kernel}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")
    ] = False,
) -> None:
    """Rank models from score tables, and test which differences are significant."""
    context.obj = dataclasses.replace(context.obj, command=context.invoked_subcommand or "")


def run() -> None:
    """Run the ``riskrank`` command."""
    from riskrank.engine.sampling.threads import set_single_threaded

    # Modules and the table live until the end, and scanning them for garbage takes a tenth of a small run.
    gc.set_threshold(300_000)
    atexit.register(gc.freeze)
    set_single_threaded(os.environ)
    app()
