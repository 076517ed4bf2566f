"""The one way in to any reader of exports; averages of tasks become a board, whose samples are the tasks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, counted, listing, one_of, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.catalogue import EXPORTS
from riskrank.scores.exports.export_file import walk
from riskrank.scores.exports.interface import Export, LabelledPath
from riskrank.scores.exports.row_reader import RowReader
from riskrank.scores.exports.selection import wanted_metrics
from riskrank.scores.files.paths import labelled_paths

READERS = (*EXPORTS,)
AUTO = "auto"


def reader(name: str) -> RowReader:
    """The reader of a format: what its module calls ``read``, or by the name behind a colon.

    Raises
    ------
    UsageError
        If there is none of that name, with the nearest.
    """
    one_of("from", name, READERS)
    module, _, called = EXPORTS[name][0].partition(":")
    found: RowReader = getattr(import_module(f"riskrank.scores.exports.{module}"), called or "read")
    return replace(found, name=name)


def read_export(
    name: str,
    paths: Sequence[str],
    rules: ReadOptions | None = None,
    texts_of: frozenset[str] = frozenset(),
) -> Export:
    """Read what a harness wrote.

    Parameters
    ----------
    name : str
        A format of the table, or ``auto`` to recognise it.
    paths : sequence of str
        Files, folders and glob patterns, each also as ``LABEL=PATH``.
    rules : ReadOptions, optional
    texts_of : frozenset of str
        Samples whose rows are to hold what was asked and answered.

    Returns
    -------
    Export

    Raises
    ------
    InputError
        If a file cannot be read, or nothing in it is a score.
    UsageError
        If the format is unknown or not recognised, or a rule has to be given.
    """
    rules = rules or ReadOptions()
    files = [entry for path in paths for entry in labelled(path)]
    if not files:
        hint = "name files, folders or patterns"
        raise UsageError("no exports were given", found="an empty list of paths", hint=hint)
    chosen = reader(recognise(files) if name == AUTO else name)
    export = chosen.read(sorted(files, key=lambda file: file.label is not None), rules, texts_of)
    return as_board(export, rules) if export.board else export


def labelled(text: str) -> list[LabelledPath]:
    """Paths of one argument: a path or pattern, also as ``LABEL=PATH``; what exists by that name goes first.

    Raises
    ------
    InputError
        If there is nothing of that name.
    """
    found = [LabelledPath(path=Path(path), label=label) for label, path in labelled_paths(text, folders=True)]
    for entry in found:
        if not entry.path.exists():
            hint = "check the path; exports are read from this machine's folders"
            raise InputError(f"{entry.path}: no such file or folder", found="nothing at that path", hint=hint)
    return found


def recognise(files: Sequence[LabelledPath]) -> str:
    """The one format that every file is of.

    Raises
    ------
    UsageError
        If none does, or several do.
    """
    fitting = [name for name in READERS if all(_recognised(reader(name), entry.path) for entry in files)]
    if len(fitting) == 1:
        return fitting[0]
    shown = listing((entry.path for entry in files), 3)
    raise UsageError(
        f"{shown}: cannot tell which harness wrote this",
        found=f"it could be {listing(fitting)}" if fitting else "no format fits every path",
        hint=f"name it: {option('from', fitting[0] if fitting else '…')}, one of {listing(READERS, 30)}",
    )


def _recognised(found: RowReader, path: Path) -> bool:
    """Whether a reader knows a file, or some file of a folder."""
    if path.is_dir():
        return next(walk(path, found.recognises), None) is not None
    return found.recognises(path)


SCORE = "score"


def as_board(export: Export, rules: ReadOptions) -> Export:
    """A board of averages: the metrics that all tasks have, or those that somebody names.

    Parameters
    ----------
    export : Export
        A row a model, task and metric; the sample is the task.
    rules : ReadOptions
        `metric`, by name or ``TASK=NAME``; one a task, and not the same one, is called ``score``.

    Raises
    ------
    UsageError
        If tasks have no metric in common and nobody says which counts.
    """
    pairs = export.rows.select("sample", "metric").unique(maintain_order=True)
    there = {str(task): [*of["metric"]] for (task,), of in pairs.group_by("sample", maintain_order=True)}
    spread = Counter(metric for metrics in there.values() for metric in metrics)
    common = {metric for metric, times in spread.items() if times == len(there)}
    wanted = wanted_metrics(rules.metric, there)
    kept = [(task, one) for task, names in there.items() for one in names if one in (wanted[task] or common)]
    if not kept:
        first, _ = spread.most_common(1)[0]
        each = [first, *(f"{task}={min(names)}" for task, names in there.items() if first not in names)]
        raise UsageError(
            "tasks have different metrics, and which counts has to be said",
            found=listing(_each_of(spread.most_common()), 8),
            hint=f"for example {' '.join(option('metric', one) for one in each)}",
        )
    left = pl.DataFrame(kept, schema=["sample", "metric"], orient="row")
    rows = export.rows.join(left, on=["sample", "metric"], how="semi", maintain_order="left")
    told = Counter(metric for _, metric in kept)
    tasks = counted(rows["sample"].n_unique(), "task")
    said = [f"averages of {tasks}, without their scores: tasks are the samples"]
    said += [f"left out: {listing(sorted(gone), 8)}"] if (gone := spread.keys() - told.keys()) else []
    ways = {export.directions.get(metric, "") for metric in told}
    directions = dict(export.directions)
    if len(told) > 1 and len(ways) == 1 and max(Counter(task for task, _ in kept).values()) == 1:
        rows, directions = rows.with_columns(metric=pl.lit(SCORE)), dict.fromkeys([SCORE], ways.pop())
        said += [f"{SCORE}: {', '.join(_each_of(told.items()))}"]
    known = {name: way for name, way in directions.items() if way and name in {SCORE, *told}}
    return replace(export, rows=rows, directions=known, notes=(*export.notes, *said))


def _each_of(metrics: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{metric} of {counted(times, 'task')}" for metric, times in metrics]
