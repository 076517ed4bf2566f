"""Exports with one node of another type: rows, or an error that names what is wrong, never a defect."""

import copy
import csv
import io
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.scores.exports.interface import ExportRules
from riskrank.scores.exports.registry import READERS, read_export
from riskrank.scores.exports.written_texts import ANSWERED, ASKED
from tests.scores.exports import archives
from tests.scores.exports.helpers import assert_long

DATE = "2026-01-02T03-04-05.678901"
REPLACEMENTS = (
    7,
    0.25,
    math.nan,
    10**400,
    "",
    "text",
    "\ud800",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    None,
    True,
    False,
)


ALL_FILTERS = ExportRules(filters=("*",))


@dataclass(frozen=True)
class Written:
    """A valid export: file → document, which may be lines (a name in .jsonl), rows of a table (.csv) or
    members of an archive."""

    files: dict
    rules: ExportRules = ALL_FILTERS


def lm_eval():
    rows = [
        {"doc_id": doc, "filter": "none", "metrics": ["acc", "mcc"], "doc_hash": "h"}
        | {"acc": 1.0, "mcc": [1, 0], "doc": {"question": "asked", "choices": ["no", "answered"]}}
        | {"filtered_resps": [["-2.5", "False"], ["-0.5", "False"]]}
        for doc in range(2)
    ]
    results = {
        "results": {"t": {"acc,none": 0.5, "acc_stderr,none": "N/A"}},
        "configs": {
            "t": {
                "filter_list": [{"name": "none"}],
                "metric_list": [{"metric": "acc", "higher_is_better": True}],
            }
        },
        "higher_is_better": {"t": {"acc": True}},
        "n-samples": {"t": {"effective": 2}},
        "config": {"model_args": {"pretrained": "org/a"}},
        "model_name": "org/a",
    }
    return Written({f"samples_t_{DATE}.jsonl": rows, f"results_{DATE}.json": results})


def lm_eval_old():
    rows = [{"doc_id": doc, "doc": {"q": "asked"}, "acc": 1.0, "mcc": [1, 0]} for doc in range(2)]
    rows = [row | {"resps": [["answered"]]} for row in rows]
    results = {
        "results": {"t": {"acc,none": 0.5, "mcc,none": 0.1}},
        "configs": {"t": {"filter_list": [{"name": "none"}]}},
        "config": {"model_args": "pretrained=org/a"},
    }
    return Written({"pretrained__org__a_t.jsonl": rows, "results.json": results})


def inspect():
    samples = [
        {
            "id": "1",
            "epoch": 1,
            "scores": {"match": {"value": "C"}, "more": {"value": {"x": 0.5}}},
            "metadata": {"level": "hard"},
            "error": None,
            "input": [{"role": "user", "content": [{"type": "text", "text": "asked"}]}],
            "output": {"choices": [{"message": {"role": "assistant", "content": "answered"}}]},
        },
        {"id": 2, "epoch": 1, "scores": {"match": {"value": 0}, "more": {"value": {"x": 1}}}},
    ]
    header = {
        "version": 2,
        "status": "error",
        "invalidated": False,
        "eval": {
            "task": "sums",
            "model": "m/a",
            "created": "2026",
            "run_id": "r",
            "eval_id": "e",
            "task_args": {"n": 3},
            "dataset": {"sample_ids": ["1", 2]},
            "config": {"epochs": 1},
        },
    }
    return header, samples


def inspect_json():
    header, samples = inspect()
    return Written({"a.json": header | {"samples": samples}})


def inspect_archive():
    header, samples = inspect()
    members = {
        "header.json": header,
        "samples/1_epoch_1.json": samples[0],
        "samples/2_epoch_1.json": samples[1],
    }
    long = ("metadata", "input", "output")
    bare = [{key: value for key, value in sample.items() if key not in long} for sample in samples]
    return Written({"a.eval": members | {"summaries.json": bare}})


