"""The ``riskrank`` command: the application with all its commands on it, each built when it is asked for."""

import atexit
import dataclasses
import gc
import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from riskrank.cli.app import Boundary
from riskrank.cli.help import command_class
from riskrank.cli.typer_functions import Call, callable_of, options_on_the_line
from riskrank.options.commands import BY_NAME, COMMANDS
from riskrank.version import __version__


def answer(call: Call) -> None:
    """Answer a call: by the command's own file, or as all others are."""
    from riskrank.cli import session

    row = call.row
    own = import_module(f"riskrank.cli.commands.{row.name}").run if row.own else session.answer
    own(call)


class Built(Mapping[str, Any]):
    """Commands by name, in the order of --help; to build one takes its time."""

    def __getitem__(self, name: str) -> Any:
        return _build(name)

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)


@cache
def _build(name: str) -> Any:
    row = BY_NAME[name]
    if name == "convert":
        from riskrank.cli.commands.convert import convert

        return typer.main.get_command(convert)
    options = options_on_the_line(row)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    kind = command_class(options)
    alone.command(name, short_help=row.short, cls=kind)(callable_of(row, options, answer))
    return typer.main.get_command(alone)


class AllCommands(Boundary):
    """The group of all commands."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.commands = Built()  # type: ignore[assignment]  # nobody adds to them

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        return list(BY_NAME)

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options; what completes is shown for whoever keeps it, and written into no file of a shell."""
        return [one for one in super().get_params(ctx) if one.name != "install_completion"]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each is good for, of the table: nothing is built."""
        with formatter.section("Commands"):
            formatter.write_dl([(row.name, row.short) for row in COMMANDS])


app = typer.Typer(
    cls=AllCommands,
    name="riskrank",
    help="Which model is better, and how sure are we: rankings of score tables that hold up.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riskrank {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")
    ] = False,
) -> None:
    """Which model is better, and how sure are we: rankings of score tables that hold up."""
    context.obj = dataclasses.replace(context.obj, command=context.invoked_subcommand or "")


def run() -> None:
    """Run the ``riskrank`` command."""
    from riskrank.engine.sampling.threads import single_threaded

    # Modules and the table stay until the end: to look through them for garbage is a tenth of a small run.
    gc.set_threshold(300_000)
    atexit.register(gc.freeze)
    single_threaded(os.environ)
    app()
