"""MLflow: ``eval_results_table.json``, a row a question and ``name/v1/score`` a metric."""

from __future__ import annotations

import re
from pathlib import Path

from riskrank.errors import listing
from riskrank.scores.exports.data_frames import is_number, json_columns
from riskrank.scores.exports.question_tables import table_rows
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import first_bytes

NAME = "mlflow"
_METRIC = re.compile(r".+/(score|value)|latency|token_count")
_QUESTIONS = ("inputs", "input", "question", "request", "prompt", "query")
_HEAD = re.compile(rb'^\{\s*"columns"\s*:.*(/score"|/value"|"latency"|"token_count")', re.DOTALL)


def recognises(path: Path) -> bool:
    """Whether this is a table of evaluation results."""
    return bool(_HEAD.match(first_bytes(path)))


@reads(NAME, recognises)
def read(file: ExportFile) -> Rows:
    """Metrics of a table of one model."""
    columns = json_columns(file.path, file.data)
    metrics = [name for name in columns if _METRIC.fullmatch(name)]
    numeric = [name for name, cells in columns.items() if any(map(is_number, cells))]
    others = [name for name in numeric if name not in metrics]
    if others:
        file.note(f"columns of numbers that are no metrics of MLflow's: {listing(others)}")
    hint = "metrics are called name/v1/score, name/score, latency or token_count"
    return table_rows(file, columns, questions=_QUESTIONS, metrics=metrics, hint=hint)
