"""Error boundary of the command line, which converts every exception to an exit status."""

import errno
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from riskrank.cli.environment import Environment
from riskrank.cli.interrupts import INTERRUPTED, ignore_interrupts
from riskrank.cli.options import is_true
from riskrank.errors import (
    SET_KEYS,
    ExitStatus,
    InputError,
    NumericalError,
    RiskrankError,
    UsageError,
    nearest,
    spell,
)
from riskrank.options.interfaces import MEANINGS, equivalent_option

# Error numbers of a failed write.
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class ErrorBoundary(TyperGroup):
    """Command group that converts exceptions to an exit status and an error message."""

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
            if status == ExitStatus.INTERRUPTED:  # Typer turns Ctrl-C into an exit
                environment.log(INTERRUPTED)
        except BaseException as error:
            ignore_interrupts()
            status = _report_error(error, environment, arguments)
        if standalone_mode:
            sys.exit(status)
        return status


def _report_error(error: BaseException, environment: Environment, arguments: Sequence[str]) -> int:
    """Print an error in three lines, followed by suggested commands, and return the exit status."""
    from riskrank.render.files import discard_buffered

    if isinstance(error, KeyboardInterrupt | typer.Abort):
        environment.log(INTERRUPTED)
        return ExitStatus.INTERRUPTED
    if isinstance(error, BrokenPipeError):
        discard_buffered(environment.stdout)
        return ExitStatus.OK
    if isinstance(error, SystemExit):
        if error.code == 1:  # Typer's exit if the reader of the help has closed the pipe
            discard_buffered(environment.stdout)
            return ExitStatus.OK
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":  # Typer does not export it
        from riskrank.cli.help import first_steps

        usage: Any = error
        environment.log(first_steps() if usage.ctx.parent is None else usage.format_message())
        return ExitStatus.BAD_INPUT
    if is_true(environment.settings.get("traceback", "")):
        import traceback as tracebacks

        environment.log("".join(tracebacks.format_exception(error)).rstrip())
    failure = _as_riskrank_error(error)
    if isinstance(error, OSError):
        discard_buffered(environment.stdout)
    for line in failure.lines(flags=True):
        environment.log(line)
    for way in (text for text, _ in failure.suggestions if text):
        from riskrank.cli.options import suggested_command

        environment.log(f"  {suggested_command(arguments, spell(way, flags=True), failure.replaces)}")
    return failure.exit_status


def _as_riskrank_error(error: BaseException) -> RiskrankError:
    """Convert an exception to a RiskrankError with a readable message."""
    if isinstance(error, RiskrankError):
        return error
    if isinstance(error, typer.TyperException):
        return _usage_error(error)
    if isinstance(error, UnicodeEncodeError):
        return InputError(
            "a name is not valid Unicode",
            found=f"{error.object[max(error.start - 40, 0) : error.end + 40]!r}",
            hint="rename it in UTF-8, or convert the name if the shell uses another encoding",
        )
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return UsageError(
            "the working directory does not exist",
            found=error.strerror or str(error),
            hint="change to an existing directory, and run again",
        )
    if isinstance(error, OSError) and error.filename is not None:
        return InputError(
            f"cannot access {os.fsdecode(error.filename)}",
            found=error.strerror or str(error),
            hint="check the name and the permissions",
        )
    if isinstance(error, OSError) and error.errno in _NOT_WRITTEN:
        # Only help and version output reach this; results and files have their own write errors.
        from riskrank.render.files import write_error

        return write_error(
            "standard output", error.strerror or str(error), "free some space, or write elsewhere"
        )
    if isinstance(error, MemoryError):
        return NumericalError(
            "out of memory",
            found=str(error) or "no memory left",
            hint="select fewer models, metrics or samples, or try --set jobs=1",
        )
    return NumericalError(
        "internal error in riskrank",
        found=f"{type(error).__name__}: {error}",
        hint="run again with --set traceback=true and report the output, with the input if you can share it",
    )


def _usage_error(error: typer.TyperException) -> UsageError:
    """Convert a Typer error to a UsageError with suggestions in the hint."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "riskrank"
    # Typer adds suggestions to some messages; they belong into the hint.
    text = re.sub(r" \(Possible options: .*\)$| Did you mean .*\?$", "", error.format_message().rstrip("."))
    hint = f"{command} --help lists the {'commands' if command == 'riskrank' else 'options'}"
    meant = _close_names(error, context, text)
    if meant:
        hint = f"did you mean {' or '.join(meant)}? {hint}"
    return UsageError(f"invalid arguments for {command}", found=text.rstrip("."), hint=hint)


def _close_names(error: typer.TyperException, context: Any, message: str) -> list[str]:
    """Return options, choices or commands similar to the one that the user typed."""
    unknown = re.search(r"No such option:? '?(--[\w-]+)", message)
    if unknown and context is not None:
        flags = {
            word.lstrip("-").replace("-", "_"): word for item in context.command.params for word in item.opts
        }
        keys = {key: f"--set {key.replace('_', '-')}=" for key in SET_KEYS}
        names = [*flags, *keys]
        meant = equivalent_option(unknown[1], names) or nearest(
            unknown[1].strip("-").replace("-", "_"), names
        )
        return [(keys | flags)[meant] + MEANINGS.get(meant, "")] if meant else []
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", None)
    if choices is None and message.startswith("No such command"):
        choices = context.command.list_commands(context)
    wrong = re.search(r"(?:command|:) '(.*?)'", message)
    close = nearest(wrong[1], map(str, choices)) if choices and wrong else None
    return [close] if close else []
