"""Tables of services that keep experiments, told by their columns: which are scores, and which say more."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.question_tables import as_question
from riskrank.scores.exports.row_reader import ExportFile, RowReader, Rows, reads
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
    then: Callable[[pl.DataFrame, Gathering], pl.DataFrame] = lambda rows, _gathering: rows

    def rows(self, file: ExportFile) -> Rows:
        """A row a sample and metric."""
        model, metrics, read = file.model(), dict[str, str](), list[Record]()
        for record in file.rows(lambda name: re.fullmatch(self.metric, name) or name in self.beside):
            found = self.flat(record)
            if isinstance(found, str):
                file.count(found)
                continue
            read.append(Record(record.place, found))
            metrics |= {name: match[1] for name in found if (match := re.fullmatch(self.metric, name))}
        if not metrics:
            columns = listing(dict.fromkeys(name for row in read for name in row), 20)
            raise broken(f"{file.path}: there is no metric", f"columns: {columns}")
        for row in read:
            asked = row.get(self.sample)
            sample = as_question(asked if isinstance(asked, dict | list) else row.name(self.sample))
            said = {"asked": _of(row, self.asked), "answered": _of(row, self.answered)}
            about = {"model": model, "sample": sample, **said}
            for name in [one for one in metrics if one in row or not self.sparse]:
                failed = row.get("error") or row.get(self.failed.format(metrics[name]))
                why = {UNSCORED: ERROR} if failed and row.get(name) is None else {}
                yield {"metric": metrics[name], "score": row.get(name), **about, **why}
            yield from ({"metric": one, "score": row[one], **about} for one in self.beside if one in row)


def _told_by(service: str, path: Path) -> bool:
    """Whether the first bytes of a file have the columns of a service, as CSV or JSON."""
    head = first_bytes(path)
    is_json = head[:1] in (b"{", b"[")
    cells = _KEY.findall(head) if is_json else head.partition(b"\n")[0].split(b",")
    return service_of(cell.strip(b' "\r').decode(errors="replace") for cell in cells) == service


def _of(row: Record, pattern: str) -> object:
    return next((value for name, value in row.items() if re.fullmatch(pattern, name)), None)


def _annotations(row: Record) -> Mapping[str, Any] | str:
    """Phoenix's JSON has a list of annotations, its CSV columns of each."""
    named = [(one.name("name"), one) for one in row.entries("annotations")]
    return row | {f"annotation_{name}_{key}": of.get(key) for name, of in named for key in ("score", "error")}


def _roots(row: Record) -> Mapping[str, Any] | str:
    """Braintrust's rows are spans, of which the outermost are the cases."""
    if row.get("is_root") is False or row.get("span_id", 0) != row.get("root_span_id", 0):
        return "spans within a case, left out"
    return row | {f"scores.{name}": score for name, score in row.inner("scores").items()}


def _shares(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Braintrust's scores lie between 0 and 1, and more is better."""
    for metric in rows["metric"].unique():
        gathering.direct(metric, "higher")
        gathering.bounds[metric] = (0.0, 1.0)
    return rows


def _of_traces(row: Record) -> Mapping[str, Any] | str:
    """Langfuse's rows are scores, of an observation within a trace or of all of it; in two spellings."""
    plain = {name.replace("_", "").casefold(): value for name, value in row.items()}
    if plain.get("traceid") in (None, ""):
        return "scores of sessions and of whole runs, left out"
    sample = "/".join(str(plain[name]) for name in ("traceid", "observationid") if plain.get(name))
    kind, score = plain.get("datatype"), plain.get("value")
    score = plain.get("stringvalue") if kind == "CATEGORICAL" else bool(score) if kind == "BOOLEAN" else score
    return {"trace": sample, f"value.{row.name('name')}": score}


def _reader(service: str, **columns: Any) -> RowReader:
    """The reader of a service's tables, of what their columns are."""
    layout = Layout(**columns)
    told, ways = partial(_told_by, service), dict.fromkeys(layout.beside, "lower")
    reader = reads(told, directions=ways, beside=layout.beside, by_file=True, then=layout.then)
    return reader(layout.rows)


braintrust = _reader("braintrust", sample="input", metric=r"scores\.(.+)", flat=_roots, then=_shares)
langsmith = _reader(
    "langsmith",
    sample="example_id",
    metric=r"feedback\.(.+)",
    asked=r"inputs\..+",
    answered=r"outputs\..+",
    beside=("execution_time",),
)
phoenix = _reader(
    "phoenix",
    sample="example_id",
    metric=r"annotation_(.+)_score",
    failed="annotation_{}_error",
    beside=("latency_ms", "prompt_token_count", "completion_token_count"),
    flat=_annotations,
)
langfuse = _reader("langfuse", sample="trace", metric=r"value(?:\.(.+))?", sparse=True, flat=_of_traces)
