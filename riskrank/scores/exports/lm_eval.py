"""What lm-evaluation-harness writes under ``--log_samples``, in every layout it has had.

``samples_<task>_<date>.jsonl`` stand beside ``results_<date>.json`` in a folder a model (tree) or in one
folder for all (flat: only the dates tell runs apart); before 0.4.3, ``<model arguments>_<task>.jsonl`` are
JSON arrays beside ``results.json``. A document has a row a filter.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, counted, listing
from riskrank.scores.exports.gathering import (
    Gathering,
    check_used,
    choose,
    files_of,
    model_of,
    refuse_rules,
    wanted_metrics,
)
from riskrank.scores.exports.interface import ANSWERED, ASKED, Export, ExportRules, LabelledPath
from riskrank.scores.exports.lm_eval_results import RESULTS, SAMPLES, SUFFIX, Results, Runs, with_texts
from riskrank.scores.exports.lm_eval_rows import SCHEMA, bounds_of, frame_of
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.parsing import UNSCORED

NAME = "lm-eval"

_LINES = re.compile(rf"\.jsonl{SUFFIX}")
_AVERAGES = re.compile(rb'\{\s*"results"\s*:\s*\{\s*"[^"]*"\s*:\s*\{')
PERPLEXITY = "perplexity"


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The rows of one file: columns ``doc``, ``hash``, ``filter``, ``metric``, ``score``.

    `aggregates` are, by filter and metric, of metrics that are no means of samples.
    """

    path: Path
    model: str
    task: str
    date: str
    rows: pl.DataFrame
    aggregates: Mapping[tuple[str, str], float]


def recognises(path: Path) -> bool:
    """Whether a file is one of samples, or of results."""
    if RESULTS.match(path.name):
        return _AVERAGES.match(first_bytes(path)) is not None
    if not _LINES.search(path.name):
        return False
    head = first_bytes(path).lstrip(b"[ \r\n\t")
    documents = b'"doc_id"' in head and (b'"doc"' in head or b'"resps"' in head)
    return documents or (SAMPLES.match(path.name) is not None and not head.startswith(b'{"schema_version"'))


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read sample files, each with the results file of its run.

    Parameters
    ----------
    files : sequence of LabelledPath
        Sample files, or folders.
    rules : ExportRules
        `filters` picks among the filters of a task.

    Returns
    -------
    Export
        A sample is ``task/doc_id``; further columns are ``task`` and ``filter``.

    Raises
    ------
    InputError, UsageError
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)
    runs = Runs(gathering)
    parts: list[_Part] = []
    label = files[0].label if files else None
    found = [*files_of(files, recognises)]
    board = all(RESULTS.match(path.name) for path in found)
    for path in found:
        if board:
            gathering.take(path, partial(_read_averages, path, gathering, parts, label))
        elif not RESULTS.match(path.name):
            gathering.take(path, partial(_read_samples, path, runs, gathering, parts, label))
    _note_aggregates(parts, rules, gathering)
    parts = [part for part in parts if part.rows.height]
    if runs.cut_short:
        gathering.note(f"fewer samples than were evaluated: {listing(runs.cut_short, 3)}")
    if parts:
        there = (name for part in parts for name in part.rows["filter"].unique(maintain_order=True))
        check_used("filter", rules.filters, there)
    parts = _wanted(parts, gathering)
    repeated = gathering.note_repeats((part.model, part.task, part.path) for part in parts)
    filters = _chosen_filters(parts, rules)
    for part in parts:
        again = (part.model, part.task) in repeated
        gathering.add_frame(_named(part, *filters[part.task], repeated=again), of=part.path)
    _check_documents(parts, gathering)
    export = gathering.export()
    kept = export.rows["metric"].unique().sort().to_list()
    told = ((name, _direction(name, gathering.directions)) for name in kept)
    export = replace(export, directions={name: way for name, way in told if way}, bounds=bounds_of(kept))
    return replace(export, rows=export.rows.drop("task"), board=True) if board else export


