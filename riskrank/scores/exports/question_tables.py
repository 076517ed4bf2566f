"""MLflow and Ragas tables: one row per question, one column per metric, and no model names."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

from riskrank.engine.types import Names
from riskrank.errors import InputError, listing
from riskrank.scores.exports.fields import number_duplicates
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.data_frames import Columns, is_number, json_columns
from riskrank.scores.files.delimited import long_fields
from riskrank.scores.names.vocabulary import vocabulary

# Names of the column with the model's answer.
_ANSWERS = ("response", "answer", "outputs", "output")


def table_rows(file: ExportFile, columns: Columns, *, questions: Names, metrics: Names, hint: str) -> Rows:
    """Yield the scores in a table for the model that a label or the path names.

    A sample is named by its question, so that two tables can be paired whatever the order of their rows. The
    second row with the same question is named ``question #2``. Without a question column, samples are named
    by row number.

    Raises
    ------
    InputError
        If there is no metric; `hint` explains how metrics are named.
    """
    if not metrics:
        raise InputError(
            f"{file.path}: there is no metric", found=f"columns: {listing(columns, 20)}", hint=hint
        )
    model = file.model_name()
    question = next((name for name in questions if name in columns), None)
    if question is None:
        file.collector.note("there is no sample column: rows are paired by row number")
    cells = columns[metrics[0]]
    empty_cells = [None] * len(cells)
    inputs = columns[question] if question else empty_cells
    outputs = next((columns[name] for name in _ANSWERS if name in columns), empty_cells)
    rows = (f"row {row}" for row in range(1, len(cells) + 1))
    samples = number_duplicates(map(question_name, columns[question]) if question else rows)
    for metric in metrics:
        for sample, score, *texts in zip(samples, columns[metric], inputs, outputs, strict=True):
            about = {"model": model, "sample": sample, "input_text": texts[0], "output_text": texts[1]}
            yield {"metric": metric, "score": score, **about}


def question_name(value: object) -> str:
    """Convert a question to a one-line name; a value that is not text is written as JSON."""
    return " ".join(
        (value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)).split()
    )


_SCORES = re.compile(r".+/(score|value)|latency|token_count")
_INPUTS = ("inputs", "input", "question", "request", "prompt", "query")
_HEAD = re.compile(rb'^\{\s*"columns"\s*:.*(/score"|/value"|"latency"|"token_count")', re.DOTALL)
# Directions that MLflow defines (``greater_is_better``) but does not write to its table.
_LOWER_IS_BETTER = {"latency", "toxicity", "flesch_kincaid_grade_level", "ari_grade_level"}
_HIGHER_IS_BETTER = {
    *("answer_correctness", "answer_relevance", "answer_similarity", "faithfulness", "relevance"),
    *("exact_match", "bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"),
}
_AT_K = re.compile(r"(precision|recall|ndcg)_at_\d+")


def _is_mlflow(path: Path) -> bool:
    """Return whether a file is an MLflow evaluation table."""
    return bool(_HEAD.match(first_bytes(path)))


@row_reader(_is_mlflow)
def mlflow(file: ExportFile) -> Rows:
    """Yield the metrics (``name/v1/score``) of one model in MLflow's ``eval_results_table.json``."""
    columns = json_columns(file.path, file.data)
    metrics = [name for name in columns if _SCORES.fullmatch(name)]
    numeric = [name for name, cells in columns.items() if any(map(is_number, cells))]
    extra = [name for name in numeric if name not in metrics]
    if extra:
        file.note(f"numeric columns that are not MLflow metrics: {listing(extra)}")
    for metric in metrics:
        name = metric.partition("/")[0]
        if name in _LOWER_IS_BETTER:
            file.set_direction(metric, "lower")
        elif name in _HIGHER_IS_BETTER or _AT_K.fullmatch(name):
            file.set_direction(metric, "higher")
    hint = "metric names are name/v1/score, name/score, latency or token_count"
    return table_rows(file, columns, questions=_INPUTS, metrics=metrics, hint=hint)


# Fields of a sample in versions before and after 0.2; all other columns of numbers are metrics.
_QUESTIONS = ("user_input", "question")
_FIELDS = vocabulary("ragas fields")
_IDENTIFIER = re.compile(r"(Unnamed: \d+|index|row|.*_?id|.*_id_.*|)", re.IGNORECASE)
_HIGHER = vocabulary("ragas scores")


def _is_ragas(path: Path) -> bool:
    """Return whether a CSV file has columns that Ragas writes."""
    head = first_bytes(path).partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    if head[:1] in ("{", "["):
        return False
    try:
        with long_fields():
            names = {name.strip() for name in next(csv.reader([head]), [])}
    except csv.Error:
        return False
    return not names.isdisjoint(_QUESTIONS) and any(_base_name(name) in _HIGHER for name in names)


@row_reader(_is_ragas)
def ragas(file: ExportFile) -> Rows:
    """Yield the metrics of one model in a table of Ragas results.

    An empty cell is a score that Ragas could not compute. Higher is better except for noise sensitivity,
    which counts errors.
    """
    columns = file.columns()
    metrics = [name for name, cells in columns.items() if _is_metric(name, cells)]
    for metric in metrics:
        if _base_name(metric) in _HIGHER:
            file.collector.set_direction(metric, "higher")
        elif _base_name(metric).startswith("noise_sensitivity"):
            file.collector.set_direction(metric, "lower")
    hint = "metrics are numeric columns in addition to the sample fields"
    return table_rows(file, columns, questions=_QUESTIONS, metrics=metrics, hint=hint)


def _base_name(metric: str) -> str:
    """Return a metric's name without settings such as those in ``factual_correctness(mode=f1)``."""
    return metric.partition("(")[0]


def _is_metric(name: str, cells: Sequence[object]) -> bool:
    """Return whether a column that is not a field of the sample is empty or contains numbers."""
    if name in _FIELDS or _IDENTIFIER.fullmatch(name):
        return False
    filled = [cell for cell in cells if cell is not None]
    return 2 * sum(map(is_number, filled)) > len(filled) or not filled
