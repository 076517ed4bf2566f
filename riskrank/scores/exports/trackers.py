"""Tables of experiment trackers, recognised by their columns: Braintrust, LangSmith, Phoenix and Langfuse."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.fields import Record, export_error
from riskrank.scores.exports.question_tables import question_name
from riskrank.scores.exports.row_collector import RowCollector
from riskrank.scores.exports.row_reader import ExportFile, RowReader, Rows, row_reader
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.names.vocabulary import detect_service

_KEY = re.compile(rb'"([^"\\]+)"\s*:')


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Roles of the columns in a tracker's table.

    Attributes
    ----------
    sample_column : str
        Column with the input or the number of the sample, which is the same for all models.
    metric_pattern : str
        Regular expression that matches score columns; its group captures the name of the metric.
    error_column : str
        Column with the reason for a missing score, as a format string with the metric in braces. The column
        ``error`` applies to the whole row.
    input_pattern, output_pattern : str
        Regular expressions that match the columns with the model's input and output.
    auxiliary_metrics : tuple of str
        Columns with time, tokens and similar quantities that do not measure quality.
    sparse : bool
        Whether each row contains a single score instead of all metrics.
    flatten : callable
        Returns a row without nested objects, or the reason to exclude it.
    postprocess : callable
        See `RowReader`.
    """

    sample_column: str
    metric_pattern: str
    error_column: str = "error"
    input_pattern: str = "input"
    output_pattern: str = "output"
    auxiliary_metrics: tuple[str, ...] = ()
    sparse: bool = False
    flatten: Callable[[Record], Mapping[str, Any] | str] = lambda row: row
    postprocess: Callable[[pl.DataFrame, RowCollector], pl.DataFrame] = lambda rows, _collector: rows

    def rows(self, file: ExportFile) -> Rows:
        """Yield one row per sample and metric."""
        model, metrics, records = file.model_name(), dict[str, str](), list[Record]()
        for record in file.rows(
            lambda name: re.fullmatch(self.metric_pattern, name) or name in self.auxiliary_metrics
        ):
            flat_row = self.flatten(record)
            if isinstance(flat_row, str):
                file.count(flat_row)
                continue
            records.append(Record(record.location, flat_row))
            metrics |= {
                name: match[1] for name in flat_row if (match := re.fullmatch(self.metric_pattern, name))
            }
        if not metrics:
            columns = listing(dict.fromkeys(name for row in records for name in row), 20)
            raise export_error(f"{file.path}: there is no metric", f"columns: {columns}")
        for row in records:
            sample_value = row.get(self.sample_column)
            sample = question_name(
                sample_value if isinstance(sample_value, dict | list) else row.get_name(self.sample_column)
            )
            texts = {
                "input_text": _first_match(row, self.input_pattern),
                "output_text": _first_match(row, self.output_pattern),
            }
            about = {"model": model, "sample": sample, **texts}
            for name in [name for name in metrics if name in row or not self.sparse]:
                error = row.get("error") or row.get(self.error_column.format(metrics[name]))
                reason = {UNSCORED: ERROR} if error and row.get(name) is None else {}
                yield {"metric": metrics[name], "score": row.get(name), **about, **reason}
            yield from (
                {"metric": name, "score": row[name], **about}
                for name in self.auxiliary_metrics
                if name in row
            )


def _is_from_service(service: str, path: Path) -> bool:
    """Return whether the header of a CSV or JSON file has the columns of a tracker service."""
    head = first_bytes(path)
    is_json = head[:1] in (b"{", b"[")
    cells = _KEY.findall(head) if is_json else head.partition(b"\n")[0].split(b",")
    return detect_service(cell.strip(b' "\r').decode(errors="replace") for cell in cells) == service


def _first_match(row: Record, pattern: str) -> object:
    """Return the value of the first column whose name matches a pattern."""
    return next((value for name, value in row.items() if re.fullmatch(pattern, name)), None)


def _flatten_annotations(row: Record) -> Mapping[str, Any] | str:
    """Convert the list of annotations in a Phoenix JSON row to columns named as in Phoenix CSV files."""
    named = [(entry.get_name("name"), entry) for entry in row.get_records("annotations")]
    return row | {
        f"annotation_{name}_{key}": annotation.get(key)
        for name, annotation in named
        for key in ("score", "error")
    }


def _flatten_span(row: Record) -> Mapping[str, Any] | str:
    """Return a Braintrust row with its scores as columns, or a reason to exclude it.

    Only root spans are test cases; all other spans are excluded.
    """
    if row.get("is_root") is False or row.get("span_id", 0) != row.get("root_span_id", 0):
        return "ignored spans within a case"
    return row | {f"scores.{name}": score for name, score in row.get_record("scores").items()}


def _set_share_bounds(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Declare that Braintrust's scores lie between 0 and 1 and that higher is better."""
    for metric in rows["metric"].unique():
        collector.set_direction(metric, "higher")
        collector.bounds[metric] = (0.0, 1.0)
    return rows


def _flatten_trace_score(row: Record) -> Mapping[str, Any] | str:
    """Return the score of a Langfuse trace or observation as a column named after its metric.

    Column names are accepted in both spellings that Langfuse uses.
    """
    plain = {name.replace("_", "").casefold(): value for name, value in row.items()}
    if plain.get("traceid") in (None, ""):
        return "ignored scores of sessions and runs"
    sample = "/".join(str(plain[name]) for name in ("traceid", "observationid") if plain.get(name))
    kind, score = plain.get("datatype"), plain.get("value")
    score = plain.get("stringvalue") if kind == "CATEGORICAL" else bool(score) if kind == "BOOLEAN" else score
    return {"trace": sample, f"value.{row.get_name('name')}": score}


def _service_reader(service: str, **columns: Any) -> RowReader:
    """Return the reader for a service's tables, using a `Layout` with the given attributes."""
    layout = Layout(**columns)
    recognises, directions = (
        partial(_is_from_service, service),
        dict.fromkeys(layout.auxiliary_metrics, "lower"),
    )
    reader = row_reader(
        recognises,
        directions=directions,
        auxiliary_metrics=layout.auxiliary_metrics,
        model_per_file=True,
        postprocess=layout.postprocess,
    )
    return reader(layout.rows)


braintrust = _service_reader(
    "braintrust",
    sample_column="input",
    metric_pattern=r"scores\.(.+)",
    flatten=_flatten_span,
    postprocess=_set_share_bounds,
)
langsmith = _service_reader(
    "langsmith",
    sample_column="example_id",
    metric_pattern=r"feedback\.(.+)",
    input_pattern=r"inputs\..+",
    output_pattern=r"outputs\..+",
    auxiliary_metrics=("execution_time",),
)
phoenix = _service_reader(
    "phoenix",
    sample_column="example_id",
    metric_pattern=r"annotation_(.+)_score",
    error_column="annotation_{}_error",
    auxiliary_metrics=("latency_ms", "prompt_token_count", "completion_token_count"),
    flatten=_flatten_annotations,
)
langfuse = _service_reader(
    "langfuse",
    sample_column="trace",
    metric_pattern=r"value(?:\.(.+))?",
    sparse=True,
    flatten=_flatten_trace_score,
)
