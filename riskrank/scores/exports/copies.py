"""Files of one harness that hold the same run, as converting a log or two output formats leave them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskrank.scores.exports.gathering import Gathering


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """One file: the run it says it is of, None where it says nothing, and what its rows hold."""

    path: Path
    run: object
    rows: Mapping[tuple[object, ...], Any]


def leave_copies(gathering: Gathering, files: Sequence[RunFile]) -> set[Path]:
    """Files that hold nothing a file before them does not hold of the same run; each is noted.

    Where one of two files does not say of which run it is, the rows have to tell.
    """
    kept: list[RunFile] = []
    left: set[Path] = set()
    for file in files:
        whole = next((other for other in kept if _may_be_one(other, file) and _holds(other, file)), None)
        if whole is None:
            kept.append(file)
            continue
        left.add(file.path)
        gathering.note(f"{file.path}: left out, as it holds the run of {whole.path} once more")
        gathering.forget(file.path)
    return left


def _may_be_one(one: RunFile, other: RunFile) -> bool:
    return one.run == other.run if one.run and other.run else bool(one.run) != bool(other.run)


def _holds(one: RunFile, other: RunFile) -> bool:
    """Whether a file has every row of another one, with the same scores; NaN is the same as NaN."""
    return all(
        key in one.rows and json.dumps(one.rows[key], sort_keys=True) == json.dumps(row, sort_keys=True)
        for key, row in other.rows.items()
    )
