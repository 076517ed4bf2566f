"""What readers share: scalars, counting, bounded decompression, rules that are asked for."""

import gzip
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.row_collector import RowCollector
from riskrank.scores.exports.export_file import ExportFile, find_files, walk_files
from riskrank.scores.exports.fields import as_score
from riskrank.scores.exports.interface import LabelledPath
from riskrank.scores.exports.selection import require_known_values, resolve_model_name, select_values
from riskrank.scores.files import bounded
from riskrank.scores.files.bounded import decompressed, parse_json, read_bounded
from riskrank.scores.files.limits import Room


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
def test_anything_else_is_told_apart_from_a_score(value):
    assert isinstance(as_score(value), str)


def exported(gathering):
    return gathering.to_export(gathering.rows())


def add(gathering, **values):
    gathering.add(**({"model": "A", "sample": "1", "metric": "m", "score": 1.0} | values))


def test_lists_and_text_are_counted_and_left_out():
    gathering = RowCollector(ReadOptions())
    add(gathering)
    add(gathering, metric="pair", score=[1, 2])
    add(gathering, metric="pair", sample="2", score=[1, 2])
    add(gathering, metric="word", score="good")
    export = exported(gathering)
    assert export.rows["metric"].to_list() == ["m"]
    assert [note.split(":")[0] for note in export.notes] == ["pair", "word"]
    assert export.notes[0].endswith(": 2")


def test_parts_of_a_list_become_metrics_when_asked():
    gathering = RowCollector(ReadOptions(from_="auto", parts=True))
    add(gathering, metric="pair", score=[1, -2.5])
    export = exported(gathering)
    assert export.rows.select("metric", "score").rows() == [("pair.0", 1.0), ("pair.1", -2.5)]


def test_draws_stay_only_where_samples_repeat():
    gathering = RowCollector(ReadOptions())
    add(gathering, draw="1")
    add(gathering, draw="1", sample="2", task="t")
    assert exported(gathering).rows.columns == ["model", "sample", "metric", "score", "task"]
    add(gathering, draw="1")
    add(gathering, draw="1", sample="2", task="t")
    add(gathering, draw="2")
    add(gathering, sample="3")
    rows = exported(gathering).rows
    assert rows.columns == ["model", "sample", "metric", "score", "draw", "task"]
    assert rows["draw"].to_list() == ["1", "1", "2", "1"]


def test_nothing_gathered_is_an_error_that_says_what_there_was():
    gathering = RowCollector(ReadOptions())
    add(gathering, score="text")
    with pytest.raises(InputError, match="no scores") as error:
        exported(gathering)
    assert "m: values left out that are text" in error.value.found


