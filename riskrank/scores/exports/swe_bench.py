"""SWE-bench: the report of a run, with the instances of every outcome, or a report an instance."""

from pathlib import Path

from riskrank.scores.exports.fields import parse_name
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import holds

RESOLVED, NO_PREDICTION = "resolved", "missing prediction"
# What a list of a report says of its instances: the score, why there is none, and what to say of it.
_OUTCOMES: dict[str, tuple[bool | None, str, str]] = {
    "resolved_ids": (True, "", ""),
    "unresolved_ids": (False, "", ""),
    "empty_patch_ids": (False, "", "empty patches, not resolved, as SWE-bench counts them"),
    "error_ids": (None, ERROR, "instances that ended in an error, no score"),
    "incomplete_ids": (None, NO_PREDICTION, "instances without a prediction, no score"),
}


def _is_run(path: Path) -> bool:
    """Whether this is the report of a run, which says of all instances what their own reports do."""
    return holds(path, "resolved_ids", "unresolved_ids") and not holds(path, "is_resolved")


def recognises(path: Path) -> bool:
    """Whether this is a report, of a run or of an instance."""
    return _is_run(path) or holds(path, "patch_successfully_applied", "resolved")


@row_reader(recognises, directions={RESOLVED: "higher"}, by_file=True, prefers=_is_run)
def read(file: ExportFile) -> Rows:
    """Whether each instance was resolved.

    The model is the name of the file, ``<model>.<run>.json`` without a run that all have, or the folder of
    an instance's report, ``<model>/<instance>/report.json``.
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
    # A report has one outcome after the other: that is no order of the instances.
    for sample in sorted(rows):
        yield {"model": model, "sample": sample, "metric": RESOLVED, **rows[sample]}
