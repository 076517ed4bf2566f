"""Each message of the reading stage: a table that triggers it, and the table read after following its advice.

`messages.toml` lists the text of the message, the table or files, the requested options, and the models,
metrics and number of samples after following the advice. The advice is the first suggestion or the hint; if
it is prose, other options or another table implement it. `false` unsets an option.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import riskrank
from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.baseline import GateReading
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.layouts import column_profiles
from riskrank.scores.table.score_table import read_scores

PACKAGE = Path(riskrank.__file__).parent / "scores/table"
MESSAGES = tomllib.loads(Path(__file__).with_name("messages.toml").read_text())["message"]
KINDS = {"gate": GateReading, "rank": RankReading}
# Messages about gates, trends, prices, votes and uses of a table are tested elsewhere.
ELSEWHERE = {
    "baseline",
    "gate_inputs",
    "overlap",
    "export_rows",
    "runs",
    "judge_calibration",
    "oriented_scores",
}
# A metric with another accepted baseline, a frame in place of the files of a harness, metrics files, and
# samples that must pass a gate (test_statistics.py of gates).
UNREACHABLE_FROM_FILES = {
    *(("metrics.py", "_match_baseline"), ("reading.py", "_open")),
    *(("missing_reasons.py", "require_majority"), ("metric_specs.py", "parse_spec")),
    *(("metric_specs.py", "read_metrics_file"), ("scores.py", "required_samples")),
    ("rows.py", "require_repeats"),
}
# Functions that create an error, or write an option into one.
RAISES = {"InputError", "UsageError", "unknown_name", "contradict", "index_of"}
OPTION = re.compile("\ue000([a-z_]+)\ue001([^\ue002]*)\ue002")
ADJACENT_OPTIONS = re.compile(rf"{OPTION.pattern}(?: {OPTION.pattern})*")

ROWS = [(model, f"q{s}", 0.3 + s % 5 / 10 + (model == "B") / 20) for model in "AB" for s in range(40)]
TABLES = {
    "good": "model,sample,metric,score\nA,1,m,0.1\nA,2,m,0.2\nB,1,m,0.3\nB,2,m,0.4\n",
    "columns": "\n".join(
        ",".join(f"{word}{at % over}" for at in range(120)) for word, over in (("c", 120), *[("", 7)] * 3)
    ),
    "labels": "model,sample,judge,human\n"
    + "".join(
        f"{m},{s},{x:.2f},{'' if at % 40 > 29 else at * 3 % 10 / 10}\n" for at, (m, s, x) in enumerate(ROWS)
    ),
    "failures": "model,sample,acc,status\n"
    + "".join(
        f"{m},{s},{',error' if at in range(1, 40, 2) else f'0.5{at % 7},ok'}\n"
        for at, (m, s, _) in enumerate(ROWS)
    ),
}


def options(entry):
    """Return the options of a message's entry."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return {name: None if value is False else value for name, value in values.items()}


def first_suggestion(text):
    """Return the first options that a text proposes, by name."""
    result, matched = {}, ADJACENT_OPTIONS.search(text)
    for name, value in OPTION.findall(matched[0]) if matched else ():
        if name == "weight":
            result[name] = {value.split("=")[0]: float(value.split("=")[1])}
        elif isinstance(getattr(ReadOptions(), name), tuple):
            result[name] = (*result.get(name, ()), *(value.split(",") if name != "task_weight" else [value]))
        else:
            result[name] = value == "True" or value
    return result


@pytest.fixture(autouse=True)
def low_column_limit(monkeypatch):
    """Lower the limit of inspected columns from 1,000 to 100."""
    monkeypatch.setattr(column_profiles, "_MAX_COLUMNS", 100)


def read(folder, files, requested):
    """Write files and read them, or the requested paths."""
    arguments, paths = dict(requested), []
    kind, listed = KINDS.get(arguments.pop("kind", ""), ReadOptions), arguments.pop("paths", None)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, str):
            path.write_text(TABLES.get(text, text))
        else:
            pl.DataFrame(text).write_parquet(path)
        paths += [] if name.endswith("toml") else [name]
    arguments |= (
        {"metrics_file": str(folder / arguments["metrics_file"])}
        if arguments.get("metrics_file") in files
        else {}
    )
    return read_scores([str(folder / name) for name in listed or paths], kind(**arguments))


def files_of(message):
    return message.get("files") or {"t.csv": message.get("table", "good")}


@pytest.mark.parametrize("number", range(len(MESSAGES)), ids=lambda at: f"{at} {MESSAGES[at]['says']}")
def test_following_the_advice_reads_a_table(tmp_path, number):
    message = MESSAGES[number]
    files, requested = files_of(message), options(message.get("asked", {}))
    with pytest.raises((InputError, UsageError)) as caught:
        read(tmp_path, files, requested)
    lines = caught.value.lines(flags=True)
    assert message["says"] in " ".join(lines)
    if "instead" in message:
        files, requested = {"t.csv": message["instead"]}, {}
    requested |= options(message.get("then", {}))
    error = caught.value
    for _ in range(2):
        if not {"then", "instead"} & message.keys():
            more = first_suggestion(error.suggestions[0][0] if error.suggestions else error.hint)
            assert more, lines
            requested |= more
        try:
            table = read(tmp_path, files, requested)
            break
        except RiskrankError as next_error:
            error = next_error
    else:
        raise error
    metrics = " ".join(spec.name for spec in table.metrics)
    assert f"{' '.join(table.models)}|{metrics}|{len(table.samples)}" == message["reads"]


def functions_with_messages():
    """Return the functions of the reading stage that create an error: (file, function)."""
    result = set()
    for path in (path for path in PACKAGE.rglob("*.py") if path.stem not in ELSEWHERE):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                called = {
                    getattr(call.func, "id", "") for call in ast.walk(node) if isinstance(call, ast.Call)
                }
                result |= {(str(path.relative_to(PACKAGE)), node.name)} if called & RAISES else set()
    return result - UNREACHABLE_FROM_FILES


@pytest.mark.slow
def test_every_message_is_listed(tmp_path, monkeypatch):
    recorded_functions, original = set(), RiskrankError.__init__

    def recorded(self, *args, **kwargs):
        frame = sys._getframe(1)
        while frame is not None and PACKAGE not in Path(frame.f_code.co_filename).parents:
            frame = frame.f_back
        if frame is not None:
            recorded_functions.add(
                (str(Path(frame.f_code.co_filename).relative_to(PACKAGE)), frame.f_code.co_name)
            )
        original(self, *args, **kwargs)

    monkeypatch.setattr(RiskrankError, "__init__", recorded)
    for number, message in enumerate(MESSAGES):
        with pytest.raises(RiskrankError):
            read(tmp_path / str(number), files_of(message), options(message.get("asked", {})))
    assert functions_with_messages() - recorded_functions == set()
