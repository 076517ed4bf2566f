"""Whatever the Python door gives, from files and from frames, keeps to the printed schema."""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

import riskrank as rr
from riskrank.asked.commands import COMMANDS
from riskrank.shown.schema import json_schema

QUICK = {"resamples": 40, "jobs": 1, "higher": "*"}
STILL = {"no_test": True, "higher": "*"}
CASES = [
    ("check", {}),
    ("check", {"metric": "acc"}),
    ("rank", QUICK | {"all_methods": True, "stability": 10}),
    ("rank", QUICK | {"group_by": "half"}),
    ("rank", STILL | {"unpaired": True, "per_metric": True, "aggregate": "kemeny"}),
    ("dominance", QUICK | {"ratios": True}),
    ("dominance", STILL | {"group_by": "half", "test": "all"}),
    ("mrm", QUICK),
    ("mrm", STILL | {"group_by": "half", "per_metric": True}),
    ("gate", {"better": "A:B", "on": ["mean", "tvar@0.2", "ssd"], "jobs": 1, "higher": "*"}),
    ("gate", {"not_worse": "A:B", "group_by": "half", "jobs": 1, "higher": "*"}),
    ("gate", {"not_worse": "A:B", "on": "acc", "cases": 3, "jobs": 1, "higher": "*"}),
    ("diff", {"pair": "A:B", "higher": "*"}),
    ("diff", {"pair": "A:B", "group_by": "half", "higher": "*"}),
    ("gsd", QUICK | {"models": ["A", "B"], "resamples": 20}),
    ("gsd", STILL | {"witness": "A:B", "models": ["A", "B"]}),
    ("copa", {"higher": "*", "jobs": 1}),
    ("copa", {"higher": "*", "resample_models": 20, "jobs": 1}),
    ("copa", {"higher": "*", "compare": True}),
    ("copa", {"higher": "*", "why": "A"}),
    ("copa", {"higher": "*", "sweep": "acc", "steps": 50}),
    ("copa", {"higher": "*", "sweep_p": True, "steps": 50}),
    ("portfolio", {"higher": "*"}),
    ("portfolio", {"higher": "*", "summary": True}),
    ("report", QUICK | {"copa": True, "gsd": True, "group_by": "half", "models": ["A", "B"]}),
    ("power", {"sizes": 20, "simulations": 3, "resamples": 40, "jobs": 1, "pair": "A:C", "metric": "acc"}),
]
# A command that has no case of its own, as a new one, is asked for what it does by default.
CASES += [
    (row.name, {"higher": "*"})
    for row in COMMANDS
    if row.python and row.name not in {"convert", "trend", *(command for command, _ in CASES)}
]


@pytest.fixture(params=["frame", "file"])
def scores(request, tmp_path):
    """The same scores as everything the door takes."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        [
            {
                "model": model,
                "sample": f"s{at}",
                "metric": metric,
                "score": rng.normal() - place,
                "half": at % 2,
            }
            for place, model in enumerate("ABC")
            for metric in ("acc", "f1")
            for at in range(24)
        ]
    )

    if request.param == "frame":
        return frame
    frame.write_csv(tmp_path / "t.csv")
    return str(tmp_path / "t.csv")


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def keeps_to_its_schema(text: str) -> None:
    document = json.loads(text)
    found = validator(document["schema"].removeprefix("riskrank/"))
    found.validate(document)
    meta = found.schema["properties"]["meta"]
    known = set(meta["properties"])
    assert set(meta["required"]) <= set(document["meta"]) & known


@pytest.mark.parametrize(("command", "options"), CASES)
def test_results_keep_to_their_schema(scores, command, options):
    keeps_to_its_schema(getattr(rr, command)(scores, **options).to_json())


def test_a_plan_from_distributions_keeps_to_its_schema():
    plan = rr.power("normal:2,1", "normal:0,1", sizes=20, simulations=3, resamples=40, jobs=1)
    keeps_to_its_schema(plan.to_json())


def test_a_trend_keeps_to_its_schema():
    frame = pl.DataFrame({"model": "A", "sample": range(20), "metric": "acc", "score": [0, 1] * 10})
    keeps_to_its_schema(rr.trend([frame, frame.with_columns(score=1)], jobs=1).to_json())


def test_a_table_with_problems_keeps_to_its_schema():
    found = rr.check({"model": ["A", "A", "B"], "sample": [1, 2, 1], "metric": "m", "score": [1.0, None, 2]})
    keeps_to_its_schema(found.to_json())


def test_what_is_converted_keeps_to_its_schema(tmp_path):
    votes = {"sample": ["s1", "s2"], "model_a": ["A", "B"], "model_b": ["B", "A"], "verdict": ["a", "tie"]}
    keeps_to_its_schema(rr.convert(votes, from_="verdicts").to_json())
    table = {"columns": ["inputs", "latency"], "data": [["q1", 0.5], ["q2", None]]}
    (tmp_path / "eval_results_table.json").write_text(json.dumps(table))
    keeps_to_its_schema(rr.convert(f"m={tmp_path / 'eval_results_table.json'}").to_json())


def test_no_command_is_left_out():
    doors = {row.name for row in COMMANDS if row.python}
    assert {*(command for command, _ in CASES), "convert", "trend"} == doors
    assert doors < set(rr.__all__)
