"""Tables with a row a question and a column a metric, and no word about the model: MLflow's, Ragas'."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from riskrank.errors import InputError, listing
from riskrank.scores.exports.row_reader import ExportFile, Rows
from riskrank.scores.files.data_frames import Columns

# Columns that hold a model's answer, by the names tools have given it.
_ANSWERS = ("response", "answer", "outputs", "output")


def table_rows(
    file: ExportFile, columns: Columns, *, questions: Sequence[str], metrics: Sequence[str], hint: str
) -> Rows:
    """Scores of a table, of the model that a label or the path names.

    A sample is called by its question, so that two models' tables pair whatever order they are in; the
    second row with the same question is ``question #2``. Without questions the row's number names it.

    Raises
    ------
    InputError
        If there is no metric; `hint` says what one is.
    """
    if not metrics:
        found = f"columns: {listing(columns, 20)}"
        raise InputError(f"{file.path}: there is no metric", found=found, hint=hint)
    model = file.model()
    question = next((name for name in questions if name in columns), None)
    if question is None:
        file.gathering.note("no column names the samples: rows are paired by their number")
    cells = columns[metrics[0]]
    nothing = [None] * len(cells)
    asked = columns[question] if question else nothing
    answered = next((columns[name] for name in _ANSWERS if name in columns), nothing)
    samples = _names(columns[question]) if question else [f"row {row}" for row in range(1, len(cells) + 1)]
    for metric in metrics:
        for sample, score, *said in zip(samples, columns[metric], asked, answered, strict=True):
            about = {"model": model, "sample": sample, "asked": said[0], "answered": said[1]}
            yield {"metric": metric, "score": score, **about}


def _names(questions: Sequence[object]) -> list[str]:
    met: Counter[str] = Counter()
    names = []
    for question in questions:
        name = as_question(question)
        met[name] += 1
        names.append(name if met[name] == 1 else f"{name} #{met[name]}")
    return names


def as_question(value: object) -> str:
    """A question as a name, on one line; what is no text as its JSON."""
    return " ".join(
        (value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)).split()
    )
