"""The one error boundary: every way out of riskrank is here."""

import errno
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from riskrank.cli.environment import Environment
from riskrank.cli.interrupts import INTERRUPTED, settle_interrupts
from riskrank.errors import ExitStatus, InputError, NumericalError, RiskrankError, UsageError, nearest, spell

# Errors of a stream that does not take what it is given.
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class Boundary(TyperGroup):
    """Turn every exception into the exit status and the lines the contract names."""

    def main(  # type: ignore[override]  # Typer's own names, of which we pass on what we do not need
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run a command; exits the process unless ``standalone_mode`` is off."""
        arguments = list(sys.argv[1:] if args is None else args)
        environment = extra.pop("obj", None) or Environment()
        extra.setdefault("prog_name", "riskrank")  # also when called as python -m riskrank
        try:
            code = super().main(arguments, standalone_mode=False, obj=environment, **extra)
            environment.stdout.flush()
            status = int(code or 0)
            if status == ExitStatus.INTERRUPTED:  # Typer turns Ctrl-C into an exit
                environment.say(INTERRUPTED)
        except BaseException as error:
            settle_interrupts()
            status = _answer(error, environment, arguments)
        if standalone_mode:
            sys.exit(status)
        return status


def _answer(error: BaseException, environment: Environment, arguments: Sequence[str]) -> int:
    """Say what went wrong in three lines, and ways out as lines to copy; return the exit status."""
    from riskrank.render.staging import discard_buffered

    if isinstance(error, KeyboardInterrupt | typer.Abort):
        environment.say(INTERRUPTED)
        return ExitStatus.INTERRUPTED
    if isinstance(error, BrokenPipeError):
        discard_buffered(environment.stdout)
        return ExitStatus.OK
    if isinstance(error, SystemExit):
        if error.code == 1:  # how Typer ends where nobody reads the help any more
            discard_buffered(environment.stdout)
            return ExitStatus.OK
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":  # Typer does not export it
        from riskrank.cli.help import first_steps

        shown: Any = error
        environment.say(first_steps() if shown.ctx.parent is None else shown.format_message())
        return ExitStatus.BAD_INPUT
    if "--traceback" in arguments:
        import traceback as tracebacks

        environment.say("".join(tracebacks.format_exception(error)).rstrip())
    known = _as_riskrank_error(error)
    if isinstance(error, OSError):
        discard_buffered(environment.stdout)
    for line in known.lines(flags=True):
        environment.say(line)
    for way in (told for told, _ in known.ways if told):
        from riskrank.cli.suggested_commands import to_copy

        environment.say(f"  {to_copy(arguments, spell(way, flags=True), known.instead_of)}")
    return known.exit_status


def _as_riskrank_error(error: BaseException) -> RiskrankError:
    if isinstance(error, RiskrankError):
        return error
    if isinstance(error, typer.TyperException):
        return _usage_error(error)
    if isinstance(error, UnicodeEncodeError):
        return InputError(
            "a name is no Unicode text",
            found=f"{error.object[max(error.start - 40, 0) : error.end + 40]!r}",
            hint="rename it in UTF-8; names from the shell that are in another encoding can be converted",
        )
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return UsageError(
            "the working directory is gone",
            found=error.strerror or str(error),
            hint="change to a directory that exists, and run again",
        )
    if isinstance(error, OSError) and error.filename is not None:
        return InputError(
            f"{os.fsdecode(error.filename)} cannot be used",
            found=error.strerror or str(error),
            hint="check its name and its permissions",
        )
    if isinstance(error, OSError) and error.errno in _NOT_WRITTEN:
        # Results and files are written elsewhere, with errors of their own; this is help or a version.
        from riskrank.render.staging import write_error

        return write_error("standard output", error.strerror or str(error), "make room, or send it elsewhere")
    if isinstance(error, MemoryError):
        return NumericalError(
            "the machine ran out of memory",
            found=str(error) or "no more memory to allocate",
            hint="select fewer models, metrics or samples, or try --jobs 1",
        )
    return NumericalError(
        "riskrank failed in a way it should not",
        found=f"{type(error).__name__}: {error}",
        hint="run again with --traceback and report it, with the input if you can share it",
    )


def _usage_error(error: typer.TyperException) -> UsageError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "riskrank"
    # Typer mixes its own suggestions into some messages; the third line is where they belong.
    found = re.sub(r" \(Possible options: .*\)$| Did you mean .*\?$", "", error.format_message().rstrip("."))
    hint = f"{command} --help lists the {'commands' if command == 'riskrank' else 'options'}"
    meant = _near_misses(error, context, found)
    if meant:
        hint = f"did you mean {' or '.join(meant)}? {hint}"
    return UsageError(f"{command} cannot be called like this", found=found.rstrip("."), hint=hint)


def _near_misses(error: typer.TyperException, context: Any, found: str) -> list[str]:
    """Options, choices or commands close to the one that was not understood."""
    possible = getattr(error, "possibilities", None)
    if possible:
        name = str(getattr(error, "option_name", "")).lstrip("-")  # dashes are alike in all
        return [one for one in possible[:2] if nearest(name, [one.lstrip("-")])]  # the closest first
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", None)
    if choices is None and found.startswith("No such command"):
        choices = context.command.list_commands(context)
    wrong = re.search(r"(?:command|:) '(.*?)'", found)
    close = nearest(wrong[1], map(str, choices)) if choices and wrong else None
    return [close] if close else []
