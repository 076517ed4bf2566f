"""LiveBench: ``ground_truth_judgment.jsonl``, one row a model and question, in a folder a task."""

from pathlib import Path

from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import first_record

METRIC = "score"


def recognises(path: Path) -> bool:
    """Whether this is a file of judgments against the ground truth."""
    record = first_record(path)
    return (
        {"question_id", "model", "score"} <= record.keys()
        and "judge" not in record
        and ("task" in record or "model_judgment" in path.parts)
    )


@reads("livebench", recognises, directions={METRIC: "higher"})
def read(file: ExportFile) -> Rows:
    """Scores; the sample is task and question, with the turn from the second on.

    Task and category are columns: from the row, else from the path
    ``<category>/<task>/model_judgment/<file>``.
    """
    folders = file.path.resolve().parts[:-1]
    in_place = len(folders) > 3 and folders[-1] == "model_judgment"
    category, task = folders[-3:-1] if in_place else ("", "")
    for record in file.records():
        of_task = record.text("task") or task
        # Older releases write turn 1 into every row, newer ones only where there are several.
        turn = record.text("turn") or "1"
        unread = record.get("score") == -1
        if unread:
            file.count(f"{METRIC}: judgments of -1, which could not be read")
        parts = [of_task, record.name("question_id"), turn if turn != "1" else ""]
        yield {
            "model": file.model(record.name("model", "model_id")),
            "sample": "/".join(part for part in parts if part),
            "metric": METRIC,
            "score": None if unread else record.get("score"),
            "category": record.text("category") or category,
            "task": of_task,
            "turn": turn,
        }
