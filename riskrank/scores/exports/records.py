"""Exports that are lists of records: found by their first bytes, read as JSON arrays or lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing, option
from riskrank.scores.exports.fields import a_name
from riskrank.scores.exports.gathering import Gathering
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.bounded import parse_json


def first_record(path: Path) -> dict[str, Any]:
    """The object in the first line of a file; an empty one if there is none."""
    try:
        value = json.loads(first_bytes(path).partition(b"\n")[0])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def holds(path: Path, *keys: str) -> bool:
    """Whether the beginning of a JSON file has all these keys."""
    head = first_bytes(path)
    return head[:1] in (b"{", b"[") and all(f'"{key}"'.encode() in head for key in keys)


def records(gathering: Gathering, path: Path, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered objects of a JSON array, or of JSON lines, whatever the file is called.

    Raises
    ------
    InputError
        If the file is neither, or holds an entry that is no object; with `skip_bad` such entries are counted.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.lstrip().startswith(b"["):
        yield from gathering.lines(path, data)
        return
    entries = parse_json(str(path), data)
    if not entries:
        raise InputError(
            f"{path}: the file is empty", found="an array without entries", hint="check the run that wrote it"
        )
    for number, value in enumerate(entries, start=1):
        if isinstance(value, dict):
            yield number, value
        elif gathering.rules.skip_bad:
            gathering.count(f"{path}: entries that are no objects, left out")
        else:
            raise InputError(
                f"{path}: entry {number} is not a JSON object",
                found=json.dumps(value)[:80],
                hint=f"check that this is the right file; {option('skip_bad', True)} leaves such entries out",
            )


def document(path: Path, data: bytes) -> dict[str, Any]:
    """The one object a JSON file holds.

    Raises
    ------
    InputError
        If it holds anything else.
    """
    value = parse_json(str(path), data.removeprefix(b"\xef\xbb\xbf"))
    if isinstance(value, dict):
        return value
    raise InputError(
        f"{path}: the file is not a JSON object",
        found=json.dumps(value)[:80],
        hint="check that this is the file the tool wrote",
    )


def required(path: Path, number: int, record: Mapping[str, Any], *names: str) -> Any:
    """The first of several fields that a record has.

    Raises
    ------
    InputError
        If it has none of them.
    """
    for name in names:
        if record.get(name) is not None:
            return record[name]
    raise InputError(
        f"{path}: entry {number} has no '{names[0]}'",
        found=f"fields: {listing(record, 12)}",
        hint=f"check that this is the file the tool wrote, and its format ({option('from')})",
    )


def name(path: Path, number: int, record: Mapping[str, Any], *fields: str) -> str:
    """The first of several fields that a record has, which names something.

    Raises
    ------
    InputError
        If it has none of them, or what it has is no text and no number.
    """
    return a_name(f"{path}: entry {number}, {fields[0]}", required(path, number, record, *fields))


def text(path: Path, number: int, record: Mapping[str, Any], field: str) -> str:
    """A name that a record may lack; an empty one then.

    Raises
    ------
    InputError
        If it is no text and no number.
    """
    return a_name(f"{path}: entry {number}, {field}", record.get(field), otherwise="")
