"""DeepEval: ``.latest_test_run.json`` or an exported test run, one model per file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import listing
from riskrank.scores.exports.fields import export_error
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import has_keys
from riskrank.scores.files.parsing import ERROR, UNSCORED

SUCCESS = "success"
_KINDS = ("testCases", "conversationalTestCases")


def recognises(path: Path) -> bool:
    """Return whether a file contains a test run of DeepEval."""
    return any(has_keys(path, key) for key in (*_KINDS, "testRunData"))


@row_reader(recognises, directions={SUCCESS: "higher"})
def read(file: ExportFile) -> Rows:
    """Yield the metric scores of a run, and whether each test case passed (`success`).

    The model is the hyperparameter ``model``, not ``evaluationModel``, which names the judge. The direction
    of a metric is inferred from which side of its threshold passes.
    """
    document = file.document()
    run = document.get_record("testRunData") if "testRunData" in document else document
    cases = [case for kind in _KINDS for case in run.get_records(kind)]
    if not cases:
        raise export_error(f"{file.path}: there are no test cases", f"fields: {listing(run, 12)}")
    model = file.model_name(run.get_record("hyperparameters").get_text("model"))
    for number, case in enumerate(cases):
        sample = case.get_text("name", f"test_case_{case.get_text('order', str(number))}")
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
    """Return the direction implied by whether a score passes above or below its threshold, or None."""
    score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
    if entry.get("error") or not isinstance(success, bool):
        return None
    if not isinstance(score, int | float) or not isinstance(threshold, int | float) or score == threshold:
        return None
    return "higher" if (score > threshold) == success else "lower"
