"""The studies of ``copa`` on tables in memory, compared with loops, closed forms and each other."""

import itertools
from math import inf

import numpy as np
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.commands import BY_NAME
from riskrank.options.reading import ReadOptions
from riskrank.render.formats.data import to_csv
from riskrank.render.sections import sections
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.study import (
    ComparisonDocument,
    ExplanationDocument,
    OrderSweepDocument,
    WeightSweepDocument,
    copa,
)

METRICS = ("acc", "f1", "co2")
UPWARD = {"higher": ("acc", "f1"), "lower": ("co2",)}


def study(values, *, weight=None, models=(), **options):
    """Models m0, m1, ... by objectives; co2 is minimised."""
    values = np.asarray(values, dtype=float)
    columns = {"model": [f"m{i}" for i in range(len(values))]}
    columns |= {name: values[:, k].tolist() for k, name in enumerate(METRICS[: values.shape[1]])}
    reading = ReadOptions(
        wide=True, metric=METRICS, models=models, weight=weight or {}, **UPWARD, **BY_NAME["copa"].needs
    )
    return copa(read_scores([FrameSource(columns)], reading), CopaSettings(**options))


@pytest.fixture
def values():
    """Random values with ties and two copies."""
    values = np.random.default_rng(3).integers(0, 5, (9, 3)).astype(float)
    values[7] = values[2]
    return values


def ranks_by_loops(oriented, share=0.0, exclude_self=True):
    N, K = oriented.shape
    u = np.zeros((N, K))
    for i, j, k in itertools.product(range(N), range(N), range(K)):
        if i != j:
            u[i, k] += (oriented[j, k] > oriented[i, k]) + share * (oriented[j, k] == oriented[i, k])
    return u / (N - 1 if exclude_self else N)


def front_by_loops(values):
    return [not any((other >= row).all() and (other > row).any() for other in values) for row in values]


@pytest.mark.parametrize("p", [1, 2, 8, inf])
def test_rows_against_double_loops(values, p):
    oriented = values * [1, 1, -1]
    u, front = ranks_by_loops(oriented), front_by_loops(oriented)
    weights = np.array([0.25, 0.25, 0.5])
    document = study(values, p=p, weight={"co2": 0.5})
    assert isinstance(document, CopaDocument)
    norms = {}
    for row in document.rows:
        i = int(row.model[1:])
        terms = weights * u[i]
        norms[row.model] = terms.max() if p == inf else (terms**p).sum() ** (1 / p)
        assert row.u == pytest.approx(dict(zip(METRICS, u[i], strict=True)))
        assert row.norm == pytest.approx(norms[row.model])
        assert (row.pareto, row.feasible, row.values["co2"]) == (front[i], True, values[i, 2])
    for row in document.rows:
        tied = {name for name, norm in norms.items() if norm == pytest.approx(row.norm, rel=1e-9)}
        assert set(row.tied_with) == tied - {row.model}
    assert [row.rank for row in document.rows] == list(range(1, 10))
    assert all(a.norm <= b.norm * (1 + 1e-9) for a, b in itertools.pairwise(document.rows))
    assert document.meta()["chosen"] == document.rows[0].model
    assert document.rows[0].pareto


@pytest.mark.parametrize(("ties", "share"), [("min", 0), ("average", 0.5), ("max", 1)])
@pytest.mark.parametrize("denominator", ["n-1", "n"])
def test_ties_and_denominator_reach_the_ranks(values, ties, share, denominator):
    expected = ranks_by_loops(values * [1, 1, -1], share, denominator == "n-1")
    for row in study(values, ties=ties, denominator=denominator).rows:
        assert list(row.u.values()) == pytest.approx(expected[int(row.model[1:])])


def test_constraints_filter_the_choice_and_leave_the_ranks(values):
    unconstrained = {row.model: row for row in study(values).rows}
    document = study(values, require=["co2 <= 2", "acc>1"])
    feasible = {f"m{i}" for i, row in enumerate(values) if row[2] <= 2 and row[0] > 1}
    assert {row.model for row in document.rows if row.feasible} == feasible
    assert document.provenance.method["require"] == ["co2 <= 2", "acc > 1"]
    for row in document.rows:
        assert (row.u, row.norm) == (unconstrained[row.model].u, unconstrained[row.model].norm)
        assert (row.rank is None) == (row.model not in feasible)


def test_choice_without_a_model_matches_a_second_run(values):
    for row in study(values, p=2).rows:
        remaining = tuple(f"m{i}" for i in range(9) if f"m{i}" != row.model)
        assert row.choice_without == study(values, p=2, models=remaining).rows[0].model


def test_ccdf_quantiles_match_ranks(values):
    for row in study(values).rows:
        complement = sorted(1 - u for u in row.u.values())
        assert row.ccdf_mean == pytest.approx(sum(complement) / 3)
        low, middle, high = complement
        assert list(row.ccdf_quantiles.values()) == pytest.approx([low, low, middle, high, high])


