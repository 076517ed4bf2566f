"""DeepEval: ``.latest_test_run.json`` or an exported test run, one model per file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import listing
from riskrank.scores.exports.fields import export_error
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import holds

SUCCESS = "success"
_KINDS = ("testCases", "conversationalTestCases")


def recognises(path: Path) -> bool:
    """Return whether a file is a test run."""
    return any(holds(path, key) for key in (*_KINDS, "testRunData"))


@row_reader(recognises, directions={SUCCESS: "higher"})
def read(file: ExportFile) -> Rows:
    """Yield the scores of a run's metrics, and whether each case passed (`success`).

    The model is the hyperparameter ``model``, not the judge's ``evaluationModel``. A metric's direction is
    inferred from the scores on the passing side of its threshold.
    """
    document = file.document()
    run = document.get_record("testRunData") if "testRunData" in document else document
    cases = [case for kind in _KINDS for case in run.get_records(kind)]
    if not cases:
        raise export_error(f"{file.path}: there are no test cases", f"fields: {listing(run, 12)}")
    model = file.model_name(run.get_record("hyperparameters").get_text("model"))
    for place, case in enumerate(cases):
        sample = case.get_text("name", f"test_case_{case.get_text('order', str(place))}")
        texts = {"input_text": case.get("input"), "output_text": case.get("actualOutput")}
        about = {"model": model, "sample": sample, **texts}
        for entry in case.get_records("metricsData"):
            metric, score, error = entry.get_name("name"), entry.get("score"), entry.get("error")
            if error:
                file.count(f"{metric}: cases that ended in an error")
            if direction := _direction(entry):
                file.set_direction(metric, direction)
            reason = {UNSCORED: ERROR} if error and score is None else {}
            yield {"metric": metric, "score": score, **about, **reason}
        yield {"metric": SUCCESS, "score": case.get("success"), **about}


def _direction(entry: Mapping[str, Any]) -> str | None:
    """Return the direction that an entry implies by passing above or below its threshold, if any."""
    score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
    if entry.get("error") or not isinstance(success, bool):
        return None
    if not isinstance(score, int | float) or not isinstance(threshold, int | float) or score == threshold:
        return None
    return "higher" if (score > threshold) == success else "lower"
