"""MixInstruct's candidates: every score of every model, all of them better when larger."""

import pytest

from riskrank.errors import InputError, UsageError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json, write_lines


def candidate(model, decoding="top_p_sampling", **found):
    return {"decoding_method": decoding, "model": model, "text": "…", "scores": found}


def record(sample, *candidates, **more):
    return {"id": sample, "instruction": "", "input": "?", "candidates": list(candidates)} | more


RECORDS = [
    record("set/1", candidate("A", bleu=5.5, logprobs=-0.25), candidate("B", bleu=2, logprobs=None)),
    record(
        "set/2", candidate("A", bleu=1.5, logprobs=-1), candidate("B"), cmp_results={"A,B": "A is better"}
    ),
]


@pytest.mark.parametrize("write", [write_json, write_lines])
def test_candidates(tmp_path, write):
    path = write(tmp_path / "records.json", RECORDS)
    assert only_reader_of(path) == "mixinstruct"
    export = read("mixinstruct", path)
    assert_long(export)
    assert scores(export) == {
        ("A", "set/1", "bleu"): 5.5,
        ("A", "set/1", "logprobs"): -0.25,
        ("B", "set/1", "bleu"): 2.0,
        ("B", "set/1", "logprobs"): None,
        ("A", "set/2", "bleu"): 1.5,
        ("A", "set/2", "logprobs"): -1.0,
    }
    assert export.directions == {"bleu": "higher", "logprobs": "higher"}
    assert any("cmp_results" in note for note in export.notes)
    assert any("candidates without scores: 1" in note for note in export.notes)


def test_of_several_ways_to_decode_one_is_asked_for(tmp_path):
    path = write_json(
        tmp_path / "r.json", [record("1", candidate("A", bleu=1), candidate("A", "beam", bleu=2))]
    )
    with pytest.raises(UsageError, match="several decoding methods"):
        read("mixinstruct", path)
    assert scores(read("mixinstruct", path, filters=("beam",))) == {("A", "1", "bleu"): 2.0}


def test_other_shapes_are_refused(tmp_path):
    with pytest.raises(InputError, match="entry 1, candidates is not a list"):
        read("mixinstruct", write_json(tmp_path / "r.json", [record("1") | {"candidates": "none"}]))
    with pytest.raises(InputError, match=r"e.json: the file is empty"):
        read("mixinstruct", write_json(tmp_path / "e.json", []))
    mixed = write_json(tmp_path / "m.json", [*RECORDS, 7])
    with pytest.raises(InputError, match="entry 3 is not a JSON object"):
        read("mixinstruct", mixed)
    assert any("no objects" in note for note in read("mixinstruct", mixed, skip_bad=True).notes)
