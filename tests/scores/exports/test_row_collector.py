"""Helpers shared by readers: fields, scalars, counts, bounded decompression, labels, requested rules."""

import os
from functools import partial
from pathlib import Path

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.reader import (
    ExportFile,
    LabelledPath,
    Record,
    RowCollector,
    as_score,
    find_files,
    walk_files,
)
from riskrank.scores.exports.selection import require_known_values, resolve_model_name, select_values
from riskrank.scores.files.parsing import parse_json
from riskrank.scores.table.export_rows import ExportSource
from tests.scores.exports.helpers import read, write_lines


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, 1.0),
        (False, 0.0),
        (None, None),
        (float("nan"), None),
        (float("inf"), float("inf")),
    ],
)
def test_numbers_and_booleans_are_scores(value, score):
    assert as_score(value) == score


@pytest.mark.parametrize("value", ["0.5", "C", [1, 2], (1,), {"a": 1}, 10**400, object()])
def test_other_values_are_not_scores(value):
    assert isinstance(as_score(value), str)


def exported(collector):
    return collector.to_export(collector.rows())


def add(collector, **values):
    collector.add(**({"model": "A", "sample": "1", "metric": "m", "score": 1.0} | values))


def test_lists_and_text_are_counted_and_excluded():
    collector = RowCollector(ReadOptions())
    add(collector)
    add(collector, metric="pair", score=[1, 2])
    add(collector, metric="pair", sample="2", score=[1, 2])
    add(collector, metric="word", score="good")
    export = exported(collector)
    assert export.rows["metric"].to_list() == ["m"]
    assert [note.split(":")[0] for note in export.notes] == ["pair", "word"]
    assert export.notes[0].endswith(": 2")


def test_parts_of_lists_become_metrics_on_request():
    collector = RowCollector(ReadOptions(from_="auto", parts=True))
    add(collector, metric="pair", score=[1, -2.5])
    export = exported(collector)
    assert export.rows.select("metric", "score").rows() == [("pair.0", 1.0), ("pair.1", -2.5)]


def test_draw_column_needs_repeated_samples():
    collector = RowCollector(ReadOptions())
    add(collector, draw="1")
    add(collector, draw="1", sample="2", task="t")
    assert exported(collector).rows.columns == ["model", "sample", "metric", "score", "task"]
    add(collector, draw="1")
    add(collector, draw="1", sample="2", task="t")
    add(collector, draw="2")
    add(collector, sample="3")
    rows = exported(collector).rows
    assert rows.columns == ["model", "sample", "metric", "score", "draw", "task"]
    assert rows["draw"].to_list() == ["1", "1", "2", "1"]


def test_empty_collection_error_lists_excluded_values():
    collector = RowCollector(ReadOptions())
    add(collector, score="text")
    with pytest.raises(InputError, match="no scores") as error:
        exported(collector)
    assert "m: ignored values that are text" in error.value.found


