"""Ways out of a refusal, of which none is proposed that was not tried on the table itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, RiskrankError, option
from riskrank.scores.files.source import Source
from riskrank.scores.table.path_hints import namings
from riskrank.scores.table.path_hints import written as inputs_written
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.shapes.reading import written

# To try a way takes as long as to read the table.
_MOST_ROWS = 2_000_000


def tried(error: InputError, scores: Scores, read: Callable[[Scores], object]) -> InputError:
    """The same error with the ways that lead somewhere, each with all that has to be said.

    Parameters
    ----------
    error : InputError
        Whose ways are changes of options.
    scores : Scores
    read : callable
        What failed, of scores with other options.
    """
    ways: list[tuple[str, object]] = []
    for way, change in error.ways:
        if isinstance(change, Mapping):
            asked = replace(scores.notes.asked, **change)
            if scores.notes.rows > _MOST_ROWS or not _leads_somewhere(scores, asked, read):
                continue
            way = written(asked, scores.notes.given)
        ways.append((way, None))
    return type(error)(error.what, found=error.found, hint=error.hint, ways=ways)


def _leads_somewhere(scores: Scores, asked: ReadOptions, read: Callable[[Scores], object]) -> bool:
    notes = replace(scores.notes, asked=asked)
    try:
        read(replace(scores, options=asked.as_read, notes=notes))
    except RiskrankError:
        return False
    return True


def that_read(error: InputError, paths: Sequence[str | Source], read: Callable[..., object]) -> InputError:
    """The same error with those of several readings that do read the files, which a pipe gives once."""
    if "-" in paths or not any(isinstance(change, ReadOptions) for _, change in error.ways):
        return error
    ways: list[tuple[str, object]] = []
    for way, change in error.ways:
        with suppress(RiskrankError):
            if isinstance(change, ReadOptions):
                read(paths, change)
            ways.append((way, None))
    return type(error)(error.what, found=error.found, hint=error.hint, ways=ways)


def named_by_files(
    error: InputError,
    paths: Sequence[str | Source],
    given: Sequence[Source],
    read: Callable[[Sequence[str], Mapping[str, str]], object],
) -> InputError:
    """The same error, with what the paths of the files may name where the files are read so."""
    names = [path for path in paths if isinstance(path, str)]
    if len(names) < len(paths) or any("{" in name for name in names):
        return error
    files = [file.path for source in given for file in source.input_files(0)]
    # A pipe cannot be read twice.
    if len(files) < 2 or not all(Path(file).is_file() for file in files):
        return error
    if not all(source.model_label is None for source in given):
        return error
    ways: list[tuple[str, object]] = []
    for inputs, more in namings(files):
        with suppress(RiskrankError):
            read(inputs, more)
            ways.append((" ".join([inputs_written(inputs), *(option(*one) for one in more.items())]), None))
    if not ways:
        return error
    of = "each file is one model" if len(ways) == 1 else "the paths name model and task, or model and run"
    hint = f"if {of}, copy the line that says so"
    return type(error)(error.what, found=error.found, hint=hint, ways=ways, instead_of=names)
