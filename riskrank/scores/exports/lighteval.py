"""lighteval: details in Parquet, a row a document, beside a JSON of results that tells directions."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.interface import likeliest
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.signatures import holds

_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d:.\-]+)\.parquet")


def recognises(path: Path) -> bool:
    """Whether this is a file of details, or of results."""
    results = path.name.startswith("results") and path.suffix == ".json"
    return bool(_DETAILS.fullmatch(path.name)) or (results and holds(path, "config_general"))


def _is_of_details(path: Path) -> bool:
    """Whether these are details, beside which results say nothing but directions."""
    return path.suffix != ".json"


@reads(recognises, prefers=_is_of_details)
def read(file: ExportFile) -> Rows:
    """Metrics of every document of every task.

    The model is in the results file of the same date, else it is the folders between ``details`` and the
    date. The sample is task and document, by its id, else by its row. Two runs are repeats. Results alone
    are a board: the sample is the task.
    """
    path = file.path
    if path.suffix == ".json":
        yield from _averages(file)
        return
    rows = zip(*_load(file), strict=True)
    named = _DETAILS.fullmatch(path.name)
    task, date = (named["task"], named["date"]) if named else (path.stem, "")
    results = _results(file, date)
    model = file.model(_model(results) or _model_in_path(path))
    met: dict[tuple[str, str], None] = {}
    for number, (scores, doc, said) in enumerate(rows):
        known = Record(f"{path}: row {number + 1}", doc)
        of_task = known.text("task_name", task)
        about = {"model": model, "sample": f"{of_task}/{known.text('id', str(number))}"}
        about |= {"task": of_task, "run": date}
        answer = said.get("text") or likeliest(said.get("logprobs") or (), doc.get("choices"))
        texts = {"asked": doc.get("query"), "answered": answer}
        for metric, score in (scores or {}).items():
            met[of_task, metric] = None
            yield {"metric": metric, "score": score, **about, **texts}
    _direct(file, results, met)


def _averages(file: ExportFile) -> Rows:
    """The averages of each task, without those of several tasks."""
    whole = file.document()
    model, results = file.model(_model(whole)), whole.inner("results")
    scores = {
        (task, metric): score
        for task in results
        for metric, score in results.inner(task).items()
        if task != "all" and ":_average|" not in task and not metric.endswith("_stderr")
    }
    _direct(file, whole, scores)
    file.gathering.board = True
    for (task, metric), score in scores.items():
        yield {"model": model, "sample": task, "metric": metric, "score": score}


def _direct(file: ExportFile, results: Record, metrics: Iterable[tuple[str, str]]) -> None:
    """Keep the directions of metrics of tasks."""
    for task, metric in metrics:
        if direction := _direction(results, task, metric):
            file.direct(metric, direction)


def _load(file: ExportFile) -> tuple[list[Any], list[Any], list[Any]]:
    """Scores, what names a document, and what was said; that and prompts only where somebody wants them."""
    source = ParquetSource(str(file.path), file.data, "", file.gathering.room)
    texts = bool(file.gathering.texts_of)
    column = next((name for name in ("metric", "metrics") if name in source.columns), "")
    wanted = (column, "doc", *(("model_response",) if texts else ()))
    frame = source.load([name for name in wanted if name in source.columns])
    if not isinstance(frame.schema.get(column), pl.Struct):
        raise broken(f"{file.path}: there is no column of metrics", f"columns: {listing(source.columns, 20)}")
    docs = _objects(frame, "doc", ("id", "task_name", *(("query", "choices") if texts else ())))
    return frame[column].to_list(), docs, _objects(frame, "model_response", ("text", "logprobs"))


def _objects(frame: pl.DataFrame, column: str, fields: Sequence[str]) -> list[Any]:
    """Some fields of the objects in a column, as far as they are there."""
    kind = frame.schema.get(column)
    kept = [one.name for one in kind.fields if one.name in fields] if isinstance(kind, pl.Struct) else []
    return frame[column].struct.unnest().select(kept).rows(named=True) if kept else [{}] * frame.height


def _results(file: ExportFile, date: str) -> Record:
    """The results of the same run, from ``results/<model>/results_<date>.json``, if they are there."""
    path, name = file.path if "details" in file.path.parts else file.path.resolve(), f"results_{date}.json"
    beside = file.path.with_name(name)
    details = next((folder for folder in path.parents if folder.name == "details"), None)
    if details is not None:
        beside = details.parent.joinpath("results", *path.relative_to(details).parts[:-2], name)
    if not beside.is_file():
        file.note("no results file of the same run, so no directions")
    return file.beside(beside)


def _model(results: Record) -> str:
    general = results.inner("config_general")
    return general.text("model_name") or general.inner("model_config").text("model_name")


def _model_in_path(path: Path) -> str | None:
    parts = path.parts
    if "details" not in parts:
        return None
    at = len(parts) - 1 - parts[::-1].index("details")
    return "/".join(parts[at + 1 : -2]) or None


def _direction(results: Record, task: str, metric: str) -> str | None:
    """Look a metric up in the configuration of its task; a group of metrics has a direction each."""
    config = results.inner("config_tasks").inner(task)
    for entry in config.entries("metrics" if config.get("metrics") else "metric"):
        names = entry.get("metric_name")
        better = entry.get("higher_is_better")
        if isinstance(better, dict):
            better = better.get(metric)
        matches = metric in names if isinstance(names, list) else metric == names
        if (matches or isinstance(entry.get("higher_is_better"), dict)) and isinstance(better, bool):
            return "higher" if better else "lower"
    return None
