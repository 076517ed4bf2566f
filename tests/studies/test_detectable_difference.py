"""The smallest detectable difference: its wording and its power."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.metric_means import format_detectable
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
def test_difference_is_rounded_up(difference, share, words):
    assert format_detectable(difference, share) == words


def table(rng, shift, n=60, k=2):
    difficulty = rng.normal(size=n)
    return of_rows(
        (f"m{i}", f"s{j}", "q", difficulty[j] + rng.normal() + (shift if i == 0 else 0.0))
        for i in range(k)
        for j in range(n)
    )


OPTIONS = {rr.rank: {}, rr.gate: {"better": "m0:m1"}}


@pytest.mark.slow
def test_detectable_difference_has_the_nominal_power():
    """Share of gates that pass on 300 tables of two models, ± 0.023."""
    rng = np.random.default_rng(0)
    true = np.median([rr.gate(table(rng, 0.0), better="m0:m1").document.detectable["q"] for _ in range(40)])
    passes = [rr.gate(table(rng, true), better="m0:m1").rows[0].verdict == "pass" for _ in range(300)]
    assert 0.73 <= np.mean(passes) <= 0.87


def test_commands_report_the_detectable_difference():
    frame = table(np.random.default_rng(1), 0.3)
    for command in (rr.rank, rr.dominance):
        result = command(frame)
        assert result.document.meta()["smallest_visible"]["q"] == pytest.approx(0.53, abs=0.15)
        assert "smallest detectable difference:" in result.to_text()


def test_constant_differences_have_no_detectable_difference():
    frame = table(np.random.default_rng(1), 0.3, k=2, n=60)
    number = pl.col("sample").str.slice(1).cast(pl.Int64)
    suite = frame.with_columns(task=pl.format("t{}", number % 3))
    detectable = {
        command: command(suite, **more).document.detectable["q"] for command, more in OPTIONS.items()
    }
    assert detectable[rr.gate] == pytest.approx(detectable[rr.rank], rel=0.15)
    constant_difference = frame.with_columns(score=number * 1.0)
    for constant in (
        constant_difference,
        constant_difference.with_columns(pl.col("score") + 2 * (pl.col("model") == "m0")),
    ):
        for command, more in OPTIONS.items():
            assert dict(command(constant, **more).document.detectable) == {}
