"""Ways out of a refusal, none proposed that was not tried on the table itself; and what paths may name."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from riskrank.errors import InputError, RiskrankError, by_door, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.limits import BeyondLimitError
from riskrank.scores.files.paths import differing, template_of
from riskrank.scores.files.source import Paths, Source
from riskrank.scores.layouts.layout import UnlikeRunsError, written
from riskrank.scores.table.scores import Scores

# Files that are named one by one; of more a pattern is shorter.
_FEW, _MOST = 4, 12


def namings(files: Sequence[str]) -> list[tuple[list[str], dict[str, str]]]:
    """Inputs that say what the paths of files name, as far as the paths tell, and the options beside them."""
    places = differing(files)
    if len(places) == 2 and min(len(set(place)) for place in places) < len(files):
        named = [template_of(files, names) for names in (("{model}", "{task}"), ("{task}", "{model}"))]
        if None in named:
            return []
        first, second = map(str, named)
        return [([first], {}), ([second], {}), ([first.replace("{task}", "{draw}")], {"repeats": "draws"})]
    names = places[0] if len(places) == 1 else tuple(Path(file).stem for file in files)
    template = template_of(files, ["{model}"]) if len(files) > _FEW else None
    if template is not None:
        return [([template], {})]
    if len(set(names)) < len(files) or len(files) > _MOST:
        return []
    return [([f"{name}={file}" for name, file in zip(names, files, strict=True)], {})]


def inputs_written(inputs: Sequence[str]) -> str:
    """Inputs as one writes them at each door."""
    return by_door(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))


# To try a way takes as long as to read the table.
_MOST_ROWS = 2_000_000
# Options that say which columns and rows are read.
_COLUMNS = ("columns", "task", "cluster", "where", "sql", "wide", "noise")


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
        try:
            if change is not None:
                options = change if isinstance(change, ReadOptions) else replace(asked, **change)  # type: ignore[arg-type]
                read(options)
                way = written(options, before)
            ways.append((way, None))
        except UnlikeRunsError as unlike:
            further = type(error)(error.what, found=unlike.found, hint=unlike.hint, ways=unlike.ways)
            return tried(further, before, asked, read)
        except RiskrankError:
            continue
    return type(error)(error.what, found=error.found, hint=error.hint, ways=ways)


def tried_on(
    error: InputError, scores: Scores, read: Callable[[Scores], object], read_frame: Callable[..., Scores]
) -> InputError:
    """The same error with the ways that lead somewhere; `read` is what failed of what `read_frame` gave."""
    notes = scores.notes

    def again(options: ReadOptions) -> object:
        if notes.rows > _MOST_ROWS:
            raise error
        if all(getattr(options, name) == getattr(notes.asked, name) for name in _COLUMNS):
            return read(
                replace(scores, options=options.as_read, notes=replace(notes, asked=options, given=options))
            )
        if not notes.sources:
            raise error
        return read(read_frame(notes.sources, options, baseline=notes.baseline))

    return tried(error, notes.given, notes.asked, again)


def named_by_files(
    error: InputError,
    paths: Paths,
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
