"""Write a rendered result to stdout, or to a file whole or not at all."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from riskrank.errors import UsageError, by_door, option
from riskrank.render.staging import (
    cannot_write,
    is_device,
    open_device,
    send,
    staged,
    tidying_up,
    write_whole,
)

SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
    ".txt": "table",
    ".parquet": "parquet",
    ".xml": "junit",
}


def choose_formats(asked: str | None, outputs: Sequence[str], *, allowed: Iterable[str]) -> tuple[str, ...]:
    """Format of each output file, or of stdout where there is none.

    Of several files each is written as its name tells, and as asked for where it tells nothing.

    Raises
    ------
    UsageError
        If a file's name tells nothing, or tells a format the command cannot write.
    """
    choices = tuple(allowed)
    if not outputs:
        return (asked or "table",)
    if len(outputs) == 1 and asked is not None:
        return (asked,)
    return tuple(_format_of(output, asked, choices) for output in outputs)


def _format_of(output: str, asked: str | None, choices: Sequence[str]) -> str:
    suffix = Path(output).suffix.lower()
    if SUFFIXES.get(suffix) in choices:
        return SUFFIXES[suffix]
    if asked is not None or is_device(Path(output)):
        return asked or "table"
    raise UsageError(
        f"cannot tell the format of {output} from its name",
        found=f"suffix {suffix or 'none'}",
        hint=by_door(
            f"add {option('format', '|'.join(choices))}",
            f"let it end in {' '.join(end for end, kind in SUFFIXES.items() if kind in choices)}",
        ),
    )


def check_outputs(
    outputs: Mapping[str, Sequence[str]],
    inputs: Sequence[str],
    *,
    renewed: Mapping[str, Sequence[str]] | None = None,
    stdout: TextIO | None = None,
) -> None:
    """Refuse early what could not be written after the work is done, and results over an input or each other.

    Parameters
    ----------
    outputs : mapping of str to sequence of str
        Files that are written, by the option that names them.
    inputs : sequence of str
        Files that are read.
    renewed : mapping of str to sequence of str, optional
        Further files that are read, and which outputs may replace each.
    stdout : text stream, optional
        Where the result goes if no `output` is named.

    Raises
    ------
    UsageError
    """
    renewed = renewed or {}
    places = [(output, parameter) for parameter, files in outputs.items() for output in files]
    _check_distinct([(output, option(parameter)) for output, parameter in places])
    for output, parameter in places:
        others = [file for file, by in renewed.items() if output not in by]
        check_writable(output, [*inputs, *others], parameter=parameter)
    if stdout is not None and not outputs.get("output"):
        _check_stdout(stdout, [*inputs, *renewed])


def _check_distinct(outputs: Iterable[tuple[str, str]]) -> None:
    """Refuse two results that go to one file, each with the option that named it."""
    taken: list[str] = []
    for output, by in outputs:
        if not Path(output).is_char_device() and any(map(partial(_same, output), taken)):
            raise UsageError(
                "two results cannot go to one file",
                found=f"{output} twice",
                hint=f"give every {by} a file of its own",
            )
        taken.append(output)


def _same(path: str, other: str) -> bool:
    """Return whether two paths name one file, there or not, through a link or by another name of its own."""
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other) or Path(path).samefile(other)
    return False


def check_writable(output: str, inputs: Iterable[str], *, parameter: str = "output") -> None:
    """Refuse early what could not be written after the work is done.

    Raises
    ------
    UsageError
        If the folder is missing or closed, or the file is one of the inputs.
    """
    path = Path(output)
    if path.is_dir() or output.endswith(("/", os.sep)):
        raise cannot_write(output, "a folder", "name a file, e.g. ranking.json in it")
    if not path.parent.is_dir():
        raise cannot_write(output, f"no folder {path.parent}", "create the folder first, or write elsewhere")
    # A file is replaced, not written into, so the folder has to be open too; a device is written into.
    places = [*([path] if path.exists() else []), *([] if is_device(path) else [path.parent])]
    if not all(os.access(place, os.W_OK) for place in places):
        raise cannot_write(output, "no permission to write there")
    for source in inputs:
        if _same(output, source):
            raise UsageError(
                f"{option(parameter, output)} would replace its own input",
                found=f"{source} is read",
                hint="write the result to another file, outside of any folder or pattern that is read",
            )


def _check_stdout(stdout: TextIO, inputs: Iterable[str]) -> None:
    """Refuse standard output that goes into one of the inputs."""
    for source in inputs:
        with contextlib.suppress(OSError, ValueError):  # a stream in memory, or nothing at that path
            written = os.fstat(stdout.fileno())
            if not stat.S_ISCHR(written.st_mode) and os.path.samestat(written, Path(source).stat()):
                raise UsageError(
                    "the result would go into its own input",
                    found=f"standard output is {source}, which is read",
                    hint="write the result to another file",
                )


def write_all(
    results: Sequence[tuple[str | None, bytes]],
    stdout: TextIO,
    beside: Mapping[str, bytes] | None = None,
    *,
    settled: Callable[[], object] = lambda: None,
) -> None:
    """Write to stdout and to files, and further files beside them: whole, and all of them or none.

    A closed pipe is no error: whoever reads has seen enough.

    Parameters
    ----------
    results : sequence of (str or None, bytes)
        Files and what they hold; None stands for stdout.
    stdout : text stream
    beside : mapping of str to bytes, optional
        Further files.
    settled : callable, optional
        Called when everything else is done and files begin to appear.

    Raises
    ------
    UsageError
        If a result cannot be written, as on a full disk.
    """
    files = [*(beside or {}).items(), *((place, data) for place, data in results if place is not None)]
    _check_distinct([(place, option("output")) for place, _ in files])
    devices = [(place, data) for place, data in files if is_device(Path(place))]
    place = "standard output"
    try:
        with tidying_up() as finishing, contextlib.ExitStack() as stack, contextlib.ExitStack() as undo:
            # A pipe waits for its reader here, while no file is there yet.
            streams = [stack.enter_context(open_device(Path(place))) for place, _ in devices]
            moves = []
            for place, data in files:
                if not is_device(Path(place)):
                    moves.append(stack.enter_context(staged(Path(place), data)))
            place = "standard output"
            for shown in (data for name, data in results if name is None):
                send(shown, stdout)
            for stream, (_, data) in zip(streams, devices, strict=True):
                with contextlib.suppress(BrokenPipeError):
                    write_whole(stream, data)
            settled()
            finishing()
            for appear, vanish in moves:
                appear()
                undo.callback(vanish)
            undo.pop_all()
    except OSError as error:
        room = "make room, or write the result elsewhere" + by_door(f" with {option('output')}", "")
        raise cannot_write(place, error.strerror or str(error), room) from None
