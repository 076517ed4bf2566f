"""SWE-bench: the report of a run, which lists instances by outcome, or one report per instance."""

from pathlib import Path

from riskrank.scores.exports.fields import parse_name
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import holds

RESOLVED, NO_PREDICTION = "resolved", "missing prediction"
# List of a report → score of its instances, reason of a missing score, and note.
_OUTCOMES: dict[str, tuple[bool | None, str, str]] = {
    "resolved_ids": (True, "", ""),
    "unresolved_ids": (False, "", ""),
    "empty_patch_ids": (False, "", "empty patches, not resolved, as SWE-bench counts them"),
    "error_ids": (None, ERROR, "instances that ended in an error, no score"),
    "incomplete_ids": (None, NO_PREDICTION, "instances without a prediction, no score"),
}


def _is_run(path: Path) -> bool:
    """Return whether a file is the report of a run, which repeats the reports of its instances."""
    return holds(path, "resolved_ids", "unresolved_ids") and not holds(path, "is_resolved")


def recognises(path: Path) -> bool:
    """Return whether a file is the report of a run or of an instance."""
    return _is_run(path) or holds(path, "patch_successfully_applied", "resolved")


@row_reader(recognises, directions={RESOLVED: "higher"}, model_per_file=True, is_preferred=_is_run)
def read(file: ExportFile) -> Rows:
    """Yield whether each instance was resolved.

    The model is taken from the file name ``<model>.<run>.json``, without a run name that all files share. For
    reports of instances it is the folder in ``<model>/<instance>/report.json``.
    """
    document = file.document()
    if "resolved_ids" not in document:
        model = file.model_name(file.path.resolve().parent.parent.name.replace("__", "/"))
        for sample in document:
            score = document.get_record(sample).get(RESOLVED)
            yield {"model": model, "sample": sample, "metric": RESOLVED, "score": score}
        return
    model = file.model_name(file.label or file.path.stem)
    rows: dict[str, dict[str, object]] = {}
    for key, (score, reason, note) in _OUTCOMES.items():
        for value in document.get_list(key):
            sample = parse_name(document.location(key), value)
            row = rows.setdefault(sample, {"score": score} | ({UNSCORED: reason} if reason else {}))
            if note and row["score"] == score:
                file.count(f"{RESOLVED}: {note}")
    for _ in document.get_list("infra_failure_ids"):
        file.count(f"{RESOLVED}: failures that are probably the machine's, as SWE-bench counts them")
    # A report is grouped by outcome, so its order carries no meaning.
    for sample in sorted(rows):
        yield {"model": model, "sample": sample, "metric": RESOLVED, **rows[sample]}
