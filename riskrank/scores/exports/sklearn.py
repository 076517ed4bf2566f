"""scikit-learn: ``cv_results_`` of a search, a candidate a row and ``split<i>_test_<scorer>`` a score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from riskrank.errors import InputError, listing
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.data_frames import Columns

NAME = "sklearn"
_FOLD = re.compile(r"split(\d+)_test_(.+)")


def recognises(path: Path) -> bool:
    """Whether this is the result of a search, as CSV or JSON."""
    head = first_bytes(path)
    return b"split0_test_" in head and b"mean_fit_time" in head


@reads(NAME, recognises)
def read(file: ExportFile) -> Rows:
    """Scores of a search: candidates are models, folds are samples, scorers are metrics.

    A candidate is called by its parameters. Scorers are better when larger, losses being negated
    (``neg_log_loss``). Where a candidate failed there is no score.
    """
    columns = file.columns()
    folds = [(name, match) for name in columns if (match := _FOLD.fullmatch(name))]
    if not folds:
        raise InputError(
            f"{file.path}: there are no scores of folds",
            found=f"columns: {listing(columns, 20)}",
            hint="save cv_results_ as it is: pandas.DataFrame(search.cv_results_).to_csv(…)",
        )
    names = _candidates(columns)
    failed = dict.fromkeys(names, 0)
    for name, match in folds:
        file.gathering.direct(match[2], "higher")
        about = {"sample": f"split{match[1]}", "metric": match[2]}
        for place, (model, value) in enumerate(zip(names, columns[name], strict=True)):
            score = None if value is None or value != value else value
            failed[model] += score is None
            yield {"model": model, **about, "score": score, "candidate": str(place)}
    for model, count in failed.items():
        if count == len(folds):
            file.note(f"candidate {names.index(model)} ({model}) failed in every fold")


def _candidates(columns: Columns) -> list[str]:
    """Name the candidates by their parameters; two of the same parameters by their rows too."""
    height = len(next(iter(columns.values())))
    parameters = columns.get("params")
    if parameters is None:
        grid = [name for name in columns if name.startswith("param_")]
        cells = [
            [(name.removeprefix("param_"), columns[name][row]) for name in grid] for row in range(height)
        ]
        parameters = [{name: cell for name, cell in row if cell is not None} for row in cells]
    names = [_name(cell) or f"candidate {row}" for row, cell in enumerate(parameters)]
    return [name if names.count(name) == 1 else f"{name} (candidate {row})" for row, name in enumerate(names)]


def _name(parameters: object) -> str:
    """Write parameters as ``C=0.1, kernel=rbf``, the same from JSON and from the text in a CSV."""
    if isinstance(parameters, Mapping):
        return ", ".join(f"{name}={value}" for name, value in parameters.items())
    text = str(parameters).strip()
    if not (text.startswith("{") and text.endswith("}")):
        return text
    return ", ".join(f"{_unquoted(name)}={_unquoted(value)}" for name, value in _pairs(text[1:-1]))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Split the inside of a dictionary's repr at its own commas; values are reprs of any objects."""
    depth, quote, start, escaped = 0, "", 0, False
    for at, sign in enumerate(text + ","):
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = sign == "\\" and not escaped
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            name, _, value = text[start:at].partition(": ")
            if name.strip():
                yield name.strip(), value.strip()
            start = at + 1


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