def promptfoo():
    rows = [
        {
            "testIdx": test,
            "promptIdx": 0,
            "provider": {"id": "exec:a", "label": "a"},
            "prompt": {"raw": "asked", "label": "Q: {{q}}"},
            "response": {"output": "answered"},
            "vars": {"q": f"question {test}"},
            "testCase": {"vars": {"q": "x"}, "description": f"d{test}", "assert": [{"type": "equals"}]},
            "success": True,
            "score": 1.0,
            "namedScores": {"form": 1},
            "failureReason": 0,
            "error": None,
            "id": f"id{test}",
        }
        for test in range(2)
    ]
    return rows


def promptfoo_json():
    prompts = [{"label": "Q: {{q}}", "raw": "Q"}]
    return Written({"r.json": {"evalId": "e", "results": {"prompts": prompts, "results": promptfoo()}}})


def promptfoo_lines():
    return Written({"r.jsonl": promptfoo()})


def helm():
    changed = {"name": "typos", "prob": 0.5, "computed_on": "perturbed"}

    def entry(instance, **more):
        name = {"name": "exact_match", "split": "test", **more}
        return {"instance_id": instance, "train_trial_index": 0, **more} | {
            "stats": [{"name": name, "count": 1, "mean": 1.0}]
        }

    spec = {"name": "boolq:model=a", "adapter_spec": {"model": "org/a"}}
    entries = [entry("id1"), entry("id1", perturbation=changed)]
    files = {"boolq/per_instance_stats.json": entries, "boolq/run_spec.json": spec}
    return Written(files, ExportRules(splits=("*",)))


def every_eval_ever():
    rows = [
        {
            "schema_version": "0.3.0",
            "evaluation_id": "e",
            "model_id": "org/a",
            "evaluation_name": "sums/strict",
            "evaluation_result_id": "r",
            "sample_id": f"{place}",
            "evaluation": {"score": 1.0, "is_correct": None},
            "input": {"raw": "asked"},
            "output": {"raw": ["answered"]},
            "metadata": {"filter": "strict", "lm_eval_metrics": '{"acc": 1.0}'},
            "error": None,
        }
        for place in range(2)
    ]
    results = [
        {
            "evaluation_name": "sums/strict",
            "evaluation_result_id": "r",
            "score_details": {"score": 1.0, "uncertainty": {"num_samples": 2}},
            "metric_config": {"lower_is_better": False},
        }
    ]
    return Written({"u_samples.jsonl": rows, "u.json": {"evaluation_results": results}})


def alpaca_eval():
    row = {
        "instruction": "do",
        "generator_1": "R",
        "generator_2": "M",
        "preference": 1.5,
        "output_2": "answered",
    }
    row |= {"annotator": "j", "dataset": "d"}
    return Written({"annotations.json": [row, row | {"instruction": "other"}]})


def mt_bench_ratings():
    row = {"question_id": 1, "model": "A", "judge": ["gpt-4", "single-v1"], "turn": 1, "score": 8}
    return Written({"gpt-4_single.jsonl": [row, row | {"question_id": 2}]})


def mt_bench_pairs():
    row = {"question_id": 1, "model_1": "A", "model_2": "B", "turn": 1, "judge": ["gpt-4", "pair-v2"]}
    row |= {"g1_winner": "model_1", "g2_winner": "tie"}
    return Written({"gpt-4_pair.jsonl": [row, row | {"question_id": 2}]})


def livebench():
    row = {"question_id": "q", "task": "cta", "model": "A", "score": 0.5, "turn": 1, "category": "data"}
    return Written({"ground_truth_judgment.jsonl": [row, row | {"question_id": "r"}]}, ExportRules())


def openai_evals():
    spec = {"completion_fns": ["gpt-x"], "eval_name": "sums", "model_names": {"completions": ["old"]}}
    events = [{"run_id": "1", "event_id": 0, "sample_id": "1", "type": "match", "data": {"correct": True}}]
    events += [{"run_id": "1", "event_id": 1, "sample_id": "1", "type": "metrics", "data": {"f1": 0.5}}]
    said = {"prompt": [{"role": "user", "content": "asked"}], "sampled": ["answered"]}
    events += [{"run_id": "1", "event_id": 2, "sample_id": "1", "type": "sampling", "data": said}]
    return Written({"log.jsonl": [{"spec": spec}, *events, {"final_report": {"accuracy": 1}}]}, ExportRules())


