"""The study of mean-risk models: computed columns, refusals, rows."""

import dataclasses
from statistics import mean

import numpy as np
import pytest

import riskrank as rr
from riskrank.engine.portfolio.mean_risk import study_mean_risk
from riskrank.errors import UsageError
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import MeanRiskRow, mrm, requested_risks
from riskrank.studies.targets import target_columns

QUICK = {"resamples": 20}


def test_rows_match_plain_formulas(table, scores):
    columns = scores(metrics=("acc",), n=25)
    document = mrm(table(columns), MeanRiskSettings(no_test=True, level=0.2))
    for model in "ABC":
        values = sorted(
            score for name, score in zip(columns["model"], columns["score"], strict=True) if name == model
        )
        by_risk = {row.risk: row for row in document.rows if row.model == model}
        assert by_risk["negative-tvar"].value == pytest.approx(mean(values) + mean(values[:5]))
        assert by_risk["negative-var"].risk_value == pytest.approx(-values[4])
        assert by_risk["semideviation"].risk_value == pytest.approx(
            mean(max(mean(values) - score, 0) for score in values)
        )
        assert {row.value_low for row in by_risk.values()} == {None}
    assert (document.provenance.seed, document.provenance.resamples) == (None, None)


def test_rows_are_grouped_by_risk_and_sorted_by_rank(table):
    rows = mrm(table(), MeanRiskSettings(**QUICK)).rows
    assert len({(row.risk, row.level) for row in rows}) == len(rows) // 3
    for at in range(0, len(rows), 3):
        group = rows[at : at + 3]
        assert len({(row.risk, row.level) for row in group}) == 1
        assert [row.rank for row in group] == sorted(row.rank for row in group)
        assert [row.value for row in group] == sorted((row.value for row in group), reverse=True)
        assert all(row.value_low <= row.value_high for row in group)


def test_studied_columns(table):
    read = table()
    portfolio = mrm(read, MeanRiskSettings(no_test=True))
    assert [*portfolio.studies] == ["P(IC)"]
    assert [*portfolio.aggregations] == ["RA(MRM@P(IC))"]
    single = mrm(read, MeanRiskSettings(no_test=True, per_metric=True))
    assert [*single.studies] == ["acc", "f1"]
    assert [*single.aggregations] == ["RA(MRM@acc)", "RA(MRM@f1)", "RA(MRM@M)"]
    both = mrm(read, MeanRiskSettings(no_test=True, per_metric=True, with_portfolio=True))
    assert [*both.studies] == ["P(IC)", "acc", "f1"]
    assert both.aggregations["RA(MRM@M)"].order.tolist() == single.aggregations["RA(MRM@M)"].order.tolist()
    alone = mrm(read, MeanRiskSettings(no_test=True, risk=["negative-var", "standard-deviation"]))
    assert alone.aggregations == {}
    assert alone.meta() == {"aggregations": []}


def test_single_metric_has_no_portfolio(table, scores):
    read = table(scores(metrics=("acc",)))
    document = mrm(read, MeanRiskSettings(no_test=True, per_metric=True, with_portfolio=True))
    assert [*document.studies] == ["acc"]
    assert [*document.aggregations] == ["RA(MRM@acc)"]
    assert "copula" not in document.provenance.method


def test_shared_first_place_is_no_disagreement():
    """The tail of binary scores is 0 for every model, so all models tie by tail measures."""
    rates = {"good": 80, "fair": 70, "poor": 60}
    frame = {
        "model": [model for model in rates for _ in range(100)],
        "sample": [*range(100)] * 3,
        "metric": ["solved"] * 300,
        "score": [float(sample < rate) for rate in rates.values() for sample in range(100)],
    }
    document = rr.mrm(frame, higher=["solved"], no_test=True).document
    ties = [row for row in document.rows if row.model != "good" and row.rank == 1]
    assert ties
    assert "single measures" not in document.verdict
    assert "and by every single measure" in document.verdict


@pytest.mark.parametrize(("n", "warned"), [(29, True), (30, False)])
def test_few_samples_are_warned_of(table, scores, n, warned):
    document = mrm(table(scores(n=n)), MeanRiskSettings(**QUICK))
    assert any("fragile" in line for line in document.provenance.warnings) == warned
    assert not mrm(table(scores(n=n)), MeanRiskSettings(no_test=True)).provenance.warnings


def test_settings_reach_the_study(table):
    """Level, seed and distance of aggregation match a direct call of the engine; none is a default."""
    settings = MeanRiskSettings(alpha=0.3, seed=5, aggregate="footrule", level=0.2, resamples=40)
    document = mrm(table(), settings)
    (study,) = document.studies.values()
    score_column = target_columns(table(), settings)[0].scores
    options = {"level": 0.3, "seed": 5, "aggregator": "footrule", "resamples": 40}
    expected = study_mean_risk(score_column, requested_risks(settings), names="ABC", **options)
    np.testing.assert_array_equal(study.value_low, expected.value_low)
    np.testing.assert_array_equal(study.value_high, expected.value_high)
    assert study.aggregation.method == "footrule"
    for changed in ({"level": 0.05}, {"seed": 0}):
        other = study_mean_risk(score_column, requested_risks(settings), names="ABC", **(options | changed))
        assert not np.array_equal(other.value_low, expected.value_low)
    by_model = {(row.model, row.risk, row.level): row for row in document.rows}
    for at, column in enumerate(requested_risks(settings)):
        for i, model in enumerate("ABC"):
            row = by_model[model, column.risk.name, column.level]
            assert (row.value_low, row.value_high) == (expected.value_low[i, at], expected.value_high[i, at])
            assert row.mean == expected.models.mean[i]
            assert row.rank == expected.models.rank[i, at]
            assert row.ssd_consistent == column.risk.ssd_consistent
    single = mrm(table(), MeanRiskSettings(per_metric=True, no_test=True, aggregate="borda"))
    assert {aggregation.method for aggregation in single.aggregations.values()} == {"borda"}


def test_settings_accept_scalars_strings_and_lists():
    assert MeanRiskSettings(level="0.1, 0.05").level == (0.1, 0.05)
    assert MeanRiskSettings(level=["0.1,0.2", 0.3]).level == (0.1, 0.2, 0.3)
    assert MeanRiskSettings(level=0.5, risk="gini-tail").risk == ("gini-tail",)
    assert [
        column.label for column in requested_risks(MeanRiskSettings(risk=["negative-var"], level=[1]))
    ] == ["-VaR(1)"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        MeanRiskSettings().seed = 1


def test_portfolio_options_without_effect_are_refused(table):
    with pytest.raises(UsageError, match="cannot be used together"):
        mrm(table(weight={"acc": 2.0, "f1": 1.0}), MeanRiskSettings(per_metric=True))
    settings = MeanRiskSettings(per_metric=True, with_portfolio=True, no_test=True)
    weighted = mrm(table(weight={"acc": 1.0, "f1": 0.0}), settings)
    assert weighted.provenance.method["weights"] == {"acc": 1.0, "f1": 0.0}
    acc, both = weighted.aggregations["RA(MRM@acc)"], weighted.aggregations["RA(MRM@M)"]
    assert both.order.tolist() == acc.order.tolist()


def test_fields_are_the_contract(table):
    names = "metric model risk level mean risk_value value value_low value_high rank ssd_consistent"
    assert " ".join(mrm(table(), MeanRiskSettings(no_test=True)).fields) == names
    assert " ".join(field.name for field in dataclasses.fields(MeanRiskRow)) == f"{names} group"
