"""Commands agree on the same table."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.engine.evidence.mean_differences import SuccessCounts
from riskrank.studies.findings import ANSWER, severity_rank
from tests.studies.test_findings import DRAWS, OPTIONS

TESTED = OPTIONS | {"jobs": 1, "resamples": 400}


def table_of(scores, metric="q"):
    """Return a table of scores from one row per model."""
    k, n = scores.shape
    return {"model": np.repeat([*"abc"[:k]], n).tolist(), "sample": [*range(n)] * k} | {
        metric: scores.ravel().tolist()
    }


def judged():
    """Judge scores, a quarter of them with human labels."""
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
def test_commands_give_equal_intervals_of_a_difference(name):
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
    (row,) = rr.gate(table, **options, better=f"{ranked.model}:{'ab'.replace(ranked.model, '')}").rows
    assert (row.estimate, row.low, row.high) == pair


def test_simultaneous_intervals_are_those_of_all_pairs():
    ranked = {row.model: row for row in rr.rank(table_of(DRAWS), **TESTED).rows if row.difference}
    for row in rr.dominance(table_of(DRAWS), **TESTED).rows:
        if row.loser == "a":
            assert row.difference_low == ranked[row.winner].difference_low
            assert row.difference_high == ranked[row.winner].difference_high


def draw_table(kind, rng):
    """Return a table of two models of one of several kinds, and the options that it needs."""
    n, shift = int(rng.choice([12, 20, 45])), rng.choice([0.0, 0.3, 0.8])
    scores = {
        "normal": lambda: rng.normal(size=(2, n)),
        "correlated": lambda: rng.normal(size=n) + 0.3 * rng.normal(size=(2, n)),
        "lognormal": lambda: rng.lognormal(size=(2, n)),
        "losses": lambda: -rng.lognormal(size=(2, n)),
        "heavy": lambda: rng.standard_t(2, size=(2, n)),
        "disasters": lambda: rng.normal(size=(2, n)) - 20.0 * (rng.random((2, n)) < 0.05),
        "binary": lambda: rng.random((2, n)) < [[0.4 + shift / 2], [0.4]],
        "ceiling": lambda: rng.random((2, n)) < [[1.0], [0.9 - shift / 2]],
        "points": lambda: np.clip(np.rint(rng.normal(3.0, 1.0, (2, n))), 1, 5),
        "agreeing": lambda: rng.normal(size=n) + rng.random((2, n)) * (rng.random((2, n)) < 0.1),
        "clusters": lambda: rng.normal(size=(2, n)),
        "unpaired": lambda: rng.normal(size=(2, n)) * [[1.0], [3.0]],
    }[kind]()
    if kind == "ceiling":
        scores[1, 0] = False
    table = table_of(scores + (0.0 if kind in ("binary", "ceiling") else np.array([[shift], [0.0]])))
    if kind == "clusters":
        clustered = table_of(np.repeat(scores, 3, axis=1) + rng.normal(size=(2, 3 * n)))
        return clustered | {"doc": [i // 3 for i in range(3 * n)] * 2}, {"cluster": "doc"}
    return table, {"unpaired": True} if kind == "unpaired" else {}


KINDS = (
    *("normal", "correlated", "lognormal", "losses", "heavy", "disasters"),
    *("binary", "ceiling", "points", "agreeing", "clusters", "unpaired"),
)


@pytest.mark.parametrize(
    ("kind", "seeds"),
    [(kind, [0]) for kind in KINDS]
    + [pytest.param(kind, range(1, 26), marks=pytest.mark.slow) for kind in KINDS],
)
def test_commands_never_contradict_each_other(kind, seeds):
    """The same difference has one interval, one p-value and one number of samples in every command."""
    for seed in seeds:
        table, more = draw_table(kind, np.random.default_rng([seed, *kind.encode()]))
        options = OPTIONS | more | {"seed": seed, "jobs": 1}
        second = next(row for row in rr.rank(table, **options, resamples=200).rows if row.rank == 2)
        names = second.model, "ab".replace(second.model, "")
        pair = next(
            row
            for row in rr.dominance(table, **options, resamples=200).rows
            if (row.winner, row.loser) == names
        )
        interval = second.difference_low, second.difference_high
        assert (pair.difference_low, pair.difference_high) == interval
        (better,) = rr.gate(table, **options, better=f"{names[0]}:{names[1]}").rows
        assert (better.estimate, better.low, better.high) == (second.difference, *interval)
        (as_good,) = rr.gate(table, **options, not_worse=f"{names[0]}:{names[1]}", margin=0.1).rows
        assert (as_good.low, as_good.high, as_good.samples) == (better.low, better.high, better.samples)
        assert (better.verdict != "inconclusive") == (interval[0] > 0 or interval[1] < 0) or 0 in interval
        front = {row.model: row.front for row in rr.copa(table, **options).rows}
        assert (front[names[0]] == "off") == (better.verdict == "fail")
        assert (front[names[1]] == "off") == (better.verdict == "pass")
        if kind in ("binary", "ceiling"):
            change = rr.diff(table, **OPTIONS, pair=f"{names[0]}:{names[1]}").document.changes[0]
            assert change.p_adjusted == pytest.approx(better.p_value, rel=1e-12)


def close_table(critical):
    """Return 40 paired samples whose t statistic has a given value."""
    scores = np.random.default_rng(1).normal(size=(2, 40))
    difference = scores[0] - scores[1]
    scores[0] += critical * difference.std(ddof=1) / np.sqrt(40) - difference.mean()
    return table_of(scores)


WARNED = {
    "rank": lambda table: rr.rank(table, **OPTIONS, jobs=1),
    "dominance": lambda table: rr.dominance(table, **OPTIONS, jobs=1),
    "copa": lambda table: rr.copa(table, **OPTIONS, jobs=1),
    "gate": lambda table: rr.gate(table, **OPTIONS, jobs=1, better="a:b"),
    "gate-ssd": lambda table: rr.gate(table, **OPTIONS, jobs=1, better="a:b", on="ssd"),
}


@pytest.mark.parametrize(("critical", "close"), [(0.3, False), (2.03, True), (8.0, False)])
@pytest.mark.parametrize("name", WARNED)
def test_every_command_says_that_another_seed_may_decide_otherwise(name, critical, close):
    # Second-order dominance is near its level at another shift than the mean.
    result = WARNED[name](close_table(3.2 if name == "gate-ssd" and close else critical))
    findings = [finding for finding in result.document.findings if finding.kind == "by-seed"]
    assert len(findings) == close
    for finding in findings:
        assert finding.figures["resamples_needed"] >= 10_000
        assert finding.sentence in " ".join((result.document.verdict, *result.document.more))


GROUPED = {
    "rank": rr.rank,
    "dominance": rr.dominance,
    "mrm": rr.mrm,
    "gate": lambda table, **options: rr.gate(table, **options, better="a:b"),
}


@pytest.mark.parametrize("unit", [{}, {"cluster": "doc"}])
def test_limits_of_groups_are_named_in_every_command(unit):
    table = table_of(np.random.default_rng(2).normal(size=(2, 90)) + np.array([[0.4], [0.0]]))
    table |= {"part": (["few"] * 15 + ["many"] * 75) * 2, "doc": [*range(90)] * 2}
    summaries = []
    for study in GROUPED.values():
        document = study(table, **TESTED, **unit, group_by="part").document
        assert next(line for line in document.provenance.warnings if "only 15" in line).startswith(
            "group few: "
        )
        limits = [
            entry
            for entry in document.findings
            if entry.kind in ("few", "unequal-clusters", "detection-limit")
        ]
        summaries.append({(entry.kind, entry.on): (entry.figures, entry.sentence) for entry in limits})
    assert summaries[0].keys() == {("few", "few")} | {("detection-limit", on) for on in (None, "few", "many")}
    assert summaries[0]["few", "few"][0] == {"units": 15, "effective_size": 15, "fewest": 30}
    assert all(entry == summaries[0] for entry in summaries)


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
def test_untested_documents_have_a_single_finding(name):
    document = UNTESTED[name](table_of(DRAWS) | {"r": (0.5 * DRAWS + 1).ravel().tolist()}).document
    (finding,) = (item for item in document.findings if item.kind == "nothing-tested")
    assert (finding.models, finding.on, finding.figures, finding.answer) == ([], None, {}, None)
    assert finding.sentence in " ".join((document.verdict, *document.more))
    first = document.findings[0]
    assert (severity_rank(first.kind), first.answer) == (severity_rank(ANSWER), None)


def test_portfolio_findings_match_its_text():
    scores = DRAWS.copy()
    scores[2] = scores[1]
    for options in ({}, {"summary": True}):
        document = rr.portfolio(table_of(scores), **OPTIONS, **options).document
        findings = {finding.kind: finding for finding in document.findings}
        assert [*findings] == ["first", "mildest-tail", "nothing-tested", "same-scores", "detection-limit"]
        assert findings["same-scores"].models == ["b", "c"]
        assert findings["detection-limit"].figures == {"effective_size": 60, "once_in": 20}
        text = " ".join((document.verdict, *document.more))
        assert all(findings[kind].sentence in text for kind in ("first", "mildest-tail", "same-scores"))
    (summary,) = (row for row in document.rows if row.model == findings["first"].models[0])
    assert findings["first"].figures["mean"] == pytest.approx(summary.mean)
    alone = rr.portfolio(table_of(DRAWS[:1]), **OPTIONS).document.findings
    assert [finding.kind for finding in alone] == [
        "first",
        "mildest-tail",
        "nothing-tested",
        "detection-limit",
    ]


@pytest.mark.parametrize(("lost", "best"), [(3, 1), (6, -1), (7, 1), (8, 1), (8, 100)])
def test_binary_scores_follow_the_test_of_two_rates(lost, best):
    scores = np.full((2, 200), best)
    scores[1, :lost] = min(best - 1, 0)
    scores[0, -1] = scores[1, 0]
    p = rr.diff(table_of(scores), **OPTIONS, pair="a:b").document.findings[0].figures["p_adjusted"]
    assert p == pytest.approx(SuccessCounts(lost, 1, (200, 200), True).two_sided_p_value)
    for study in (rr.rank, rr.dominance):
        document = study(table_of(scores), **OPTIONS, jobs=1).document
        assert document.findings[0].kind != "ahead" or p <= 0.05
        intervals = [(row.difference_low, row.difference_high) for row in document.rows if row.difference_low]
        assert {low * high > 0 for low, high in intervals} == {p <= 0.05}
    (row,) = rr.dominance(table_of(scores), **OPTIONS, jobs=1, order="2").document.rows[:1]
    assert row.p_adjusted >= 0.9 * p  # its mid-p is counted over random flips
