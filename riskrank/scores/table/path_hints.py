"""What the paths of several files may name, model, task or run: for hints, never taken silently."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from riskrank.errors import by_door, option
from riskrank.scores.files.source import Source
from riskrank.scores.files.templates import differing, template_of

# Files that are named one by one; of more a pattern is shorter.
_FEW, _MOST = 4, 12


def model_by_path(given: Sequence[Source], sample: str, flags: Callable[[str], str]) -> str:
    """How to say which model each file is of, as far as the paths tell; empty if they do not.

    Parameters
    ----------
    given : sequence of Source
        What was opened.
    sample : str
        Column of the sample.
    flags : callable
        The other options that are needed, by the column of the sample.
    """
    unnamed = [source for source in given if source.model_label is None]
    files = [file.path for source in unnamed for file in source.input_files(0)]
    if len(files) < 2 or not all(Path(file).is_file() for file in files):
        return ""
    places = differing(files)
    if len(places) == 2 and min(len(set(place)) for place in places) < len(files):
        first, second = (
            template_of(files, names) for names in (("{model}", "{task}"), ("{task}", "{model}"))
        )
        if first is None or second is None:
            return ""
        runs = first.replace("{task}", "{draw}")
        return (
            f"if the paths name model and task: {_written([first])} {flags(f'task+{sample}')} (or "
            f"{_written([second])} with it); if model and run: {_written([runs])} {flags(sample)} "
            f"{option('repeats', 'draws')}"
        ).replace("  ", " ")
    names = places[0] if len(places) == 1 else tuple(Path(file).stem for file in files)
    labelled = [f"{name}={file}" for name, file in zip(names, files, strict=True)]
    template = template_of(files, ["{model}"]) if len(files) > _FEW else None
    if template is None and (len(set(names)) < len(files) or len(files) > _MOST):
        return ""
    return (
        f"if each file is one model, say so: {_written([template] if template else labelled)} {flags(sample)}"
    )


def _written(inputs: Sequence[str]) -> str:
    """Inputs as one writes them at each door."""
    return by_door(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))
