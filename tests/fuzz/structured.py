"""Slightly damaged exports: swapped keys, other types, flipped bytes, truncated archives.

Small exports of each reader are generated; ``--formats FOLDER`` uses larger ones, one folder per harness.
"""

import copy
import csv
import io
import json
import shutil
import zipfile
from pathlib import Path
from random import Random

import zstandard

from riskrank.scores.exports.catalogue import EXPORTS as READERS
from tests.fuzz import inputs
from tests.fuzz.oracles import Run, judged
from tests.fuzz.running import in_process
from tests.scores.exports import archives
from tests.scores.exports.test_wrong_types import (
    EXPORTS,
    REPLACEMENTS,
    changed,
    export_of,
    nodes,
    paths_of,
    write,
)

# Folder of real exports with one subfolder per harness, if available.
FORMATS: Path | None = None
# A file that is parsed and written again has at most this many bytes; larger ones have bytes flipped.
_SMALL = 300_000
_LARGEST_COPY = 3_000_000


def case(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Write an export, damage one or two places, convert it, and return the violations."""
    place = folder / "export"
    place.mkdir()
    real = FORMATS is not None and rng.random() < 0.5
    name, arguments = _copied(rng, place) if real else _generated(rng, place)
    hurt = rng.choice((0, 1, 1, 1, 2))
    files = sorted(path for path in place.rglob("*") if path.is_file())
    for _ in range(hurt if real else 0):
        _hurt_file(rng, rng.choice(files))
    for _ in range(0 if real else rng.randrange(2)):
        _hurt_bytes(rng, rng.choice(files))
    kind = rng.choice(("csv", "json", "jsonl"))
    form = name if rng.random() < 0.8 else "auto"
    rules = (["--skip-bad"], ["--parts"], ["--split", "*"], ["--filter", "*"], ["--set", "max-bytes=3000000"])
    words = [word for rule in rng.sample(rules, rng.choice((0, 1, 1, 2))) for word in rule]
    before = set(folder.rglob("*"))
    run = in_process(["convert", form, *arguments, *words, "--format", kind], kind)
    wrong = judged(run)
    if set(folder.rglob("*")) != before:
        wrong.append((run, "files are left or gone"))
    if run.status == 0 and kind == "csv":
        csv.field_size_limit(1 << 30)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        if not rows or not {"model", "sample", "metric", "score"} <= set(rows[0]):
            wrong.append((run, f"no long table: {run.stdout[:200]!r}"))
    return wrong


def _generated(rng: Random, place: Path) -> tuple[str, list[str]]:
    """Generate a small export with changed nodes; return its format and the paths to read."""
    name = rng.choice(sorted(EXPORTS))
    case = rng.choice(EXPORTS[name])
    written = export_of(name, case)
    files = written.files
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        paths = list(nodes(files))
        if paths:
            files = _hurt_tree(rng, files, paths)
    try:
        write(place, files)
    except (TypeError, ValueError, AttributeError, UnicodeError):  # a change no file of that kind can hold
        write(place, written.files)
        files = written.files
    return name, [path.replace(str(place), "export") for path in paths_of(name, case, place, files)]


def _copied(rng: Random, place: Path) -> tuple[str, list[str]]:
    """Copy a folder or a single file of a real export."""
    assert FORMATS is not None
    harness = rng.choice(sorted(path for path in FORMATS.iterdir() if path.is_dir()))
    form = next((name for name in READERS if name.replace("-", "_") == harness.name), "auto")
    folders = [harness, *(path for path in harness.rglob("*") if path.is_dir())]
    folders = [path for path in folders if _size(path) <= _LARGEST_COPY and any(path.iterdir())]
    chosen = rng.choice(sorted(folders)) if folders else harness
    shutil.copytree(chosen, place, dirs_exist_ok=True)
    return form, [rng.choice(("", "m=")) + "export"]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _hurt_file(rng: Random, path: Path) -> None:
    data = path.read_bytes()
    if path.suffix == ".eval" and rng.random() < 0.6:
        path.write_bytes(_hurt_archive(rng, data))
    elif path.suffix in (".json", ".jsonl") and len(data) < _SMALL and rng.random() < 0.7:
        path.write_bytes(_hurt_json(rng, data))
    else:
        _hurt_bytes(rng, path)


def _hurt_json(rng: Random, data: bytes) -> bytes:
    """Change a node of a JSON document, or of one of its lines."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    for place, text in ((None, data), (at, lines[at])):
        try:
            tree = {"": json.loads(text)}
        except ValueError:
            continue
        damaged = _hurt_tree(rng, tree, list(nodes(tree)))[""]
        written = json.dumps(damaged).encode()
        return written if place is None else b"\n".join([*lines[:at], written, *lines[at + 1 :]])
    return data


def _hurt_tree(rng: Random, tree, paths):
    """Change a tree: replace a value, rename a key, swap two values, remove or duplicate a part."""
    path = rng.choice(paths)
    kind = rng.randrange(6)
    if kind < 2 or len(path) < 2:
        value = rng.choice(
            (*REPLACEMENTS, rng.choice(inputs.NAMES), rng.choice(inputs.NUMBERS), "x" * 100_000)
        )
        return changed(tree, path, value)
    result = copy.deepcopy(tree)
    above = result
    for key in path[:-1]:
        above = above[key]
    key = path[-1]
    if kind == 2:
        del above[key]
    elif kind == 3 and isinstance(above, dict):
        keys = [step for steps in paths for step in steps if isinstance(step, str)]
        above[rng.choice((*keys, *inputs.NAMES))] = above.pop(key)
    elif kind == 4:
        other = rng.choice(list(above) if isinstance(above, dict) else range(len(above)))
        above[key], above[other] = above[other], above[key]
    elif isinstance(above, list):
        above.insert(key, copy.deepcopy(above[key]))
    else:
        above[key] = [above[key]] * rng.choice((1, 2))
    return result


def _hurt_archive(rng: Random, data: bytes) -> bytes:
    """Change, rename or remove a member of an archive."""
    try:
        members = {
            entry.filename: _member(data, entry) for entry in zipfile.ZipFile(io.BytesIO(data)).infolist()
        }
    except (zipfile.BadZipFile, zstandard.ZstdError, ValueError):
        return data
    name = rng.choice(sorted(members))
    content = members.pop(name)
    kind = rng.randrange(4)
    if kind == 0:
        members[name] = _hurt_json(rng, content)
    elif kind == 1:
        members[rng.choice((*members, "../x", "header.json", "samples/x_epoch_1.json"))] = content
    elif kind == 2:
        members[name] = inputs.damaged(rng, content)
    return archives.archive(members, rng.choice((archives.STORED, archives.DEFLATED, archives.ZSTANDARD)))


def _member(data: bytes, entry: zipfile.ZipInfo) -> bytes:
    start = (
        entry.header_offset
        + 30
        + sum(
            int.from_bytes(data[entry.header_offset + at : entry.header_offset + at + 2], "little")
            for at in (26, 28)
        )
    )
    packed = data[start : start + entry.compress_size]
    if entry.compress_type == archives.ZSTANDARD:
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    return zipfile.ZipFile(io.BytesIO(data)).read(entry)


def _hurt_bytes(rng: Random, path: Path) -> None:
    """Flip bytes, remove a part, truncate the file, or apply general damage."""
    data = bytearray(path.read_bytes())
    kind = rng.randrange(4)
    if kind == 0 and data:
        for _ in range(rng.choice((1, 1, 5, 50))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[rng.randrange(len(data) + 1) :]
    elif kind == 2 and data:
        start = rng.randrange(len(data))
        del data[start : start + rng.choice((1, 10, 1000))]
    else:
        data = bytearray(inputs.damaged(rng, bytes(data)))
    path.write_bytes(data)
