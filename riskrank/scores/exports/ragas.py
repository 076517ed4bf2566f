"""Ragas: the data frame of a result, saved as CSV, a row a question and a column a metric."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from riskrank.scores.exports.question_tables import table_rows
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.data_frames import is_number
from riskrank.scores.files.delimited import long_fields

# Fields of a sample, in the names of versions before and after 0.2; everything else is a metric.
_QUESTIONS = ("user_input", "question")
_FIELDS = {
    *_QUESTIONS,
    *("retrieved_contexts", "reference_contexts", "response", "multi_responses", "reference", "rubrics"),
    *("rubric", "reference_topics", "reference_tool_calls", "contexts", "answer", "ground_truth"),
    *("ground_truths", "retrieved_context_ids", "reference_context_ids", "synthesizer_name"),
    *("persona_name", "query_style", "query_length", "evolution_type", "episode_done", "metadata"),
}
_IDENTIFIER = re.compile(r"(Unnamed: \d+|index|row|.*_?id|.*_id_.*|)", re.IGNORECASE)
_HIGHER = {
    *("faithfulness", "answer_relevancy", "answer_correctness", "answer_similarity", "semantic_similarity"),
    *("context_precision", "context_recall", "context_entity_recall", "context_utilization"),
    *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
    *("non_llm_context_precision_with_reference", "non_llm_context_recall", "nv_accuracy"),
    *("nv_context_relevance", "nv_response_groundedness", "factual_correctness"),
}


def recognises(path: Path) -> bool:
    """Whether this is a table with a question and one of Ragas' own metrics."""
    head = first_bytes(path).partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    if head[:1] in ("{", "["):
        return False
    try:
        with long_fields():
            names = {name.strip() for name in next(csv.reader([head]), [])}
    except csv.Error:
        return False
    return not names.isdisjoint(_QUESTIONS) and any(_plain(name) in _HIGHER for name in names)


@reads("ragas", recognises)
def read(file: ExportFile) -> Rows:
    """Metrics of a table of one model.

    An empty cell is a score Ragas could not compute. Its metrics are better when larger but for noise
    sensitivity, which counts errors.
    """
    columns = file.columns()
    metrics = [name for name, cells in columns.items() if _is_metric(name, cells)]
    for metric in metrics:
        if _plain(metric) in _HIGHER:
            file.gathering.direct(metric, "higher")
        elif _plain(metric).startswith("noise_sensitivity"):
            file.gathering.direct(metric, "lower")
    hint = "a metric is a column of numbers beside the fields of the samples"
    return table_rows(file, columns, questions=_QUESTIONS, metrics=metrics, hint=hint)


def _plain(metric: str) -> str:
    """The name without the settings newer versions put behind it: ``factual_correctness(mode=f1)``."""
    return metric.partition("(")[0]


def _is_metric(name: str, cells: Sequence[object]) -> bool:
    """Whether a column beside the sample's fields holds numbers, or nothing at all."""
    if name in _FIELDS or _IDENTIFIER.fullmatch(name):
        return False
    filled = [cell for cell in cells if cell is not None]
    return 2 * sum(map(is_number, filled)) > len(filled) or not filled
