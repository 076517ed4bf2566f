"""What lm-evaluation-harness writes under ``--log_samples``, in every layout it has had.

``samples_<task>_<date>.jsonl`` stand beside ``results_<date>.json`` in a folder a model (tree) or in one
folder for all (flat: only the dates tell runs apart); before 0.4.3, ``<model arguments>_<task>.jsonl`` are
JSON arrays beside ``results.json``. A document has a row a filter.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.fields import as_score
from riskrank.scores.exports.lm_eval_results import RESULTS, SAMPLES, SUFFIX, Results, run_of
from riskrank.scores.exports.lm_eval_rows import HASH, TRUTHS, at_once, sample_rows
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.selection import check_used, choose, wanted_metrics
from riskrank.scores.files.signatures import first_bytes

_LINES = re.compile(rf"\.jsonl{SUFFIX}")
_AVERAGES = re.compile(rb'\{\s*"results"\s*:\s*\{\s*"[^"]*"\s*:\s*\{')
PERPLEXITY = "perplexity"


def recognises(path: Path) -> bool:
    """Whether a file is one of samples, or of results."""
    if RESULTS.match(path.name):
        return _AVERAGES.match(first_bytes(path)) is not None
    if not _LINES.search(path.name):
        return False
    head = first_bytes(path).lstrip(b"[ \r\n\t")
    documents = b'"doc_id"' in head and (b'"doc"' in head or b'"resps"' in head)
    return documents or (SAMPLES.match(path.name) is not None and not head.startswith(b'{"schema_version"'))


def _is_of_samples(path: Path) -> bool:
    """Whether these are samples, beside which results say nothing of their own."""
    return not RESULTS.match(path.name)


def _chosen(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Keep tasks with a metric that is wanted, and of each the filters that count, the same for every model.

    A metric that is wanted may be called ``metric,filter``, as the harness prints it; so are those of several
    filters.
    """
    check_used("filter", gathering.rules.filter, rows["filter"].unique(maintain_order=True))
    spelled = pl.concat_str("metric", "filter", separator=",")
    there: dict[str, set[str]] = defaultdict(set)
    for task, *names in rows.select("task", "metric", spelled.alias("spelled")).unique().iter_rows():
        there[task].update(names)
    tasks = _tasks_wanted(there, gathering)
    rows = rows.filter(pl.col("task").is_in(tasks))
    _note_other_documents(rows, gathering)
    rows = rows.drop(HASH, strict=False)
    kept = []
    for (task,), of in rows.group_by("task", maintain_order=True):
        names = of["filter"].unique(maintain_order=True).to_list()
        wanted = wanted_metrics(gathering.rules.metric, there)[str(task)]
        by_metric = {name.rpartition(",")[2] for name in wanted if "," in name}
        named = () if gathering.rules.filter else tuple(name for name in names if name in by_metric)
        asked = gathering.rules.filter or named
        picked = choose("filter", asked, names, what="filters", where=f"task {task}")
        of = of.filter(pl.col("filter").is_in(picked))
        kept.append(of.with_columns(metric=spelled) if len(picked) > 1 or named else of)
    rows = pl.concat(kept)
    truths = [name for name in rows["metric"].unique() if name.partition(",")[0] in TRUTHS]
    gathering.bounds |= dict.fromkeys(truths, (0.0, 1.0))
    return rows.drop(["task"] if gathering.board else [])


@reads(recognises, uses=("filter",), prefers=_is_of_samples, then=_chosen)
def read(file: ExportFile) -> Rows:
    """Scores of a sample file, with what the results file of its run tells; or the averages of a run.

    A sample is ``task/doc_id``; further columns are ``task`` and ``filter``. The rule `filter` picks among
    the filters of a task. Results alone are a board.
    """
    if not _is_of_samples(file.path):
        yield from _averages(file)
        return
    run = run_of(file)
    task = _task_of(file.path, run)
    model = file.model(_model_name(file.path, run))
    filters, metrics = (run.filters(task), run.metrics(task)) if run else ((), ())
    documents, perplexities = set(), []
    frame = None if file.gathering.texts_of else at_once(file, model, task)
    if frame is not None and PERPLEXITY not in frame["metric"]:
        documents = set(frame["sample"])
        file.gathering.add_frame(frame)
    else:
        for row in sample_rows(file, model, task, filters, metrics):
            documents.add(row["sample"])
            if row["metric"] == PERPLEXITY:
                perplexities.append(as_score(row["score"]))
            yield row
    if run is None and not documents:
        file.note("no score in it")
    told = run.directions(task) if run else {}
    numbers = [one for one in perplexities if isinstance(one, float)]
    if numbers and max(numbers) <= 0:  # a perplexity is at least 1
        told[PERPLEXITY] = True
        said = "samples hold log-likelihoods, of which higher is better; their perplexity is exp(−mean)"
        file.gathering.note(f"'{PERPLEXITY}': {said}")
    _direct(file, told, of=run.document.place if run else str(file.path))
    expected = run.evaluated(task) if run else None
    if expected is not None and 0 < len(documents) < expected:
        file.note(f"fewer samples than were evaluated: {len(documents):,} of {expected:,}")


def _direct(file: ExportFile, told: Mapping[str, bool], *, of: str) -> None:
    """Keep whether more is better of metrics, as a run says it."""
    for metric, up in told.items():
        file.gathering.direct(metric, "higher" if up else "lower", of=of)


def _averages(file: ExportFile) -> Rows:
    """Averages of the tasks of a run, whose documents are not there."""
    run = Results(file.document())
    model = file.model(run.model)
    file.gathering.board = True
    for task in run.tasks:
        _direct(file, run.directions(task), of=str(file.path))
    for task, name, metric, value in run.averages():
        about = {"model": model, "sample": task, "task": task, "filter": name}
        yield {"metric": metric, "score": value, **about}


def _task_of(path: Path, run: Results | None) -> str:
    """Task from a file's name: the task may hold underscores, and begin like another task."""
    match = SAMPLES.match(path.name)
    if match:
        return match[1]
    stem = _LINES.sub("", path.name)
    fitting = [task for task in (run.tasks if run else ()) if stem == task or stem.endswith(f"_{task}")]
    if fitting:
        return max(fitting, key=len)
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


def _tasks_wanted(there: Mapping[str, Collection[str]], gathering: Gathering) -> set[str]:
    """Tasks with a metric that is wanted, of those of each; others are noted, with what adds them."""
    wanted = wanted_metrics(gathering.rules.metric, there)
    kept = {task for task, names in wanted.items() if not names or not names.isdisjoint(there[task])}
    left_out = sorted(there.keys() - kept)
    if kept and left_out:
        shortest = [min(there[task], key=lambda name: ("," in name, name)) for task in left_out]
        adds = [option("metric", f"{task}={name}") for task, name in zip(left_out, shortest, strict=True)]
        gathering.note(
            f"{len(left_out)} of {len(there)} tasks left out, which have none of the metrics asked for: "
            f"{listing(left_out)}; {' '.join(adds[:3])} would add {'it' if len(adds) == 1 else 'some'}"
        )
    return kept or {*there}


def _note_other_documents(rows: pl.DataFrame, gathering: Gathering) -> None:
    """Note documents that differ between models under one number: their scores cannot be paired."""
    if HASH not in rows.columns:
        return
    known = rows.select("task", "sample", HASH).drop_nulls().unique()
    for (task,), of in known.group_by("task", maintain_order=True):
        if differing := of.height - of["sample"].n_unique():
            said = f"{differing:,} doc_ids stand for different documents in different files"
            gathering.note(f"task '{task}': {said}; were the runs made with different data or limits?")
