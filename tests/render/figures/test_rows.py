from dataclasses import replace

import numpy as np
import pytest

import riskrank as rr
from riskrank.render.figures.rows import Intervals, draw_intervals
from riskrank.studies.gate.figures import intervals_by_unit as study_gates


def gates(claims):
    count = len(claims)
    rng = np.random.default_rng(count)
    estimate = rng.normal(0, 0.05, count)
    high = estimate + 0.03
    high[0] = np.inf
    return Intervals(
        "accuracy",
        tuple(claims),
        estimate,
        estimate - 0.03,
        high,
        np.where(np.arange(count) % 2, -0.02, 0.0),
        tuple(("pass", "fail", "inconclusive")[at % 3] for at in range(count)),
        tuple((at, at + 1) for at in range(count)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_legible(legible, names, count):
    words = legible(lambda: draw_intervals([gates(names(count)), gates(["one", "two"])]))
    assert words.count("pass") == (count + 2) // 3 + 1


def test_a_panel_has_a_single_unit():
    """A mean and a tail mean of one metric may have very different sizes."""
    rng = np.random.default_rng(0)
    frame = {
        "model": ["a"] * 60 + ["b"] * 60,
        "sample": [*range(60)] * 2,
        "metric": ["loss"] * 120,
        "score": rng.exponential(size=120) ** 3,
    }
    options = {
        "not_worse": ["a:b"],
        "better": ["b:a"],
        "on": ["mean:loss", "tvar@0.1:loss"],
        "lower": ["loss"],
    }
    result = rr.gate(frame, margin=0.1, jobs=1, **options)
    panels = study_gates(result.document)
    assert [(panel.unit, len(panel.claims)) for panel in panels] == [
        ("mean of loss, difference", 2),
        ("worst 10 % of loss, difference", 2),
    ]
    assert [panel.pairs for panel in panels] == [((1, 0), (0, 1)), ((1, 0), (0, 1))]


@pytest.mark.parametrize("narrow", [0.0, 1e-4])
def test_an_interval_is_visible_next_to_its_marker(narrow):
    """Its end caps are higher than the marker, however short the interval is."""
    base = gates(["a", "b", "c"])
    claims = replace(base, low=base.estimate - narrow, high=base.estimate + narrow)
    axes = next(axes for axes in draw_intervals([claims]).axes if axes.get_xlabel())
    lines = axes.get_lines()
    tallest = max(line.get_markersize() for line in lines if line.get_marker() != "None")
    limits = [line.get_ydata() for line in lines if line.get_linewidth() == 1.0]
    assert len(limits) == 6
    assert all(high - low > tallest for low, high in limits)


def test_a_claim_without_interval_is_labelled():
    claims = gates(["a", "b", "c"])
    nothing = np.full(3, np.nan)
    without = replace(claims, low=nothing, high=nothing)
    assert "no interval" not in draw_intervals([claims]).explanation
    assert "A claim without a bar" in draw_intervals([claims, without]).explanation
    assert "A claim without a bar" in draw_intervals([without]).explanation


def test_the_values_are_plotted():
    claims = gates(["a", "b", "c"])
    axes = next(axes for axes in draw_intervals([claims]).axes if axes.get_xlabel())
    bars = [line.get_xdata() for line in axes.get_lines()]
    for at in range(3):
        assert any(np.array_equal(line, [claims.estimate[at]]) for line in bars)
        assert any(np.array_equal(line, [claims.boundary[at]] * 2) for line in bars)
        assert any(len(line) == 2 and line[0] == claims.low[at] for line in bars)
    assert max(np.max(line) for line in bars if len(line) == 2 and line[0] != 0) <= axes.get_xlim()[1]


def test_an_axis_has_the_numbers_of_the_file():
    """If lower is better, the axis decreases from left to right, as in the tables."""
    claims = gates(["a", "b", "c"])
    ticks = []
    for turned in (False, True):
        plot = draw_intervals([replace(claims, lower_is_better=turned)])
        axes = next(axes for axes in plot.axes if axes.get_xlabel())
        plot.to_bytes("svg", text_as_text=True)
        labels = [label.get_text().replace("−", "-") for label in axes.get_xticklabels()]
        ticks.append([float(label) for label in labels])
    assert ticks[1] == [-number for number in ticks[0]]
    assert sorted(ticks[0]) == ticks[0] != ticks[1]


@pytest.mark.slow
def test_the_rows_of_a_study(legible):
    rng = np.random.default_rng(0)
    base = rng.normal(size=40)
    frame = {
        "model": ["new"] * 80 + ["old"] * 80,
        "sample": list(range(40)) * 4,
        "metric": (["acc"] * 40 + ["latency"] * 40) * 2,
        "score": [
            *base + 0.5 + 0.1 * rng.normal(size=40),
            *base + 3,
            *base,
            *base + 1 + 0.1 * rng.normal(size=40),
        ],
    }
    options = {"better": ["new:old"], "lower": ["latency"], "jobs": 1}
    result = rr.gate(frame, not_worse=["new:old"], margin=0.25, **options)
    orders = rr.gate(frame, on=["ssd"], **options)
    by_unit = {panel.unit: panel for panel in study_gates(result.document)}
    by_unit |= {panel.unit: panel for panel in study_gates(orders.document)}
    assert len(by_unit) == 4
    for panel in by_unit.values():
        lows = panel.low[np.isfinite(panel.low)]
        assert np.all(lows <= panel.estimate[np.isfinite(panel.low)])
        for estimate, low, high, boundary, answer in zip(
            panel.estimate, panel.low, panel.high, panel.boundary, panel.answer, strict=True
        ):
            if np.isfinite(low) and np.isfinite(high) and answer != "inconclusive":
                assert (answer == "pass") == (low > boundary) == (estimate > boundary)
    assert by_unit["mean of acc, new − old"].estimate == pytest.approx(0.5, abs=0.1)
    slower = by_unit["mean of latency, new − old"]
    assert np.all(slower.estimate < -1.8)  # slower is against the new one
    assert slower.lower_is_better
    assert np.all(by_unit["½ − violation ratio, acc"].boundary == 0)
    legible(result.plot)
    legible(orders.plot)
