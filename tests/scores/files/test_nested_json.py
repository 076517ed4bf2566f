"""Scores nested below their models: the line a hint proposes is run, and what it writes is compared."""

import json
import re
import shlex
import subprocess
import sys

import pytest

import riskrank as rr
from riskrank.errors import InputError
from riskrank.scores.files.derived import flattened
from riskrank.scores.files.nested_json import rows_of
from riskrank.scores.files.opening import open_sources

N = 12
SCORES = {
    "a": [round(0.1 + at * 5 % 7 / 7, 3) for at in range(N)],
    "b": [at * 3 % 11 / 11 for at in range(N)],
}


def rows(of):
    return [{"id": at, "acc": score} for at, score in enumerate(of)]


def by_name(of):
    return {f"q{at}": score for at, score in enumerate(of)}


def both(x):
    return {"acc": x, "f1": x}


TWO = {"acc": SCORES["a"], "f1": SCORES["b"]}
# A document, and the arguments with which the rows of it are read.
SHAPES = {
    "scores below models": ({"results": {m: {"scores": of} for m, of in SCORES.items()}}, {}),
    "a list a model": ({"run": 3, "results": SCORES}, {}),
    "nothing but models": (SCORES, {}),
    "metrics below models": (dict.fromkeys(SCORES, TWO), {}),
    "samples below models": ({m: by_name(of) for m, of in SCORES.items()}, {}),
    "samples by metric": ({m: {"acc": by_name(of), "f1": by_name(of)} for m, of in SCORES.items()}, {}),
    "metrics by sample": ({m: {q: both(x) for q, x in by_name(of).items()} for m, of in SCORES.items()}, {}),
    "a list of models": ([{"model": m, "scores": of} for m, of in SCORES.items()], {}),
    "models with rows": (
        {"models": [{"name": m, "scores": rows(of)} for m, of in SCORES.items()], "date": "x"},
        {"wide": True, "columns": "sample=id"},
    ),
    "rows by model": ({m: rows(of) for m, of in SCORES.items()}, {"wide": True, "columns": "sample=id"}),
    "metrics in a field": (
        [{"model": m, "sample": s, "of": both(x)} for m, of in SCORES.items() for s, x in enumerate(of)],
        {"wide": True},
    ),
    "rows below a word": (
        {"meta": {}, "rows": [{"model": m, "sample": s, "of": both(x)}
                              for m, of in SCORES.items() for s, x in enumerate(of)]},
        {"wide": True},
    ),
}  # fmt: skip


def proposed(path):
    """Run the line that a hint proposes; the file it writes, and the hint."""
    with pytest.raises(InputError) as caught:
        rr.rank(path)
    hint = caught.value.hint
    _, *words = shlex.split("python -c " + hint.partition("python -c ")[2].partition(", and read ")[0])
    subprocess.run([sys.executable, *words], check=True)
    return hint


@pytest.mark.parametrize("shape", SHAPES)
def test_the_line_writes_rows(shape, tmp_path, monkeypatch):
    document, options = SHAPES[shape]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text(json.dumps(document))
    hint = proposed("t.json")
    assert "read t.rows.json" in hint
    found = rr.rank("t.rows.json", higher="*", no_test=True, **options)
    assert (found.document.provenance.models, found.document.provenance.samples) == (("a", "b"), N)
    means = {m: sum(SCORES["a" if shape == "metrics below models" else m]) / N for m in SCORES}
    assert found.document.means[0].mean.tolist() == pytest.approx([*means.values()])


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_names_above_samples_may_be_tasks(listed, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = {m: {t: of if listed else by_name(of) for t in ("law", "math")} for m, of in SCORES.items()}
    document = [{"model": m, "scores": of} for m, of in tasks.items()] if named else tasks
    (tmp_path / "t.json").write_text(json.dumps(document))
    hint = proposed("t.json")
    assert hint.startswith("if the names" if named else "if the outer names are models and the names")
    assert rr.rank("t.rows.json", higher="*", no_test=True).document.provenance.samples == N
    _, instead, metric = re.search(r"(tasks), .*, write (.*) for ('metric': \w+) in it$", hint).groups()
    line = hint.partition("python -c ")[2].partition(", and read ")[0]
    assert line.count(metric) == 1
    (program,) = shlex.split(line.replace(metric, instead))
    subprocess.run([sys.executable, "-c", program], check=True)
    found = rr.rank("t.rows.json", higher="*", no_test=True).document
    assert (found.provenance.samples, [one["name"] for one in found.provenance.metrics]) == (2 * N, ["score"])


def test_names_below_samples_are_no_tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text(json.dumps(SHAPES["metrics by sample"][0]))
    assert "tasks" not in proposed("t.json")


def test_a_file_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text(json.dumps({"model": "a", "scores": SCORES["a"]}))
    proposed("t.json")
    assert json.loads((tmp_path / "t.rows.json").read_text())[1] == {
        "metric": "score",
        "model": "a",
        "sample": 1,
        "score": SCORES["a"][1],
    }
    (tmp_path / "u.json").write_text(json.dumps({"out": {"scores": SCORES["a"]}}))
    assert proposed("u.json").endswith("under the name of its model: NAME=u.rows.json")


@pytest.mark.parametrize("spread", [False, True])
def test_means_by_metric_go_to_copa(spread, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    means = {"a": {"acc": 0.8, "f1": 0.7}, "b": {"acc": 0.7, "f1": 0.75}}
    nested = {m: {k: {"mean": x, "std": 0.1} for k, x in of.items()} for m, of in means.items()}
    (tmp_path / "t.json").write_text(json.dumps(nested if spread else means))
    assert "one row a model cannot be tested; copa can choose among them" in proposed("t.json")
    found = rr.copa("t.rows.json", higher="*").document.objectives
    assert found.values.tolist() == [[0.8, 0.7], [0.7, 0.75]]


def test_tables_are_left_alone(tmp_path):
    path = str(tmp_path / "t.json")
    (tmp_path / "t.json").write_text("{}")
    columns = {"sample": [3, 4], "acc": [0.1, 0.2]}
    deep: object = [1.0]
    for _ in range(800):
        deep = {"x": deep}
    for document in (
        [{"id": 1, "acc": 0.5}],
        columns,
        {"x": 1},
        [],
        {"x": []},
        "x",
        deep,
        {"x": [[1]]},
        {task: {m: rows(of) for m, of in SCORES.items()} for task in ("law", "math")},
    ):
        assert rows_of(path, document) is None
    assert rows_of(str(tmp_path / "none.json"), SCORES) is None


@pytest.mark.parametrize("depth", [1, 8, 30, 900])
def test_objects_within_objects_are_columns_so_far_down_and_text_below(tmp_path, depth):
    deep = '{"k":' * depth + "0.5" + "}" * depth
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"model":"a","sample":1,"r":{deep}}}\n' * 3)
    (source,) = open_sources([str(path)])
    assert flattened(source).columns == ("model", "sample", "r" + ".k" * min(depth, 8))