def test_bad_file_is_refused_or_skipped_entirely(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text("{}")
    bad.write_text("{")

    def run(rules):
        collector = RowCollector(rules)

        def use(path):
            add(collector, sample=path.name)
            collector.count("seen")
            parse_json(str(path), collector.read(path))

        for path in (bad, good):
            collector.collect_file(LabelledPath(path=path), partial(use, path))
        return exported(collector)

    with pytest.raises(InputError, match="bad"):
        run(ReadOptions())
    export = run(ReadOptions(from_="auto", skip_bad=True))
    assert export.rows["sample"].to_list() == ["good.json"]
    assert [(entry.path, entry.rows) for entry in export.inputs] == [(str(good), 1)]
    assert "bad.json" in export.notes[0]
    assert export.notes[1] == "seen: 1"


def test_runs_that_disagree_on_a_direction_are_named():
    collector = RowCollector(ReadOptions())
    for run, direction in (("one", "higher"), ("two", "higher"), ("three", "lower"), ("four", "lower")):
        collector.set_direction("m", direction, source=run)
    collector.set_direction("other", "higher", source="one")
    add(collector)
    add(collector, metric="other")
    export = exported(collector)
    assert export.directions == {"other": "higher"}
    assert len(export.notes) == 1
    assert "higher is better in one, lower is better in three" in export.notes[0]


def test_bad_lines_are_counted_when_skipped(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n\n[1]\n{"a": \n{"a": NaN}\n')
    with pytest.raises(InputError, match="line 3 is not a JSON object"):
        list(ExportFile(path=path, label=None, collector=RowCollector(ReadOptions())).lines())
    collector = RowCollector(ReadOptions(from_="auto", skip_bad=True))
    file = ExportFile(path=path, label=None, collector=collector)
    assert [row.location.split()[-1] for row in file.lines()] == ["1", "5"]
    add(collector)
    assert exported(collector).notes[0].endswith("ignored lines that are not JSON objects: 2")


def test_large_and_empty_files_are_refused(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="more than 99 bytes"):
        RowCollector(ReadOptions(max_bytes=99)).read(path)
    path.write_bytes(b" \n")
    with pytest.raises(InputError, match="empty"):
        RowCollector(ReadOptions()).read(path)


def test_ambiguous_filters_need_a_selection():
    def pick(*values):
        return select_values("filter", values, ["strict", "flexible"], plural="filters", context="task t")

    assert pick("strict") == ("strict",)
    assert pick("*") == ("strict", "flexible")
    assert select_values("filter", (), ["none"], plural="filters", context="t") == ("none",)
    with pytest.raises(UsageError, match="task t: several filters") as error:
        pick()
    assert "strict, flexible" in error.value.found
    with pytest.raises(UsageError) as error:
        pick("flexibel")
    assert "flexible" in error.value.hint
    with pytest.raises(UsageError, match="there is no filter"):
        require_known_values("filter", ["nope"], ["strict"])


def test_model_names_come_from_path_log_or_label():
    path = Path("runs/gpt-4/log.json")
    assert resolve_model_name(path, "logged", ReadOptions()) == "logged"
    assert resolve_model_name(path, None, ReadOptions(), label="L") == "L"
    assert (
        resolve_model_name(path, "logged", ReadOptions(from_="auto", model_from_path="runs/([^/]+)/"))
        == "gpt-4"
    )
    assert (
        resolve_model_name(path, None, ReadOptions(from_="auto", model_from_path="(runs)/(?P<model>[^/]+)/"))
        == "gpt-4"
    )
    with pytest.raises(InputError, match="does not name its model"):
        resolve_model_name(path, None, ReadOptions())
    for pattern in ("(", "runs", "(a)(b)", "nowhere/([^/]+)"):
        with pytest.raises(UsageError):
            resolve_model_name(path, None, ReadOptions(from_="auto", model_from_path=pattern))


def test_folders_are_walked_in_order_without_duplicates(tmp_path):
    for name in ("b/2.json", "a/1.json", "a/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    paths = [LabelledPath(path=tmp_path), LabelledPath(path=tmp_path / "a" / "1.json")]
    files = list(find_files(paths, lambda path: path.suffix == ".json"))
    assert [file.path.name for file in files] == ["1.json", "2.json"]
    with pytest.raises(InputError, match="no file of this format"):
        list(find_files(paths, lambda path: path.suffix == ".xml"))


def test_names_with_lone_surrogates_are_refused_or_skipped(tmp_path):
    for name in ("good", "bad"):
        (tmp_path / name).write_text("{}")

    def run(rules):
        collector = RowCollector(rules)
        for sample in ("good", "bad"):
            text = "\ud800" if sample == "bad" else sample
            collector.collect_file(LabelledPath(path=tmp_path / sample), partial(add, collector, sample=text))
        return exported(collector)

    with pytest.raises(InputError, match="not valid Unicode") as error:
        run(ReadOptions())
    assert str(tmp_path / "bad") in error.value.problem
    export = run(ReadOptions(from_="auto", skip_bad=True))
    assert export.rows["sample"].to_list() == ["good"]
    assert export.notes == ("ignored rows with names that are not valid Unicode: 1",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_named_pipes_are_not_opened(tmp_path):
    """Reading its first bytes would block."""
    os.mkfifo(tmp_path / "samples_x.jsonl")
    (tmp_path / "a.jsonl").write_text("{}")
    inspected = []
    names = [path.name for path in walk_files(tmp_path, lambda path: inspected.append(path.name) or True)]
    assert names == inspected == ["a.jsonl"]


def test_row_numbers_match_the_converted_file(tmp_path):
    row = {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "org/same",
        "evaluation_name": "parity",
    }
    row |= {"sample_id": "0", "evaluation": {"score": 0.5}}
    for label in "ab":
        write_lines(tmp_path / label / "u_samples.jsonl", [row])
    export = read("auto", *(f"{label}={tmp_path / label}" for label in "ab"))
    lines = export.rows.write_csv().splitlines()
    assert lines[ExportSource("runs", export).row_number(1) - 1].startswith("b,")


def test_absent_fields_are_empty():
    record = Record("f.json", {"rows": [{}, {"a": 1}], "gap": None}, separator=": ")
    assert record.get_records("rows") == [{}, {"a": 1}]
    assert record.get_records("gap") == record.get_list("gap") == record.get_records("x") == []
    assert record.get_record("gap") == record.get_record("x") == {}
    assert record.get_records("rows")[1].location_of("a") == "f.json: rows 2, a"


@pytest.mark.parametrize("wrong", [[{"a": 1}, 2], {}, "text", 3, ""])
def test_get_records_refuses_other_types(wrong):
    with pytest.raises(InputError, match="f, x is not a list of objects"):
        Record("f", {"x": wrong}).get_records("x")


@pytest.mark.parametrize("wrong", [[], "text", 3, 0])
def test_get_record_refuses_other_types(wrong):
    with pytest.raises(InputError, match="f, x is not an object"):
        Record("f", {"x": wrong}).get_record("x")
    with pytest.raises(InputError, match="is not a list"):
        Record("f", {"x": wrong or {}}).get_list("x")
