"""Commands say one thing of one table in one way."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.severity import ANSWER, gravity
from tests.studies.test_findings import DRAWS, OPTIONS

TESTED = OPTIONS | {"jobs": 1, "resamples": 400}


def table_of(scores, metric="q"):
    """A table of scores, a row a model."""
    k, n = scores.shape
    return {"model": np.repeat([*"abc"[:k]], n).tolist(), "sample": [*range(n)] * k} | {
        metric: scores.ravel().tolist()
    }


def judged():
    """Scores by a judge, a quarter of which people gave too."""
    rng = np.random.default_rng(4)
    people = (rng.random((2, 200)) < np.array([[0.8], [0.55]])).astype(float)
    judge = np.where(rng.random((2, 200)) < 0.15, 1 - people, people)
    table = pl.DataFrame(table_of(judge, "judge") | {"people": people.ravel().tolist()})
    return table.with_columns(pl.when(pl.col("sample") < 60).then("people").alias("people"))


INTERVALS = {
    "normal": (table_of(DRAWS[:2]), {}),
    "shares": (table_of((DRAWS[:2] > 0).astype(float)), {}),
    "judge": (judged(), {"human": "people", "judge": "judge"}),
    "clusters": (table_of(DRAWS[:2]) | {"doc": [i // 3 for i in range(60)] * 2}, {"cluster": "doc"}),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_the_difference_of_two_models_has_one_interval(name):
    table, more = INTERVALS[name]
    options = TESTED | more
    ranked = next(row for row in rr.rank(table, **options).rows if row.rank == 2)
    (pair,) = {
        (row.mean_difference, row.difference_low, row.difference_high)
        for row in rr.dominance(table, **options).rows
        if row.winner == ranked.model
    }
    assert pair == pytest.approx(
        (ranked.difference, ranked.difference_low, ranked.difference_high), rel=1e-12
    )
    gate = rr.gate(table, **options, better=f"{ranked.model}:{'ab'.replace(ranked.model, '')}")
    (row,) = gate.rows
    assert row.estimate == pytest.approx(pair[0])
    assert row.low < pair[1] + 0.02 < row.high  # one sample more on either side
    assert "an end counts one sample more" in " ".join(gate.to_text(explain=True).split())


def test_intervals_that_hold_together_are_wider_than_those_of_a_pair():
    ranked = {row.model: row for row in rr.rank(table_of(DRAWS), **TESTED).rows if row.difference}
    for row in rr.dominance(table_of(DRAWS), **TESTED).rows:
        if row.loser == "a":
            assert row.difference_low > ranked[row.winner].difference_low
            assert row.difference_high < ranked[row.winner].difference_high


GROUPED = {
    "rank": rr.rank,
    "dominance": rr.dominance,
    "mrm": rr.mrm,
    "gate": lambda table, **options: rr.gate(table, **options, better="a:b"),
}


@pytest.mark.parametrize("unit", [{}, {"cluster": "doc"}])
def test_what_a_group_leaves_open_has_its_name_in_every_command(unit):
    table = table_of(np.random.default_rng(2).normal(size=(2, 90)) + np.array([[0.4], [0.0]]))
    table |= {"part": (["few"] * 15 + ["many"] * 75) * 2, "doc": [*range(90)] * 2}
    told = []
    for study in GROUPED.values():
        document = study(table, **TESTED, **unit, group_by="part").document
        assert next(line for line in document.provenance.warnings if "only 15" in line).startswith(
            "group few: "
        )
        limits = [one for one in document.findings if one.kind in ("few", "worth", "blind-to")]
        told.append({(one.kind, one.on): (one.figures, one.sentence) for one in limits})
    assert told[0].keys() == {("few", "few")} | {("blind-to", on) for on in (None, "few", "many")}
    assert told[0]["few", "few"][0] == {"units": 15, "worth": 15, "fewest": 30}
    assert all(one == told[0] for one in told)


UNTESTED = {
    "rank": lambda table: rr.rank(table, **OPTIONS, no_test=True),
    "rank-metrics": lambda table: rr.rank(table, **OPTIONS, no_test=True, per_metric=True),
    "dominance": lambda table: rr.dominance(table, **OPTIONS, no_test=True),
    "mrm": lambda table: rr.mrm(table, **OPTIONS, no_test=True),
    "gsd": lambda table: rr.gsd(table, **OPTIONS, no_test=True),
    "copa": lambda table: rr.copa(table, **OPTIONS, no_test=True),
    "means": lambda table: rr.rank(table, **OPTIONS, no_test=True, folds=10, metric=["q"]),
}


@pytest.mark.parametrize("name", UNTESTED)
def test_that_nothing_was_tested_is_one_finding_in_every_command(name):
    document = UNTESTED[name](table_of(DRAWS) | {"r": (0.5 * DRAWS + 1).ravel().tolist()}).document
    (found,) = (one for one in document.findings if one.kind == "nothing-tested")
    assert (found.models, found.on, found.figures, found.answer) == ([], None, {}, None)
    assert found.sentence in " ".join((document.verdict, *document.more))
    first = document.findings[0]
    assert (gravity(first.kind), first.answer) == (gravity(ANSWER), None)


def test_portfolio_has_findings_of_what_it_says():
    scores = DRAWS.copy()
    scores[2] = scores[1]
    for options in ({}, {"summary": True}):
        document = rr.portfolio(table_of(scores), **OPTIONS, **options).document
        found = {one.kind: one for one in document.findings}
        assert [*found] == ["first", "mildest-tail", "nothing-tested", "same-scores", "blind-to"]
        assert found["same-scores"].models == ["b", "c"]
        assert found["blind-to"].figures == {"worth": 60, "once_in": 20}
        said = " ".join((document.verdict, *document.more))
        assert all(found[kind].sentence in said for kind in ("first", "mildest-tail", "same-scores"))
    (summary,) = (row for row in document.rows if row.model == found["first"].models[0])
    assert found["first"].figures["mean"] == pytest.approx(summary.mean)
    alone = rr.portfolio(table_of(DRAWS[:1]), **OPTIONS).document.findings
    assert [one.kind for one in alone] == ["first", "mildest-tail", "nothing-tested", "blind-to"]


@pytest.mark.parametrize("best", [1, -1, 100])
@pytest.mark.parametrize(("lost", "shown"), [(3, False), (7, False), (8, True)])
def test_of_two_values_every_command_answers_as_the_exact_test_of_diff(lost, shown, best):
    scores = np.full((2, 200), best)
    scores[1, :lost] = min(best - 1, 0)
    scores[0, -1] = scores[1, 0]
    exact = rr.diff(table_of(scores), **OPTIONS, pair="a:b").document.findings[0].figures["p_adjusted"]
    assert exact == pytest.approx((lost + 2) * 0.5**lost)
    for study in (rr.rank, rr.dominance):
        document = study(table_of(scores), **OPTIONS, jobs=1).document
        assert (document.findings[0].kind == "ahead") == shown
        assert "bad cases" not in document.verdict or shown
        ends = [(row.difference_low, row.difference_high) for row in document.rows if row.difference_low]
        assert {low * high > 0 for low, high in ends} == {shown}
    (row,) = rr.dominance(table_of(scores), **OPTIONS, jobs=1, order="2").document.rows[:1]
    assert row.p_adjusted == pytest.approx(exact) or shown
