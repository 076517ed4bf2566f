"""Scores nested below keys become a long table; objects within rows become columns."""

import json

import pytest

import riskrank as rr
from riskrank.scores.files.derived import flatten
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
    return {"acc": x, "f1": x / 2}


TWO = {"acc": SCORES["a"], "f1": SCORES["b"]}
# Documents whose keys are data → the columns of the table.
SHAPES = {
    "scores below models": (
        {"results": {m: {"scores": of} for m, of in SCORES.items()}},
        "model metric sample score",
    ),
    "metrics below models": (dict.fromkeys(SCORES, TWO), "model metric sample score"),
    "samples below models": ({m: by_name(of) for m, of in SCORES.items()}, "level_1 level_2 score"),
    "models below samples": ({f"q{at}": dict.fromkeys("ab", 1) for at in range(N)}, "level_1 level_2 score"),
    "samples by metric": (
        {m: {"acc": by_name(of), "f1": by_name(of)} for m, of in SCORES.items()},
        "level_1 metric level_3 score",
    ),
    "metrics by sample": (
        {m: {q: both(x) for q, x in by_name(of).items()} for m, of in SCORES.items()},
        "level_1 level_2 metric score",
    ),
    "rows by model": ({m: rows(of) for m, of in SCORES.items()}, "model id acc"),
    "runs and samples": ({m: [of, of[::-1]] for m, of in SCORES.items()}, "model draw sample score"),
    "tasks below models": (
        {m: dict.fromkeys(("law", "math"), of) for m, of in SCORES.items()},
        "level_1 level_2 sample score",
    ),
    "columns": (SCORES, "a b"),
    "numbered rows": ({m: {str(at): x for at, x in enumerate(of)} for m, of in SCORES.items()}, "a b"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_nested_keys_become_columns(shape, tmp_path):
    document, columns = SHAPES[shape]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    (source,) = open_sources([str(path)])
    assert sorted(source.columns) == sorted(columns.split())


def test_clear_levels_are_ranked_without_options(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"results": {m: {"is_correct": of} for m, of in SCORES.items()}}))
    provenance = rr.rank(str(path), higher="*", no_test=True).document.provenance
    assert (sorted(provenance.models), provenance.samples) == (["a", "b"], N)


def test_keys_around_rows_name_the_model_or_are_reported(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"model": "a", "date": "today", "rows": rows(SCORES["a"])}))
    (source,) = open_sources([str(path)])
    assert source.columns == ("model", "id", "acc")
    assert source.notes == (f"{path}: ignored keys around the rows: date",)


def test_tables_and_rows_with_objects_are_read(tmp_path):
    path = tmp_path / "t.json"
    table = [{"model": m, "sample": s, "of": both(x)} for m, of in SCORES.items() for s, x in enumerate(of)]
    path.write_text(json.dumps(table))
    document = rr.rank(str(path), higher="*", no_test=True).document
    assert (document.provenance.models, document.provenance.samples) == (("a", "b"), N)
    assert [metric["name"] for metric in document.provenance.metrics] == ["of.acc", "of.f1"]
    for matrix in (
        [dict(zip(SCORES, row, strict=True)) for row in zip(*SCORES.values(), strict=True)],
        {"columns": [*SCORES], "data": [*zip(*SCORES.values(), strict=True)]},
    ):
        path.write_text(json.dumps(matrix))
        assert rr.rank(str(path), higher="*", no_test=True).document.provenance.samples == N
    columns = {"model": ["a"] * N + ["b"] * N, "sample": [*range(N)] * 2, "acc": [*SCORES["a"], *SCORES["b"]]}
    path.write_text(json.dumps(columns))
    assert rr.rank(str(path), higher="*", no_test=True).document.provenance.samples == N


@pytest.mark.parametrize("depth", [1, 8, 30, 900])
def test_nested_objects_are_columns_up_to_a_depth(tmp_path, depth):
    deep = '{"k":' * depth + "0.5" + "}" * depth
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"model":"a","sample":1,"r":{deep}}}\n' * 3)
    (source,) = open_sources([str(path)])
    assert flatten(source).columns == ("model", "sample", "r" + ".k" * min(depth, 8))
