"""The smallest difference a table could have shown: its words, and how often one of that size is found."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.detectable_difference import visible_words
from tests.tables import of_rows


@pytest.mark.parametrize(
    ("difference", "share", "words"),
    [
        (0.0113, True, "1.5 points"),
        (0.0213, True, "3 points"),
        (41, False, "50"),
        (0.00094, False, "0.001"),
        (0, False, ""),
    ],
)
def test_one_digit_rounded_up(difference, share, words):
    assert visible_words(difference, share) == words


def table(rng, shift, n=60, k=2):
    hard = rng.normal(size=n)
    return of_rows(
        (f"m{i}", f"s{j}", "q", hard[j] + rng.normal() + (shift if i == 0 else 0.0))
        for i in range(k)
        for j in range(n)
    )


ASKED = {rr.rank: {}, rr.gate: {"better": "m0:m1"}}


@pytest.mark.slow
def test_one_of_that_size_is_found_four_times_out_of_five():
    """By a gate, of 300 tables of two models, ± 0.023."""
    rng = np.random.default_rng(0)
    true = np.median([rr.gate(table(rng, 0.0), better="m0:m1").document.visible["q"] for _ in range(40)])
    found = [rr.gate(table(rng, true), better="m0:m1").rows[0].verdict == "pass" for _ in range(300)]
    assert 0.73 <= np.mean(found) <= 0.87


def test_every_command_that_tests_means_says_it():
    frame = table(np.random.default_rng(1), 0.3)
    for ask in (rr.rank, rr.dominance):
        result = ask(frame)
        assert result.document.meta()["smallest_visible"]["q"] == pytest.approx(0.53, abs=0.15)
        assert "could have shown differences from" in result.to_text()


def test_a_gate_says_it_of_a_suite_too_and_not_of_what_does_not_vary():
    frame = table(np.random.default_rng(1), 0.3, k=2, n=60)
    number = pl.col("sample").str.slice(1).cast(pl.Int64)
    suite = frame.with_columns(task=pl.format("t{}", number % 3))
    says = {ask: ask(suite, **more).document.visible["q"] for ask, more in ASKED.items()}
    assert says[rr.gate] == pytest.approx(says[rr.rank], rel=0.15)
    alike = frame.with_columns(score=number * 1.0)
    for constant in (alike, alike.with_columns(pl.col("score") + 2 * (pl.col("model") == "m0"))):
        for ask, more in ASKED.items():
            assert dict(ask(constant, **more).document.visible) == {}