def _read_samples(
    path: Path, runs: Runs, gathering: Gathering, parts: list[_Part], label: str | None, data: bytes
) -> None:
    try:
        run = runs.of(path)
    except InputError as error:
        if not gathering.rules.skip_bad:
            raise
        # Without it neither the model nor the filters are sure.
        lines = sum(1 for line in data.splitlines() if line.strip())
        raise InputError(
            f"{path} with {counted(lines, 'line')}, as its results file cannot be read: {error.what}",
            found=error.found,
            hint=error.hint,
        ) from None
    task, date = _task_of(path, run)
    model = model_of(path, _model_name(path, run), gathering.rules, label=label)
    metrics = run.metrics(task) if run else ()
    told = dict(run.directions(task)) if run else {}
    filters = run.filters(task) if run else ()
    aggregates: dict[tuple[str, str], float] = {}
    rows = frame_of(path, data, gathering, filters=filters, metrics=metrics, aggregates=aggregates)
    start = f"{task}/"
    wanted = {one.removeprefix(start) for one in gathering.rules.texts_of if one.startswith(start)}
    if wanted:
        rows = with_texts(rows, gathering.records(path, data), wanted)
    if not rows.height and not aggregates:
        gathering.note(f"{path}: no score in it")
    if rows.filter(pl.col("metric") == PERPLEXITY).height and _are_log_likelihoods(rows):
        told[PERPLEXITY] = True
        gathering.note(
            f"'{PERPLEXITY}': samples hold log-likelihoods, of which higher is better; their perplexity is "
            "exp(−mean)"
        )
    for metric, up in told.items():
        gathering.direct(metric, "higher" if up else "lower", of=run.document.place if run else str(path))
    expected = run.evaluated(task) if run else None
    found = rows["doc"].n_unique()
    if expected is not None and rows.height and found < expected:
        runs.cut_short.append(f"{path} has {found:,} of {expected:,}")
    parts.append(_Part(path=path, model=model, task=task, date=date, rows=rows, aggregates=aggregates))


def _read_averages(
    path: Path, gathering: Gathering, parts: list[_Part], label: str | None, data: bytes
) -> None:
    """Averages of the tasks of a run, whose documents are not there."""
    run = Results(gathering.document(path, data))
    model = model_of(path, run.model, gathering.rules, label=label)
    tasks: dict[str, list[tuple[None, None, str, str, float | None]]] = defaultdict(list)
    for task, name, metric, value in run.averages():
        tasks[task] += [(None, None, name, *found) for found in gathering.scores(metric, value)]
    for task, averages in tasks.items():
        for metric, up in run.directions(task).items():
            gathering.direct(metric, "higher" if up else "lower", of=str(path))
        rows = pl.DataFrame(averages, schema=SCHEMA, orient="row")
        parts.append(_Part(path=path, model=model, task=task, date="", rows=rows, aggregates={}))


def _are_log_likelihoods(rows: pl.DataFrame) -> bool:
    """Whether what is called perplexity is the log-likelihood it comes from: a perplexity is at least 1."""
    largest = rows.filter(pl.col("metric") == PERPLEXITY)["score"].max()
    return isinstance(largest, float) and largest <= 0


