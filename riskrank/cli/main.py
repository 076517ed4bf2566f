"""The ``riskrank`` command, a Typer application that builds each subcommand on first use.

Its error boundary converts every exception to an exit status.
"""

import atexit
import dataclasses
import errno
import gc
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from riskrank import errors
from riskrank.cli.environment import Environment
from riskrank.cli.help import command_class
from riskrank.cli.interrupts import INTERRUPTED, ignore_interrupts
from riskrank.cli.options import Call, all_options, command_function, is_true
from riskrank.options.commands import BY_NAME, COMMANDS, load_object
from riskrank.options.interfaces import MEANINGS, equivalent_option
from riskrank.version import __version__

# Error numbers of a failed write.
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def _report_error(error: BaseException, environment: Environment, arguments: Sequence[str]) -> int:
    """Print an error in three lines, followed by suggested commands, and return the exit status."""
    from riskrank.render.files import discard_buffered

    if isinstance(error, KeyboardInterrupt | typer.Abort):
        environment.log(INTERRUPTED)
        return errors.ExitStatus.INTERRUPTED
    if isinstance(error, BrokenPipeError):
        discard_buffered(environment.stdout)
        return errors.ExitStatus.OK
    if isinstance(error, SystemExit):
        if error.code == 1:  # Typer's exit if the reader of the help has closed the pipe
            discard_buffered(environment.stdout)
            return errors.ExitStatus.OK
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":  # Typer does not export it
        from riskrank.cli.help import first_steps

        usage: Any = error
        environment.log(first_steps() if usage.ctx.parent is None else usage.format_message())
        return errors.ExitStatus.BAD_INPUT
    if is_true(environment.settings.get("traceback", "")):
        import traceback as tracebacks

        environment.log("".join(tracebacks.format_exception(error)).rstrip())
    failure = _as_riskrank_error(error)
    if isinstance(error, OSError):
        discard_buffered(environment.stdout)
    for line in failure.lines(flags=True):
        environment.log(line)
    for line in _suggested_commands(failure, arguments):
        environment.log(f"  {line}")
    return failure.exit_status


def _suggested_commands(failure: errors.RiskrankError, arguments: Sequence[str]) -> list[str]:
    """Return the suggestions of an error as command lines to copy."""
    from riskrank.cli.options import suggested_command

    texts = [errors.spell(text, flags=True) for text, _ in failure.suggestions if text]
    return [suggested_command(arguments, text, failure.replaces) for text in texts]


def _possible_readings(
    error: BaseException, environment: Environment, arguments: Sequence[str]
) -> list[list[str]]:
    """Return the arguments of ``check`` for each way to read a table, if a user at a terminal can choose."""
    if arguments[:1] != ["check"] or not isinstance(error, errors.InputError):
        return []
    if not (environment.stdin.isatty() and environment.stdout.isatty()):
        return []
    lines = [shlex.split(line)[1:] for line in _suggested_commands(error, arguments)]
    readings = [words for words in lines if words[0] == "check"]
    return readings if len(readings) > 1 else []


def _ask_for_reading(readings: Sequence[list[str]]) -> list[str]:
    """Ask which of the suggested lines to run, and return its arguments; empty if the user declines."""
    numbers = [str(n) for n in range(len(readings) + 1)]

    def parse(text: str) -> int:
        """Return the number of a line, or have the question repeated."""
        if text not in numbers:
            raise typer.BadParameter(f"type a number from 0 to {numbers[-1]}")
        return int(text)

    try:
        chosen = typer.prompt(
            f"Run line 1 to {numbers[-1]}, or none", default="0", value_proc=parse, err=True
        )
    except typer.Abort:
        return []
    return readings[chosen - 1] if chosen else []


def _as_riskrank_error(error: BaseException) -> errors.RiskrankError:
    """Convert an exception to a RiskrankError with a readable message."""
    if isinstance(error, errors.RiskrankError):
        return error
    if isinstance(error, typer.TyperException):
        return _convert_usage_error(error)
    if isinstance(error, UnicodeEncodeError):
        detail = f"{error.object[max(error.start - 40, 0) : error.end + 40]!r}"
        hint = "rename it in UTF-8, or convert the name if the shell uses another encoding"
        return errors.InputError("a name is not valid Unicode", found=detail, hint=hint)
    if isinstance(error, FileNotFoundError) and error.filename is None:
        problem = "the working directory does not exist"
        hint = "change to an existing directory, and run again"
        return errors.UsageError(problem, found=error.strerror or str(error), hint=hint)
    if isinstance(error, OSError) and error.filename is not None:
        problem = f"cannot access {os.fsdecode(error.filename)}"
        hint = "check the name and the permissions"
        return errors.InputError(problem, found=error.strerror or str(error), hint=hint)
    if isinstance(error, OSError) and error.errno in _NOT_WRITTEN:
        # Only help and version output reach this; results and files have their own write errors.
        from riskrank.render.files import write_error

        hint = "free some space, or write elsewhere"
        return write_error("standard output", error.strerror or str(error), hint)
    if isinstance(error, MemoryError):
        hint = "select fewer models, metrics or samples, or try --set jobs=1"
        return errors.NumericalError("out of memory", found=str(error) or "no memory left", hint=hint)
    problem = "internal error in riskrank"
    hint = "run again with --set traceback=true and report the output, with the input if you can share it"
    return errors.NumericalError(problem, found=f"{type(error).__name__}: {error}", hint=hint)


