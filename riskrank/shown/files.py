"""Write a rendered result to stdout, or to a file whole or not at all."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from riskrank.errors import UsageError, by_door, option
from riskrank.shown.staging import (
    cannot_write,
    is_device,
    refuse_foreign_links,
    send,
    staged,
    tidying_up,
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
    """Refuse early what could not be written after the work is done, and two results that go to one file.

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
    _check_apart([(output, option(parameter)) for output, parameter in places])
    for output, parameter in places:
        others = [file for file, by in renewed.items() if output not in by]
        check_writable(output, [*inputs, *others], parameter=parameter)
    if stdout is not None and not outputs.get("output"):
        check_not_read(stdout, [*inputs, *renewed], [output for output, _ in places])


def _check_apart(outputs: Iterable[tuple[str, str]]) -> None:
    """Refuse two results that go to one file, each with the option that named it."""
    taken: set[Path] = set()
    for output, by in outputs:
        place = Path(output)
        if not place.is_char_device() and any(map(partial(_same, place), taken)):
            raise UsageError(
                "two results cannot go to one file",
                found=f"{output} twice",
                hint=f"give every {by} a file of its own",
            )
        taken.add(place)


_STANDARD = {"/dev/stdin": "standard input"}


def _same(path: Path, other: Path) -> bool:
    """Whether two paths name one file, there or not, through a link or by another name of its own."""
    try:
        there = path.exists() and other.exists()
        return path.resolve() == other.resolve() or (there and path.samefile(other))
    except (OSError, RuntimeError):  # a link that leads to itself names no file
        return False


def check_writable(output: str | None, inputs: Iterable[str], *, parameter: str = "output") -> None:
    """Refuse early what could not be written after the work is done.

    Raises
    ------
    UsageError
        If the folder is missing or closed, or the file is one of the inputs.
    """
    if output is None:
        return
    try:
        _check_place(Path(output), output, inputs, parameter)
    except (OSError, RuntimeError) as error:  # a link that leads to itself, before Python 3.13
        raise _no_place(output, error) from None


def _check_place(path: Path, output: str, inputs: Iterable[str], parameter: str) -> None:
    refuse_foreign_links(path)
    if path.is_dir() or output.endswith(("/", os.sep)):
        raise cannot_write(output, "a folder", "name a file, e.g. ranking.json in it")
    if not path.resolve().parent.is_dir():
        raise cannot_write(output, f"no folder {path.parent}", "create the folder first, or write elsewhere")
    # A file is replaced, not written into, so the folder has to be open too; a device is written into.
    places = [path] if path.exists() else []
    places += [] if is_device(path) else [path.resolve().parent]
    if not all(os.access(place, os.W_OK) for place in places):
        raise cannot_write(output, "no permission to write there")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise UsageError(
                f"{option(parameter, output)} would replace its own input",
                found=f"{source} is read",
                hint="write the result to another file, outside of any folder or pattern that is read",
            )


def check_not_read(stdout: TextIO, inputs: Iterable[str], outputs: Iterable[str] = ()) -> None:
    """Refuse standard output that goes into one of the inputs, it would read itself, or into another result.

    Raises
    ------
    UsageError
    """
    try:
        written = os.fstat(stdout.fileno())
    except (OSError, ValueError):  # a stream in memory
        return
    if stat.S_ISCHR(written.st_mode):
        return
    for other, what in [*((file, "read") for file in inputs), *((file, "written") for file in outputs)]:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samestat(written, Path(other).stat()):
                into = "its own input" if what == "read" else "another result"
                raise UsageError(
                    f"the result would go into {into}",
                    found=f"standard output is {_STANDARD.get(other, other)}, which is {what}",
                    hint="write the result to another file",
                )


def _no_place(output: str, error: OSError | RuntimeError) -> UsageError:
    if isinstance(error, FileNotFoundError):
        where = "name a file in a folder that exists, by its whole path"
        return cannot_write(output, "the working directory is gone", where)
    return cannot_write(output, getattr(error, "strerror", None) or str(error))


def write_all(
    results: Sequence[tuple[str | None, bytes]],
    stdout: TextIO,
    beside: Mapping[str, bytes] | None = None,
    *,
    ready: Callable[[], object] = lambda: None,
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
    ready, settled : callable, optional
        Called when everything is ready and nothing has been written, where what it raises leaves nothing
        behind; and when files begin to appear, which nothing may interrupt from there on.

    Raises
    ------
    UsageError
        If a result cannot be written, as on a full disk.
    """
    files = [*(beside or {}).items(), *((place, data) for place, data in results if place is not None)]
    shown = [data for place, data in results if place is None]
    _check_apart([(place, option("output")) for place, _ in files])
    place: str | None = None
    try:
        with tidying_up() as finishing, contextlib.ExitStack() as stack:
            moves = []
            for place, content in sorted(files, key=lambda one: not is_device(Path(one[0]))):
                moves.append((place, stack.enter_context(staged(Path(place), content))))
            place = None
            ready()
            for data in shown:
                send(data, stdout)
            # A device may be full or wait for a reader, which cannot be undone; what replaced a file can.
            for place, (write_into, _) in moves:
                if is_device(Path(place)):
                    with contextlib.suppress(BrokenPipeError):
                        write_into()
            finishing()
            settled()
            with contextlib.ExitStack() as undo:
                for place, (appear, vanish) in moves:
                    if not is_device(Path(place)):
                        appear()
                        undo.callback(vanish)
                undo.pop_all()
    except OSError as error:
        room = "make room, or write the result elsewhere" + by_door(f" with {option('output')}", "")
        raise cannot_write(place or "standard output", error.strerror or str(error), room) from None
