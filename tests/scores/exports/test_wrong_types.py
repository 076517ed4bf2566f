"""Exports with one node of a wrong type give rows or an error that names the problem."""

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

import riskrank
from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports import sklearn
from riskrank.scores.exports.catalogue import EXPORTS as FORMATS
from riskrank.scores.exports.reader import INPUT_TEXT, OUTPUT_TEXT
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


# Small complete exports: one folder per format, with one folder per variant.
WRITTEN = Path(__file__).with_name("written")
EXPORTS = {
    name: [path.name for path in sorted((WRITTEN / name).iterdir())]
    for name in sorted(path.name for path in WRITTEN.iterdir())
}


@dataclass(frozen=True)
class Written:
    """A valid export: file → document, either lines (a name in .jsonl), rows of a table (.csv) or
    members of an archive."""

    files: dict
    rules: ReadOptions


@cache
def export_of(name, case):
    """Return a small export from its folder: an archive is a folder, and Parquet the JSON of its columns."""
    files, folder = {}, WRITTEN / name / case
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder).as_posix()
        archive, _, member = relative.partition(".eval/")
        if member:
            files.setdefault(f"{archive}.eval", {})[member] = json.loads(path.read_text())
        elif relative.endswith(".parquet.json"):
            files[relative.removesuffix(".json")] = parquet_bytes(json.loads(path.read_text()))
        else:
            files[relative] = document(path)
    reader = load_reader(name)
    filtered = reader.form.choices or "filter" in reader.form.options
    rules = {"filter": ("*",)} if filtered else {"split": ("*",)} if name == "helm" else {}
    return Written(files, ReadOptions(from_="auto", **rules))


def document(path):
    """Return the content of a file in editable form: lines, rows, one document, or bytes."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_text())))
    return json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()


def parquet_bytes(columns):
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


CASES = [pytest.param(name, case, id=case) for name, cases in EXPORTS.items() for case in cases]


def nodes(value, path=()):
    """Yield the paths of all nodes of some documents, except bytes."""
    if isinstance(value, bytes):
        return
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from nodes(part, (*path, key))


def changed(files, path, replacement):
    """Return the documents with a replaced value at a path."""
    result = copy.deepcopy(files)
    node = result
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = replacement
    return result


def write(folder, files):
    """Write the documents; one that was replaced entirely is written as JSON."""
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
    """Tell whether a document can be written as a table, as a changed one may be anything."""
    return isinstance(document, list) and all(isinstance(row, dict) and row for row in document)


@cache
def names_model(name, case):
    """Tell whether an export names its model, or its files need a label."""
    written = export_of(name, case)
    with TemporaryDirectory() as folder:
        write(folder, written.files)
        error = outcome(name, [folder], written.rules)
    nameless = ("does not name its model", "do not name their runs")
    return not isinstance(error, RiskrankError) or not any(text in error.problem for text in nameless)


def paths_of(name, case, folder, files):
    """Return the paths to read: the folder, or a labelled file if the export names no model."""
    return [str(folder)] if names_model(name, case) else [f"m={folder}/{next(iter(files))}"]


def examine(name, case, written, files):
    """Read the documents; both ways of reading must return rows or a user error."""
    with TemporaryDirectory() as folder:
        write(folder, files)
        paths = paths_of(name, case, folder, files)
        for skip_bad in (False, True):
            result = outcome(name, paths, replace(written.rules, skip_bad=skip_bad))
            if isinstance(result, RiskrankError):
                assert isinstance(result, InputError | UsageError)
                assert result.problem
                assert result.found
            else:
                assert_long(result)
                rules = replace(written.rules, skip_bad=skip_bad)
                repeated = outcome(name, paths, rules, frozenset(result.rows["sample"]))
                assert repeated.rows.select(result.rows.columns).equals(result.rows)


def outcome(name, paths, rules, texts_of=frozenset()):
    """Return the export or the error of a reading."""
    try:
        return read_export(name, paths, rules, texts_of)
    except RiskrankError as error:
        return error


REFUSED = [case for case in CASES if FORMATS[case.values[0]].averages]
CASES = [case for case in CASES if case not in REFUSED]


@pytest.mark.parametrize(("name", "case"), REFUSED)
def test_averages_are_refused_with_advice(name, case, tmp_path):
    write(tmp_path, export_of(name, case).files)
    with pytest.raises(InputError, match="averages without the scores of samples") as caught:
        read_export("auto", [str(tmp_path)], ReadOptions(from_="auto"))
    assert caught.value.hint == FORMATS[name].averages


@pytest.mark.parametrize(("name", "case"), CASES)
def test_valid_exports_are_read(name, case, tmp_path):
    written = export_of(name, case)
    write(tmp_path, written.files)
    export = read_export(name, paths_of(name, case, tmp_path, written.files), written.rules)
    assert_long(export)
    assert export.rows["score"].drop_nulls().len() > 0


def has_texts(name, case):
    """Tell whether an export has the question and the answer of its first sample."""
    return '"answered"' in json.dumps(export_of(name, case).files, default=str)


@pytest.mark.parametrize(("name", "case"), [case for case in CASES if has_texts(*case.values)])
def test_texts_are_added_to_the_same_rows(name, case, tmp_path):
    written = export_of(name, case)
    write(tmp_path, written.files)
    paths = paths_of(name, case, tmp_path, written.files)
    plain = read_export(name, paths, written.rules).rows
    assert not {INPUT_TEXT, OUTPUT_TEXT} & set(plain.columns)
    sample = plain["sample"][0]
    result = read_export(name, paths, written.rules, frozenset([sample])).rows
    assert result.select(plain.columns).equals(plain)
    texts = result.filter(pl.col("sample") == sample).select(INPUT_TEXT, OUTPUT_TEXT).unique().row(0)
    question = {"alpaca_eval": "do", "lm_eval_old": '{"q": "asked"}'}.get(case, "asked")
    assert texts == (question, "answered")
    other_rows = result.filter(pl.col("sample") != sample)
    assert not other_rows[INPUT_TEXT].count() + other_rows[OUTPUT_TEXT].count(), (
        "of the others nothing is kept"
    )


def test_every_reader_has_an_example_export():
    assert set(EXPORTS) == set(READERS)


@pytest.mark.parametrize(("name", "case"), [case for case in CASES if case.id != "junit"])
@settings(max_examples=settings.default.max_examples // 6)
@given(data=st.data())
def test_nodes_of_wrong_types_raise_only_user_errors(name, case, data):
    written = export_of(name, case)
    path = data.draw(st.sampled_from(list(nodes(written.files))))
    replacement = data.draw(st.sampled_from(REPLACEMENTS))
    examine(name, case, written, changed(written.files, path, replacement))


def test_errors_and_row_names_beside_true_values_are_not_predictions(tmp_path):
    """A column of errors has scores; a column of text names the rows, even if the true values are numbers."""
    truth = [1.5 * i for i in range(60)]
    scored = pl.DataFrame({"item": [f"i{i}" for i in range(60)], "y_true": truth, "abs_error": [0.5] * 60})
    scored.write_csv(tmp_path / "scored.csv")
    assert not sklearn.recognises(tmp_path / "scored.csv")
    predicted = scored.select("item", "y_true", forest=pl.col("y_true") + 1, tree=pl.col("y_true") + 0.5)
    predicted.write_csv(tmp_path / "predicted.csv")
    assert sklearn.recognises(tmp_path / "predicted.csv")
    assert riskrank.rank(tmp_path / "predicted.csv", no_test=True).best == "tree"
