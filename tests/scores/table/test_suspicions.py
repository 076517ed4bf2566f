"""Suspicions of the register stay silent on good tables, find the fault they look for, and offer commands."""

import sys
from pathlib import Path

import numpy as np
import pytest

from riskrank.errors import RiskrankError

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
sys.path.insert(0, BENCHMARKS)
from suspicions import BENIGN, SUSPICIONS, outcome, read, suspicion_rows  # noqa: E402

sys.path.remove(BENCHMARKS)


def ids(rows):
    return [row.name for row in rows]


@pytest.mark.parametrize("kind", BENIGN, ids=ids(BENIGN))
def test_good_tables_are_neither_refused_nor_misread(kind):
    rows = np.array(suspicion_rows(kind, range(2)))
    assert not rows[:, :2].any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", BENIGN, ids=ids(BENIGN))
def test_good_tables_are_rarely_refused(kind):
    """At most one table in 500 is refused or misread, and one in 50 has a warning of any suspicion."""
    rows = np.array(suspicion_rows(kind, range(1000)))
    assert rows[:, :2].any(axis=1).sum() <= 2
    assert rows[:, 2:].any(axis=1).sum() <= 20


@pytest.mark.parametrize("tables", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suspicion", SUSPICIONS, ids=ids(SUSPICIONS))
def test_faults_are_found(suspicion, tables):
    rows = np.array(suspicion_rows(suspicion.harmful, range(tables)))
    assert rows[:, 2 + SUSPICIONS.index(suspicion)].sum() >= tables - 1


@pytest.mark.slow
@pytest.mark.parametrize("suspicion", SUSPICIONS, ids=ids(SUSPICIONS))
def test_refusals_offer_a_command_that_reads_the_table(suspicion):
    for seed in range(4):
        if not outcome(suspicion.harmful, seed)[0]:
            continue
        with pytest.raises(RiskrankError) as caught:
            read(suspicion.harmful, suspicion.harmful.table(seed))
        assert bool(caught.value.suggestions) != suspicion.is_final, caught.value


def test_clusters_hidden_in_sample_names_are_proposed():
    (hidden,) = (row for row in SUSPICIONS if "names" in row.name)
    rows = np.array(suspicion_rows(hidden.harmful, range(10)))
    assert rows[:, 2 + SUSPICIONS.index(hidden)].all()