def test_a_bad_file_is_refused_or_left_out_whole(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text("{}")
    bad.write_text("{")

    def run(rules):
        gathering = RowCollector(rules)

        def use(path):
            add(gathering, sample=path.name)
            gathering.count("seen")
            parse_json(str(path), gathering.read(path))

        for path in (bad, good):
            gathering.collect_file(LabelledPath(path=path), partial(use, path))
        return exported(gathering)

    with pytest.raises(InputError, match="bad"):
        run(ReadOptions())
    export = run(ReadOptions(from_="auto", skip_bad=True))
    assert export.rows["sample"].to_list() == ["good.json"]
    assert [(entry.path, entry.rows) for entry in export.inputs] == [(str(good), 1)]
    assert "bad.json" in export.notes[0]
    assert export.notes[1] == "seen: 1"


def test_runs_that_disagree_on_a_direction_are_named():
    gathering = RowCollector(ReadOptions())
    for run, way in (("one", "higher"), ("two", "higher"), ("three", "lower"), ("four", "lower")):
        gathering.set_direction("m", way, source=run)
    gathering.set_direction("other", "higher", source="one")
    add(gathering)
    add(gathering, metric="other")
    export = exported(gathering)
    assert export.directions == {"other": "higher"}
    assert len(export.notes) == 1
    assert "higher is better in one, lower is better in three" in export.notes[0]


def test_bad_lines_are_counted_when_skipped(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n\n[1]\n{"a": \n{"a": NaN}\n')
    with pytest.raises(InputError, match="line 3 is not a JSON object"):
        list(ExportFile(path=path, label=None, collector=RowCollector(ReadOptions())).lines())
    gathering = RowCollector(ReadOptions(from_="auto", skip_bad=True))
    file = ExportFile(path=path, label=None, collector=gathering)
    assert [row.place.split()[-1] for row in file.lines()] == ["1", "5"]
    add(gathering)
    assert exported(gathering).notes[0].endswith("no JSON object in a line, left out: 2")


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lambda data: data])
def test_compressed_bytes_come_back(compress):
    data = json.dumps(list(range(1000))).encode()
    assert decompressed("x", compress(data), Room(10_000)) == data


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_bomb_stops_at_the_limit(compress):
    bomb = compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        decompressed("bomb", bomb, Room(1_000))


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_data_cut_short_is_corrupt(compress):
    data = compress(json.dumps([i * 7919 for i in range(5000)]).encode())
    for size in (len(data) // 2, len(data) - 1):
        with pytest.raises(InputError, match="cannot be decompressed"):
            decompressed("cut", data[:size], Room(10**6))


def test_frames_and_members_one_after_another_are_all_read():
    for compress in (gzip.compress, zstandard.compress):
        assert decompressed("x", compress(b"one ") + compress(b"two"), Room(100)) == b"one two"


def test_large_and_empty_files_are_refused(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="more than 99 bytes"):
        read_bounded(path, 99)
    path.write_bytes(b" \n")
    with pytest.raises(InputError, match="empty"):
        read_bounded(path, 99)


@pytest.mark.parametrize("text", ["", "{", "\xff", "[" * 100_000])
def test_json_that_is_none(text):
    with pytest.raises(InputError, match="not valid JSON"):
        parse_json("x", text.encode("latin1"))


def test_several_filters_are_asked_for():
    def pick(*asked):
        return select_values("filter", asked, ["strict", "flexible"], plural="filters", context="task t")

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


def test_models_come_from_the_path_the_log_or_the_label():
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
    with pytest.raises(InputError, match="which model"):
        resolve_model_name(path, None, ReadOptions())
    for pattern in ("(", "runs", "(a)(b)", "nowhere/([^/]+)"):
        with pytest.raises(UsageError):
            resolve_model_name(path, None, ReadOptions(from_="auto", model_from_path=pattern))


def test_folders_are_walked_in_order_and_each_file_is_read_once(tmp_path):
    for name in ("b/2.json", "a/1.json", "a/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    paths = [LabelledPath(path=tmp_path), LabelledPath(path=tmp_path / "a" / "1.json")]
    found = list(find_files(paths, lambda path: path.suffix == ".json"))
    assert [file.path.name for file in found] == ["1.json", "2.json"]
    with pytest.raises(InputError, match="no file of this format"):
        list(find_files(paths, lambda path: path.suffix == ".xml"))


def test_rows_of_frames_and_of_dictionaries_come_together():
    gathering = RowCollector(ReadOptions())
    gathering.add_frame(
        pl.DataFrame({"model": ["A"], "sample": ["1"], "metric": ["m"], "score": [0.5], "task": ["t"]})
    )
    add(gathering, sample="2")
    assert exported(gathering).rows["task"].to_list() == ["t", None]


@pytest.mark.parametrize("size", [0, 1, 1 << 12, (1 << 12) + 1])
def test_what_is_unpacked_in_pieces_is_whole(monkeypatch, size):
    monkeypatch.setattr(bounded, "_CHUNK", 1 << 7)
    data = np.random.default_rng(size).integers(0, 2, size, dtype=np.uint8).tobytes()
    packed = gzip.compress(data, 1)
    assert decompressed("x", packed, Room(size)) == data
    assert decompressed("x", packed + gzip.compress(b"more"), Room(size + 4)) == data + b"more"
    with pytest.raises(InputError, match="once read" if size else "more than"):
        decompressed("x", packed + gzip.compress(b"more"), Room(size + 3))
    with pytest.raises(InputError, match="x"):
        decompressed("x", packed[:-9], Room(size))


def test_names_with_half_a_character_are_refused_or_their_rows_left_out(tmp_path):
    for name in ("good", "bad"):
        (tmp_path / name).write_text("{}")

    def run(rules):
        gathering = RowCollector(rules)
        for sample in ("good", "bad"):
            text = "\ud800" if sample == "bad" else sample
            gathering.collect_file(LabelledPath(path=tmp_path / sample), partial(add, gathering, sample=text))
        return exported(gathering)

    with pytest.raises(InputError, match="no Unicode text") as error:
        run(ReadOptions())
    assert str(tmp_path / "bad") in error.value.what
    export = run(ReadOptions(from_="auto", skip_bad=True))
    assert export.rows["sample"].to_list() == ["good"]
    assert export.notes == ("rows with names that are no Unicode text, left out: 1",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_not_looked_into(tmp_path):
    """Its first bytes would be waited for, for ever."""
    os.mkfifo(tmp_path / "samples_x.jsonl")
    (tmp_path / "a.jsonl").write_text("{}")
    looked = []
    found = [path.name for path in walk_files(tmp_path, lambda path: looked.append(path.name) or True)]
    assert found == looked == ["a.jsonl"]
