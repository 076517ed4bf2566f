"""What the paths of several files may name, model, task or run: for hints, never taken silently."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import by_door
from riskrank.scores.files.templates import differing, template_of

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


def template_of_tasks(labels: Sequence[str | None], files: Sequence[str], models: pl.DataFrame) -> str | None:
    """The template of files in which one place tells those of a model apart; that place is ``{task}`` in it.

    Parameters
    ----------
    labels : sequence of (str or None)
        Names given to the models of the files.
    files : sequence of str
    models : DataFrame
        Columns ``model`` and ``file``, an index into `files`.
    """
    places, pairs = differing(files), models.select("model", "file").unique()
    for at in reversed(range(len(places))):
        told = pl.Series(places[at]).gather(pairs["file"])
        if pairs.select("model", told.alias("told")).n_unique() == pairs.height:
            others = "*" if labels.count(None) == len(labels) else "{model}"
            if others == "{model}" and len(places) != 2:
                return None
            return template_of(files, [others] * at + ["{task}"] + [others] * (len(places) - at - 1))
    return None


def written(inputs: Sequence[str]) -> str:
    """Inputs as one writes them at each door."""
    return by_door(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))
