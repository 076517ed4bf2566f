"""Undeclared directions are reported next to the sentences that depend on them."""

import numpy as np
import pytest

import riskrank as rr


def times() -> dict[str, list]:
    scores = np.random.default_rng(0).gamma(4.0, 0.25, 80).tolist()
    return {"model": ["a"] * 40 + ["b"] * 40, "sample": [*range(40)] * 2, "latency": scores}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("rank", {"resamples": 100}),
        ("dominance", {"no_test": True}),
        ("mrm", {"resamples": 100}),
        ("portfolio", {}),
        ("portfolio", {"summary": True}),
        ("report", {"resamples": 100}),
        ("copa", {"resamples": 100}),
        ("gsd", {"resamples": 20}),
    ],
)
def test_cost_is_minimised_by_its_name(command, options):
    run = getattr(rr, command)
    by_name = run(times(), wide=True, **options)
    declared = run(times(), wide=True, lower="latency", **options)
    assert by_name.verdict == declared.verdict
    assert any(
        warning.startswith("lower latency is better, judging by the name")
        for warning in by_name.document.provenance.warnings
    )
    assert "Assuming that higher" not in declared.verdict
    assert "Assuming that higher" not in run(times(), wide=True, higher="latency", **options).verdict
