"""LiveBench: ``ground_truth_judgment.jsonl``, one row a model and question, in a folder a task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish
from riskrank.scores.exports.records import first_record, name, records, text

NAME = "livebench"
METRIC = "score"


def recognises(path: Path) -> bool:
    """Whether this is a file of judgments against the ground truth."""
    record = first_record(path)
    return (
        {"question_id", "model", "score"} <= record.keys()
        and "judge" not in record
        and ("task" in record or "model_judgment" in path.parts)
    )


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read scores; the sample is task and question, with the turn from the second on.

    Task and category are columns: from the row, else from the path
    ``<category>/<task>/model_judgment/<file>``.
    """
    refuse_rules(rules, NAME)
    gathering = Gathering(rules)
    gathering.direct(METRIC, "higher")

    def use(path: Path, data: bytes) -> None:
        category, task = _from_path(path)
        for number, record in records(gathering, path, data):
            of_task = text(path, number, record, "task") or task
            # Older releases write turn 1 into every row, newer ones only where there are several.
            turn = text(path, number, record, "turn") or "1"
            question = name(path, number, record, "question_id")
            score = record.get("score")
            if score == -1:
                gathering.count(f"{METRIC}: judgments of -1, which could not be read")
            gathering.add(
                model=model_of(path, name(path, number, record, "model", "model_id"), rules),
                sample="/".join([*filter(None, [of_task]), question, *([turn] if turn != "1" else [])]),
                metric=METRIC,
                value=None if score == -1 else score,
                category=text(path, number, record, "category") or category,
                task=of_task,
                turn=turn,
            )

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    return finish(gathering.export())


def _from_path(path: Path) -> tuple[str, str]:
    """Category and task from the folders a judgment lies in."""
    folders = path.resolve().parts[:-1]
    if len(folders) > 3 and folders[-1] == "model_judgment":
        return folders[-3], folders[-2]
    return "", ""