def lighteval():
    config = {"metrics": [{"metric_name": ["acc"], "higher_is_better": {"acc": True}}]}
    group = {"metric": [{"metric_name": "em", "higher_is_better": True}]}
    general = {"model_name": "org/a", "model_config": {"model_name": "org/a"}}
    results = {"config_general": general, "config_tasks": {"sums|0": config | group}}
    doc = {"id": "1", "task_name": "sums|0", "query": "asked", "choices": ["answered", "not"]}
    rows = {"doc": [doc], "metric": [{"acc": 1.0, "em": 0.5}]}
    rows["model_response"] = [{"text": [], "logprobs": [-0.5, -1.5]}]
    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file)
    files = {f"results/org/a/results_{DATE}.json": results}
    return Written(
        files | {f"details/org/a/{DATE}/details_sums_{DATE}.parquet": file.getvalue()}, ExportRules()
    )


def deepeval():
    found = {"name": "Exact", "threshold": 0.5, "success": True, "score": 1.0, "error": None}
    case = {"name": "case", "order": 0, "success": True, "metricsData": [found]}
    case |= {"input": "asked", "actualOutput": "answered"}
    run = {"testCases": [case], "conversationalTestCases": [], "hyperparameters": {"model": "a"}}
    return Written({"run.json": {"testRunData": run}}, ExportRules())


def mixinstruct():
    candidate = {"model": "A", "decoding_method": "beam", "text": "answered", "scores": {"bleu": 0.5}}
    record = {"id": "1", "input": "asked", "candidates": [candidate], "cmp_results": None}
    return Written({"records.json": [record]})


def mlflow():
    columns = ["inputs", "outputs", "answer/v1/score", "latency"]
    data = [["asked", "answered", 1, 0.5], ["r", "s", None, 0.25]]
    return Written({"table.json": {"columns": columns, "data": data}}, ExportRules())


def ragas():
    rows = [{"user_input": "asked", "response": "answered", "faithfulness": 0.5}]
    return Written({"ragas.json": [*rows, rows[0] | {"user_input": "r"}]}, ExportRules())


def ragas_text():
    rows = [{"user_input": "q", "faithfulness": 0.5}, {"user_input": "r", "faithfulness": 1.0}]
    return Written({"ragas.csv": rows}, ExportRules())


def lm_eval_averages():
    return Written({"results.json": lm_eval().files[f"results_{DATE}.json"]})


def lighteval_averages():
    (results,) = (document for name, document in lighteval().files.items() if name.endswith(".json"))
    return Written({f"results_{DATE}.json": results | {"results": {"sums|0": {"acc": 0.5}}}}, ExportRules())


def swe_bench():
    report = {"resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"], "empty_patch_ids": ["d"]}
    return Written({"m.run.json": report | {"infra_failure_ids": ["b"]}}, ExportRules())


def swe_bench_instance():
    report = {"i": {"patch_successfully_applied": True, "resolved": True}}
    return Written({"logs/run/m/i/report.json": report}, ExportRules())


def terminal_bench():
    trial = {
        "task_name": "t",
        "trial_name": "t__1",
        "source": "s",
        "verifier_result": {"rewards": {"reward": 1}},
    }
    agent = {"name": "a", "model_info": {"name": "m"}}
    more = {"agent_info": agent, "agent_result": {"cost_usd": 1}, "exception_info": None}
    return Written({"t__1/result.json": trial | more}, ExportRules())


def terminal_bench_old():
    trials = [{"task_id": "t", "trial_name": "t", "is_resolved": True, "failure_mode": "unset"}]
    return Written({"results.json": {"results": trials}}, ExportRules())


