"""What a claim's numbers are shown with: an end of an interval that decides is seen to decide."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.render.junit import write_junit
from riskrank.render.view import Line, Table, cell_text
from riskrank.studies.gate.screen.first import view
from riskrank.studies.gate.screen.junit import suite
from riskrank.studies.gate.sentences import interval_of, quoted
from tests.tables import long_table, of_rows


@pytest.fixture(scope="module")
def document():
    rng = np.random.default_rng(0)
    frame = long_table({model: rng.normal(9, 2, 60) for model in "ab"}, "latency", int)
    return rr.gate(frame, better="a:b", lower=["latency"]).document


@pytest.mark.parametrize(
    ("claimed", "margin", "low", "high", "shown"),
    [
        ("better", 0, 0.0084, 1.4, "0.01 to 1.4"),
        ("better", 0, -1.4, -0.0084, "−1.4 to −0.01"),
        ("better", 0, 0, 1.4, "0.0 to 1.4"),
        ("not-worse", 0.5, 0.4996, 1.4, "0.4996 to 1.4"),
        ("not-worse", 0.5, 0.52, 1.4, "0.52 to 1.4"),
        ("not-worse", 0.5, -0.02, 1.4, "0.0 to 1.4"),
        ("better", 0.5, -1.4, -0.46, "−1.4 to −0.46"),
        ("better", 0, 1e-9, 1.4, "0.0 to 1.4"),
    ],
)
def test_an_end_is_told_apart_from_the_boundary(document, claimed, margin, low, high, shown):
    row = replace(document.rows[0], claim=claimed, margin=margin, low=low, high=high, standard_error=0.35)
    assert interval_of(row) == shown


def test_it_is_the_same_everywhere(document):
    row = replace(document.rows[0], verdict="fail", estimate=0.7, low=0.0084, high=1.4, standard_error=0.35)
    found = replace(document, rows=(row,))
    assert "0.01 to 1.4" in quoted([row])[0].words
    assert "0.01 to 1.4" in write_junit(suite(found)).decode()
    for table in (section for section in view(found) if isinstance(section, Table)):
        assert "0.01 to 1.4" in [cell_text(cell) for cell in table.rows[0]]


def to_decide(frame, **options) -> list[str]:
    found = view(rr.gate(frame, **options).document)
    return [one.text for one in found if isinstance(one, Line) and one.label == "To decide:"]


def two_metrics(second: float) -> pl.DataFrame:
    """Of one metric a difference that is open, of the other one of a known size."""
    rng = np.random.default_rng(1)
    rows = []
    for metric, shift in (("first", 0.05), ("second", second)):
        for model, mean in (("old", 0.0), ("new", shift)):
            noise = rng.normal(size=300)
            rows += [(model, at, metric, score) for at, score in enumerate(noise - noise.mean() + mean)]
    return of_rows(rows)


def test_the_size_that_would_decide_says_which_claim():
    (told,) = to_decide(two_metrics(1.0), better="new:old")
    assert "were the difference found the true one (new better than old: mean of first)" in told
    (told,) = to_decide(two_metrics(1.0), better="new:old", not_worse="new:old")
    assert "were the difference found the true one (new better than old: mean of first)" in told
    (alone,) = to_decide(two_metrics(1.0), better="new:old", on="first")
    assert "(" not in alone.split("or --")[0]


def test_no_size_is_told_where_none_mends_the_answer():
    assert rr.gate(two_metrics(-1.0), better="new:old").document.outcome == "fail"
    assert to_decide(two_metrics(-1.0), better="new:old") == []
