"""Findings of 200 tables with known truth: at most α + 1 % are false, none contradicts its table."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

path = Path(__file__).parents[2] / "benchmarks" / "finding_truths.py"
spec = importlib.util.spec_from_file_location("finding_truths", path)
truths = importlib.util.module_from_spec(spec)
sys.modules["finding_truths"] = truths
spec.loader.exec_module(truths)


@pytest.mark.slow
def test_findings_of_tables_of_every_kind():
    rows = np.array([row for kind in truths.KINDS for row in truths.finding_rows(kind, range(25))])
    by_truth, by_table = rows.mean(axis=0)
    assert by_table == 0
    assert by_truth <= 0.06 + 2 * np.sqrt(0.06 * 0.94 / len(rows))


def test_false_findings_are_detected():
    """A table called equal after it was drawn, and figures from another table."""
    from dataclasses import replace

    import riskrank as rr

    table = next(
        candidate
        for candidate in (truths.random_table("one", seed) for seed in range(99))
        if not candidate.equal and rr.rank(candidate.frame, **candidate.options).verdict.startswith("Ship")
    )
    result = rr.rank(table.frame, **table.options)
    assert truths.against_truth(table, result) == []
    assert "ahead" in truths.against_truth(replace(table, equal=True), result)
    assert truths.against_table(table, result) == []
    first = result.document.findings[0].models[0]
    moved = table.frame.with_columns(score=table.frame["score"] + (table.frame["model"] == first))
    assert truths.against_table(replace(table, frame=moved), result) == ["gain: difference"]
