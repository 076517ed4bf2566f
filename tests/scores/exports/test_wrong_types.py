"""Exports with one node of another type: rows, or an error that names what is wrong, never a defect."""

import copy
import csv
import io
import json
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.interface import INPUT_TEXT, OUTPUT_TEXT
from riskrank.scores.exports.registry import READERS, load_reader, read_export
from tests.scores.exports import archives
from tests.scores.exports.helpers import assert_long

REPLACEMENTS = (
    7,
    0.25,
    math.nan,
    10**400,
    "",
    "text",
    "\ud800",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    None,
    True,
    False,
)


# Small exports that are whole: a folder a format, and in it one for each way it is written.
WRITTEN = Path(__file__).with_name("written")
EXPORTS = {
    name: [path.name for path in sorted((WRITTEN / name).iterdir())]
    for name in sorted(path.name for path in WRITTEN.iterdir())
}


@dataclass(frozen=True)
class Written:
    """A valid export: file → document, which may be lines (a name in .jsonl), rows of a table (.csv) or
    members of an archive."""

    files: dict
    rules: ReadOptions


@cache
def export_of(name, case):
    """A small export as its folder holds it: an archive is a folder, and Parquet the JSON of its columns."""
    files, folder = {}, WRITTEN / name / case
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder).as_posix()
        archive, _, member = place.partition(".eval/")
        if member:
            files.setdefault(f"{archive}.eval", {})[member] = json.loads(path.read_text())
        elif place.endswith(".parquet.json"):
            files[place.removesuffix(".json")] = packed(json.loads(path.read_text()))
        else:
            files[place] = document(path)
    found = load_reader(name)
    filtered = found.choices or "filter" in found.supported_rules
    rules = {"filter": ("*",)} if filtered else {"split": ("*",)} if name == "helm" else {}
    return Written(files, ReadOptions(from_="auto", **rules))


def document(path):
    """What a file holds, as it is changed: lines, rows, one document, or bytes."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_text())))
    return json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()


def packed(columns):
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


CASES = [pytest.param(name, case, id=case) for name, found in EXPORTS.items() for case in found]


# Formats whose files name no model.
NAMELESS = {"mlflow", "ragas", "junit", "terminal-bench", "braintrust", "langsmith", "phoenix", "langfuse"}


def nodes(value, path=()):
    """Paths of all nodes of some documents, but of bytes."""
    if isinstance(value, bytes):
        return
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from nodes(part, (*path, key))


def changed(files, path, replacement):
    """The documents with another value at a path."""
    found = copy.deepcopy(files)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = replacement
    return found


def write(folder, files):
    """Write the documents; whoever changes one as a whole writes that."""
    for name, document in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(document, bytes):
            path.write_bytes(document)
        elif name.endswith(".eval") and isinstance(document, dict):
            path.write_bytes(archives.archive(document, archives.DEFLATED))
        elif name.endswith(".jsonl") and isinstance(document, list):
            path.write_text("".join(f"{json.dumps(row)}\n" for row in document))
        elif name.endswith(".csv") and is_table(document):
            with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
                writer = csv.DictWriter(file, list(dict.fromkeys(key for row in document for key in row)))
                writer.writeheader()
                writer.writerows(document)
        else:
            path.write_text(json.dumps(document))


def is_table(document):
    """Whether this can be written as a table; a changed document may be anything."""
    return isinstance(document, list) and all(isinstance(row, dict) and row for row in document)


def paths_of(name, folder, files):
    """What is read: the folder, or the file where nothing in it names the model."""
    if name in NAMELESS:
        return [f"m={folder}/{next(iter(files))}"]
    return [str(folder)]


def examine(name, written, files):
    """Read the documents; both ways of reading have to end with rows or an error of the user's."""
    with TemporaryDirectory() as folder:
        write(folder, files)
        given = paths_of(name, folder, files)
        for skip_bad in (False, True):
            found = outcome(name, given, replace(written.rules, skip_bad=skip_bad))
            if isinstance(found, RiskrankError):
                assert isinstance(found, InputError | UsageError)
                assert found.what
                assert found.found
            else:
                assert_long(found)
                rules = replace(written.rules, skip_bad=skip_bad)
                again = outcome(name, given, rules, frozenset(found.rows["sample"]))
                assert again.rows.select(found.rows.columns).equals(found.rows)


def outcome(name, given, rules, texts_of=frozenset()):
    """What reading ends with, of the two that are allowed."""
    try:
        return read_export(name, given, rules, texts_of)
    except RiskrankError as error:
        return error


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_valid_exports_are_read(name, case, tmp_path):
    written = export_of(name, case)
    write(tmp_path, written.files)
    export = read_export(name, paths_of(name, tmp_path, written.files), written.rules)
    assert_long(export)
    assert export.rows["score"].drop_nulls().len() > 0


# What a harness does not write, or writes into the prompt of a judge.
WITHOUT_TEXTS = {"helm", "livebench", "mt_bench_pairs", "mt_bench_ratings", "ragas_text", "sklearn"}
WITHOUT_TEXTS |= {"sklearn_text", "lm_eval_averages", "lighteval_averages", "swe_bench", "swe_bench_instance"}
WITHOUT_TEXTS |= {"terminal_bench", "terminal_bench_old", "mteb", "langfuse", "junit"}


@pytest.mark.parametrize(("name", "case"), [one for one in CASES if one.id not in WITHOUT_TEXTS])
def test_what_was_asked_and_answered_stands_beside_the_same_rows(name, case, tmp_path):
    written = export_of(name, case)
    write(tmp_path, written.files)
    given = paths_of(name, tmp_path, written.files)
    plain = read_export(name, given, written.rules).rows
    assert not {INPUT_TEXT, OUTPUT_TEXT} & set(plain.columns)
    sample = plain["sample"][0]
    found = read_export(name, given, written.rules, frozenset([sample])).rows
    assert found.select(plain.columns).equals(plain)
    texts = found.filter(pl.col("sample") == sample).select(INPUT_TEXT, OUTPUT_TEXT).unique().row(0)
    asked = {"alpaca_eval": "do", "lm_eval_old": '{"q": "asked"}'}.get(case, "asked")
    assert texts == (asked, "answered")
    others = found.filter(pl.col("sample") != sample)
    assert not others[INPUT_TEXT].count() + others[OUTPUT_TEXT].count(), "of the others nothing is kept"


def test_every_reader_has_an_export_here():
    assert set(EXPORTS) == set(READERS)


@pytest.mark.parametrize(("name", "case"), [one for one in CASES if one.id != "junit"])
@settings(max_examples=10)
@given(data=st.data())
def test_a_node_of_another_type_is_no_defect(name, case, data):
    written = export_of(name, case)
    path = data.draw(st.sampled_from(list(nodes(written.files))))
    replacement = data.draw(st.sampled_from(REPLACEMENTS))
    examine(name, written, changed(written.files, path, replacement))
