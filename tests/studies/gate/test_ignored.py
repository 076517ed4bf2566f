"""Metrics that one side lacks: refused if a claim names them, otherwise named on every output."""

import json

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError

RNG = np.random.default_rng(3)
OLD = pl.DataFrame(
    {
        "sample": [f"s{at:03}" for at in range(100)],
        "correct": (RNG.random(100) < 0.8).astype(int),
        "helpful": RNG.normal(3, 1, 100),
        "seconds": RNG.lognormal(size=100),
    }
)


@pytest.fixture
def files(tmp_path):
    """Return the scores of two versions; the new one lacks a metric."""
    OLD.write_csv(tmp_path / "old.csv")
    OLD.drop("helpful").write_csv(tmp_path / "new.csv")
    return [f"new={tmp_path / 'new.csv'}", f"old={tmp_path / 'old.csv'}"]


SETTINGS = {"not_worse": "new:old", "margin": 0.2, "lower": "seconds", "higher": "helpful", "resamples": 60}


def test_a_metric_that_no_claim_names_is_named_on_every_output(files):
    result = rr.gate(files, **SETTINGS)
    note = "no claim tests helpful (absent from new)"
    assert {row.metric for row in result.rows} == {"correct", "seconds"}
    assert result.to_text().count(f"Ignored: {note}.") == 1
    assert f"ignored: {note}" in json.loads(result.to_json())["meta"]["warnings"]
    assert result._render("junit").decode().count(f'name="ignored" value="{note}"') == 1


def test_a_metric_that_a_claim_names_is_required(files):
    for claim in (
        {"on": "helpful"},
        {"margin": {"helpful": 0.2}},
        {"margin": 0.2, "at_least": {"helpful": 2}},
    ):
        with pytest.raises(InputError, match="a claim needs a score") as refused:
            rr.gate(files, **SETTINGS | claim)
        assert refused.value.found == "new has no helpful"
    with pytest.raises(UsageError, match="no claim is about seconds") as refused:
        rr.gate(files, **SETTINGS | {"on": "correct", "margin": {"seconds": 1}})
    assert refused.value.found == "the claims are about correct"


def test_a_number_for_one_metric_needs_no_direction_of_others(tmp_path):
    OLD.write_csv(tmp_path / "bot.csv")
    result = rr.gate(f"bot={tmp_path / 'bot.csv'}", at_least={"correct": 0.5}, resamples=60)
    assert [row.metric for row in result.rows] == ["correct"]


def test_copies_of_one_file_are_named(tmp_path):
    for name in ("old.csv", "new.csv"):
        OLD.write_csv(tmp_path / name)
    result = rr.gate([f"{name}={tmp_path / name}.csv" for name in ("new", "old")], **SETTINGS)
    (note,) = (text for text in json.loads(result.to_json())["meta"]["warnings"] if "identical" in text)
    assert note.endswith("old.csv are identical: was the new version scored?")
