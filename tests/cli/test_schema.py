"""Real output of every command keeps to the schema the program prints for it."""

import json
import shlex
from functools import cache

import pytest
from jsonschema import Draft202012Validator, ValidationError

from riskrank.asked.commands import COMMANDS, PAPERS

VERDICTS = "sample,model_a,model_b,verdict\n1,A,B,a\n2,A,B,tie\n3,B,A,a\n"
LINES = [
    "rank t.csv --resamples 40 --all-methods --stability 10",
    "report t.csv --resamples 40 --jobs 1 --group-by half --copa --higher '*'",
    "rank t.csv --no-test --per-metric --aggregate kemeny --top 1",
    "rank t.csv --resamples 40 --rank-by wins --variance clt",
    "dominance t.csv --resamples 40 --ratios --metric acc",
    "dominance t.csv --no-test --test all",
    "rank t.csv --no-test --group-by half",
    "dominance t.csv --no-test --group-by half",
    "mrm t.csv --no-test --group-by half",
    "rank t.csv --resamples 40 --group-by half",
    "gate t.csv --group-by half --better A:B --inconclusive pass",
    "diff t.csv --pair A:B --group-by half",
    "diff draws.csv --repeats draws --pair A:B",
    "mrm t.csv --resamples 40",
    "mrm t.csv --no-test --per-metric --aggregate borda",
    "gsd few.csv --higher * --resamples 20 --models A,B",
    "gsd few.csv --higher * --no-test --witness A:B",
    "gsd few.csv --higher * --no-test --delta 0,0.001",
    "copa t.csv --higher *",
    "copa t.csv --higher * --resample-models 20 --require 'acc >= -3' --ccdf",
    "copa t.csv --higher * --compare",
    "copa t.csv --higher * --why A",
    "copa t.csv --higher * --sweep acc --p 2,inf --steps 50",
    "copa t.csv --higher * --sweep-p --steps 50",
    "portfolio t.csv",
    "portfolio t.csv --summary",
    "portfolio draws.csv --repeats draws",
    "power normal:2,1 normal:0,1 --sizes 20 --simulations 3 --resamples 40",
    "power t.csv --sizes 20 --simulations 3 --resamples 40 --pair A:C",
    "trend t.csv u.csv --higher *",
    "check t.csv",
    "check broken.csv",
    "convert verdicts v.csv",
    "convert openai-evals e.jsonl",
]
# A command that has no line of its own, as a new one, is asked for what it does by default.
LINES += [
    f"{row.name} t.csv --higher *"
    for row in COMMANDS
    if row.study and not any(line.startswith(f"{row.name} ") for line in LINES)
]


@pytest.fixture(scope="module")
def schema(run):
    """The schema of a document as the program prints it, which is one itself."""

    @cache
    def printed(name):
        outcome = run("schema", name)
        assert (outcome.status, outcome.stderr) == (0, "")
        found = json.loads(outcome.stdout)
        Draft202012Validator.check_schema(found)
        return found

    return printed


@pytest.fixture
def files(write, make_scores, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    frame = make_scores()
    write("t.csv", frame.with_columns(half=frame["sample"].str.slice(1).cast(int) % 2))
    write("u.csv", make_scores())
    write("few.csv", make_scores(n=12))
    write("v.csv", VERDICTS)
    rows = [f"{m},{s},acc,{d},{(s * 7 + d) % 5}" for m in "AB" for s in range(4) for d in range(2)]
    write("draws.csv", "model,sample,metric,draw,score\n" + "\n".join(rows))
    write("broken.csv", "model,sample,metric,score\nA,1,m,\nA,2,m,1\nB,1,m,x\n")
    events = [
        {"spec": {"completion_fns": ["new"], "eval_name": "e", "run_id": "r"}},
        {"run_id": "r", "sample_id": "e.1", "type": "match", "data": {"correct": True}},
        {"run_id": "r", "sample_id": "e.2", "type": "match", "data": {"correct": False}},
    ]
    write("e.jsonl", "\n".join(map(json.dumps, events)))


@pytest.mark.parametrize("line", LINES)
def test_output_keeps_to_the_schema(run, files, schema, line):
    outcome = run(*shlex.split(line), "--format", "json")
    assert outcome.status == (2 if "broken" in line else 0), outcome.stderr
    document = outcome.document
    name = document["schema"].removeprefix("riskrank/")
    found = schema(name)
    Draft202012Validator(found).validate(document)
    rows = found["properties"]["results"]["items"]
    kinds = [set(kind["properties"]) for kind in rows.get("anyOf", [rows])]
    assert document["results"]
    # Nothing is written that the schema does not know; an export keeps columns of its own.
    assert name == "convert" or all(any(set(row) <= kind for kind in kinds) for row in document["results"])


def test_the_lines_above_make_every_document():
    named = " ".join(LINES)
    assert all(f"{name.split('-')[0]} " in named for name in PAPERS)


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
