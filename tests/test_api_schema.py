"""Documents of the Python API conform to the printed schema, as documents of files do."""

import json

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests.cli.test_schema import keeps_to_its_schema

QUICK = {"resamples": 40, "jobs": 1, "higher": "*"}
CASES = [
    ("check", {"metric": "acc"}),
    ("rank", QUICK | {"all_methods": True, "group_by": "half"}),
    ("gate", {"not_worse": "A:B", "on": ["acc", "ssd"], "jobs": 1, "higher": "*"}),
    ("copa", {"higher": "*", "jobs": 1}),
    ("report", QUICK | {"copa": True, "gsd": True, "group_by": "half", "models": ["A", "B"]}),
]


def frame_of(n=24):
    rng = np.random.default_rng(0)
    rows = [
        (model, at, metric, rng.normal() - place, at % 2)
        for place, model in enumerate("ABC")
        for metric in ("acc", "f1")
        for at in range(n)
    ]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score", "half"], orient="row")


@pytest.mark.parametrize(("command", "options"), CASES)
def test_results_of_frames_keep_to_their_schema(command, options):
    keeps_to_its_schema(json.loads(getattr(rr, command)(frame_of(), **options).to_json()))


def test_trends_and_converted_votes_conform_to_their_schema():
    frame = pl.DataFrame({"model": "A", "sample": range(20), "metric": "acc", "score": [0, 1] * 10})
    trend = rr.trend([frame, frame.with_columns(score=1)], jobs=1)
    votes = {"sample": ["s1", "s2"], "model_a": ["A", "B"], "model_b": ["B", "A"], "verdict": ["a", "tie"]}
    for result in (trend, rr.convert(votes, from_="verdicts")):
        keeps_to_its_schema(json.loads(result.to_json()))
