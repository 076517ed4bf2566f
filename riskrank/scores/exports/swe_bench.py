"""SWE-bench: a run report, which lists instances by outcome, or one report per instance."""

from pathlib import Path

from riskrank.scores.exports.fields import parse_name
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import has_keys
from riskrank.scores.files.parsing import ERROR, UNSCORED

RESOLVED, NO_PREDICTION = "resolved", "missing prediction"
# List of a report → score of its instances, reason of a missing score, and note.
_OUTCOMES: dict[str, tuple[bool | None, str, str]] = {
    "resolved_ids": (True, "", ""),
    "unresolved_ids": (False, "", ""),
    "empty_patch_ids": (False, "", "empty patches, counted as not resolved as in SWE-bench"),
    "error_ids": (None, ERROR, "instances with an error, without a score"),
    "incomplete_ids": (None, NO_PREDICTION, "instances without a prediction, without a score"),
}


def _is_run(path: Path) -> bool:
    """Return whether a file is a run report, which repeats the reports of its instances."""
    return has_keys(path, "resolved_ids", "unresolved_ids") and not has_keys(path, "is_resolved")


def recognises(path: Path) -> bool:
    """Return whether a file is the report of a run or of an instance."""
    return _is_run(path) or has_keys(path, "patch_successfully_applied", "resolved")


@row_reader(recognises, directions={RESOLVED: "higher"}, model_per_file=True, is_preferred=_is_run)
def read(file: ExportFile) -> Rows:
    """Yield whether each instance was resolved.

    The model is named in the file name ``<model>.<run>.json``; a run name that all files share is removed.
    For instance reports, the model is the folder name in ``<model>/<instance>/report.json``.
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
            sample = parse_name(document.location_of(key), value)
            row = rows.setdefault(sample, {"score": score} | ({UNSCORED: reason} if reason else {}))
            if note and row["score"] == score:
                file.count(f"{RESOLVED}: {note}")
    for _ in document.get_list("infra_failure_ids"):
        file.count(f"{RESOLVED}: probable infrastructure failures, scored as in SWE-bench")
    # A report is grouped by outcome, so its order carries no meaning.
    for sample in sorted(rows):
        yield {"model": model, "sample": sample, "metric": RESOLVED, **rows[sample]}
