"""Questions to a held-out table: counted, at smaller levels, and nothing told but answers."""

import contextlib
import json
import os
import stat

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.errors import GateInconclusive, InputError, UsageError
from riskrank.studies.gate.ledger import Ledger


def frame(seed, *, skill=0.7, n=200, old=0, metric="ok"):
    old_scores = (np.random.default_rng(old).random(n) < 0.7).astype(float)
    new = (np.random.default_rng(seed).random(n) < skill).astype(float)
    names = [f"q{at}" for at in range(n)]
    return pl.DataFrame(
        {"model": ["new"] * n + ["old"] * n, "sample": names * 2, metric: [*new, *old_scores]}
    )


@pytest.fixture
def ask(tmp_path):
    path = tmp_path / "ledger.json"

    def asked(seed=1, **changed):
        settings = {name: changed.pop(name) for name in ("alpha", "anytime", "cases") if name in changed}
        table = frame(seed, **changed)
        return rr.gate(table, better="new:old", confirm=str(path), resamples=2000, **settings)

    asked.path = path
    return asked


def test_levels_add_up_to_the_level():
    total = 0.0
    ledger = Ledger("l", "t", 0.05)
    for number in range(1, 31):
        assert ledger.number == number
        total += ledger.alpha * ledger.share
        told = json.loads(ledger.with_answer(["a better than b"], passed=False))
        ledger = Ledger("l", "t", 0.05, told["questions"])
    assert total == pytest.approx(0.05 * 30 / 31)


@pytest.mark.parametrize("name", ["ledger.json", "ledger.json.lock", "ledger.json.new"])
def test_links_that_somebody_laid_are_not_written_through(ask, name):
    secret = ask.path.with_name("secret")
    secret.write_text("secret")
    ask.path.with_name(name).symlink_to(secret)
    with contextlib.suppress(InputError):
        ask()
        assert name != "ledger.json", "a link is no ledger"
    assert secret.read_text() == "secret"


def test_a_ledger_has_one_name_and_keeps_who_may_read_it(ask):
    ask()
    ask.path.chmod(0o600)
    ask(2)
    assert stat.S_IMODE(ask.path.stat().st_mode) == 0o600
    os.link(ask.path, ask.path.with_name("other"))
    with pytest.raises(InputError, match="no ledger can be kept there"):
        ask(3)


def test_nothing_is_told_but_the_answer(ask):
    result = ask()
    assert isinstance(result.document.failed, GateInconclusive)
    told = json.loads(result.to_json())
    (row,) = told["results"]
    assert row == {
        "question": 1,
        "level": 0.025,
        "claim": "new better than old: mean of ok",
        "verdict": "inconclusive",
    }
    assert not {"scored", "counts", "smallest_visible", "cases"} & set(told["meta"])
    # A clear loss and a near miss are told alike.
    one, other = ask(2, skill=0.2), ask(4, skill=0.7)
    assert [row.verdict for result in (one, other) for row in result.rows] == ["inconclusive"] * 2
    assert [row["question"] for row in json.loads(ask.path.read_text())["questions"]] == [1, 2, 3]


def test_a_pass_ends_it(ask):
    assert ask(skill=0.95).document.outcome == "pass"
    with pytest.raises(InputError, match="has ended"):
        ask(2)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"old": 5}, "of another table"),
        ({"n": 150}, "of another table"),
        ({"metric": "other"}, "of another table"),
        ({"alpha": 0.1}, "of another level"),
    ],
)
def test_another_table_is_refused(ask, change, what):
    ask()
    before = ask.path.read_bytes()
    with pytest.raises(InputError, match=what):
        ask(2, **change)
    assert ask.path.read_bytes() == before
    assert not ask.path.with_name("ledger.json.lock").exists()


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_lost_line_is_found(ask, lost):
    for seed in range(3):
        ask(seed)
    told = json.loads(ask.path.read_text())
    del told["questions"][lost]
    ask.path.write_text(json.dumps(told))
    with pytest.raises(InputError, match="lost or changed a line"):
        ask(9)


def test_a_changed_line_and_what_is_no_ledger_are_refused(ask):
    ask()
    text = ask.path.read_text()
    for changed, what in (
        (text.replace("0.025", "0.01"), "changed a line"),
        (text[:50], "no ledger"),
        ("[]", "no ledger"),
    ):
        ask.path.write_text(changed)
        with pytest.raises(InputError, match=what):
            ask(2)


def test_a_pipe_is_no_ledger(ask):
    os.mkfifo(ask.path)
    with pytest.raises(InputError, match="no ledger can be kept there"):
        ask()


def test_two_runs_at_once_are_refused(ask):
    ask.path.with_name("ledger.json.lock").touch()
    with pytest.raises(InputError, match="another run is asking"):
        ask()
    assert not ask.path.exists()


def test_what_would_tell_more_is_refused(ask):
    for more in ({"anytime": True}, {"cases": 3}):
        with pytest.raises(UsageError, match="confirm"):
            ask(**more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spread", "alpha", "most"), [(0.02, 0.05, 0.01), (0.0, 0.05, 0.025), (0.0, 0.02, 0.01)]
)
def test_thirty_questions_none_better(spread, alpha, most):
    """A search follows training scores; candidates are worse by something, or all equal: 2,000 searches.

    A pass is one-sided: all questions together spend half of the level, which equal models take whole.
    """
    rng, tables, n = np.random.default_rng(5), 2000, 200
    passed = 0
    for _ in range(tables):
        hard = rng.random(n)
        old = (hard < 0.7).astype(float)
        for number in range(1, 31):
            skill = 0.7 - abs(rng.normal(0, spread)) if spread else 0.7
            own = np.where(rng.random(n) < 0.7, hard, rng.random(n))
            apart = (own < skill) - old
            error = apart.std(ddof=1) / np.sqrt(n)
            evidence = Student(np.array([apart.mean()]), np.array([error]), np.array([n - 1.0])).evidence(
                np.zeros(1), np.array([n])
            )
            if Family(alpha).at(1 / (number * (number + 1))).answer(evidence).shown[0]:
                passed += 1
                break
    assert passed / tables <= most + 3 * np.sqrt(most / tables)