def mteb():
    found = {"hf_subset": "default", "main_score": 0.5, "languages": ["eng-Latn"]}
    files = {"m__a/r/T.json": {"task_name": "T", "scores": {"test": [found]}}}
    return Written(files | {"m__a/r/model_meta.json": {"name": "m/a"}}, ExportRules())


def braintrust():
    row = {"span_id": "s", "root_span_id": "s", "is_root": True, "input": "asked", "output": "answered"}
    row |= {"scores": {"Facts": 1.0}, "error": None}
    return Written({"a.json": [row, row | {"input": "r"}]}, ExportRules())


def langsmith():
    row = {"inputs.q": "asked", "outputs.a": "answered", "error": None, "feedback.right": 1}
    row |= {"execution_time": 1.5, "example_id": "e"}
    return Written({"a.json": [row, row | {"example_id": "f"}]}, ExportRules())


def phoenix():
    row = {"example_id": "e", "repetition_number": 1, "input": "asked", "reference_output": "y"}
    row |= {"output": "answered", "error": None, "latency_ms": 1.5}
    row |= {"annotations": [{"name": "right", "score": 1.0, "error": None}]}
    return Written({"a.json": [row, row | {"example_id": "f"}]}, ExportRules())


def langfuse():
    row = {"traceId": "t", "name": "right", "dataType": "NUMERIC", "value": 1, "stringValue": ""}
    return Written({"a.csv": [row, row | {"traceId": "u"}]}, ExportRules())


def junit():
    text = '<testsuite name="s"><testcase name="t" classname="c" time="1"/></testsuite>'
    return Written({"a.xml": text.encode()}, ExportRules())


def sklearn_text():
    row = {"params": "{'C': 1}", "split0_test_score": 0.5, "mean_fit_time": 1.0}
    return Written({"cv.csv": [row, row | {"params": "{'C': 2}"}]}, ExportRules())


def sklearn():
    table = {"params": [{"C": 1}, {"C": 2}], "split0_test_score": [0.5, 0.75], "mean_fit_time": [1.0, 2.0]}
    return Written({"cv.json": table}, ExportRules())


EXPORTS = {
    "lm-eval": [lm_eval, lm_eval_old, lm_eval_averages],
    "inspect": [inspect_json, inspect_archive],
    "promptfoo": [promptfoo_json, promptfoo_lines],
    "helm": [helm],
    "every-eval-ever": [every_eval_ever],
    "alpaca-eval": [alpaca_eval],
    "mt-bench": [mt_bench_ratings, mt_bench_pairs],
    "livebench": [livebench],
    "openai-evals": [openai_evals],
    "lighteval": [lighteval, lighteval_averages],
    "deepeval": [deepeval],
    "mixinstruct": [mixinstruct],
    "mlflow": [mlflow],
    "ragas": [ragas, ragas_text],
    "junit": [junit],
    "swe-bench": [swe_bench, swe_bench_instance],
    "terminal-bench": [terminal_bench, terminal_bench_old],
    "mteb": [mteb],
    "braintrust": [braintrust],
    "langsmith": [langsmith],
    "phoenix": [phoenix],
    "langfuse": [langfuse],
    "sklearn": [sklearn, sklearn_text],
}
CASES = [pytest.param(name, make, id=make.__name__) for name, found in EXPORTS.items() for make in found]


# Formats whose files name no model.
NAMELESS = {"mlflow", "ragas", "junit", "terminal-bench", "braintrust", "langsmith", "phoenix", "langfuse"}


def nodes(value, path=()):
    """Paths of all nodes of some documents, but of bytes."""
    if isinstance(value, bytes):
        return
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from nodes(part, (*path, key))


def changed(files, path, replacement):
    """The documents with another value at a path."""
    found = copy.deepcopy(files)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = replacement
    return found


