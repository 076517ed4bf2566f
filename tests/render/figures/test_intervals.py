from dataclasses import replace

import numpy as np
import pytest

import riskrank as rr
from riskrank.render.figures.intervals import Intervals, draw_intervals
from riskrank.studies.gate.figures import intervals as study_gates


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


def test_a_panel_has_one_unit():
    """A mean and a tail mean of one metric may be of quite another size."""
    rng = np.random.default_rng(0)
    frame = {
        "model": ["a"] * 60 + ["b"] * 60,
        "sample": [*range(60)] * 2,
        "metric": ["loss"] * 120,
        "score": rng.exponential(size=120) ** 3,
    }
    asked = {"not_worse": ["a:b"], "better": ["b:a"], "on": ["mean:loss", "tvar@0.1:loss"], "lower": ["loss"]}
    result = rr.gate(frame, margin=0.1, jobs=1, **asked)
    found = study_gates(result.document)
    assert [(one.unit, len(one.claims)) for one in found] == [
        ("mean of loss, difference", 2),
        ("worst 10 % of loss, difference", 2),
    ]
    assert [one.pairs for one in found] == [((1, 0), (0, 1)), ((1, 0), (0, 1))]


@pytest.mark.parametrize("narrow", [0.0, 1e-4])
def test_an_interval_is_seen_beside_its_marker(narrow):
    """Its ends reach above the marker, however short it is."""
    base = gates(["a", "b", "c"])
    found = replace(base, low=base.estimate - narrow, high=base.estimate + narrow)
    axes = next(axes for axes in draw_intervals([found]).axes if axes.get_xlabel())
    lines = axes.get_lines()
    tallest = max(line.get_markersize() for line in lines if line.get_marker() != "None")
    ends = [line.get_ydata() for line in lines if line.get_linewidth() == 1.0]
    assert len(ends) == 6
    assert all(high - low > tallest for low, high in ends)


def test_a_claim_without_interval_is_said_to_have_none():
    found = gates(["a", "b", "c"])
    nothing = np.full(3, np.nan)
    without = replace(found, low=nothing, high=nothing)
    assert "no interval" not in draw_intervals([found]).reading
    assert "Where there is no bar" in draw_intervals([found, without]).reading
    assert "Where there is no bar" in draw_intervals([without]).reading


def test_what_is_drawn_is_what_was_given():
    found = gates(["a", "b", "c"])
    axes = next(axes for axes in draw_intervals([found]).axes if axes.get_xlabel())
    drawn = [line.get_xdata() for line in axes.get_lines()]
    for at in range(3):
        assert any(np.array_equal(line, [found.estimate[at]]) for line in drawn)
        assert any(np.array_equal(line, [found.boundary[at]] * 2) for line in drawn)
        assert any(len(line) == 2 and line[0] == found.low[at] for line in drawn)
    assert max(np.max(line) for line in drawn if len(line) == 2 and line[0] != 0) <= axes.get_xlim()[1]


def test_an_axis_has_the_numbers_of_the_file():
    """Where less is better the differences fall from left to right, as tables have them."""
    found = gates(["a", "b", "c"])
    shown = []
    for turned in (False, True):
        plot = draw_intervals([replace(found, lower_is_better=turned)])
        axes = next(axes for axes in plot.axes if axes.get_xlabel())
        plot.to_bytes("svg", text_as_text=True)
        labels = [label.get_text().replace("−", "-") for label in axes.get_xticklabels()]
        shown.append([float(label) for label in labels])
    assert shown[1] == [-number for number in shown[0]]
    assert sorted(shown[0]) == shown[0] != shown[1]


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
    by_unit = {found.unit: found for found in study_gates(result.document)}
    by_unit |= {found.unit: found for found in study_gates(orders.document)}
    assert len(by_unit) == 4
    for found in by_unit.values():
        shown = found.low[np.isfinite(found.low)]
        assert np.all(shown <= found.estimate[np.isfinite(found.low)])
        for estimate, low, high, boundary, answer in zip(
            found.estimate, found.low, found.high, found.boundary, found.answer, strict=True
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
