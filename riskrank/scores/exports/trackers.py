"""Tables of services that keep experiments, told by their columns: which are scores, and which say more."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.collection import RowCollector
from riskrank.scores.exports.fields import Record, export_error
from riskrank.scores.exports.question_tables import question_name
from riskrank.scores.exports.row_reader import ExportFile, RowReader, Rows, row_reader
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import first_bytes
from riskrank.scores.names.vocabulary import service_of

_KEY = re.compile(rb'"([^"\\]+)"\s*:')


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the columns of a service's table are.

    Attributes
    ----------
    sample : str
        What was asked, or its number, which are the same for all models.
    metric : str
        Pattern of columns of scores, whose group is the name of the metric.
    failed : str
        Column that says why a score is missing, with the metric in braces; ``error`` says it of the row.
    asked, answered : str
        Patterns of columns.
    beside : tuple of str
        Columns of how it was run.
    sparse : bool
        Whether a row has one score, not one of every metric.
    flat : callable
        Makes one level of a row, or says why it does not count.
    then : callable
        As of any reader.
    """

    sample: str
    metric: str
    failed: str = "error"
    asked: str = "input"
    answered: str = "output"
    beside: tuple[str, ...] = ()
    sparse: bool = False
    flat: Callable[[Record], Mapping[str, Any] | str] = lambda row: row
    then: Callable[[pl.DataFrame, RowCollector], pl.DataFrame] = lambda rows, _collector: rows

    def rows(self, file: ExportFile) -> Rows:
        """A row a sample and metric."""
        model, metrics, records = file.model_name(), dict[str, str](), list[Record]()
        for record in file.rows(lambda name: re.fullmatch(self.metric, name) or name in self.beside):
            flat_row = self.flat(record)
            if isinstance(flat_row, str):
                file.count(flat_row)
                continue
            records.append(Record(record.place, flat_row))
            metrics |= {name: match[1] for name in flat_row if (match := re.fullmatch(self.metric, name))}
        if not metrics:
            columns = listing(dict.fromkeys(name for row in records for name in row), 20)
            raise export_error(f"{file.path}: there is no metric", f"columns: {columns}")
        for row in records:
            sample_value = row.get(self.sample)
            sample = question_name(
                sample_value if isinstance(sample_value, dict | list) else row.get_name(self.sample)
            )
            texts = {"input_text": _first_match(row, self.asked), "output_text": _first_match(row, self.answered)}
            about = {"model": model, "sample": sample, **texts}
            for name in [name for name in metrics if name in row or not self.sparse]:
                error = row.get("error") or row.get(self.failed.format(metrics[name]))
                reason = {UNSCORED: ERROR} if error and row.get(name) is None else {}
                yield {"metric": metrics[name], "score": row.get(name), **about, **reason}
            yield from ({"metric": name, "score": row[name], **about} for name in self.beside if name in row)


def _is_from_service(service: str, path: Path) -> bool:
    """Whether the first bytes of a file have the columns of a service, as CSV or JSON."""
    head = first_bytes(path)
    is_json = head[:1] in (b"{", b"[")
    cells = _KEY.findall(head) if is_json else head.partition(b"\n")[0].split(b",")
    return service_of(cell.strip(b' "\r').decode(errors="replace") for cell in cells) == service


def _first_match(row: Record, pattern: str) -> object:
    return next((value for name, value in row.items() if re.fullmatch(pattern, name)), None)


def _flatten_annotations(row: Record) -> Mapping[str, Any] | str:
    """Phoenix's JSON has a list of annotations, its CSV columns of each."""
    named = [(entry.get_name("name"), entry) for entry in row.get_records("annotations")]
    return row | {
        f"annotation_{name}_{key}": annotation.get(key)
        for name, annotation in named
        for key in ("score", "error")
    }


def _flatten_span(row: Record) -> Mapping[str, Any] | str:
    """Braintrust's rows are spans, of which the outermost are the cases."""
    if row.get("is_root") is False or row.get("span_id", 0) != row.get("root_span_id", 0):
        return "spans within a case, left out"
    return row | {f"scores.{name}": score for name, score in row.get_record("scores").items()}


def _set_share_bounds(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Braintrust's scores lie between 0 and 1, and more is better."""
    for metric in rows["metric"].unique():
        collector.set_direction(metric, "higher")
        collector.bounds[metric] = (0.0, 1.0)
    return rows


def _flatten_trace_score(row: Record) -> Mapping[str, Any] | str:
    """Langfuse's rows are scores, of an observation within a trace or of all of it; in two spellings."""
    plain = {name.replace("_", "").casefold(): value for name, value in row.items()}
    if plain.get("traceid") in (None, ""):
        return "scores of sessions and of whole runs, left out"
    sample = "/".join(str(plain[name]) for name in ("traceid", "observationid") if plain.get(name))
    kind, score = plain.get("datatype"), plain.get("value")
    score = plain.get("stringvalue") if kind == "CATEGORICAL" else bool(score) if kind == "BOOLEAN" else score
    return {"trace": sample, f"value.{row.get_name('name')}": score}


def _service_reader(service: str, **columns: Any) -> RowReader:
    """The reader of a service's tables, of what their columns are."""
    layout = Layout(**columns)
    recognises, directions = partial(_is_from_service, service), dict.fromkeys(layout.beside, "lower")
    reader = row_reader(
        recognises, directions=directions, beside=layout.beside, by_file=True, then=layout.then
    )
    return reader(layout.rows)


braintrust = _service_reader(
    "braintrust", sample="input", metric=r"scores\.(.+)", flat=_flatten_span, then=_set_share_bounds
)
langsmith = _service_reader(
    "langsmith",
    sample="example_id",
    metric=r"feedback\.(.+)",
    asked=r"inputs\..+",
    answered=r"outputs\..+",
    beside=("execution_time",),
)
phoenix = _service_reader(
    "phoenix",
    sample="example_id",
    metric=r"annotation_(.+)_score",
    failed="annotation_{}_error",
    beside=("latency_ms", "prompt_token_count", "completion_token_count"),
    flat=_flatten_annotations,
)
langfuse = _service_reader(
    "langfuse", sample="trace", metric=r"value(?:\.(.+))?", sparse=True, flat=_flatten_trace_score
)
