"""Tables with a row a question and a column a metric, and no word about the model: MLflow's, Ragas'."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from riskrank.scores.exports.gathering import Gathering


def add_table(
    gathering: Gathering,
    model: str,
    columns: Mapping[str, Sequence[object]],
    *,
    question: str | None,
    metrics: Sequence[str],
) -> None:
    """Add the scores of a table.

    A sample is called by its question, so that two models' tables pair whatever order they are in; the
    second row with the same question is ``question #2``. Without questions the row's number names it.
    """
    height = len(next(iter(columns.values()), ()))
    samples = _names(columns[question]) if question else [f"row {row}" for row in range(1, height + 1)]
    if not question:
        gathering.note("no column names the samples: rows are paired by their number")
    for metric in metrics:
        for sample, value in zip(samples, columns[metric], strict=True):
            gathering.add(model=model, sample=sample, metric=metric, value=value)


def _names(questions: Sequence[object]) -> list[str]:
    met: Counter[str] = Counter()
    names = []
    for question in questions:
        name = question if isinstance(question, str) else json.dumps(question, sort_keys=True, default=str)
        name = " ".join(name.split())
        met[name] += 1
        names.append(name if met[name] == 1 else f"{name} #{met[name]}")
    return names