@pytest.mark.parametrize("p", [1, 8, inf])
def test_sweep_matches_rankings_by_weight(values, p):
    document = study(values, sweep="co2", p=p, steps=50, weight={"acc": 0.9, "f1": 0.1})
    assert isinstance(document, WeightSweepDocument)
    for alpha in (0.03, 0.21, 0.47, 0.66, 0.89):
        weights = {"acc": 0.9 * (1 - alpha), "f1": 0.1 * (1 - alpha), "co2": alpha}
        chosen = study(values, p=p, weight=weights).rows[0].model
        assert chosen in {row.model for row in document.rows if row.alpha_low <= alpha <= row.alpha_high}


def test_sweep_over_p_matches_rankings_by_p(values):
    document = study(values, sweep_p=True)
    assert isinstance(document, OrderSweepDocument)
    assert (document.rows[0].p_low, document.rows[-1].p_high) == (1, inf)
    for p in (1, 1.5, 2, 4, 30):
        chosen = study(values, p=p).rows[0].model
        assert chosen in {row.model for row in document.rows if row.p_low <= p <= row.p_high}
    # JSON and CSV have no number for infinity.
    assert document.stored_columns()["p_high"][-1] == "inf"
    assert to_csv(document).splitlines()[-1].split(",")[1] == "inf"


@pytest.mark.parametrize("weights", [{"co2": 0.02}, {"acc": 0.8, "f1": 0.15}])
def test_weight_ranges_match_rankings(weights):
    values = np.random.default_rng(8).normal(size=(30, 3))
    document = study(values, weight=weights)
    now = dict(zip(METRICS, document.objectives.weights.tolist(), strict=True))
    for name, interval in zip(METRICS, document.weight_ranges, strict=True):
        assert interval.low <= now[name] <= interval.high

        def chosen(weight, name=name):
            rescaled = {
                other: now[other] / (1 - now[name]) * (1 - weight) for other in METRICS if other != name
            }
            return study(values, weight=rescaled | {name: weight}).rows[0].model

        inside = [interval.low + 1e-6, interval.high - 1e-6]
        beyond = [at for at in (interval.low - 0.02, interval.high + 0.02) if 0 <= at <= 1]
        assert {chosen(weight) for weight in inside} == {document.rows[0].model}
        assert document.rows[0].model not in {chosen(weight) for weight in beyond}


def test_explicit_zero_weight_gets_no_warning(values):
    def warned(weights):
        warnings = study(values, weight=weights).provenance.warnings
        return [text for text in warnings if "the weight of" in text]

    assert warned({"acc": 1, "f1": 0}) == ["the given weights sum to 1, so the weight of co2 is 0"]
    assert warned({"acc": 1, "f1": 0, "co2": 0}) == []


@pytest.mark.parametrize("p", [1, 2, inf])
def test_suggested_weights_choose_the_model(values, p):
    for model in ("m2", "m5"):
        document = study(values, why=model, p=p)
        assert isinstance(document, ExplanationDocument)
        explanation = document.meta()["explanation"]
        for weights, order in (
            (explanation["choosing_weights"], p),
            (explanation["choosing_weights_at_p_inf"], inf),
        ):
            if weights is not None:
                assert study(values, weight=weights, p=order).rows[0].model == model
        place = next(row for row in study(values, p=p).rows if row.model == model)
        assert (explanation["rank"], explanation["norm"], explanation["pareto"]) == (
            place.rank,
            place.norm,
            place.pareto,
        )


def test_comparison_ranks_by_every_scalarization(values):
    document = study(values + 1, compare=True)
    assert isinstance(document, ComparisonDocument)
    assert {row.criterion for row in document.rows} == set(document.comparison.names)
    alone = study(values + 1, against="average")
    average = {row.model: row.score for row in alone.rows if row.criterion == "average"}
    signs = np.array([-1, -1, 1])
    for i, row in enumerate(values + 1):
        assert average[f"m{i}"] == pytest.approx((signs * row).mean())


@pytest.mark.parametrize(("missing", "models"), [("drop", ["m0", "m2"]), ("worst", ["m0", "m1", "m2"])])
def test_models_without_a_score(missing, models):
    gaps = [[0.5, 1, 3], [np.nan, 1, 2], [0.9, 1, 1]]
    document = study(gaps, missing=missing)
    assert sorted(row.model for row in document.rows) == models
    assert document.meta()["dropped_models"] == (("m1",) if missing == "drop" else ())
    assert document.provenance.method["missing"] == missing
    if missing == "worst":
        assert next(row for row in document.rows if row.model == "m1").u["acc"] == 1
    with pytest.raises(InputError, match="no score for model 'm1', metric 'acc'"):
        study(gaps)
    with pytest.raises(UsageError, match="the model was dropped"):
        study(gaps, missing="drop", why="m1")


@pytest.mark.parametrize(
    "question",
    [{}, {"sweep": "co2"}, {"sweep_p": True}, {"compare": True}, {"why": "m3"}, {"resample_models": 20}],
)
def test_every_document_has_typed_rows_and_a_view(values, question):
    document = study(values + 1, **question)
    assert all(isinstance(row, document.row_type) for row in document.rows)
    assert tuple(document.columns()) == document.fields
    assert document.meta()["dropped_models"] == ()
    assert sections(document)
