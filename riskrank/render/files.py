"""Output of rendered results to standard output or to files: either all are complete or none exists."""

import contextlib
import os
import secrets
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from riskrank.errors import UsageError, interface_text, option
from riskrank.render import WORDS

_TERMINATING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_STREAMS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}


def write_fully(stream: BinaryIO, data: bytes) -> None:
    """Write all bytes to a stream, even if it accepts only part of them per call."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[stream.write(remaining) :]
    stream.flush()


def discard_buffered(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that flushing its buffer at exit does not fail."""
    # A stream in memory has no descriptor.
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as null_device:
        os.dup2(null_device.fileno(), stream.fileno())


def write_stdout(data: bytes, stdout: TextIO) -> None:
    """Write bytes to standard output, unless its reader has closed the pipe on purpose.

    Raises
    ------
    OSError
        If writing fails for any other reason.
    """
    try:
        stdout.flush()
        if hasattr(stdout, "buffer"):
            write_fully(stdout.buffer, data)
        else:
            print(data.decode(), end="", file=stdout, flush=True)
    except OSError as error:
        discard_buffered(stdout)
        if not isinstance(error, BrokenPipeError):
            raise


@contextlib.contextmanager
def deferred_signals() -> Iterator[Callable[[], None]]:
    """Defer termination signals until the block has removed its temporary files.

    Yields
    ------
    finishing : callable
        To be called when the block is about to end; later signals do not interrupt the block.
    """
    received: list[int | None] = []

    def unwind(number: int, _: object) -> None:
        """Record the signal, and interrupt the block if it is the first one."""
        received.append(number)
        if len(received) == 1:
            raise KeyboardInterrupt

    handlers = dict[int, Any]()
    try:
        if threading.current_thread() is threading.main_thread():  # other threads cannot set signal handlers
            for number in _TERMINATING:
                if signal.getsignal(number) not in (None, signal.SIG_IGN):
                    handlers[number] = signal.signal(number, unwind)
        yield partial(received.append, None)
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is unwind:
                signal.signal(number, handler)
        for received_signal in filter(None, received):
            os.kill(os.getpid(), received_signal)


@contextlib.contextmanager
def staged_file(path: Path, data: bytes) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Write a file under a temporary name in the target folder.

    Yields
    ------
    publish, restore : callable
        `publish` renames the file to its final name. `restore` restores the previous state of `path`.
    """
    target = path.parent.resolve() / path.name  # a symbolic link is replaced, its target is not touched
    temporary = target.with_name(f".riskrank-{secrets.token_hex(8)}")
    backup = temporary.with_suffix(".old")
    try:
        with temporary.open("xb") as file:
            write_fully(file, data)
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o666)
            with contextlib.suppress(OSError):  # file systems without hard links cannot restore it
                backup.hardlink_to(target)

        def restore() -> None:
            """Put back the file that was there before, if any."""
            if backup.exists():
                backup.replace(target)
            else:
                target.unlink(missing_ok=True)

        yield partial(temporary.replace, target), restore
    finally:
        temporary.unlink(missing_ok=True)
        backup.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Return True if a path must be written in place, because it is a pipe, a device or a descriptor."""
    is_descriptor = str(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    return is_descriptor or (path.exists() and not path.is_file() and not path.is_dir())


def open_device(path: Path) -> BinaryIO:
    """Open a pipe or a device for writing.

    Standard streams are duplicated instead of reopened, to keep their file position.
    """
    number = _STREAMS.get(str(path))
    return path.open("ab", buffering=0) if number is None else os.fdopen(os.dup(number), "wb", buffering=0)


def write_error(target: str | Path, reason: str, hint: str = "write elsewhere") -> UsageError:
    """Return the error for a path that cannot be written."""
    return UsageError(f"cannot write to {target}", found=reason, hint=hint)


# Formats by the suffix of an output file.
SUFFIXES: dict[str, str] = WORDS["suffixes"]


def choose_formats(
    requested: str | None, outputs: Sequence[str], *, allowed: Iterable[str]
) -> tuple[str, ...]:
    """Return the format of each output file, or of standard output if there are no files.

    The requested format applies to a single file. With several files, it applies only to those without a
    known suffix; all others have the format of their suffix.

    Raises
    ------
    UsageError
        If a file's suffix is unknown, or stands for a format that the command cannot write.
    """
    choices = tuple(allowed)
    if not outputs or (len(outputs) == 1 and requested is not None):
        return (requested or "table",)
    formats = []
    for output in outputs:
        suffix = Path(output).suffix.lower()
        if SUFFIXES.get(suffix) in choices:
            formats.append(SUFFIXES[suffix])
        elif requested is not None or is_device(Path(output)):
            formats.append(requested or "table")
        else:
            known = " ".join(end for end, kind in SUFFIXES.items() if kind in choices)
            command_line = f"add {option('format', '|'.join(choices))}"
            hint = interface_text(command_line, f"use one of the suffixes {known}")
            raise UsageError(f"unknown format of {output}", found=f"suffix {suffix or 'none'}", hint=hint)
    return tuple(formats)


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
    targets = [(output, parameter) for parameter, files in outputs.items() for output in files]
    _check_distinct([(output, option(parameter)) for output, parameter in targets])
    for output, parameter in targets:
        protected = [file for file, replacing in (replaceable or {}).items() if output not in replacing]
        check_writable(output, [*inputs, *protected], parameter=parameter)
    if stdout is None or outputs.get("output"):
        return
    for source in [*inputs, *(replaceable or ())]:
        with contextlib.suppress(OSError, ValueError):  # a stream in memory, or nothing at that path
            status = os.fstat(stdout.fileno())
            if not stat.S_ISCHR(status.st_mode) and os.path.samestat(status, Path(source).stat()):
                problem = "the result would overwrite an input"
                detail = f"standard output is redirected to the input {source}"
                raise UsageError(problem, found=detail, hint="write the result to another file")


def _check_distinct(outputs: Iterable[tuple[str, str]]) -> None:
    """Raise UsageError if two results are written to the same file.

    Each output is a pair of its path and the option that names it.
    """
    seen: list[str] = []
    for output, flag in outputs:
        if not Path(output).is_char_device() and any(map(partial(_is_same_file, output), seen)):
            problem = "two results need different files"
            raise UsageError(problem, found=f"{output} twice", hint=f"write a different file for each {flag}")
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
    targets = [*([path] if path.exists() else []), *([] if is_device(path) else [path.parent])]
    if not all(os.access(target, os.W_OK) for target in targets):
        raise write_error(output, "no permission to write there")
    for source in inputs:
        if _is_same_file(output, source):
            problem = f"{option(parameter, output)} would overwrite an input"
            hint = "write the result to another file, outside all input folders and patterns"
            raise UsageError(problem, found=f"the input {source}", hint=hint)


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
        Stream to write to.
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
            for publish, restore in moves:
                publish()
                undo.callback(restore)
            undo.pop_all()
    except OSError as error:
        elsewhere = interface_text(f" with {option('output')}", "")
        hint = f"free some space, or write the result elsewhere{elsewhere}"
        raise write_error(target, error.strerror or str(error), hint) from None
