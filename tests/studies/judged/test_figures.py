"""The picture of a corrected judge: in its place in the table, the same again, models by their means."""

from pathlib import Path

import pytest

import riskrank as rr
from riskrank.options.commands import BY_NAME
from riskrank.studies.judge.figures import models_by_mean

DATA = str(Path(__file__).parents[3] / "sample_data" / "judge.csv")
HOW = {"wide": True, "human": "people", "judge": "judge"}


@pytest.mark.parametrize("way", ["higher", "lower"])
def test_models_stand_by_their_corrected_means(way):
    result = rr.rank(DATA, **HOW, no_test=True, **{way: ["people", "judge"]})
    entry = result.document.judged.entry
    means = [entry.models[at].mean for at in models_by_mean(entry)]
    assert means == sorted(means, reverse=way == "higher")
    one = result.plot("judge")
    assert one.to_bytes("svg") == result.plot("judge").to_bytes("svg")
    assert "150 labels alone" in one.reading


def test_the_picture_is_in_the_table_of_those_that_have_it():
    assert [row.name for row in BY_NAME.values() if "judge" in row.pictures] == [
        "rank",
        "dominance",
        "mrm",
        "gate",
    ]
    for command in (rr.rank, rr.dominance, rr.mrm):
        assert "judge" in command(DATA, **HOW, no_test=True).pictures
    gate = rr.gate(DATA, **HOW, better="tuned:base", higher=["people", "judge"])
    assert "judge" in gate.pictures
    assert "judge" not in rr.rank(DATA, wide=True, metric="judge", no_test=True).pictures


def test_intervals_are_of_the_corrected_means():
    result = rr.rank(DATA, **HOW, no_test=True)
    for one in result.document.judged.entry.models:
        assert one.low < one.mean < one.high
        assert one.high - one.low < 0.4
