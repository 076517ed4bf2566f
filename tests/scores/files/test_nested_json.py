"""Scores nested below model names are refused with an example; objects within rows become columns."""

import json

import pytest

import riskrank as rr
from riskrank.errors import InputError
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
    return {"acc": x, "f1": x}


TWO = {"acc": SCORES["a"], "f1": SCORES["b"]}
# Documents that do not explain the keys above the scores.
SHAPES = {
    "scores below models": {"results": {m: {"scores": of} for m, of in SCORES.items()}},
    "nothing but models": SCORES,
    "metrics below models": dict.fromkeys(SCORES, TWO),
    "samples below models": {m: by_name(of) for m, of in SCORES.items()},
    "samples by metric": {m: {"acc": by_name(of), "f1": by_name(of)} for m, of in SCORES.items()},
    "metrics by sample": {m: {q: both(x) for q, x in by_name(of).items()} for m, of in SCORES.items()},
    "rows by model": {m: rows(of) for m, of in SCORES.items()},
    "tasks below models": {m: dict.fromkeys(("law", "math"), of) for m, of in SCORES.items()},
    "means": {"a": {"acc": 0.8, "f1": 0.7}, "b": {"acc": 0.7, "f1": 0.75}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_unexplained_keys_are_not_models(shape, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(SHAPES[shape]))
    for command in (rr.rank, rr.copa):
        with pytest.raises(InputError, match="missing columns 'model'") as caught:
            command(str(path), higher="*")
        assert caught.value.hint.startswith('write one row per score: [{"model": …')


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
