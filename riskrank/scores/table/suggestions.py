"""Suggestions for resolving errors, each verified on the table itself, and path templates for inputs."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from riskrank.errors import InputError, RiskrankError, interface_text, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.guards import BeyondLimitError
from riskrank.scores.files.paths import differing_parts, infer_template
from riskrank.scores.files.source import Paths, Source
from riskrank.scores.layouts.layout import format_options
from riskrank.scores.table.scores import Scores

# More files than the first number get a pattern, and more than the second are not listed.
_FEW, _MAX_LISTED = 4, 12


def path_templates(files: Sequence[str]) -> list[tuple[list[str], dict[str, str]]]:
    """Return inputs in which file paths name models, tasks or runs, each with the options it requires."""
    path_parts = differing_parts(files)
    if len(path_parts) == 2 and min(len(set(names)) for names in path_parts) < len(files):
        templates = [infer_template(files, names) for names in (("{model}", "{task}"), ("{task}", "{model}"))]
        if None in templates:
            return []
        first, second = map(str, templates)
        return [([first], {}), ([second], {}), ([first.replace("{task}", "{draw}")], {"repeats": "draws"})]
    names = path_parts[0] if len(path_parts) == 1 else tuple(Path(file).stem for file in files)
    template = infer_template(files, ["{model}"]) if len(files) > _FEW else None
    if template is not None:
        return [([template], {})]
    if len(set(names)) < len(files) or len(files) > _MAX_LISTED:
        return []
    return [([f"{name}={file}" for name, file in zip(names, files, strict=True)], {})]


def format_inputs(inputs: Sequence[str]) -> str:
    """Format inputs for use on the command line and in the Python API."""
    return interface_text(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))


# Verifying a suggestion takes as long as reading the table.
_MAX_ROWS = 2_000_000
# Options that select the columns and rows to read.
_COLUMNS = ("columns", "task", "cluster", "where", "sql", "wide", "noise")


def verify_suggestions(
    error: InputError, requested: ReadOptions, resolved: ReadOptions, read: Callable[[ReadOptions], object]
) -> InputError:
    """Return the error with only those suggestions that work, each with all options it requires.

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
            further = failure.suggestions if first else ()
            queue += [("", replace(options, **more), False) for _, more in further if isinstance(more, dict)]
        except RiskrankError:
            continue
    suggestions = [*dict.fromkeys(working)]
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
    if isinstance(error, BeyondLimitError) or len(names) < len(paths) or any("{" in name for name in names):
        return error
    files = [file.path for source in sources for file in source.input_files(0)]
    # Pipes cannot be read twice.
    if len(files) < 2 or not all(Path(file).is_file() for file in files):
        return error
    if not all(source.model_label is None for source in sources):
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
