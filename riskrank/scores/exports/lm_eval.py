"""lm-evaluation-harness: output of ``--log_samples`` in every layout, or results alone.

``samples_<task>_<date>.jsonl`` are stored alongside ``results_<date>.json``, in one folder per model (tree)
or in one folder for all models (flat: only dates distinguish the runs). Versions before 0.4.3 write ``<model
arguments>_<task>.jsonl``, JSON arrays, alongside ``results.json``. A document has one row per filter.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, listing, option
from riskrank.scores.exports import reader
from riskrank.scores.exports.selection import requested_metrics, require_known_values, select_values
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parsing import EMPTY, UNSCORED, preview

_DATE = r"(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)"
SUFFIX = r"(?:\.gz|\.zst)?$"
SAMPLES = re.compile(rf"^samples_(.+)_{_DATE}\.jsonl{SUFFIX}")
RESULTS = re.compile(rf"^results(?:_{_DATE})?\.json{SUFFIX}")
# Fields alongside the averages of a task.
_NO_METRICS = ("alias", "name", "sample_len")
# Model arguments that may hold the name, in the order in which the harness tries them.
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
_LINES = re.compile(rf"\.jsonl{SUFFIX}")
_AVERAGES = re.compile(rb'\{\s*"results"\s*:\s*\{\s*"[^"]*"\s*:\s*\{')
PERPLEXITY = "perplexity"
# Fields of a row that are never metrics; versions before 0.4.8 do not list the metrics.
_BOOKKEEPING = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "task_name"}
    | {"doc_hash", "prompt_hash", "target_hash", "doc_task_alias"}
)
# Metrics of the harness that are 0 or 1 on each sample.
BINARY_METRICS = frozenset({"acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match"})
# Fields that tasks use for the question; without one the whole document is the input.
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "instruction", "text")
# Column with a document's hash.
HASH = "(hash)"
_EMPTY_SCORED = "empty responses, scored as in lm-eval"


@dataclass(frozen=True)
class Results:
    """One results file. Accessing a field of the wrong type raises InputError."""

    document: reader.Record

    def __post_init__(self) -> None:
        """Raise InputError if the document does not contain results."""
        if not isinstance(self.document.get("results"), dict):
            location = self.document.location
            raise reader.export_error(f"{location}: no results of lm-eval", "a document without 'results'")

    @property
    def tasks(self) -> reader.Record:
        """Aggregated results by task."""
        return self.document.get_record("results")

    def averages(self) -> Iterator[tuple[str, str, str, object]]:
        """Yield the task, filter, metric and average of every task that is not a group of tasks."""
        subtasks = self.document.get_record("group_subtasks")
        groups = {name for name, members in subtasks.items() if members}
        groups |= self.document.get_record("groups").keys()
        for task in self.tasks:
            for key, value in self._section(task, "results").items():
                metric, _, name = key.partition(",")
                if task not in groups and not metric.endswith("_stderr") and metric not in _NO_METRICS:
                    yield task, name or "none", metric, value

    @property
    def model(self) -> str | None:
        """Name of the model, from the file or from the model arguments."""
        named = self.document.get_text("model_name")
        if named:
            return named
        config = self.document.get_record("config")
        arguments = config.get("model_args")
        if isinstance(arguments, str):
            arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
        record = reader.Record(config.location_of("model_args"), arguments)
        return next((record.get_name(key) for key in _MODEL_ARGUMENTS if record.get(key)), None)

    def filters(self, task: str) -> tuple[str, ...]:
        """Return the names of a task's filters, in the order of a document's rows."""
        entries = self._section(task, "configs").get_records("filter_list")
        return tuple(entry.get_name("name") for entry in entries) or ("none",)

    def metrics(self, task: str) -> tuple[str, ...]:
        """Return the aggregated metrics of a task, excluding standard errors."""
        names = [key.partition(",")[0] for key in self._section(task, "results") if "," in key]
        return tuple(dict.fromkeys(name for name in names if not name.endswith("_stderr")))

    def directions(self, task: str) -> dict[str, bool]:
        """Return the declared directions of a task's metrics: True if higher is better, False if lower is."""
        entries = self._section(task, "configs").get_records("metric_list")
        named = (entry for entry in entries if isinstance(entry.get("metric"), str))
        listed = {entry["metric"]: entry.get("higher_is_better") for entry in named}
        listed |= self._section(task, "higher_is_better")
        for name, is_higher in listed.items():
            if is_higher is not None and not isinstance(is_higher, bool):
                location = self.document.location_of("higher_is_better")
                problem = f"{location} of {task}, {name} is neither true nor false"
                hint = f"correct or remove it; {option('skip_bad', True)} ignores the run"
                raise InputError(problem, found=preview(is_higher), hint=hint)
        return {name: is_higher for name, is_higher in listed.items() if is_higher is not None}

    def _section(self, task: str, part: str) -> reader.Record:
        """Return the entry of one task in a part of the document, such as ``configs``; empty if missing."""
        return self.document.get_record(part).get_record(task)


