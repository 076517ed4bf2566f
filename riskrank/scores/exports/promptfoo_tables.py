"""What promptfoo writes as CSV: a row a test, and for every prompt with a provider a block of columns.

A block begins with the answers, under ``[provider] prompt``. Since 2025 ``Status``, ``Score`` and ``Named
Scores`` follow as columns; before, an answer began with ``[PASS]``, on the command line with the scores in
brackets behind it. Scores have two decimals.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskrank.errors import InputError
from riskrank.scores.files.delimited import long_fields
from riskrank.scores.files.source import decode

_AFTER_ANSWERS = ("Status", "Reasoning", "Grader Reason")
_HEAD = re.compile(r"^\[(?P<provider>[^\]]+)\] ?(?P<prompt>.*)$", re.DOTALL)
_MARK = re.compile(r"^\[(?P<status>PASS|FAIL|ERROR)\](?: \((?P<scores>-?\d+\.\d\d(?:, [^\n]*)?)\)(?=\s|$))?")
_MARKS = (b",Status,Score,Named Scores", b",Grader Reason,Comment")
_MARKED = re.compile(rb'[,\n]"?\[(PASS|FAIL|ERROR)\] ')
_REASONS = {"PASS": 0, "FAIL": 1, "ERROR": 2}
_NAMED = re.compile(r"(\S.*?): (-?\d+\.\d\d)(?:, |$)")
_FORMULA = re.compile(r"^'(?=[=+\-@\t\r])")


def is_table(head: bytes) -> bool:
    """Whether some first bytes are those of such a file."""
    return any(mark in head for mark in _MARKS) or bool(_MARKED.search(head))


def results(path: Path, data: bytes) -> list[dict[str, Any]]:
    """Rows as promptfoo's JSON has them, as far as a table says it.

    Raises
    ------
    InputError
        If this is no such table, or a row is cut short.
    """
    head, rows = _parsed(path, data)
    blocks = _blocks(head, rows)
    if not blocks:
        raise InputError(
            f"{path}: no results of promptfoo",
            found="no column of answers with their status",
            hint="write it with promptfoo eval --output results.csv, or better results.json",
        )
    if not rows:
        raise InputError(f"{path}: no rows in it", found="a header line", hint="was the evaluation finished?")
    described = head[:1] == ["Description"]
    variables = range(int(described), blocks[0])
    found = []
    for row in rows:
        about = {
            "vars": {head[at]: _plain(row[at]) for at in variables},
            "testCase": {"description": _plain(row[0]) if described and row[0] else None},
        }
        found += [about | block for block in _of_row(path, head, row, blocks)]
    return found


def _parsed(path: Path, data: bytes) -> tuple[list[str], list[list[str]]]:
    text = decode(str(path), data.removeprefix(b"\xef\xbb\xbf"))
    try:
        with long_fields():
            lines = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise InputError(
            f"{path}: the file cannot be read as CSV",
            found=str(error),
            hint="it may be cut short: copy it again",
        ) from None
    if not lines:
        raise InputError(f"{path}: the file is empty", found="no header line", hint="copy it again")
    head, rows = lines[0], lines[1:]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise InputError(
                f"{path}: row {number} has {len(row)} fields, the header has {len(head)}",
                found=",".join(row)[:80],
                hint="it may be cut short: copy it again",
            )
    return head, rows


def _blocks(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns of answers: what stands behind them tells, or what they begin with."""
    following = [*head[1:], ""]
    return [
        at
        for at, (name, after) in enumerate(zip(head, following, strict=True))
        if (after == "Status" or (after in _AFTER_ANSWERS and name != "Reasoning" and not _is_metric(name)))
        or (name not in _AFTER_ANSWERS and any(_MARK.match(row[at]) for row in rows))
    ]


def _is_metric(name: str) -> bool:
    """Whether a column is one of the scores between the status and the grader's reason."""
    return name == "Named Scores" or name.startswith("Metric: ")


def _of_row(
    path: Path, head: Sequence[str], row: Sequence[str], blocks: Sequence[int]
) -> Iterator[dict[str, Any]]:
    for number, (start, end) in enumerate(zip(blocks, [*blocks[1:], len(head)], strict=True)):
        match = _HEAD.match(head[start])
        cells = dict(zip(head[start + 1 : end], row[start + 1 : end], strict=True))
        yield {
            "promptIdx": number,
            "provider": match["provider"] if match else None,
            "prompt": {"label": match["prompt"] if match else head[start]},
            **(_separate(path, cells) if "Status" in cells else _marked(row[start])),
        }


def _separate(path: Path, cells: Mapping[str, str]) -> dict[str, Any]:
    """Of columns; a test this column was not run on has none."""
    status = cells["Status"]
    if status not in _REASONS:
        return {"score": None, "success": None, "namedScores": {}, "failureReason": 0}
    named = {
        name.removeprefix("Metric: "): _number(cell)
        for name, cell in cells.items()
        if name.startswith("Metric: ") and cell
    }
    if not named and cells.get("Named Scores"):
        try:
            named = json.loads(cells["Named Scores"])
        except ValueError:
            raise InputError(
                f"{path}: named scores that are no JSON",
                found=cells["Named Scores"][:80],
                hint="copy the file again",
            ) from None
    return {
        "score": _number(cells.get("Score", "")),
        "success": status == "PASS",
        "namedScores": named,
        "failureReason": _REASONS[status],
    }


def _marked(answer: str) -> dict[str, Any]:
    """Of what stands before an answer."""
    match = _MARK.match(answer)
    if match is None:
        return {"score": None, "success": None, "namedScores": {}, "failureReason": 0}
    score, _, named = (match["scores"] or "").partition(", ")
    return {
        "score": _number(score),
        "success": match["status"] == "PASS",
        "namedScores": {name: float(value) for name, value in _NAMED.findall(named)},
        "failureReason": _REASONS[match["status"]],
    }


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _plain(cell: str) -> str:
    """Undo the quote that keeps a spreadsheet from running a cell."""
    return _FORMULA.sub("", cell)
