"""Ways out of a refusal, of which none is proposed that was not tried on the table itself."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, RiskrankError, option
from riskrank.scores.files.contents import BeyondLimitError
from riskrank.scores.files.source import Source
from riskrank.scores.table.path_hints import namings
from riskrank.scores.table.path_hints import written as inputs_written
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.shapes.reading import written

# To try a way takes as long as to read the table.
_MOST_ROWS = 2_000_000
# Options that say which columns and rows are read.
_COLUMNS = ("columns", "task", "cluster", "where", "sql", "wide")


def tried(
    error: InputError, before: ReadOptions, asked: ReadOptions, read: Callable[[ReadOptions], object]
) -> InputError:
    """The same error with the ways that lead somewhere, each with all that has to be said.

    Parameters
    ----------
    error : InputError
        Whose ways are options, changes of them, or words that stand as they are.
    before : ReadOptions
        What was asked for, and no more.
    asked : ReadOptions
        What is changed.
    read : callable
        What failed, with other options.
    """
    ways: list[tuple[str, object]] = []
    for way, change in error.ways:
        with suppress(RiskrankError):
            if change is not None:
                options = change if isinstance(change, ReadOptions) else replace(asked, **change)  # type: ignore[arg-type]
                read(options)
                way = written(options, before)
            ways.append((way, None))
    return type(error)(error.what, found=error.found, hint=error.hint, ways=ways)


def tried_on(
    error: InputError,
    scores: Scores,
    read: Callable[[Scores], object],
    read_frame: Callable[..., Scores],
) -> InputError:
    """The same error with the ways that lead somewhere; `read` is what failed of what `read_frame` gave."""
    notes = scores.notes

    def again(options: ReadOptions) -> object:
        if notes.rows > _MOST_ROWS:
            raise error
        if all(getattr(options, name) == getattr(notes.asked, name) for name in _COLUMNS):
            return read(replace(scores, options=options.as_read, notes=replace(notes, asked=options)))
        if not notes.sources:
            raise error
        return read(read_frame(notes.sources, options, baseline=notes.baseline))

    return tried(error, notes.given, notes.asked, again)


def named_by_files(
    error: InputError,
    paths: Sequence[str | Source],
    given: Sequence[Source],
    read: Callable[[Sequence[str], Mapping[str, str]], object],
) -> InputError:
    """The same error, with what the paths of the files may name where the files are read so."""
    names = [path for path in paths if isinstance(path, str)]
    if isinstance(error, BeyondLimitError) or len(names) < len(paths) or any("{" in name for name in names):
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