def find_results(file: reader.ExportFile) -> Results | None:
    """Find the results file of the run to which a sample file belongs; return None if there is none.

    The results file has the same date as the sample file, or is the only results file in its folder.
    """
    candidates = sorted(file.path.parent.glob("results*"))
    paths_by_date = {match[1] or "": path for path in candidates if (match := RESULTS.match(path.name))}
    samples_match = SAMPLES.match(file.path.name)
    results_path = paths_by_date.get(samples_match[2]) if samples_match else None
    if results_path is None and len(paths_by_date) == 1 and ("" in paths_by_date or not samples_match):
        results_path = next(iter(paths_by_date.values()))
    return Results(file.read_optional(results_path)) if results_path else None


def recognises(path: Path) -> bool:
    """Return True if a file contains samples or results of the LM Evaluation Harness."""
    if RESULTS.match(path.name):
        return _AVERAGES.match(first_bytes(path)) is not None
    if not _LINES.search(path.name):
        return False
    head = first_bytes(path).lstrip(b"[ \r\n\t")
    documents = b'"doc_id"' in head and (b'"doc"' in head or b'"resps"' in head)
    return documents or (SAMPLES.match(path.name) is not None and not head.startswith(b'{"schema_version"'))


def is_preferred(path: Path) -> bool:
    """Return True if a file has samples, and is therefore preferred to results in its folder.

    Results in the same folder as samples do not contribute scores.
    """
    return not RESULTS.match(path.name)


