"""lighteval: details in Parquet, one row per document, and results in JSON, which declare directions."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports import reader
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parquet import ParquetSource

_DETAILS = re.compile(r"details_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d:.\-]+)\.parquet")


def recognises(path: Path) -> bool:
    """Return True if a file contains LightEval details or results."""
    if _DETAILS.fullmatch(path.name):
        return True
    is_results = path.name.startswith("results") and path.suffix == ".json"
    return is_results and b'"config_general"' in first_bytes(path)


def is_preferred(path: Path) -> bool:
    """Return True if a LightEval file has details (scores of samples), and is preferred to results.

    Results in the same folder as details are read only for directions.
    """
    return path.suffix != ".json"


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the metrics of every document in a LightEval file.

    The model is named in the results file of the same date, or otherwise by the folders between ``details``
    and the date. A sample is named by its task and the document's id or row number. Several runs are repeats.
    If there are only results, task averages are read.
    """
    path = file.path
    if path.suffix == ".json":
        yield from _read_averages(file)
        return
    rows = zip(*_load_columns(file), strict=True)
    match = _DETAILS.fullmatch(path.name)
    task, date = (match["task"], match["date"]) if match else (path.stem, "")
    results = _find_results(file, date)
    folders = path.parts if "details" in path.parts else ()
    # Without results, the folders between details and the date name the model.
    start = len(folders) - folders[::-1].index("details") if folders else 0
    model = file.model_name(_model_name(results) or "/".join(folders[start:-2]))
    metrics: dict[tuple[str, str], None] = {}
    for number, (scores, doc, response) in enumerate(rows):
        document = reader.Record(f"{path}: row {number + 1}", doc)
        document_task = document.get_text("task_name", task)
        about = {"model": model, "sample": f"{document_task}/{document.get_text('id', str(number))}"}
        about |= {"task": document_task, "run": date}
        likeliest = reader.likeliest_choice(response.get("logprobs") or (), doc.get("choices"))
        texts = {"input_text": doc.get("query"), "output_text": response.get("text") or likeliest}
        for metric, score in (scores or {}).items():
            metrics[document_task, metric] = None
            yield {"metric": metric, "score": score, **about, **texts}
    _set_directions(file, results, metrics)


def _read_averages(file: reader.ExportFile) -> reader.Rows:
    """Yield the averages of each LightEval task, but not averages over several tasks."""
    document = file.document()
    model, results = file.model_name(_model_name(document)), document.get_record("results")
    scores: dict[tuple[str, str], object] = {}
    for task in (task for task in results if task != "all" and ":_average|" not in task):
        averages = results.get_record(task).items()
        scores |= {(task, name): score for name, score in averages if not name.endswith("_stderr")}
    _set_directions(file, document, scores)
    file.collector.has_task_averages = True
    for (task, metric), score in scores.items():
        yield {"model": model, "sample": task, "metric": metric, "score": score}


def _set_directions(
    file: reader.ExportFile, results: reader.Record, metrics: Iterable[tuple[str, str]]
) -> None:
    """Record the directions of metrics that a results file declares for their tasks.

    `metrics` are pairs of task and metric. Grouped metrics declare one direction per metric.
    """
    for task, metric in metrics:
        config = results.get_record("config_tasks").get_record(task)
        for entry in config.get_records("metrics" if config.get("metrics") else "metric"):
            names, better = entry.get("metric_name"), entry.get("higher_is_better")
            matches = metric in names if isinstance(names, list) else metric == names
            if isinstance(better, dict):
                matches, better = True, better.get(metric)
            if matches and isinstance(better, bool):
                file.set_direction(metric, "higher" if better else "lower")
                break


def _load_columns(file: reader.ExportFile) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the scores, documents and model responses in a LightEval details file, one list each.

    Responses and prompts are loaded only if requested.
    """
    source = ParquetSource(str(file.path), file.data, "", file.collector.budget)
    needs_texts = bool(file.collector.samples_with_texts)
    column = next((name for name in ("metric", "metrics") if name in source.columns), "")
    columns = (column, "doc", *(("model_response",) if needs_texts else ()))
    frame = source.load([name for name in columns if name in source.columns])
    if not isinstance(frame.schema.get(column), pl.Struct):
        detail = f"columns: {listing(source.columns, 20)}"
        raise reader.export_error(f"{file.path}: there is no metrics column", detail)
    docs = _struct_fields(frame, "doc", ("id", "task_name", *(("query", "choices") if needs_texts else ())))
    return frame[column].to_list(), docs, _struct_fields(frame, "model_response", ("text", "logprobs"))


def _struct_fields(frame: pl.DataFrame, column: str, fields: Sequence[str]) -> list[Any]:
    """Return the values of the given fields of a struct column, one dictionary per row.

    Fields that do not exist are omitted.
    """
    dtype = frame.schema.get(column)
    stored = dtype.fields if isinstance(dtype, pl.Struct) else []
    present = [field.name for field in stored if field.name in fields]
    return frame[column].struct.unnest().select(present).rows(named=True) if present else [{}] * frame.height


def _find_results(file: reader.ExportFile, date: str) -> reader.Record:
    """Return the results of the run with the given date, or an empty record.

    They are in the file ``results/<model>/results_<date>.json``.
    """
    path, name = file.path if "details" in file.path.parts else file.path.resolve(), f"results_{date}.json"
    results_path = file.path.with_name(name)
    details = next((folder for folder in path.parents if folder.name == "details"), None)
    if details is not None:
        results_path = details.parent.joinpath("results", *path.relative_to(details).parts[:-2], name)
    if not results_path.is_file():
        file.note("no results file of the same run, so directions are unknown")
    return file.read_optional(results_path)


def _model_name(results: reader.Record) -> str:
    """Return the model name in a results file, or an empty string."""
    general = results.get_record("config_general")
    return general.get_text("model_name") or general.get_record("model_config").get_text("model_name")
