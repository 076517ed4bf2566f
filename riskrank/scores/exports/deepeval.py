"""DeepEval: ``.latest_test_run.json`` or an export of a test run, one model a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import listing
from riskrank.scores.exports.fields import a_name, an_object, broken, objects
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.unscored import COLUMN, ERROR
from riskrank.scores.files.beginnings import holds

SUCCESS = "success"
_KINDS = ("testCases", "conversationalTestCases")


def recognises(path: Path) -> bool:
    """Whether this is a test run."""
    return any(holds(path, key) for key in (*_KINDS, "testRunData"))


@reads("deepeval", recognises, directions={SUCCESS: "higher"})
def read(file: ExportFile) -> Rows:
    """Scores of a run's metrics, and whether each case passed (`success`).

    The model is the hyperparameter ``model``, never the judge's ``evaluationModel``. A metric's direction
    follows from the side of its threshold that passes, where the scores show it.
    """
    path, whole = file.path, file.document()
    run = an_object(f"{path}: testRunData", whole.get("testRunData", whole))
    cases = [case for kind in _KINDS for case in objects(f"{path}: {kind}", run.get(kind))]
    if not cases:
        raise broken(f"{path}: there are no test cases", f"fields: {listing(run, 12)}")
    parameters = an_object(f"{path}: hyperparameters", run.get("hyperparameters"))
    model = file.model(a_name(f"{path}: hyperparameters.model", parameters.get("model"), otherwise=""))
    for place, case in enumerate(cases):
        which = f"{path}: case {place + 1}"
        order = a_name(f"{which}, order", case.get("order"), otherwise=str(place))
        sample = a_name(f"{which}, name", case.get("name"), otherwise=f"test_case_{order}")
        said = {"asked": case.get("input"), "answered": case.get("actualOutput")}
        about = {"model": model, "sample": sample, **said}
        for entry in objects(f"{path}: metricsData of case {place + 1}", case.get("metricsData")):
            metric = a_name(f"{which}, name of a metric", entry.get("name"))
            if entry.get("error"):
                file.count(f"{metric}: cases that ended in an error")
            direction = _direction(entry)
            if direction:
                file.direct(metric, direction)
            failed = entry.get("error") and entry.get("score") is None
            why = {COLUMN: ERROR} if failed else {}
            yield {"metric": metric, "score": entry.get("score"), **about, **why}
        yield {"metric": SUCCESS, "score": case.get("success"), **about}


def _direction(entry: Mapping[str, Any]) -> str | None:
    """Tell which side of the threshold passes; at the threshold itself both directions would."""
    score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
    if entry.get("error") or not isinstance(success, bool):
        return None
    if not isinstance(score, int | float) or not isinstance(threshold, int | float) or score == threshold:
        return None
    return "higher" if (score > threshold) == success else "lower"
