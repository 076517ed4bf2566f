"""Output of rendered results to standard output or to files, atomically."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from riskrank.errors import UsageError, interface_text, option
from riskrank.render.staging import (
    deferred_signals,
    is_device,
    open_device,
    staged_file,
    write_error,
    write_fully,
    write_stdout,
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


def choose_formats(
    requested: str | None, outputs: Sequence[str], *, allowed: Iterable[str]
) -> tuple[str, ...]:
    """Return the format of each output file, or of standard output without files.

    A requested format applies to a single file. With several files, it applies only to files without a known
    suffix; the others have the format of their suffix.

    Raises
    ------
    UsageError
        If a file's suffix is unknown, or stands for a format that the command cannot write.
    """
    choices = tuple(allowed)
    if not outputs:
        return (requested or "table",)
    if len(outputs) == 1 and requested is not None:
        return (requested,)
    return tuple(_format_of(output, requested, choices) for output in outputs)


def _format_of(output: str, requested: str | None, choices: Sequence[str]) -> str:
    """Return the format of one output file, raising UsageError if its suffix is unknown."""
    suffix = Path(output).suffix.lower()
    if SUFFIXES.get(suffix) in choices:
        return SUFFIXES[suffix]
    if requested is not None or is_device(Path(output)):
        return requested or "table"
    raise UsageError(
        f"unknown format of {output}",
        found=f"suffix {suffix or 'none'}",
        hint=interface_text(
            f"add {option('format', '|'.join(choices))}",
            f"use one of the suffixes {' '.join(end for end, kind in SUFFIXES.items() if kind in choices)}",
        ),
    )


def check_outputs(
    outputs: Mapping[str, Sequence[str]],
    inputs: Sequence[str],
    *,
    replaceable: Mapping[str, Sequence[str]] | None = None,
    stdout: TextIO | None = None,
) -> None:
    """Raise UsageError for outputs that cannot be written, overwrite an input, or share a file.

    The check precedes the computation, so that no work is lost.

    Parameters
    ----------
    outputs : mapping of str to sequence of str
        Output files, by the option that names them.
    inputs : sequence of str
        Input files.
    replaceable : mapping of str to sequence of str, optional
        Further input files, each with the outputs that may replace it.
    stdout : text stream, optional
        Destination of the result if `outputs` has no ``output``.

    Raises
    ------
    UsageError
    """
    replaceable = replaceable or {}
    targets = [(output, parameter) for parameter, files in outputs.items() for output in files]
    _check_distinct([(output, option(parameter)) for output, parameter in targets])
    for output, parameter in targets:
        protected = [file for file, replacing in replaceable.items() if output not in replacing]
        check_writable(output, [*inputs, *protected], parameter=parameter)
    if stdout is not None and not outputs.get("output"):
        _check_stdout(stdout, [*inputs, *replaceable])


def _check_distinct(outputs: Iterable[tuple[str, str]]) -> None:
    """Raise UsageError if two results are written to the same file.

    Each output is a pair of its path and the option that names it.
    """
    seen: list[str] = []
    for output, flag in outputs:
        if not Path(output).is_char_device() and any(map(partial(_is_same_file, output), seen)):
            raise UsageError(
                "two results need different files",
                found=f"{output} twice",
                hint=f"write a different file for each {flag}",
            )
        seen.append(output)


def _is_same_file(first: str, second: str) -> bool:
    """Return True if two paths denote the same file after links are resolved.

    The file does not need to exist.
    """
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(first) == os.path.realpath(second) or Path(first).samefile(second)
    return False


def check_writable(output: str, inputs: Iterable[str], *, parameter: str = "output") -> None:
    """Raise UsageError for an output that cannot be written.

    Raises
    ------
    UsageError
        If the folder is missing or not writable, or the file is one of the inputs.
    """
    path = Path(output)
    if path.is_dir() or output.endswith(("/", os.sep)):
        raise write_error(output, "a folder", "write a file name, e.g. ranking.json in this folder")
    if not path.parent.is_dir():
        raise write_error(output, f"no folder {path.parent}", "create the folder first, or write elsewhere")
    # Replacing a file needs write permission for its folder; a device is written in place.
    places = [*([path] if path.exists() else []), *([] if is_device(path) else [path.parent])]
    if not all(os.access(place, os.W_OK) for place in places):
        raise write_error(output, "no permission to write there")
    for source in inputs:
        if _is_same_file(output, source):
            raise UsageError(
                f"{option(parameter, output)} would overwrite an input",
                found=f"the input {source}",
                hint="write the result to another file, outside all input folders and patterns",
            )


def _check_stdout(stdout: TextIO, inputs: Iterable[str]) -> None:
    """Raise UsageError if standard output is redirected into one of the inputs."""
    for source in inputs:
        with contextlib.suppress(OSError, ValueError):  # a stream in memory, or nothing at that path
            output = os.fstat(stdout.fileno())
            if not stat.S_ISCHR(output.st_mode) and os.path.samestat(output, Path(source).stat()):
                raise UsageError(
                    "the result would overwrite an input",
                    found=f"standard output is redirected to the input {source}",
                    hint="write the result to another file",
                )


def write_all(
    results: Sequence[tuple[str | None, bytes]],
    stdout: TextIO,
    extra_files: Mapping[str, bytes] | None = None,
    *,
    before_rename: Callable[[], object] = lambda: None,
) -> None:
    """Write results and extra files to standard output and files: either all or none.

    A closed pipe is not an error, because its reader stopped on purpose.

    Parameters
    ----------
    results : sequence of (str or None, bytes)
        Paths and contents; None stands for standard output.
    stdout : text stream
    extra_files : mapping of str to bytes, optional
        Contents of extra files, by path.
    before_rename : callable, optional
        Called after all files are written and before they are renamed to their final names.

    Raises
    ------
    UsageError
        If a result cannot be written, for example because the disk is full.
    """
    files = [*(extra_files or {}).items(), *((name, data) for name, data in results if name is not None)]
    _check_distinct([(target, option("output")) for target, _ in files])
    devices = [(target, data) for target, data in files if is_device(Path(target))]
    target = "standard output"
    try:
        with deferred_signals() as finishing, contextlib.ExitStack() as stack, contextlib.ExitStack() as undo:
            # Opening a pipe blocks until it has a reader, so do it before any file appears.
            streams = [stack.enter_context(open_device(Path(target))) for target, _ in devices]
            moves = []
            for target, data in files:
                if not is_device(Path(target)):
                    moves.append(stack.enter_context(staged_file(Path(target), data)))
            target = "standard output"
            for to_stdout in (data for name, data in results if name is None):
                write_stdout(to_stdout, stdout)
            for stream, (device, data) in zip(streams, devices, strict=True):
                target = device
                with contextlib.suppress(BrokenPipeError):
                    write_fully(stream, data)
            before_rename()
            finishing()
            for appear, vanish in moves:
                appear()
                undo.callback(vanish)
            undo.pop_all()
    except OSError as error:
        hint = "free some space, or write the result elsewhere" + interface_text(
            f" with {option('output')}", ""
        )
        raise write_error(target, error.strerror or str(error), hint) from None
