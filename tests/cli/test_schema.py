"""The output of every command conforms to the schema that the program prints."""

import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from riskrank.options.commands import DOC_TYPES
from riskrank.render.schema import json_schema

VERDICTS = "sample,model_a,model_b,verdict\n1,A,B,a\n2,A,B,tie\n3,B,A,a\n"
# Those of which no document is stored in `made`, where each is held to its schema; the others beside them.
LINES = {
    "report": "report t.csv --resamples 40 --set jobs=1 --group-by half --copa --higher '*'",
    "rank": "rank t.csv --resamples 40 --rank-by wins --all-methods",
    "rank-means": "rank noise.csv --noise wording",
    "portfolio": "portfolio draws.csv --repeats draws",
    "power": "power normal:2,1 normal:0,1 --sizes 20 --simulations 3 --resamples 40",
    "power-claims": "power u.csv --pair A:B --on mean",
    "power-noise": "power noise.csv --noise wording --pair A:B",
    "check": "check broken.csv",
    "convert-verdicts": "convert verdicts v.csv",
    "convert": "convert openai-evals e.jsonl",
}


def keeps_to_its_schema(document: dict) -> None:
    """Assert that a document conforms to its schema, without undeclared fields."""
    name = document["schema"].removeprefix("riskrank/")
    checked_document = checked(name)
    checked_document.validate(document)
    rows = checked_document.schema["properties"]["results"]["items"]
    kinds = [set(kind["properties"]) for kind in rows.get("anyOf", [rows])]
    # An export keeps columns of its own.
    assert name == "convert" or all(any(set(row) <= kind for kind in kinds) for row in document["results"])


@cache
def checked(name: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(name))


@pytest.fixture(scope="module")
def schema(run):
    """Return a function that returns the printed schema of a document."""

    def printed(name):
        outcome = run("schema", name)
        assert (outcome.status, outcome.stderr) == (0, "")
        return json.loads(outcome.stdout)

    return printed


@pytest.fixture
def files(write, make_scores, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    frame = make_scores()
    write("t.csv", frame.with_columns(half=frame["sample"].str.slice(1).cast(int) % 2))
    write("u.csv", make_scores())
    write("few.csv", make_scores(n=12))
    write("v.csv", VERDICTS)
    rows = [f"{m},{s},acc,{d},{(s * 7 + d) % 5}" for m in "AB" for s in range(12) for d in range(2)]
    write("draws.csv", "model,sample,metric,draw,score\n" + "\n".join(rows))
    write("broken.csv", "model,sample,metric,score\nA,1,m,\nA,2,m,1\nB,1,m,x\n")
    events = [
        {"spec": {"completion_fns": ["new"], "eval_name": "e", "run_id": "r"}},
        {"run_id": "r", "sample_id": "e.1", "type": "match", "data": {"correct": True}},
        {"run_id": "r", "sample_id": "e.2", "type": "match", "data": {"correct": False}},
    ]
    write("e.jsonl", "\n".join(map(json.dumps, events)))
    noisy = [
        f"{m},{s},w{w},acc,{(s * 7 + w * 3 + (m == 'B')) % 5}"
        for m in "AB"
        for s in range(12)
        for w in range(6)
    ]
    write("noise.csv", "model,sample,wording,metric,score\n" + "\n".join(noisy))


@pytest.mark.parametrize("name", LINES)
def test_output_keeps_to_the_schema(run, files, name):
    outcome = run(*shlex.split(LINES[name]), "--format", "json")
    assert outcome.document["schema"] == f"riskrank/{name}", outcome.stderr
    assert outcome.results
    keeps_to_its_schema(outcome.document)


def test_every_schema_has_validated_documents():
    calls = "".join(path.read_text("utf-8") for path in Path(__file__).with_name("made").iterdir())
    stored = set(re.findall(r'"schema": "riskrank/([^"]+)"', calls))
    assert stored | {*LINES} == {*DOC_TYPES}


@pytest.mark.parametrize("name", DOC_TYPES)
def test_the_program_prints_the_schema(schema, name):
    assert schema(name) == json_schema(name)


def test_a_wrong_document_is_refused(run, files, schema):
    document = run("check", "t.csv", "--format", "json").document
    del document["results"][0]["n"]
    with pytest.raises(ValidationError, match="'n' is a required property"):
        Draft202012Validator(schema("check")).validate(document)


def test_configured_files_are_in_the_schema(run, files, schema, write):
    write("riskrank.toml", "order = 2\n")
    document = run("rank", "t.csv", "--no-test", "--format", "json").document
    Draft202012Validator(schema("rank")).validate(document)
    assert document["meta"]["config"] == "riskrank.toml"
    assert schema("rank")["properties"]["meta"]["properties"]["config"] == {"type": "string"}


def test_a_schema_goes_to_a_file(run, tmp_path):
    assert run("schema", "rank", "--output", tmp_path / "r.json").stdout == ""
    assert (tmp_path / "r.json").read_text() == run("schema", "rank").stdout


def test_an_unknown_command_has_none(refused):
    lines = refused("schema", "ranks")
    assert "ranks" in lines[0]
    assert "rank" in lines[2]
