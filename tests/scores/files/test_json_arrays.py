"""JSON documents in all layouts that pandas writes."""

import gzip
import json
import re

import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import guards, json_tables, parsing
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables


def forms(frame):
    """Return a table as rows, split columns and data, lists, nested rows, and mappings."""
    columns = frame.to_dict(as_series=False)
    return {
        "records": frame.to_dicts(),
        "split": {"columns": frame.columns, "index": [1], "data": [list(row) for row in frame.rows()]},
        "lists": columns,
        "rows below a word": {"date": "today", "config": {"seed": 1}, "results": frame.to_dicts()},
        "mappings": {name: {str(i): v for i, v in enumerate(cells)} for name, cells in columns.items()},
    }


@pytest.mark.parametrize("form", ["records", "split", "lists", "rows below a word", "mappings"])
@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_every_form_gives_the_same_table(write, long_frame, form, suffix):
    data = json.dumps(forms(long_frame)[form], indent=1).encode()
    path = write(f"t.{suffix}", gzip.compress(data) if suffix.endswith("gz") else data)
    assert_equal_tables(read_scores([path]), read_scores([write("t.csv", long_frame)]))


def test_nan_is_refused_and_null_is_missing(write, long_frame):
    rows = long_frame.to_dicts()
    rows[3]["score"] = None
    table = read_scores([write("t.json", json.dumps(rows))], ReadOptions(missing="drop"))
    assert len(table.samples) == 3
    rows[3]["score"] = float("nan")
    with pytest.raises(InputError, match=r"t\.json: row 4, column score"):
        read_scores([write("t.json", json.dumps(rows))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("[]", "not a table"),
        ('{"columns": ["model", "score"], "data": []}', "the file is empty"),
        ('{"columns": ["model", "score"], "data": [["A"]]}', "not a table"),
        ('{"model": ["A", "B"], "score": [1]}', "not a table"),
        ('[{"model": "A"', "not valid JSON"),
        ("7", "not a table"),
        ('[{"model": "A", "model ": "B"}]', "two columns are named 'model'"),
    ],
)
def test_invalid_tables_are_refused(write, text, message):
    with pytest.raises(InputError, match=rf"t\.json: .*{message}") as caught:
        read_scores([write("t.json", text)])
    assert "skip_bad" not in caught.value.hint  # which only an export takes


FLAT = {f"k{at}": [at] for at in range(45)}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (FLAT, "more than 40 columns"),
        (dict.fromkeys(FLAT, "a"), "more than 40 columns"),
        ({name: {"acc": 0.5, "f1": 0.25} for name in FLAT}, None),
        ({f"k{at}": {"acc": 0.5, "f1": 0.25} for at in range(50)}, None),
        ({f"k{at}": {"acc": 0.5, "text": "}"} for at in range(51)}, "more than 50 objects"),
        ({f"k{at}": {"A": {"acc": 0.5}, "B": {}} for at in range(51)}, "more than 50 objects"),
        ({"model": [f"m{at}" for at in range(99)], "score": [*range(99)]}, None),
        ([[{"a": 1}]] * 50, "not a table"),
        ([1] * 50, "not a table"),
        ([[[1, 2]]] * 50, "not a table"),
        ([[0.5, 0.25]] * 50, None),
        ([{"model": "A", "sample": "1", "score": 1}] * 50, None),
    ],
)
def test_large_documents_of_other_shapes_are_not_parsed(monkeypatch, value, message):
    monkeypatch.setattr(guards, "MAX_FIELD", 100)
    monkeypatch.setattr(guards, "MAX_COLUMNS", 40)
    monkeypatch.setattr(
        json_tables, "_MANY_NAMES", re.compile(json_tables._MANY_NAMES.pattern.replace(b"100001", b"41"))
    )
    monkeypatch.setattr(json_tables, "_MAX_KEYED", 50)
    objects = json_tables._MANY_OBJECTS.pattern.replace(b"1000000", b"50")
    monkeypatch.setattr(json_tables, "_MANY_OBJECTS", re.compile(objects))
    data = json.dumps(value, indent=1).encode()
    if message is None:
        assert json_tables.json_columns("t.json", data)
        return
    monkeypatch.setattr(parsing, "parse_json", None)
    with pytest.raises(InputError, match=message):
        json_tables.json_columns("t.json", data)


@pytest.mark.slow
def test_single_line_array_is_not_json_lines(write):
    text = json.dumps([{"a": 1}] * 110_000)
    with pytest.raises(InputError, match="row 1 is not a JSON object"):
        read_scores([write("t.jsonl", text)])
