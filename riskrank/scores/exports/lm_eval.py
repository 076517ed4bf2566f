"""lm-evaluation-harness: output of ``--log_samples`` in every layout, or results alone.

``samples_<task>_<date>.jsonl`` are stored alongside ``results_<date>.json``, in one folder per model (tree)
or in one folder for all models (flat: only dates distinguish the runs). Versions before 0.4.3 write ``<model
arguments>_<task>.jsonl``, JSON arrays, alongside ``results.json``. A document has one row per filter.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.exports.lm_eval_results import RESULTS, SAMPLES, SUFFIX, Results, find_results
from riskrank.scores.exports.lm_eval_rows import BINARY_METRICS, HASH, read_uniform_rows, sample_rows
from riskrank.scores.exports.reader import ExportFile, RowCollector, Rows, as_score, row_reader
from riskrank.scores.exports.selection import requested_metrics, require_known_values, select_values
from riskrank.scores.files.contents import first_bytes

_LINES = re.compile(rf"\.jsonl{SUFFIX}")
_AVERAGES = re.compile(rb'\{\s*"results"\s*:\s*\{\s*"[^"]*"\s*:\s*\{')
PERPLEXITY = "perplexity"


def recognises(path: Path) -> bool:
    """Return whether a file contains samples or results."""
    if RESULTS.match(path.name):
        return _AVERAGES.match(first_bytes(path)) is not None
    if not _LINES.search(path.name):
        return False
    head = first_bytes(path).lstrip(b"[ \r\n\t")
    documents = b'"doc_id"' in head and (b'"doc"' in head or b'"resps"' in head)
    return documents or (SAMPLES.match(path.name) is not None and not head.startswith(b'{"schema_version"'))


def _has_samples(path: Path) -> bool:
    """Return whether a file contains samples; results in the same folder then do not add scores."""
    return not RESULTS.match(path.name)


def _select_rows(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Keep tasks with a requested metric, and for each task the same filters for every model.

    A requested metric may be written as ``metric,filter``, the form that the harness prints. With several
    filters, metrics are named in this form.
    """
    require_known_values("filter", collector.options.filter, rows["filter"].unique(maintain_order=True))
    spelled = pl.concat_str("metric", "filter", separator=",")
    names_by_task: dict[str, set[str]] = defaultdict(set)
    for task, *names in rows.select("task", "metric", spelled.alias("spelled")).unique().iter_rows():
        names_by_task[task].update(names)
    tasks = _select_tasks(names_by_task, collector)
    rows = rows.filter(pl.col("task").is_in(tasks))
    _note_differing_documents(rows, collector)
    rows = rows.drop(HASH, strict=False)
    selected = []
    for (task,), frame in rows.group_by("task", maintain_order=True):
        names = frame["filter"].unique(maintain_order=True).to_list()
        requested = requested_metrics(collector.options.metric, names_by_task)[str(task)]
        by_metric = {name.rpartition(",")[2] for name in requested if "," in name}
        named_filters = () if collector.options.filter else tuple(name for name in names if name in by_metric)
        requested_filters = collector.options.filter or named_filters
        filters = select_values("filter", requested_filters, names, plural="filters", context=f"task {task}")
        frame = frame.filter(pl.col("filter").is_in(filters))
        selected.append(frame.with_columns(metric=spelled) if len(filters) > 1 or named_filters else frame)
    rows = pl.concat(selected)
    binary = [name for name in rows["metric"].unique() if name.partition(",")[0] in BINARY_METRICS]
    collector.bounds |= dict.fromkeys(binary, (0.0, 1.0))
    return rows.drop(["task"] if collector.has_task_averages else [])