def _convert_usage_error(error: typer.TyperException) -> errors.UsageError:
    """Convert a Typer error to a UsageError with suggestions in the hint."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "riskrank"
    # Typer adds suggestions to some messages; they belong into the hint.
    text = re.sub(r" \(Possible options: .*\)$| Did you mean .*\?$", "", error.format_message().rstrip("."))
    hint = f"{command} --help lists the {'commands' if command == 'riskrank' else 'options'}"
    meant = _similar_names(error, context, text)
    if meant:
        hint = f"did you mean {' or '.join(meant)}? {hint}"
    return errors.UsageError(f"invalid arguments for {command}", found=text.rstrip("."), hint=hint)


def _similar_names(error: typer.TyperException, context: Any, message: str) -> list[str]:
    """Return options, choices or commands similar to the one that the user typed."""
    unknown = re.search(r"No such option:? '?(--[\w-]+)", message)
    if unknown and context is not None:
        opts = [word for item in context.command.get_params(context) for word in item.opts]
        flags = {word.lstrip("-").replace("-", "_"): word for word in opts}
        keys = {key: f"--set {key.replace('_', '-')}=" for key in getattr(context.command, "machine", ())}
        names = [*flags, *keys]
        plain = unknown[1].strip("-").replace("-", "_")
        meant = equivalent_option(unknown[1], names) or errors.nearest(plain, names, errors.OPTION_CUTOFF)
        return [(keys | flags)[meant] + MEANINGS.get(meant, "")] if meant else []
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", None)
    if choices is None and message.startswith("No such command"):
        choices = context.command.list_commands(context)
    wrong = re.search(r"(?:command|:) '(.*?)'", message)
    close = errors.nearest(wrong[1], map(str, choices)) if choices and wrong else None
    return [close] if close else []


def run_command(call: Call) -> None:
    """Run a command with its own steps if it has any, otherwise with the default steps."""
    load_object("riskrank", call.command.steps)(call)


class LazyCommands(Mapping[str, Any]):
    """Typer commands by name in the order of ``--help``, built on first access."""

    def __getitem__(self, name: str) -> Any:
        """Return the command with the given name, built on first access."""
        return _build_command(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the commands."""
        return iter(BY_NAME)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(BY_NAME)


@cache
def _build_command(name: str) -> Any:
    """Build the Typer command with the given name, and cache it."""
    command = BY_NAME[name]
    if name == "convert":
        from riskrank.cli.convert import convert

        return typer.main.get_command(convert)
    options = all_options(command)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    kind = command_class(options)
    alone.command(name, short_help=command.short, cls=kind)(command_function(command, options, run_command))
    return typer.main.get_command(alone)


class RootGroup(TyperGroup):
    """Top-level command group with all subcommands, which converts exceptions to an exit status."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Create the group, with commands that are built on first access."""
        super().__init__(*args, **options)
        self.commands = LazyCommands()  # type: ignore[assignment]  # never modified

    def main(  # type: ignore[override]  # passes the remaining arguments of Typer on
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run a command, then exit or, without ``standalone_mode``, return the exit status."""
        arguments = list(sys.argv[1:] if args is None else args)
        environment = extra.pop("obj", None) or Environment()
        extra.setdefault("prog_name", "riskrank")  # also when called as python -m riskrank
        try:
            code = super().main(arguments, standalone_mode=False, obj=environment, **extra)
            environment.stdout.flush()
            status = int(code or 0)
            if status == errors.ExitStatus.INTERRUPTED:  # Typer turns Ctrl-C into an exit
                environment.log(INTERRUPTED)
        except BaseException as error:
            choices = _possible_readings(error, environment, arguments)
            if not choices:
                ignore_interrupts()
            status = _report_error(error, environment, arguments)
            if choices and (chosen := _ask_for_reading(choices)):
                return self.main(chosen, standalone_mode=standalone_mode, obj=environment, **extra)
        if standalone_mode:
            sys.exit(status)
        return status

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
