"""lighteval: details in Parquet, a row a document, beside a JSON of results that tells directions."""

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.interface import likeliest
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import holds
from riskrank.scores.files.limits import Room
from riskrank.scores.files.parquet_footer import require_flat

# Bytes of a document at least: its metrics are numbers, and it has a name.
_LEAST_ROW = 32
_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d:.\-]+)\.parquet")


def recognises(path: Path) -> bool:
    """Whether this is a file of details, or of results."""
    results = path.name.startswith("results") and path.suffix == ".json"
    return bool(_DETAILS.fullmatch(path.name)) or (results and holds(path, "config_general"))


def _is_of_details(path: Path) -> bool:
    """Whether these are details, beside which results say nothing but directions."""
    return path.suffix != ".json"


@reads("lighteval", recognises, prefers=_is_of_details)
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
    frame = _load(path, file.data, file.gathering.room, texts=bool(file.gathering.rules.texts_of))
    named = _DETAILS.fullmatch(path.name)
    task, date = (named["task"], named["date"]) if named else (path.stem, "")
    results = _results(file, date)
    model = file.model(_model(results) or _model_in_path(path))
    docs = frame["doc"].to_list() if "doc" in frame.columns else [None] * frame.height
    met: dict[tuple[str, str], None] = {}
    for row, (doc, scores) in enumerate(zip(docs, frame["metric"].to_list(), strict=True)):
        known = Record(f"{path}: row {row + 1}", doc if isinstance(doc, dict) else {})
        of_task = known.text("task_name", task)
        about = {"model": model, "sample": f"{of_task}/{known.text('id', str(row))}"}
        about |= {"task": of_task, "run": date}
        if "said" in frame.columns:
            about |= _texts(known, frame["said"][row])
        for metric, score in (scores or {}).items():
            met[of_task, metric] = None
            yield {"metric": metric, "score": score, **about}
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


def _texts(doc: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked, and what the model answered: a text, or the likeliest choice."""
    answer = said.get("text") or likeliest(said.get("logprobs") or (), doc.get("choices"))
    return {"asked": doc.get("query"), "answered": answer}


def _load(path: Path, data: bytes, room: Room, *, texts: bool) -> pl.DataFrame:
    """Decode the scores and what names a document; prompts and answers only where somebody wants them."""
    data = require_flat(str(path), data)
    try:
        schema = pl.read_parquet_schema(io.BytesIO(data))
        column = next((name for name in ("metric", "metrics") if name in schema), None)
        if column is None or not isinstance(schema[column], pl.Struct):
            raise broken(f"{path}: there is no column of metrics", f"columns: {listing(schema, 20)}")
        picked = [pl.col(column).alias("metric")]
        doc = schema.get("doc")
        if isinstance(doc, pl.Struct):
            fields = {field.name for field in doc.fields}
            wanted = ("id", "task_name", *(("query", "choices") if texts else ()))
            kept = [name for name in wanted if name in fields]
            if kept:
                picked.append(pl.struct(pl.col("doc").struct.field(name) for name in kept).alias("doc"))
        if texts and isinstance(schema.get("model_response"), pl.Struct):
            picked.append(pl.col("model_response").alias("said"))
        table = pl.scan_parquet(io.BytesIO(data))
        rows = table.select(pl.len()).collect().item()
        room.take(str(path), len(data), rows * _LEAST_ROW)
        frame = table.select(picked).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise broken(f"{path}: the file cannot be read as Parquet", str(error).splitlines()[0]) from None
    if frame.height == 0:
        raise broken(f"{path}: the file is empty", "a Parquet file without rows")
    return frame


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
