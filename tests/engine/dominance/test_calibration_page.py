"""Code behind ``make calibrate``: cases match their definitions, the store resumes, marks are correct."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from riskrank.engine.sampling.design import require_testable

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_cases_match_their_description():
    from calibration_cases import DIFFERENT, IDENTICAL, TIED

    cases = [*IDENTICAL, *(power.case for power in DIFFERENT), *TIED]
    assert len({case.key for case in cases}) == len(cases)
    for case in cases:
        scores = case.draw(np.random.default_rng(0))
        assert scores.models == case.k
        assert min(scores.cluster_counts) == case.n
        require_testable(scores)
        assert scores.paired == (case.design != "unpaired")
        assert case.identical != (case.better(1).any() or case.better(2).any())


def test_every_level_of_the_grid_occurs():
    from calibration_cases import IDENTICAL

    assert {case.k for case in IDENTICAL} == {2, 4, 5, 8, 12}
    assert {10, 20, 50, 200} <= {case.n for case in IDENTICAL}
    assert {0, 0.7, 0.9} <= {case.correlation for case in IDENTICAL}
    assert {case.design for case in IDENTICAL} == {"paired", "unpaired", "clusters"}


def test_binary_scores_have_their_shares():
    from calibration_cases import Case

    case = Case("0/1, 60 % ones", (0.15, 0.0), 40_000)
    means = [value.mean() for value in case.draw(np.random.default_rng(0)).values]
    np.testing.assert_allclose(means, [0.75, 0.6], atol=0.01)


@pytest.mark.parametrize("order", [1, 2])
def test_disasters_lie_at_the_boundary(order):
    """The ratio is computed from large random samples, not from the quantiles that define the shift."""
    from calibration_cases import Disaster

    first, second = (np.sort(v) for v in Disaster(order, 100_000).draw(np.random.default_rng(1)).values)
    gap = second - first
    if order == 2:
        gap = np.cumsum(gap)
    assert np.sum(np.maximum(gap, 0) ** 2) / np.sum(gap**2) == pytest.approx(0.5, abs=0.12)


def test_rank_sets_hold_only_with_all_places_of_the_tied():
    from calibration_tables import _rank_sets_hold

    better = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    assert _rank_sets_hold(better, better)
    wrong = better.copy()
    wrong[1, 2] = True  # of two tied models one beats the other
    assert not _rank_sets_hold(wrong, better)


def test_interrupted_run_resumes(tmp_path):
    from calibration_cases import Disaster
    from calibration_store import Job, Store
    from calibration_tables import disaster_task

    case = Disaster(2, 20)
    jobs = [Job("disasters", case.key, disaster_task, case, 6, 2)]
    uninterrupted = Store(tmp_path / "whole.jsonl")
    uninterrupted.run(jobs, processes=1)
    lines = uninterrupted.path.read_text().splitlines(keepends=True)
    assert len(lines) == 3
    torn = tmp_path / "torn.jsonl"
    torn.write_text(lines[0] + lines[1][:20])
    resumed = Store(torn)
    assert len(resumed.outcomes("disasters", case.key)) == 2
    resumed.run(jobs, processes=1)
    outcomes = Store(torn).outcomes("disasters", case.key)
    np.testing.assert_array_equal(outcomes, uninterrupted.outcomes("disasters", case.key))


@pytest.mark.parametrize(
    ("tables", "wrong", "mark"), [(400, 28, "| ok |"), (400, 48, "**MISSED**"), (50, 10, "too few")]
)
def test_marks(tmp_path, tables, wrong, mark):
    from calibration_cases import IDENTICAL
    from calibration_page import Page
    from calibration_store import Store

    outcomes = np.zeros((tables, 14))
    outcomes[:wrong, 2] = 1
    path = tmp_path / "store.jsonl"
    entry = {
        "part": "tables",
        "key": IDENTICAL[0].key,
        "seeds": list(range(tables)),
        "outcomes": outcomes.tolist(),
    }
    path.write_text(json.dumps(entry) + "\n")
    assert mark in Page(Store(path), []).errors()


def test_rivals_that_are_not_installed_are_named(tmp_path, monkeypatch):
    from calibration_page import Page
    from calibration_store import Store

    monkeypatch.setitem(sys.modules, "evalsig", None)
    assert "Not installed when this page was written" in Page(Store(tmp_path / "none.jsonl"), []).rivals()


def outcomes_in(path, part, key, outcomes):
    entry = {"part": part, "key": key, "seeds": list(range(len(outcomes))), "outcomes": outcomes}
    path.write_text(json.dumps(entry) + "\n")


@pytest.mark.parametrize(
    ("false", "detected", "passed"),
    [(8, 190, True), (8, 160, False), (40, 190, False)],
    ids=["kept", "blind", "false"],
)
def test_answer_needs_few_false_and_many_true_detections(tmp_path, false, detected, passed):
    from calibration_answers import ANSWER_CASES
    from calibration_page import Page
    from calibration_sections import answers
    from calibration_store import Store

    case = next(case for case in ANSWER_CASES if case.promised)
    rows = [[0.0, table < false, 1.0, table < detected, 1.0] for table in range(200)]
    outcomes_in(tmp_path / "store.jsonl", "answers", case.name, rows)
    page = Page(Store(tmp_path / "store.jsonl"), [])
    assert f"{detected / 200:.3f}" in answers(page)
    assert (page.missed == []) == passed


@pytest.mark.parametrize(("wrong", "passed"), [(12, True), (30, False)])
def test_gates_on_bounded_scores_are_promised_less(tmp_path, wrong, passed):
    from calibration_page import Page
    from calibration_sections import gates
    from calibration_store import Store
    from gate_simulation import CASES

    case = next(case for case in CASES if case.promised == 0.04)
    outcomes_in(
        tmp_path / "store.jsonl",
        "gates",
        case.key(case.sizes[0]),
        [[table < wrong, 0, 1] for table in range(400)],
    )
    page = Page(Store(tmp_path / "store.jsonl"), [])
    assert case.name in gates(page)
    assert (page.missed == []) == passed


def test_a_better_model_is_better_and_a_null_is_none():
    """For few normal scores, the shift is in standard deviations of a difference."""
    from calibration_answers import few

    draw, rng = few(2, 100_000, 1.5), np.random.default_rng(0)
    null, ahead = (np.subtract(*draw(rng, better).values) for better in (False, True))
    assert [null.mean(), ahead.mean()] == pytest.approx([0, 1.5], abs=0.02)
    assert [null.std(), ahead.std()] == pytest.approx([1, 1], abs=0.02)


def test_an_interval_may_be_open():
    """With few skewed scores Johnson's t has no upper limit, and the simulation of gates must accept this."""
    from gate_simulation import CASES, _holds, gate_rows

    number = next(at for at, case in enumerate(CASES) if case.name == "equal exponentials")
    assert all(covered in (0, 1) for _, _, covered in gate_rows((number, 30), range(20, 40)))
    assert _holds(-1.0, None, 5.0)
    assert not _holds(-1.0, None, -2.0)
    assert not _holds(None, 1.0, 5.0)