def write(folder, files):
    """Write the documents; whoever changes one as a whole writes that."""
    for name, document in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(document, bytes):
            path.write_bytes(document)
        elif name.endswith(".eval") and isinstance(document, dict):
            path.write_bytes(archives.archive(document, archives.DEFLATED))
        elif name.endswith(".jsonl") and isinstance(document, list):
            path.write_text("".join(f"{json.dumps(row)}\n" for row in document))
        elif name.endswith(".csv") and is_table(document):
            with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
                writer = csv.DictWriter(file, list(dict.fromkeys(key for row in document for key in row)))
                writer.writeheader()
                writer.writerows(document)
        else:
            path.write_text(json.dumps(document))


def is_table(document):
    """Whether this can be written as a table; a changed document may be anything."""
    return isinstance(document, list) and all(isinstance(row, dict) and row for row in document)


def paths_of(name, folder, files):
    """What is read: the folder, or the file where nothing in it names the model."""
    if name in NAMELESS:
        return [f"m={folder}/{next(iter(files))}"]
    return [str(folder)]


def examine(name, written, files):
    """Read the documents; both ways of reading have to end with rows or an error of the user's."""
    with TemporaryDirectory() as folder:
        write(folder, files)
        given = paths_of(name, folder, files)
        for skip_bad in (False, True):
            found = outcome(name, given, replace(written.rules, skip_bad=skip_bad))
            if isinstance(found, RiskrankError):
                assert isinstance(found, InputError | UsageError)
                assert found.what
                assert found.found
            else:
                assert_long(found)
                rules = replace(written.rules, skip_bad=skip_bad, texts_of=frozenset(found.rows["sample"]))
                again = outcome(name, given, rules)
                assert again.rows.select(found.rows.columns).equals(found.rows)


def outcome(name, given, rules):
    """What reading ends with, of the two that are allowed."""
    try:
        return read_export(name, given, rules)
    except RiskrankError as error:
        return error


@pytest.mark.parametrize(("name", "make"), CASES)
def test_the_valid_exports_are_read(name, make, tmp_path):
    written = make()
    write(tmp_path, written.files)
    export = read_export(name, paths_of(name, tmp_path, written.files), written.rules)
    assert_long(export)
    assert export.rows["score"].drop_nulls().len() > 0


# What a harness does not write, or writes into the prompt of a judge.
WITHOUT_TEXTS = {"helm", "livebench", "mt_bench_pairs", "mt_bench_ratings", "ragas_text", "sklearn"}
WITHOUT_TEXTS |= {"sklearn_text", "lm_eval_averages", "lighteval_averages", "swe_bench", "swe_bench_instance"}
WITHOUT_TEXTS |= {"terminal_bench", "terminal_bench_old", "mteb", "langfuse", "junit"}


@pytest.mark.parametrize(("name", "make"), [case for case in CASES if case.id not in WITHOUT_TEXTS])
def test_what_was_asked_and_answered_stands_beside_the_same_rows(name, make, tmp_path):
    written = make()
    write(tmp_path, written.files)
    given = paths_of(name, tmp_path, written.files)
    plain = read_export(name, given, written.rules).rows
    assert not {ASKED, ANSWERED} & set(plain.columns)
    sample = plain["sample"][0]
    found = read_export(name, given, replace(written.rules, texts_of=frozenset([sample]))).rows
    assert found.select(plain.columns).equals(plain)
    texts = found.filter(pl.col("sample") == sample).select(ASKED, ANSWERED).unique().row(0)
    asked = {"alpaca_eval": "do", "lm_eval_old": '{"q": "asked"}'}.get(make.__name__, "asked")
    assert texts == (asked, "answered")
    others = found.filter(pl.col("sample") != sample)
    assert not others[ASKED].count() + others[ANSWERED].count(), "of the others nothing is kept"


def test_every_reader_has_an_export_here():
    assert set(EXPORTS) == set(READERS)


@pytest.mark.parametrize(("name", "make"), [case for case in CASES if case.id != "junit"])
@settings(max_examples=10)
@given(data=st.data())
def test_a_node_of_another_type_is_no_defect(name, make, data):
    written = make()
    path = data.draw(st.sampled_from(list(nodes(written.files))))
    replacement = data.draw(st.sampled_from(REPLACEMENTS))
    examine(name, written, changed(written.files, path, replacement))