@row_reader(recognises, supported_options=("filter",), is_preferred=_has_samples, postprocess=_select_rows)
def read(file: ExportFile) -> Rows:
    """Yield the scores in a sample file, or the averages in a results file.

    A sample is ``task/doc_id``; further columns are ``task`` and ``filter``. Directions and the model come
    from the results file of the run. Results without samples give task averages.
    """
    if not _has_samples(file.path):
        yield from _read_averages(file)
        return
    run = find_results(file)
    task = _task_name(file.path, run)
    model = file.model_name(_model_name(file.path, run))
    filters, metrics = (run.filters(task), run.metrics(task)) if run else ((), ())
    documents, perplexities = set(), []
    frame = None if file.collector.samples_with_texts else read_uniform_rows(file, model, task)
    if frame is not None and PERPLEXITY not in frame["metric"]:
        documents = set(frame["sample"])
        file.collector.add_frame(frame)
    else:
        for row in sample_rows(file, model, task, filters, metrics):
            documents.add(row["sample"])
            if row["metric"] == PERPLEXITY:
                perplexities.append(as_score(row["score"]))
            yield row
    if run is None and not documents:
        file.note("no scores in the file")
    higher_is_better = run.directions(task) if run else {}
    numbers = [value for value in perplexities if isinstance(value, float)]
    if numbers and max(numbers) <= 0:  # a perplexity is at least 1
        higher_is_better[PERPLEXITY] = True
        message = "samples contain log-likelihoods, where higher is better; the perplexity is exp(−mean)"
        file.collector.note(f"'{PERPLEXITY}': {message}")
    _set_directions(file, higher_is_better, source=run.document.location if run else str(file.path))
    expected = run.evaluated_count(task) if run else None
    if expected is not None and 0 < len(documents) < expected:
        file.note(f"fewer samples than were evaluated: {len(documents):,} of {expected:,}")


def _set_directions(file: ExportFile, higher_is_better: Mapping[str, bool], *, source: str) -> None:
    """Record the directions that a run declares."""
    for metric, is_higher in higher_is_better.items():
        file.collector.set_direction(metric, "higher" if is_higher else "lower", source=source)


def _read_averages(file: ExportFile) -> Rows:
    """Yield the task averages of a run whose samples are missing."""
    run = Results(file.document())
    model = file.model_name(run.model)
    file.collector.has_task_averages = True
    for task in run.tasks:
        _set_directions(file, run.directions(task), source=str(file.path))
    for task, filter_name, metric, value in run.averages():
        about = {"model": model, "sample": task, "task": task, "filter": filter_name}
        yield {"metric": metric, "score": value, **about}


def _task_name(path: Path, run: Results | None) -> str:
    """Return the task named in a file name; task names may contain underscores and share prefixes."""
    match = SAMPLES.match(path.name)
    if match:
        return match[1]
    stem = _LINES.sub("", path.name)
    matching = [task for task in (run.tasks if run else ()) if stem == task or stem.endswith(f"_{task}")]
    if matching:
        return max(matching, key=len)
    raise InputError(
        f"{path}: cannot detect the task from the file name",
        found="neither samples_TASK_DATE.jsonl nor a task in a results.json of the same folder",
        hint="copy the complete run folder, with its results file",
    )


def _model_name(path: Path, run: Results | None) -> str | None:
    """Return the model from the results file, else from the folder name, where ``__`` stands for ``/``."""
    if run is not None and run.model:
        return run.model
    folder = path.parent.name
    return folder.replace("__", "/") if run is None and "__" in folder else None


def _select_tasks(names_by_task: Mapping[str, Collection[str]], collector: RowCollector) -> set[str]:
    """Return the tasks with a requested metric; note the excluded tasks and the option that includes them."""
    requested = requested_metrics(collector.options.metric, names_by_task)
    selected = {
        task for task, names in requested.items() if not names or not names.isdisjoint(names_by_task[task])
    }
    left_out = sorted(names_by_task.keys() - selected)
    if selected and left_out:
        shortest = [min(names_by_task[task], key=lambda name: ("," in name, name)) for task in left_out]
        adds = [option("metric", f"{task}={name}") for task, name in zip(left_out, shortest, strict=True)]
        collector.note(
            f"ignored {len(left_out)} of {len(names_by_task)} tasks without a requested metric: "
            f"{listing(left_out)}; {' '.join(adds[:3])} would add {'it' if len(adds) == 1 else 'some'}"
        )
    return selected or {*names_by_task}


def _note_differing_documents(rows: pl.DataFrame, collector: RowCollector) -> None:
    """Add a note if documents with the same number differ between models.

    Their scores cannot be paired.
    """
    if HASH not in rows.columns:
        return
    hashes = rows.select("task", "sample", HASH).drop_nulls().unique()
    for (task,), frame in hashes.group_by("task", maintain_order=True):
        if differing := frame.height - frame["sample"].n_unique():
            message = f"{differing:,} doc_ids refer to different documents in the files"
            collector.note(f"task '{task}': {message}; check that all runs used the same data and limits")