def test_gates_of_suites_lie_at_their_boundary():
    from suite_gate_simulation import LOSS, SUITE_GATES

    assert len({case.key for case in SUITE_GATES}) == len(SUITE_GATES)
    assert {case.on for case in SUITE_GATES} == {"macro", "task"}
    rng = np.random.default_rng(0)
    for case in SUITE_GATES:
        tables = [case.draw(rng) for _ in range(60)]
        lost = np.mean([[np.diff(scores.mean(axis=1))[0] for scores in tables] for tables in tables], axis=0)
        assert case.losses.mean() == pytest.approx(LOSS[case.kind])
        assert lost.mean() == pytest.approx(LOSS[case.kind], abs=0.05)
        built = case.columns(rng)
        assert len(built) == (1 if case.on == "macro" else len(case.sizes))
        for scores in built:
            require_testable(scores)


def test_looks_at_growing_tables_become_a_section():
    from calibration_looks import LOOK_CASES, LOOKS, NAMES, look_rows
    from calibration_page import Page
    from calibration_sections import looks

    assert {case.name for case in LOOK_CASES if case.median is None} > {"0/1, equal", "beta, equal"}
    ahead = NAMES["0/1, .80 against .70"]
    ((stop, once),) = look_rows(ahead.name, [5])  # which asserts that the engine's bets are the same
    assert once == 1
    assert stop in LOOKS
    rows = {"0/1, equal": [[0, 1]] * 196 + [[50, 0]] * 4, ahead.name: [[300, 1]] * 160 + [[0, 1]] * 40}

    class Tables:
        def outcomes(self, _part, name):
            return np.array(rows.get(name, []))

    page = Page(Tables(), [])
    text = looks(page)
    assert "| 0/1, equal | 200 | 0.020 ± 0.010 | 0.980 ± 0.010 | ok |" in text
    assert "| 0/1, .80 against .70 | 200 | 0.800 ± 0.028 | 300 | 300 | 300 | ok |" in text
    rows["0/1, equal"] = [[50, 1]] * 200
    looks(page)
    assert page.missed == ["looks, 0/1, equal: 1.000 ± 0.000"]
