from types import SimpleNamespace

import numpy as np
import pytest

import riskrank as rr
from riskrank.engine.copa.population import build_population, ccdf_quantiles
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.sweep import sweep_weight
from riskrank.engine.family import Answer, Family
from riskrank.errors import UsageError
from riskrank.render.figures.catalogue import model_colors
from riskrank.render.figures.text import curve_mark
from riskrank.studies.copa.figures import draw_boxes, draw_front, draw_front_uncertainty, draw_parallel


def example(names, objectives=4, seed=0):
    rng = np.random.default_rng(seed)
    count = len(names)
    cost = np.exp(rng.normal(0, 1, count)) * 1e4
    values = np.column_stack(
        [cost, np.log(cost) + rng.normal(0, 0.4, count), rng.random((count, objectives - 2))]
    )
    values[-1] = values[0]
    larger = np.array([False] + [True] * (objectives - 1))
    metrics = [f"objective with a long name {number}" for number in range(objectives)]
    models = build_population(np.where(larger, values, -values), names=names, metrics=metrics)
    return models, values, larger


def test_front_marks_match_the_sweep(names):
    models, values, larger = example(names(40))
    sweep = sweep_weight(models, 0, steps=500)
    panels = {
        axes.get_title(loc="left"): axes
        for axes in draw_front(measured_in(models, values, larger, ~larger), sweep, 2).axes
    }
    measured, ranked = panels["As measured"], panels["As ranks"]
    points = {axes: np.array([line.get_xydata()[0] for line in axes.lines]) for axes in (measured, ranked)}
    assert np.array_equal(points[ranked], models.u[:, [0, 2]])
    shares = points[measured] / values[:, [0, 2]]
    assert shares == pytest.approx(np.broadcast_to(shares[0], shares.shape))  # the units of an axis
    assert [measured.get_xlabel()[-8:], measured.get_ylabel()[-8:]] == ["← better", "→ better"]
    coloured = {at for at, line in enumerate(ranked.lines) if line.get_marker() == "D"}
    assert coloured == set(np.flatnonzero(~np.isnan(sweep.mean_parameter))) == set(sweep.model.tolist())
    for model in set(sweep.model.tolist()):
        segments = sweep.model == model
        length = (sweep.high - sweep.low)[segments]
        middle = ((sweep.high + sweep.low) / 2)[segments]
        expected = np.average(middle, weights=length) if length.sum() else sweep.low[segments][0]
        assert sweep.mean_parameter[model] == pytest.approx(expected)


@pytest.mark.parametrize("count", [2, 12, 60, 300])
def test_front_legible(legible, names, count):
    models, values, larger = example(names(count))
    values[1, 1] = np.nan
    sweep = sweep_weight(models, 0, steps=200)
    legible(lambda: draw_front(measured_in(models, values, larger, larger), sweep, 1))


def measured_in(models, values, larger, percent):
    return SimpleNamespace(population=models, values=values, larger_is_better=larger, are_proportions=percent)


def uncertainty_of(count, values):
    state = tuple((Answer.SIGNIFICANT, Answer.CONTRADICTED, Answer.UNDECIDED)[at % 3] for at in range(count))
    margin = 0.05 * np.ptp(values, axis=0)
    states, shares = SimpleNamespace(state=state), SimpleNamespace(front=np.arange(count) / count)
    limits = {"low": values - margin, "high": values + margin}
    return SimpleNamespace(membership=states, shares=shares, family=Family(), **limits)


def test_crosses_are_intervals_and_marks_are_states(names):
    models, values, larger = example(names(6))
    table, points = measured_in(models, values, larger, np.arange(4) == 1), uncertainty_of(6, values)
    (axes, *_) = (axes for axes in draw_front_uncertainty(table, points, 1, 2).axes if axes.get_xlabel())
    assert [axes.get_xlabel()[-8:], axes.get_ylabel()[-8:]] == ["→ better", "→ better"]
    assert axes.get_xlabel().endswith(" (%)  → better")
    assert "(%)" not in axes.get_ylabel()
    lines = [line.get_xydata() for line in axes.lines]
    for model in range(6):
        across, along, point = lines[3 * model : 3 * model + 3]
        assert across[:, 0] == pytest.approx([100 * points.low[model, 1], 100 * points.high[model, 1]])
        assert along[:, 1] == pytest.approx([points.low[model, 2], points.high[model, 2]])
        assert point[0] == pytest.approx(values[model, [1, 2]] * [100, 1])
        face = axes.lines[3 * model + 2].get_markerfacecolor()
        assert (
            face
            == {Answer.SIGNIFICANT: "#1a1a1a", Answer.CONTRADICTED: "#b3b3b3", Answer.UNDECIDED: "white"}[
                points.membership.state[model]
            ]
        )