def _note_aggregates(parts: Sequence[_Part], rules: ExportRules, gathering: Gathering) -> None:
    """Note what metrics come to that are no means of samples, to the last digit."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    wanted = wanted_metrics(rules.metrics, [part.task for part in parts])
    for part in parts:
        several = len({name for name, _ in part.aggregates}) > 1
        for (name, metric), value in part.aggregates.items():
            if wanted[part.task] and metric not in wanted[part.task]:
                continue
            called = f"{metric},{name}" if several else metric
            found[part.task, called].append(f"{value!r} for {part.model}")
    for (task, metric), values in found.items():
        gathering.note(f"{task}: {metric}, over all samples and no mean of them, is {listing(values, 40)}")


def _task_of(path: Path, run: Results | None) -> tuple[str, str]:
    """Task and date from a file's name: the task may hold underscores, and begin like another task."""
    match = SAMPLES.match(path.name)
    if match:
        return match[1], match[2]
    stem = _LINES.sub("", path.name)
    fitting = [task for task in (run.tasks if run else ()) if stem == task or stem.endswith(f"_{task}")]
    if fitting:
        return max(fitting, key=len), ""
    raise InputError(
        f"{path}: cannot tell the task from the file's name",
        found="neither samples_TASK_DATE.jsonl nor the name of a task of a results.json beside it",
        hint="copy the folder of the run as a whole, with its results file",
    )


def _model_name(path: Path, run: Results | None) -> str | None:
    """Model by the results file, else by the folder of the tree layout, whose name writes / as __."""
    if run is not None and run.model:
        return run.model
    folder = path.parent.name
    return folder.replace("__", "/") if run is None and "__" in folder else None


def _wanted(parts: list[_Part], gathering: Gathering) -> list[_Part]:
    """Parts of tasks with a metric that is wanted, so that no filter is asked for that nobody needs."""
    there: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        for metric, name in part.rows.select("metric", "filter").unique().iter_rows():
            there[part.task].update((metric, f"{metric},{name}"))
    kept = gathering.tasks_wanted(there)
    return [part for part in parts if part.task in kept]


def _direction(name: str, told: Mapping[str, str]) -> str | None:
    """Direction of a metric, which may be called ``metric,filter``."""
    return told.get(name) or told.get(name.rpartition(",")[0])


def _chosen_filters(parts: Sequence[_Part], rules: ExportRules) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Filters to keep of each task, the same for every model, and whether metrics are spelled with them.

    A metric that is wanted may be called ``metric,filter``, as the harness prints it.
    """
    there: dict[str, dict[str, None]] = defaultdict(dict)
    for part in parts:
        there[part.task].update(dict.fromkeys(part.rows["filter"].unique(maintain_order=True)))
    wanted = wanted_metrics(rules.metrics, there)
    found = {}
    for task, names in there.items():
        by_metric = {name.rpartition(",")[2] for name in wanted[task] if "," in name}
        named = () if rules.filters else tuple(name for name in names if name in by_metric)
        kept = choose("filter", rules.filters or named, names, what="filters", where=f"task {task}")
        found[task] = kept, len(kept) > 1 or bool(named)
    return found


def _named(part: _Part, kept: tuple[str, ...], spelled: bool, *, repeated: bool) -> pl.DataFrame:
    metric = pl.concat_str("metric", "filter", separator=",") if spelled else pl.col("metric")
    frame = part.rows.filter(pl.col("filter").is_in(kept)).select(
        model=pl.lit(part.model),
        sample=(pl.lit(f"{part.task}/") + pl.col("doc")).fill_null(part.task),
        metric=metric,
        score="score",
        task=pl.lit(part.task),
        filter="filter",
        **{name: name for name in (UNSCORED, ASKED, ANSWERED) if name in part.rows.columns},
    )
    return frame.with_columns(draw=pl.lit(part.date or part.path.as_posix())) if repeated else frame


def _check_documents(parts: Sequence[_Part], gathering: Gathering) -> None:
    """Note documents that differ between models under one number: their scores cannot be paired."""
    tasks: dict[str, list[pl.DataFrame]] = defaultdict(list)
    for part in parts:
        tasks[part.task].append(part.rows.select("doc", "hash").unique())
    for task, frames in tasks.items():
        if len(frames) > 1:
            known = pl.concat(frames).drop_nulls().unique()
            differing = known.height - known["doc"].n_unique()
            if differing:
                gathering.note(
                    f"task '{task}': {differing:,} doc_ids stand for different documents in different files; "
                    "were the runs made with different data or limits?"
                )
