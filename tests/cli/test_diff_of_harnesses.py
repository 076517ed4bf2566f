"""``diff`` and ``gate --cases`` on harness logs: texts are loaded only for the displayed cases."""

import pytest

import riskrank as rr
from riskrank.scores.exports import registry
from tests.scores.exports import archives
from tests.scores.exports.helpers import write_json


@pytest.fixture
def logs(tmp_path):
    """Two Inspect logs; the second model fails the first two samples, and the summaries have no texts."""
    for model, wrong in (("m/old", ()), ("m/new", ("a/b", "2"))):
        header = {
            "version": 2,
            "status": "success",
            "eval": {"run_id": model, "eval_id": model, "task": "sums", "model": model, "dataset": {}},
        }
        bare = [
            {"id": name, "epoch": 1, "scores": {"match": {"value": "I" if name in wrong else "C"}}}
            for name in ("a/b", "2", "3")
        ]
        members = {"header.json": header, "summaries.json": bare}
        for name in bare:
            record = {
                "input": f"what is {name['id']}?",
                "output": {"completion": f"{model} says {name['id']}"},
            }
            members[f"samples/{name['id']}_epoch_1.json"] = name | record
        (tmp_path / f"{model[2:]}.eval").write_bytes(archives.archive(members))
    return str(tmp_path)


def test_logs_are_read_only_for_listed_cases(run, logs, monkeypatch):
    counted = []
    plain = registry.read_export
    monkeypatch.setattr(registry, "read_export", lambda *given: counted.append(given) or plain(*given))
    command = ("diff", logs, "--from", "inspect", "--pair", "m/new:m/old")
    results = run(*command, "--where", "sample <> 'sums/2'", "--format", "json").document["results"]
    assert results[0]["input"] == "what is a/b?"
    assert (results[0]["output_new"], results[0]["output_old"]) == ("m/new says a/b", "m/old says a/b")
    assert results[1]["input"] is None
    assert len(counted) == 2
    assert "Texts of these cases: as logged by the harness" in run(*command, "--cases", "2").stdout
    counted.clear()
    run(*command, "--cases", "0")
    run("check", logs, "--from", "inspect")
    assert len(counted) == 2, "whoever shows no cases reads once"


def test_rows_of_a_query_are_none_of_the_harness(run, logs):
    query = "SELECT model, sample, metric, 1 - score AS score FROM scores"
    command = ("diff", logs, "--from", "inspect", "--pair", "m/old:m/new", "--sql", query, "--format", "json")
    assert "input" not in run(*command).document["results"][0]


def test_a_gate_lists_cases_with_their_texts(tmp_path):
    rows = [
        {
            "provider": {"id": model},
            "prompt": {"raw": f"Q{test}"},
            "vars": {"q": test},
            "namedScores": {},
            "score": float(model == "old" or test > 5),
            "success": True,
            "response": {"output": f"{model}: {test}"},
        }
        for model in ("new", "old")
        for test in range(12)
    ]
    path = write_json(tmp_path / "r.json", {"evalId": "e", "results": {"results": rows}})
    result = rr.gate(str(path), from_="promptfoo", not_worse="new:old", metric="score", cases=2)
    (lost,) = result.document.lost_cases
    assert [(case.input, case.output_new) for case in lost.cases] == [("Q0", "new: 0"), ("Q1", "new: 1")]