def test_labelled_models_are_on_or_near_the_front(names, monkeypatch):
    models, values, larger = example(names(30))
    monkeypatch.setattr("riskrank.studies.copa.figures._NAMED", 14)
    labelled = []
    monkeypatch.setattr(
        "riskrank.render.figures.legend.label_points", lambda *arguments, **_: labelled.append(arguments[5])
    )
    draw_front_uncertainty(measured_in(models, values, larger, larger), uncertainty_of(30, values), 0, 1)
    on, first_open = [27, 24, 21, 18, 15, 12, 9, 6, 3, 0], [29, 26, 23, 20]
    assert labelled == [on + first_open]


@pytest.mark.parametrize("count", [2, 12, 60])
def test_uncertainty_legible(legible, names, count):
    models, values, larger = example(names(count))
    values[1, 1] = np.nan
    table = measured_in(models, values, larger, larger)
    legible(lambda: draw_front_uncertainty(table, uncertainty_of(count, values), 0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "objectives"), [(2, 3), (12, 7), (60, 2), (90, 12)])
def test_boxes_and_parallel_legible(legible, names, count, objectives):
    models, _, _ = example(names(count), objectives)
    ranking = rank_models(models, p=np.inf)
    quantiles, mean = ccdf_quantiles(models.u)
    legible(lambda: draw_boxes(ranking.order, quantiles, mean, models.names, objectives))
    words = legible(lambda: draw_parallel(models, ranking.order))
    assert (f"{count - 7} others" in words) == (count > 7)


def test_objective_labels_are_above_their_lines(names):
    models, _, _ = example(names(12), 7)
    lines, heads = draw_parallel(models, rank_models(models, p=np.inf).order).axes
    above = [heads.transData.transform(text.get_position())[0] for text in heads.texts[:7]]
    assert above == pytest.approx([lines.transData.transform((at, 0))[0] for at in range(7)])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    values = rng.random((15, 3))
    return {
        "model": [f"m{i}" for i in range(15) for _ in range(3)],
        "metric": ["co2", "f1", "bleu"] * 15,
        "score": values.ravel().tolist(),
    }


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["parallel", "boxes", "front"]),
        ({"sweep": "co2"}, ["front"]),
        ({"sweep": "co2", "p": (1.0, 2.0)}, ["front"]),
        ({"sweep_p": True}, []),
        ({"against": ("average", "saw")}, ["bump"]),
        ({"why": "m3"}, []),
    ],
)
def test_pictures_of_every_question(legible, table, options, kinds):
    result = rr.copa(table, lower=["co2"], higher=["f1", "bleu"], **options)
    assert list(dict.fromkeys(name.partition("@")[0] for name in result.pictures)) == kinds
    for kind in kinds:
        legible(lambda kind=kind: result.plot(kind))
    if not kinds:
        with pytest.raises(UsageError, match="no picture"):
            result.plot()


def test_samples_add_the_picture_of_front_uncertainty():
    rng = np.random.default_rng(2)
    table = {"model": [f"m{i % 3}" for i in range(90)], "sample": [f"s{i // 3}" for i in range(90)]}
    table |= {"acc": rng.random(90), "cost": rng.random(90)}
    result = rr.copa(table, wide=True, lower=["cost"], higher=["acc"])
    assert next(iter(result.pictures)) == "doubt@acc@cost"


def test_scalarizations_have_the_colors_of_their_models(table):
    result = rr.copa(table, lower=["co2"], higher=["f1", "bleu"], against=("average", "saw"))
    document, plot = result.document, result.plot("bump")
    lines = {line.get_gid(): line.get_color() for axes in plot.axes for line in axes.lines}
    colors = model_colors(document)
    models = enumerate(document.provenance.models)
    assert {name: lines[curve_mark(i)] for i, name in models if name in colors} == colors
