"""MLflow: ``eval_results_table.json``, a row a question and ``name/v1/score`` a metric."""

from __future__ import annotations

import re
from pathlib import Path

from riskrank.errors import listing
from riskrank.scores.exports.question_tables import table_rows
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.data_frames import is_number, json_columns

_METRIC = re.compile(r".+/(score|value)|latency|token_count")
_QUESTIONS = ("inputs", "input", "question", "request", "prompt", "query")
_HEAD = re.compile(rb'^\{\s*"columns"\s*:.*(/score"|/value"|"latency"|"token_count")', re.DOTALL)
# What MLflow says of its own metrics (``greater_is_better``), which its table does not repeat.
_LOWER = {"latency", "toxicity", "flesch_kincaid_grade_level", "ari_grade_level"}
_HIGHER = {
    *("answer_correctness", "answer_relevance", "answer_similarity", "faithfulness", "relevance"),
    *("exact_match", "bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"),
}
_AT_K = re.compile(r"(precision|recall|ndcg)_at_\d+")


def recognises(path: Path) -> bool:
    """Whether this is a table of evaluation results."""
    return bool(_HEAD.match(first_bytes(path)))


@reads("mlflow", recognises)
def read(file: ExportFile) -> Rows:
    """Metrics of a table of one model."""
    columns = json_columns(file.path, file.data)
    metrics = [name for name in columns if _METRIC.fullmatch(name)]
    numeric = [name for name, cells in columns.items() if any(map(is_number, cells))]
    others = [name for name in numeric if name not in metrics]
    if others:
        file.note(f"columns of numbers that are no metrics of MLflow's: {listing(others)}")
    for metric in metrics:
        name = metric.partition("/")[0]
        if name in _LOWER:
            file.direct(metric, "lower")
        elif name in _HIGHER or _AT_K.fullmatch(name):
            file.direct(metric, "higher")
    hint = "metrics are called name/v1/score, name/score, latency or token_count"
    return table_rows(file, columns, questions=_QUESTIONS, metrics=metrics, hint=hint)
