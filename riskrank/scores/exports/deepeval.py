"""DeepEval: ``.latest_test_run.json`` or an export of a test run, one model a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing
from riskrank.scores.exports.fields import a_name, an_object, objects
from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish
from riskrank.scores.exports.records import document, holds

NAME = "deepeval"
SUCCESS = "success"


def recognises(path: Path) -> bool:
    """Whether this is a test run."""
    return holds(path, "testCases") or holds(path, "testRunData") or holds(path, "conversationalTestCases")


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read the scores of a run's metrics, and whether each case passed (`success`).

    The model is the hyperparameter ``model``, never the judge's ``evaluationModel``. A metric's direction
    follows from the side of its threshold that passes, where the scores show it.
    """
    refuse_rules(rules, NAME)
    gathering = Gathering(rules)
    gathering.direct(SUCCESS, "higher")
    label = files[0].label if files else None

    def use(path: Path, data: bytes) -> None:
        whole = document(path, data)
        run = an_object(f"{path}: testRunData", whole.get("testRunData", whole))
        kinds = ("testCases", "conversationalTestCases")
        cases = [case for kind in kinds for case in objects(f"{path}: {kind}", run.get(kind))]
        if not cases:
            raise InputError(
                f"{path}: there are no test cases",
                found=f"fields: {listing(run, 12)}",
                hint="check the run that wrote it",
            )
        parameters = an_object(f"{path}: hyperparameters", run.get("hyperparameters"))
        logged = a_name(f"{path}: hyperparameters.model", parameters.get("model"), otherwise="")
        model = model_of(path, logged, rules, label=label)
        for place, case in enumerate(cases):
            _add_case(gathering, path, model, place, case)

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    return finish(gathering.export())


def _add_case(gathering: Gathering, path: Path, model: str, place: int, case: Mapping[str, Any]) -> None:
    which = f"{path}: case {place + 1}"
    order = a_name(f"{which}, order", case.get("order"), otherwise=str(place))
    sample = a_name(f"{which}, name", case.get("name"), otherwise=f"test_case_{order}")
    for entry in objects(f"{path}: metricsData of case {place + 1}", case.get("metricsData")):
        metric = a_name(f"{which}, name of a metric", entry.get("name"))
        if entry.get("error"):
            gathering.count(f"{metric}: cases that ended in an error")
        direction = _direction(entry)
        if direction:
            gathering.direct(metric, direction, of=str(path))
        gathering.add(model=model, sample=sample, metric=metric, value=entry.get("score"))
    gathering.add(model=model, sample=sample, metric=SUCCESS, value=case.get("success"))


def _direction(entry: Mapping[str, Any]) -> str | None:
    """Tell which side of the threshold passes; at the threshold itself both directions would."""
    score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
    if entry.get("error") or not isinstance(success, bool):
        return None
    if not isinstance(score, int | float) or not isinstance(threshold, int | float) or score == threshold:
        return None
    return "higher" if (score > threshold) == success else "lower"
