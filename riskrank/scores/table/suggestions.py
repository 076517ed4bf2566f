"""Suggestions for resolving errors, each verified on the table itself, and path templates for inputs."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from riskrank.errors import InputError, RiskrankError, interface_text, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.guards import BeyondLimitError
from riskrank.scores.files.paths import differing_parts, infer_template
from riskrank.scores.files.source import Paths, Source
from riskrank.scores.layouts.layout import LayoutError, format_options
from riskrank.scores.table.metric_checks import UndeclaredDirectionError
from riskrank.scores.table.scores import Scores

# Number of files above which a pattern is used, and number above which files are not listed.
_FEW, _MAX_LISTED = 4, 12


def path_templates(files: Sequence[str]) -> list[tuple[list[str], dict[str, str]]]:
    """Return inputs in which file paths name models, tasks or runs.

    Each input is returned with the options that it requires.
    """
    path_parts = differing_parts(files)
    if len(path_parts) == 2 and min(len(set(names)) for names in path_parts) < len(files):
        templates = [infer_template(files, names) for names in (("{model}", "{task}"), ("{task}", "{model}"))]
        if None in templates:
            return []
        first, second = map(str, templates)
        return [([first], {}), ([second], {}), ([first.replace("{task}", "{draw}")], {"repeats": "draws"})]
    names = file_names(files)
    template = infer_template(files, ["{model}"]) if len(files) > _FEW else None
    if template is not None:
        return [([template], {})]
    if len(set(names)) < len(files) or len(files) > _MAX_LISTED:
        return []
    return [([f"{name}={file}" for name, file in zip(names, files, strict=True)], {})]


def format_inputs(inputs: Sequence[str]) -> str:
    """Format inputs for use on the command line and in the Python API."""
    return interface_text(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))


# Numbered files that are parts of one table, or repeats.
_PART = re.compile(
    r"(^|[\W_])(fold|seed|run|split|part|batch|shard|chunk|iter|epoch|trial|rep|cv)?s?[\W_]*\d+$"
)

# Verifying a suggestion takes as long as reading the table.
_MAX_ROWS = 2_000_000
# Maximum number of readings to choose from.
_MAX_READINGS = 3
# Options that select the columns and rows to read.
_COLUMNS = ("columns", "task", "cluster", "where", "sql", "wide", "noise")


def verify_suggestions(
    error: InputError, requested: ReadOptions, resolved: ReadOptions, read: Callable[[ReadOptions], object]
) -> InputError:
    """Return the error with only those suggestions that work, each with all options it requires.

    If a suggestion leads to another question, it is replaced by the possible answers.

    Parameters
    ----------
    error : InputError
        Its suggestions are options, changes of options, or fixed text.
    requested : ReadOptions
        Options as given by the user.
    resolved : ReadOptions
        Options to which changes are applied.
    read : callable
        The step that failed, called with changed options.
    """
    working: list[tuple[str, object]] = []
    too_few: list[InputError] = []
    # A suggestion that fails may lead to one that works.
    queue = [(text, change, True) for text, change in error.suggestions]
    for text, change, first in queue:
        if change is None:
            working.append((text, None))
            continue
        try:
            options = change if isinstance(change, ReadOptions) else replace(resolved, **change)  # type: ignore[arg-type]
            read(options)
            working.append((format_options(options, requested), None))
        except InputError as failure:
            if isinstance(failure, LayoutError):
                detail = f"{failure.found}, with {format_options(options, requested)}"
                too_few.append(type(error)(failure.problem, found=detail, hint=failure.hint))
            further = failure.suggestions if first else ()
            # All directions are suggested; of other answers for a reading, the first is sufficient.
            if isinstance(error, LayoutError) and not isinstance(failure, UndeclaredDirectionError):
                further = further[:1]
            queue += [("", replace(options, **more), False) for _, more in further if isinstance(more, dict)]
        except RiskrankError:
            continue
    suggestions = [*dict.fromkeys(working)]
    if isinstance(error, LayoutError):
        if too_few and not working:
            return too_few[0]
        suggestions = suggestions[:_MAX_READINGS]
    return type(error)(error.problem, found=error.found, hint=error.hint, suggestions=suggestions)


def verify_on_scores(
    error: InputError, scores: Scores, read: Callable[[Scores], object], read_frame: Callable[..., Scores]
) -> InputError:
    """Return the error with only those suggestions that work on the given scores.

    Parameters
    ----------
    error : InputError
    scores : Scores
    read : callable
        The step that failed, called with scores.
    read_frame : callable
        Rereads the files if a suggestion changes the columns or rows.
    """
    notes = scores.notes

    def attempt(options: ReadOptions) -> object:
        """Repeat the failed step with changed options."""
        if notes.rows > _MAX_ROWS:
            raise error
        if all(getattr(options, name) == getattr(notes.resolved, name) for name in _COLUMNS):
            updated = replace(notes, resolved=options, requested=options)
            return read(replace(scores, options=options.file_options, notes=updated))
        if not notes.sources:
            raise error
        return read(read_frame(notes.sources, options, baseline=notes.baseline))

    return verify_suggestions(error, notes.requested, notes.resolved, attempt)


def suggest_templates(
    error: InputError,
    paths: Paths,
    sources: Sequence[Source],
    read: Callable[[Sequence[str], Mapping[str, str]], object],
) -> InputError:
    """Add path templates that can be read to an error's suggestions, if file paths may name models.

    Parameters
    ----------
    error : InputError
    paths : sequence of str or Source
        Inputs as given by the user.
    sources : sequence of Source
    read : callable
        Reads inputs with additional options.
    """
    names = [path for path in paths if isinstance(path, str)]
    files = _unlabelled_files(paths, sources)
    if isinstance(error, BeyondLimitError) or not files:
        return error
    lines: list[tuple[str, object]] = []
    for inputs, args in path_templates(files):
        with suppress(RiskrankError):
            read(inputs, args)
            lines.append((" ".join([format_inputs(inputs), *(option(*item) for item in args.items())]), None))
    if not lines:
        return error
    case = "each file is a model" if len(lines) == 1 else "the paths name model and task, or model and run"
    hint = f"if {case}, copy the matching line"
    return type(error)(error.problem, found=error.found, hint=hint, suggestions=lines, replaces=names)


def file_models(paths: Paths, sources: Sequence[Source]) -> list[str]:
    """Return inputs that label each file as a model.

    The list is empty if file names or columns do not suggest one model per file, as for numbered folds.
    """
    files = _unlabelled_files(paths, sources)
    names = file_names(files) if len({source.columns for source in sources}) == 1 and files else []
    is_clear = 1 < len({*names}) == len(names) and len(path_templates(files)) < 2
    is_part = all(map(_PART.search, names))
    return (
        [] if is_part or not is_clear else [f"{name}={file}" for name, file in zip(names, files, strict=True)]
    )


def file_names(files: Sequence[str]) -> list[str]:
    """Return the parts of file names that differ.

    If only one component of the paths differs, it is used; otherwise the file name is. Beginnings and ends
    that all names share are removed.
    """
    parts = differing_parts(files)
    names = [*parts[0]] if len(parts) == 1 else [Path(file).stem for file in files]
    for _ in range(2):  # remove the shared beginning, then the shared end
        columns = takewhile(lambda chars: len(set(chars)) == 1, zip(*names, strict=False))
        shared = re.sub(r"[^\W_]*$", "", "".join(chars[0] for chars in columns))
        names = [name.removeprefix(shared)[::-1] for name in names]
    return names if all(names) else [Path(file).stem for file in files]


def _unlabelled_files(paths: Paths, sources: Sequence[Source]) -> list[str]:
    """Return the files in the inputs.

    The list is empty if a file is labelled or cannot be read twice.
    """
    names = [path for path in paths if isinstance(path, str)]
    if len(names) < len(paths) or any("{" in name for name in names):
        return []
    files = [file.path for source in sources for file in source.input_files(0)]
    is_readable = len(files) > 1 and all(Path(file).is_file() for file in files)
    return files if is_readable and all(source.model_label is None for source in sources) else []
