"""Entry point to all export readers, with functions that select task averages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, check_choice, counted, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.catalogue import EXPORTS
from riskrank.scores.exports.flat import flat_reader
from riskrank.scores.exports.reader import Export, LabelledPath, RowReader, walk_files
from riskrank.scores.exports.selection import requested_metrics
from riskrank.scores.files.contents import head_names
from riskrank.scores.files.paths import labelled_paths

READERS = (*EXPORTS,)
AUTO = "auto"


def load_reader(name: str) -> RowReader:
    """Return the reader of an export format, given its name in `EXPORTS`.

    Raises
    ------
    UsageError
        If the format is unknown; the message suggests the closest name.
    """
    check_choice("from", name, READERS)
    form = EXPORTS[name]
    parts = flat_reader(name, form)
    if form.module:
        parts = vars(import_module(f"riskrank.scores.exports.{form.module}"))
    return RowReader(
        name=name,
        form=form,
        rows=parts["read"],
        recognises=parts.get("recognises", lambda path: form.matches(head_names(path))),
        is_preferred=parts.get(
            "is_preferred", lambda path: not form.preferred or form.preferred in head_names(path)
        ),
        finish=parts.get("finish", lambda rows, _collector: rows),
    )


def read_export(
    name: str,
    paths: Sequence[str],
    options: ReadOptions | None = None,
    samples_with_texts: frozenset[str] = frozenset(),
) -> Export:
    """Read the files that a harness wrote.

    Parameters
    ----------
    name : str
        A format listed in `EXPORTS`, or ``auto`` to detect the format.
    paths : sequence of str
        Files, folders and glob patterns, each optionally written as ``LABEL=PATH``.
    options : ReadOptions, optional
    samples_with_texts : frozenset of str
        Samples whose rows include the model's input and output.

    Returns
    -------
    Export

    Raises
    ------
    InputError
        If a file cannot be read, or no scores are found.
    UsageError
        If the format is unknown or not recognised, or if an option is needed to select among alternatives.
    """
    options = options or ReadOptions()
    if not paths:
        hint = "name files, folders or patterns"
        raise UsageError("no exports were given", found="an empty list of paths", hint=hint)
    files = [entry for path in paths for entry in parse_path_argument(path)]
    chosen = load_reader(detect_format(files) if name == AUTO else name)
    export = chosen.read(sorted(files, key=lambda file: file.label is not None), options, samples_with_texts)
    return select_averages(export, options) if export.has_task_averages else export


def parse_path_argument(text: str) -> list[LabelledPath]:
    """Expand one argument (a path, a glob pattern, or ``LABEL=PATH``) to labelled paths.

    If the whole argument is an existing path, it is not split into label and path.

    Raises
    ------
    InputError
        If the file or folder does not exist.
    """
    labels = labelled_paths(text, folders=True)
    entries = [LabelledPath(path=Path(path), label=label) for label, path in labels]
    for entry in entries:
        if not entry.path.exists():
            hint = "check the path; exports are read from local folders"
            raise InputError(f"{entry.path}: no such file or folder", found="nothing at this path", hint=hint)
    return entries


def detect_format(files: Sequence[LabelledPath]) -> str:
    """Return the name of the export format that recognises all files and folders.

    Raises
    ------
    UsageError
        If no format recognises every path, or several formats do.
    """
    readers = {name: load_reader(name) for name in READERS}
    matching = [n for n, reader in readers.items() if all(_is_recognised(reader, f.path) for f in files)]
    if len(matching) == 1:
        return matching[0]
    path_list = listing((entry.path for entry in files), 3)
    detail = f"several formats match: {listing(matching)}" if matching else "no format matches all paths"
    hint = f"add {option('from', matching[0] if matching else '…')}, one of {listing(READERS, 30)}"
    raise UsageError(f"{path_list}: cannot detect the harness", found=detail, hint=hint)


def _is_recognised(row_reader: RowReader, path: Path) -> bool:
    """Return True if a reader recognises a file, or at least one file in a folder."""
    if path.is_dir():
        return next(walk_files(path, row_reader.recognises), None) is not None
    return row_reader.recognises(path)


SCORE = "score"


def select_averages(export: Export, options: ReadOptions) -> Export:
    """Select the requested metrics of task averages, or by default those that all tasks share.

    Parameters
    ----------
    export : Export
        One row per model, task and metric; the sample is the task.
    options : ReadOptions
        `metric` lists metrics by name or as ``TASK=NAME``. If each task has one metric and these differ, the
        combined metric is called ``score``.

    Raises
    ------
    UsageError
        If the tasks have no metric in common and none was requested.
    """
    in_order = pl.col("metric").unique(maintain_order=True)
    metrics_by_task = dict(export.rows.group_by("sample", maintain_order=True).agg(in_order).iter_rows())
    task_counts = Counter(chain.from_iterable(metrics_by_task.values()))
    common = {metric for metric, times in task_counts.items() if times == len(metrics_by_task)}
    requested = requested_metrics(options.metric, metrics_by_task)
    pairs = [(task, name) for task, names in metrics_by_task.items() for name in names]
    selected = [(task, name) for task, name in pairs if name in (requested[task] or common)]
    if not selected:
        first, _ = task_counts.most_common(1)[0]
        examples = [f"{task}={min(names)}" for task, names in metrics_by_task.items() if first not in names]
        detail = listing(_format_task_counts(task_counts.most_common()), 8)
        hint = f"for example {' '.join(option('metric', name) for name in (first, *examples))}"
        raise UsageError("the tasks have different metrics; select one per task", found=detail, hint=hint)
    selected_pairs = pl.DataFrame(selected, schema=["sample", "metric"], orient="row")
    rows = export.rows.join(selected_pairs, on=["sample", "metric"], how="semi", maintain_order="left")
    selected_counts = Counter(metric for _, metric in selected)
    tasks = counted(rows["sample"].n_unique(), "task")
    notes = [f"averages of {tasks} without sample scores, so the tasks are the samples"]
    if excluded := task_counts.keys() - selected_counts.keys():
        notes.append(f"ignored: {listing(sorted(excluded), 8)}")
    directions = {metric: export.directions.get(metric, "") for metric in selected_counts}
    # Metrics that stand for one another: one per task, with the same direction.
    if len(set(directions.values())) == 1 < len(directions) and len(dict(selected)) == len(selected):
        rows = rows.with_columns(metric=pl.lit(SCORE))
        directions = {SCORE: next(iter(directions.values()))}
        notes.append(f"{SCORE}: {', '.join(_format_task_counts(selected_counts.items()))}")
    declared = {name: direction for name, direction in directions.items() if direction}
    return replace(export, rows=rows, directions=declared, notes=(*export.notes, *notes))


def _format_task_counts(metrics: Iterable[tuple[str, int]]) -> list[str]:
    """Format pairs of a metric and its number of tasks as texts, such as "acc of 3 tasks"."""
    return [f"{metric} of {counted(times, 'task')}" for metric, times in metrics]
