"""Picture of a calibrated judge: registration, reproducibility, order of models."""

from pathlib import Path

import pytest

import riskrank as rr
from riskrank.options.commands import BY_NAME
from riskrank.studies.judge.figures import models_by_mean

DATA = str(Path(__file__).parents[3] / "sample_data" / "judge.csv")
OPTIONS = {"wide": True, "human": "people", "judge": "judge"}


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_models_are_ordered_by_corrected_means(direction):
    result = rr.rank(DATA, **OPTIONS, no_test=True, **{direction: ["people", "judge"]})
    entry = result.document.judged.entry
    means = [entry.models[at].mean for at in models_by_mean(entry)]
    assert means == sorted(means, reverse=direction == "higher")
    plot = result.plot("judge")
    assert plot.to_bytes("svg") == result.plot("judge").to_bytes("svg")
    assert "150 labels alone" in plot.explanation


def test_commands_with_a_judge_picture():
    assert [row.name for row in BY_NAME.values() if "judge" in row.pictures] == [
        "rank",
        "dominance",
        "mrm",
        "gate",
    ]
    for command in (rr.rank, rr.dominance, rr.mrm):
        assert "judge" in command(DATA, **OPTIONS, no_test=True).pictures
    gate = rr.gate(DATA, **OPTIONS, better="tuned:base", higher=["people", "judge"])
    assert "judge" in gate.pictures
    assert "judge" not in rr.rank(DATA, wide=True, metric="judge", no_test=True).pictures


def test_intervals_are_of_the_corrected_means():
    result = rr.rank(DATA, **OPTIONS, no_test=True)
    for model in result.document.judged.entry.models:
        assert model.low < model.mean < model.high
        assert model.high - model.low < 0.4