def finish(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Return the rows of tasks with a requested metric, with the same filters for every model.

    A requested metric may be written as ``metric,filter``, the form that the harness prints. With several
    filters, metrics are named in this form.

    Raises
    ------
    InputError
        If there are only averages of a single task.
    """
    if collector.has_task_averages and rows["task"].n_unique() == 1:
        problem = f"{collector.path_of(0)}: an average without the scores of samples cannot be tested"
        hint = "run lm_eval again with --log_samples --output_path DIR, and name DIR"
        raise InputError(problem, found=f"results of one task, {rows['task'][0]}", hint=hint)
    require_known_values("filter", collector.options.filter, rows["filter"].unique(maintain_order=True))
    spelled = pl.concat_str("metric", "filter", separator=",")
    names_by_task: dict[str, set[str]] = defaultdict(set)
    for task, *names in rows.select("task", "metric", spelled.alias("spelled")).unique().iter_rows():
        names_by_task[task].update(names)
    rows = rows.filter(pl.col("task").is_in(_select_tasks(names_by_task, collector)))
    selected = []
    for (task,), frame in rows.group_by("task", maintain_order=True):
        hashes = frame.select("sample", HASH).drop_nulls().unique() if HASH in frame.columns else frame[:0]
        if differing := hashes.height - hashes["sample"].n_unique():
            # The scores on such documents cannot be paired.
            message = f"{differing:,} doc_ids refer to different documents in the files"
            advice = "check that all runs used the same data and limits"
            collector.note(f"task '{task}': {message}; {advice}")
        names = frame["filter"].unique(maintain_order=True).to_list()
        requested = requested_metrics(collector.options.metric, names_by_task)[str(task)]
        by_metric = {name.rpartition(",")[2] for name in requested if "," in name}
        named_filters = () if collector.options.filter else tuple(name for name in names if name in by_metric)
        requested_filters = collector.options.filter or named_filters
        filters = select_values("filter", requested_filters, names, plural="filters", context=f"task {task}")
        frame = frame.filter(pl.col("filter").is_in(filters))
        selected.append(frame.with_columns(metric=spelled) if len(filters) > 1 or named_filters else frame)
    rows = pl.concat(selected).drop(HASH, strict=False)
    binary = [name for name in rows["metric"].unique() if name.partition(",")[0] in BINARY_METRICS]
    collector.bounds |= dict.fromkeys(binary, (0.0, 1.0))
    return rows.drop(["task"] if collector.has_task_averages else [])


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the scores in a sample file of the LM Evaluation Harness, or averages in a results file.

    A sample is ``task/doc_id``; further columns are ``task`` and ``filter``. Directions and the model come
    from the results file of the run. Results without samples give task averages.
    """
    if not is_preferred(file.path):
        yield from _read_averages(file)
        return
    run = find_results(file)
    task = _task_name(file.path, run)
    model = file.model_name(_model_name(file.path, run))
    filters, metrics = (run.filters(task), run.metrics(task)) if run else ((), ())
    documents, perplexities = set(), []
    for row in sample_rows(file, model, task, filters, metrics):
        documents.add(row["sample"])
        if row["metric"] == PERPLEXITY:
            perplexities.append(reader.as_score(row["score"]))
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
    expected = run.document.get_record("n-samples").get_record(task).get("effective") if run else None
    if isinstance(expected, int) and 0 < len(documents) < expected:
        file.note(f"fewer samples than were evaluated: {len(documents):,} of {expected:,}")


def _set_directions(file: reader.ExportFile, higher_is_better: Mapping[str, bool], *, source: str) -> None:
    """Record whether higher is better for each metric. `source` names the run that declares it."""
    for metric, is_higher in higher_is_better.items():
        file.collector.set_direction(metric, "higher" if is_higher else "lower", source=source)


def _read_averages(file: reader.ExportFile) -> reader.Rows:
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
    """Return the name of the task to which a sample file belongs.

    It is part of the file name. Task names may contain underscores and share prefixes. The results of the
    run, if there are any, list the tasks.

    Raises
    ------
    InputError
        If the task is unknown.
    """
    match = SAMPLES.match(path.name)
    if match:
        return match[1]
    stem = _LINES.sub("", path.name)
    matching = [task for task in (run.tasks if run else ()) if stem == task or stem.endswith(f"_{task}")]
    if matching:
        return max(matching, key=len)
    detail = "neither samples_TASK_DATE.jsonl nor a task in a results.json of the same folder"
    hint = "copy the complete run folder, with its results file"
    raise InputError(f"{path}: cannot detect the task from the file name", found=detail, hint=hint)


def _model_name(path: Path, run: Results | None) -> str | None:
    """Return the model named in the results of the run, or otherwise by the folder, or None.

    In folder names, ``__`` stands for ``/``.
    """
    if run is not None and run.model:
        return run.model
    folder = path.parent.name
    return folder.replace("__", "/") if run is None and "__" in folder else None


def _select_tasks(names_by_task: Mapping[str, Collection[str]], collector: reader.RowCollector) -> set[str]:
    """Return the names of the tasks that have a requested metric.

    `names_by_task` holds the metrics of each task. `collector` holds the options, and receives a note with
    the option that includes excluded tasks.
    """
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


def sample_rows(
    file: reader.ExportFile, model: str, task: str, filters: Names, metrics: Names
) -> reader.Rows:
    """Yield the scores in a sample file by document, filter and metric.

    Parameters
    ----------
    file : reader.ExportFile
        JSON Lines file or JSON array; the file name does not matter.
    model, task : str
        Names of the model and the task.
    filters : sequence of str
        Filters in row order, for rows that do not name their filter.
    metrics : sequence of str
        Metrics in the results file, for rows that do not list their metrics.
    """
    for row, filter_name in _rows_with_filters(file, filters):
        sample = f"{task}/{row['doc_id']}"
        about: dict[str, Any] = {"model": model, "sample": sample, "task": task, "filter": filter_name}
        if isinstance(row.get("doc_hash"), str):
            about[HASH] = row["doc_hash"]
        if file.collector.needs_texts(sample):
            questions = (reader.get_nested(row, "doc", name) for name in _QUESTIONS)
            question = next((text for text in questions if isinstance(text, str)), row.get("doc"))
            about |= {"input_text": question, "output_text": _output_text(row)}
        values = {metric: row[metric] for metric in _row_metrics(row, metrics)}
        if "brier_score" in values:
            values["brier_score"] = _brier_score(values["brier_score"])
        is_empty = _is_empty(row.get("resps"))
        if is_empty and any(isinstance(reader.as_score(value), float) for value in values.values()):
            file.count(_EMPTY_SCORED)
        for metric, value in values.items():
            reason = {UNSCORED: EMPTY} if is_empty and reader.as_score(value) is None else {}
            yield {"metric": metric, "score": value, **about, **reason}


def _rows_with_filters(file: reader.ExportFile, filters: Names) -> Iterator[tuple[reader.Record, str]]:
    """Yield each row with the name of its filter.

    Versions before 0.4.5 write all rows of one filter after another, without naming the filter. `filters`
    holds the names in this order.

    Raises
    ------
    InputError
        If a row has no document, or its filter cannot be determined.
    """
    seen: Counter[str] = Counter()
    nameless = 0
    for row in file.records("row"):
        document, name = row.get("doc_id"), row.get("filter")
        if isinstance(document, bool) or not isinstance(document, int | str):
            if file.collector.options.skip_bad:
                file.count(f"{file.path}: ignored rows without a doc_id")
                continue
            raise reader.export_error(f"{row.location} has no doc_id", f"keys {listing(row)}")
        if name is not None and not isinstance(name, str):
            raise reader.type_error(row.location_of("filter"), "a text", name)
        position = seen[str(document)]
        seen[str(document)] += 1
        if name is None:
            name = filters[position] if position < len(filters) else f"filter {position + 1}"
            nameless = max(nameless, position + 1)
        yield row, name
    if nameless > max(1, len(filters)):
        detail = f"a document has {nameless} rows; the run names {len(filters) or 'no'} filters"
        hint = "keep results.json in the same folder: it lists the filters"
        raise InputError(f"{file.path}: some rows do not name their filter", found=detail, hint=hint)


def _is_empty(responses: object) -> bool:
    """Return whether all responses of a model are empty."""
    listed = responses if isinstance(responses, list) else []
    empty = (isinstance(texts, list) and texts == [""] * max(len(texts), 1) for texts in listed)
    return bool(listed) and all(empty)


def _row_metrics(row: reader.Record, reported: Names) -> list[str]:
    """Return the names of the metrics in a row.

    They are the metrics that the row lists, otherwise the `reported` ones of the results file, otherwise all
    remaining fields.
    """
    if row.get("metrics") is not None:
        listed = row.get_list("metrics")
        if not all(isinstance(name, str) for name in listed):
            raise reader.type_error(row.location_of("metrics"), "a list of names", listed)
        return [name for name in dict.fromkeys(listed) if name in row]
    present = [name for name in row if name not in _BOOKKEEPING]
    return [name for name in present if name in reported] if reported else present


def _brier_score(value: object) -> object:
    """Return the Brier score of a logged prediction.

    It is the squared distance between the predicted probabilities and the one-hot encoded correct class. The
    logged value contains the index of the correct class and the probabilities, as printed by NumPy. Values in
    any other form are returned unchanged.
    """
    if not isinstance(value, list) or len(value) != 2 or type(value[0]) is not int:
        return value
    gold, text = value
    try:
        probabilities = [*map(float, text.strip("[] ").split() if isinstance(text, str) else text)]
    except (TypeError, ValueError):
        return value
    if not 0 <= gold < len(probabilities):
        return value
    return sum((probability - (index == gold)) ** 2 for index, probability in enumerate(probabilities))


def _output_text(row: Mapping[str, Any]) -> object:
    """Return the answer in a row: the filtered response, or the likeliest choice.

    If the row does not name its filter, the raw responses are used.
    """
    filter_name, filtered = row.get("filter"), row.get("filtered_resps")
    responses = row.get("resps") if filter_name is None or filtered is None else filtered
    pairs = responses if isinstance(responses, list) else []
    if filter_name is None:
        pairs = [pair[0] if isinstance(pair, list) and len(pair) == 1 else pair for pair in pairs]
    # Choices are logged as pairs: log-likelihood, and whether greedy decoding yields the choice.
    if len(pairs) > 1 and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        choices = reader.get_nested(row, "doc", "choices")
        return reader.likeliest_choice([likelihood for likelihood, _ in pairs], choices) or responses
    return responses
