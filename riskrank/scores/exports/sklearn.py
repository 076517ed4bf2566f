"""scikit-learn: ``cv_results_`` of a search, results of ``cross_validate``, and out-of-fold predictions."""

import re
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing
from riskrank.scores.exports.reader import ExportFile, Rows
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.json_tables import Columns
from riskrank.scores.names.vocabulary import is_unnamed

_FOLD = re.compile(r"split(\d+)_test_(.+)")
_SCORER = re.compile(r"test_(.+)")
_TRUTHS = ("y_true", "y")
# If there are more distinct numbers, the target is continuous, and predictions are scored by their error.
_MOST_CLASSES = 20


def recognises(path: Path) -> bool:
    """Return True if a file contains scikit-learn results or predictions.

    These are the results of a search or of ``cross_validate``, or out-of-fold predictions.
    """
    head = first_bytes(path)
    searched = b"split0_test_" in head and (b"mean_fit_time" in head or b"rank_test_" in head)
    timed = b"fit_time" in head and b"score_time" in head and b"test_" in head
    # A column of models means that each row belongs to one model. Errors are scores, not predictions.
    scored = re.search(b"model|error", head.partition(b"\n")[0].lower())
    return searched or timed or (b"y_true" in head and not scored)


def read(file: ExportFile) -> Rows:
    """Yield the scores of cross-validation folds, or scores of out-of-fold predictions by row.

    Higher scores are better, because scikit-learn negates losses (``neg_log_loss``). Candidates of a search
    are named by their parameters; a failed fit has no score. Results of ``cross_validate`` belong to one
    model, named after its file. If there is a column ``y_true``, every other column contains the predictions
    of a model. Predicted classes are scored as correct or incorrect, and predicted numbers by absolute error.
    """
    columns = file.columns()
    if any(_FOLD.fullmatch(name) for name in columns):
        yield from _read_search(file, columns)
    elif "score_time" in columns:
        model = file.model_name()
        for name, match in [(name, match) for name in columns if (match := _SCORER.fullmatch(name))]:
            file.collector.set_direction(match[1], "higher")
            for fold, value in enumerate(columns[name]):
                yield {"model": model, "sample": f"split{fold}", "metric": match[1], "score": value}
    elif truth := next((name for name in _TRUTHS if name in columns), None):
        yield from _read_predictions(file, columns, truth)
    else:
        problem = f"{file.path}: there are no fold scores"
        hint = "save cv_results_ unchanged: pandas.DataFrame(search.cv_results_).to_csv(…)"
        raise InputError(problem, found=f"columns: {listing(columns, 20)}", hint=hint)


def _read_search(file: ExportFile, columns: Columns) -> Rows:
    """Yield the score of every candidate of a search in every fold.

    `columns` are those of ``cv_results_``.
    """
    folds = [(name, match) for name in columns if (match := _FOLD.fullmatch(name))]
    names = _candidate_names(columns)
    failed = dict.fromkeys(names, 0)
    for name, match in folds:
        file.collector.set_direction(match[2], "higher")
        about = {"sample": f"split{match[1]}", "metric": match[2]}
        for index, (model, value) in enumerate(zip(names, columns[name], strict=True)):
            failed[model] += value is None or value != value
            yield {"model": model, **about, "score": value, "candidate": str(index)}
    for model, count in failed.items():
        if count == len(folds):
            file.note(f"candidate {names.index(model)} ({model}) failed in every fold")


def _read_predictions(file: ExportFile, columns: Columns, truth: str) -> Rows:
    """Yield whether each predicted class is correct, or the absolute error of each predicted number.

    `truth` names the column of true values; every other column contains the predictions of a model.
    """
    true_values: list[Any] = list(columns[truth])
    are_numbers = all(isinstance(value, int | float) for value in true_values)
    is_regression = are_numbers and len(set(true_values)) > _MOST_CLASSES
    metric = "absolute_error" if is_regression else "correct"
    file.collector.set_direction(metric, "lower" if is_regression else "higher")
    for model in (name for name in columns if name != truth and not is_unnamed(name)):
        # A column of text, or one that rarely contains a class, identifies the rows.
        fitting = [
            isinstance(v, int | float | None) if is_regression else v in true_values for v in columns[model]
        ]
        if 2 * sum(fitting) < len(true_values):
            continue
        model_name = file.model_name() if model == "y_pred" else model
        predicted: list[Any] = list(columns[model])
        for row, (value, true_value) in enumerate(zip(predicted, true_values, strict=True)):
            score = None
            if value is not None:
                score = abs(value - true_value) if is_regression else float(value == true_value)
            yield {"model": model_name, "sample": f"row {row}", "metric": metric, "score": score}


def _candidate_names(columns: Columns) -> list[str]:
    """Return a name for each candidate of a search: its parameters, with the row number if not unique."""
    height = len(next(iter(columns.values())))
    parameters = columns.get("params")
    if parameters is None:
        grid = [(n.removeprefix("param_"), cells) for n, cells in columns.items() if n.startswith("param_")]
        cells = [[(name, values[index]) for name, values in grid] for index in range(height)]
        parameters = [{name: cell for name, cell in row if cell is not None} for row in cells]
    # Example: ``C=0.1, kernel=rbf``. JSON objects and their text in CSV give the same name.
    texts = [re.sub("['\"]", "", str(entry).strip(" {}")).replace(": ", "=") for entry in parameters]
    names = [text or f"candidate {row}" for row, text in enumerate(texts)]
    return [name if names.count(name) == 1 else f"{name} (candidate {row})" for row, name in enumerate(names)]
