"""MLflow: ``eval_results_table.json``, a row a question and ``name/v1/score`` a metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from riskrank.errors import InputError, listing
from riskrank.scores.exports.data_frames import is_number, json_columns
from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.one_model_tables import add_table
from riskrank.scores.exports.readings import finish
from riskrank.scores.files.beginnings import first_bytes

NAME = "mlflow"
_METRIC = re.compile(r".+/(score|value)|latency|token_count")
_QUESTIONS = ("inputs", "input", "question", "request", "prompt", "query")
_HEAD = re.compile(rb'^\{\s*"columns"\s*:.*(/score"|/value"|"latency"|"token_count")', re.DOTALL)


def recognises(path: Path) -> bool:
    """Whether this is a table of evaluation results."""
    return bool(_HEAD.match(first_bytes(path)))


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read the metrics of a table of one model, which a label or the path names."""
    refuse_rules(rules, NAME)
    gathering = Gathering(rules)
    label = files[0].label if files else None

    def use(path: Path, data: bytes) -> None:
        columns = json_columns(path, data)
        metrics = [name for name in columns if _METRIC.fullmatch(name)]
        numeric = [name for name, cells in columns.items() if any(map(is_number, cells))]
        others = [name for name in numeric if name not in metrics]
        if others:
            gathering.note(f"{path}: columns of numbers that are no metrics of MLflow's: {listing(others)}")
        if not metrics:
            raise InputError(
                f"{path}: there is no metric",
                found=f"columns: {listing(columns, 20)}",
                hint="metrics are called name/v1/score, name/score, latency or token_count",
            )
        question = next((name for name in _QUESTIONS if name in columns), None)
        model = model_of(path, None, rules, label=label)
        add_table(gathering, model, columns, question=question, metrics=metrics)

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    return finish(gathering.export())
