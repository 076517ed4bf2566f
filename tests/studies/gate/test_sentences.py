"""Rounding of the numbers of a claim: a limit that decides is visibly off the boundary."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.render.junit import write_junit
from riskrank.render.view import Line, Table, cell_text
from riskrank.studies.gate.screen import build_sections, suite
from riskrank.studies.gate.sentences import build_quotes, format_interval
from tests.tables import long_table, of_rows


@pytest.fixture(scope="module")
def document():
    rng = np.random.default_rng(0)
    frame = long_table({model: rng.normal(9, 2, 60) for model in "ab"}, "latency", int)
    return rr.gate(frame, better="a:b", lower=["latency"]).document


@pytest.mark.parametrize(
    ("claimed", "margin", "low", "high", "text"),
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
def test_rounding_keeps_limits_off_the_boundary(document, claimed, margin, low, high, text):
    row = replace(document.rows[0], claim=claimed, margin=margin, low=low, high=high, standard_error=0.35)
    assert format_interval(row) == text


def test_interval_is_the_same_in_every_format(document):
    row = replace(document.rows[0], verdict="fail", estimate=0.7, low=0.0084, high=1.4, standard_error=0.35)
    changed = replace(document, rows=(row,))
    assert "0.01 to 1.4" in build_quotes([row])[0].words
    assert "0.01 to 1.4" in write_junit(suite(changed)).decode()
    for table in (section for section in build_sections(changed) if isinstance(section, Table)):
        assert "0.01 to 1.4" in [cell_text(cell) for cell in table.rows[0]]


def required_sizes(frame, **options) -> list[str]:
    sections = build_sections(rr.gate(frame, **options).document)
    return [
        section.text for section in sections if isinstance(section, Line) and section.label == "To decide:"
    ]


def two_metrics(second: float) -> pl.DataFrame:
    """An undecided difference on the first metric, and a given difference on the second."""
    rng = np.random.default_rng(1)
    rows = []
    for metric, shift in (("first", 0.05), ("second", second)):
        for model, mean in (("old", 0.0), ("new", shift)):
            noise = rng.normal(size=300)
            rows += [(model, at, metric, score) for at, score in enumerate(noise - noise.mean() + mean)]
    return of_rows(rows)


def test_required_size_names_its_claim():
    (text,) = required_sizes(two_metrics(1.0), better="new:old")
    assert "(new better than old: mean of first; enough if the estimate is exact)" in text
    (text,) = required_sizes(two_metrics(1.0), better="new:old", not_worse="new:old")
    assert "(new better than old: mean of first; enough if the estimate is exact)" in text
    (alone,) = required_sizes(two_metrics(1.0), better="new:old", on="first")
    assert "use about 6,000 samples (enough" in alone


def test_failed_gate_reports_no_required_size():
    assert rr.gate(two_metrics(-1.0), better="new:old").document.outcome == "fail"
    assert required_sizes(two_metrics(-1.0), better="new:old") == []
