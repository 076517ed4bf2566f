"""What nobody declared is said where a sentence rests on it."""

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
    ],
)
def test_less_of_what_is_a_cost_by_its_name_is_better(command, options):
    run = getattr(rr, command)
    by_name = run(times(), wide=True, **options)
    assert by_name.verdict == run(times(), wide=True, lower="latency", **options).verdict
    assert any(
        one.startswith("less latency is better, by its name") for one in by_name.document.provenance.warnings
    )
    assert "nobody declared" not in run(times(), wide=True, lower="latency", **options).verdict
    assert "nobody declared" not in run(times(), wide=True, higher="latency", **options).verdict
