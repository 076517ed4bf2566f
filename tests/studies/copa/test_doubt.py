"""How sure a front is, from a table in memory to the document: designs, statistics, constraints, refusals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.engine.copa.replicates import resample_objectives
from riskrank.engine.family import Family, Side
from riskrank.errors import InputError, UsageError
from riskrank.options.commands import BY_NAME
from riskrank.options.reading import ReadOptions
from riskrank.render.sections import sections
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.copa.findings import describe_dominator, explain_open_state
from riskrank.studies.copa.objective_scores import build_objective_scores
from riskrank.studies.copa.objectives import build_objectives
from riskrank.studies.copa.options import CopaSettings, ObjectiveReading
from riskrank.studies.copa.study import copa
from riskrank.studies.copa.uncertainty import decide_constraints

MODELS = ("small", "mid", "big", "worse")
NEEDS = BY_NAME["copa"].needs
UPWARD = {"higher": ("acc",), "lower": ("cost", "price")}


def scores(n=120, seed=0):
    """A trade-off of accuracy and cost, and a model that is worse everywhere; prices do not vary."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    found = {"model": [], "sample": [], "acc": [], "cost": [], "price": []}
    for at, (model, skill, cost) in enumerate(
        zip(MODELS, (-0.8, 0.4, 1.4, -0.6), (1.0, 2.0, 4.0, 4.5), strict=True)
    ):
        found["model"] += [model] * n
        found["sample"] += [f"s{i:04d}" for i in range(n)]
        found["acc"] += (skill > hard + 0.5 * rng.normal(size=n)).astype(float).tolist()
        found["cost"] += (cost * np.exp(0.3 * rng.normal(size=n))).tolist()
        found["price"] += [float(at)] * n
    return found


def table_of(columns, reading=None):
    metrics = [name for name in ("acc", "cost", "price") if name in columns]
    asked = {"wide": True, "metric": metrics} | UPWARD | NEEDS | (reading or {})
    asked |= {side: [name for name in asked[side] if name in metrics] for side in ("higher", "lower")}
    return read_scores([FrameSource(columns)], ObjectiveReading(**asked))


def study(columns, reading=None, **options):
    return copa(table_of(columns, reading), CopaSettings(**options))


def of_model(document):
    return {row.model: row for row in document.rows}


@pytest.fixture(scope="module")
def columns():
    return scores()


@pytest.fixture
def few(columns):
    """Accuracy and cost alone."""
    return {name: list(values) for name, values in columns.items() if name != "price"}


@pytest.fixture(scope="module")
def document(columns):
    return study({name: values for name, values in columns.items() if name != "price"}, resamples=500)


def test_every_model_has_its_state_with_the_evidence(document):
    rows = of_model(document)
    assert [rows[name].front for name in MODELS] == ["on", "on", "on", "off"]
    assert rows["worse"].dominated_by in ("mid", "big")
    assert rows["worse"].off_p_adjusted <= 0.05
    assert rows["small"].better_on == "cost"
    assert rows["big"].better_on == "acc"
    assert all(row.on_p_adjusted <= 0.05 for name, row in rows.items() if name != "worse")
    assert sum(row.chosen_share for row in document.rows) == pytest.approx(1)
    assert rows["worse"].front_share < 0.05
    shown = document.meta()["dominance"]
    assert {(one["winner"], one["loser"]) for one in shown} >= {(rows["worse"].dominated_by, "worse")}
    assert "worse is off the front" in document.verdict
    assert "chosen in" in document.verdict
    assert sections(document)


def test_intervals_are_those_of_means(columns, document):
    cost = np.array(columns["cost"]).reshape(4, -1)
    for model, values in zip(MODELS, cost, strict=True):
        row = of_model(document)[model]
        low, high = stats.t.interval(0.95, values.size - 1, values.mean(), stats.sem(values))
        assert row.low["cost"] == pytest.approx(low, abs=0.25 * (high - low))
        assert row.high["cost"] == pytest.approx(high, abs=0.25 * (high - low))
        assert row.low["cost"] < row.values["cost"] < row.high["cost"]


def test_costs_below_one_are_no_shares_cents_tell_what_dollars_tell(columns):
    few = {name: [one for at, one in enumerate(values) if at % 120 < 15] for name, values in columns.items()}
    del few["price"]
    cents = of_model(study(few, resamples=1000))
    dollars = of_model(study(dict(few, cost=[cost / 100 for cost in few["cost"]]), resamples=1000))
    assert max(row.high["cost"] for row in dollars.values()) < 0.1
    for name, row in dollars.items():
        assert row.front == cents[name].front
        assert row.on_p_adjusted == pytest.approx(cents[name].on_p_adjusted)
        assert [row.low["cost"], row.high["cost"]] == pytest.approx(
            [cents[name].low["cost"] / 100, cents[name].high["cost"] / 100]
        )


def test_the_same_seed_gives_the_same_document_and_another_other_shares(few):
    one, same, other = (study(few, resamples=100, seed=seed).rows for seed in (1, 1, 2))
    assert one == same
    assert [row.low for row in one] != [row.low for row in other]
    assert [row.front for row in one] == [row.front for row in other]


def test_prices_are_compared_as_they_are(columns):
    rows = of_model(study(columns, resamples=100))
    # By price the last is the dearest, and every other model is cheaper than those after it.
    assert rows["worse"].front == "off"
    assert all(row.low["price"] == row.high["price"] == row.values["price"] for row in rows.values())
    turned = dict(columns, price=[3.0 - price for price in columns["price"]])
    assert of_model(study(turned, resamples=100))["worse"].front == "on"


def test_a_price_of_one_for_everybody_leaves_nothing_open(columns, few):
    alike = of_model(study(dict(columns, price=[1.0] * 480), resamples=100))
    without = of_model(study(few, resamples=100))
    assert alike["worse"].front == "off"
    assert [row.off_p_adjusted for row in alike.values()] == [row.off_p_adjusted for row in without.values()]


def test_a_price_that_one_model_lacks_is_still_a_price(columns):
    lacking = dict(columns, price=[None] * 120 + list(columns["price"][120:]))
    rows = of_model(study(lacking, missing="worst", resamples=100))
    assert rows["mid"].low["price"] == rows["mid"].high["price"] == 1.0
    assert rows["small"].front == "on"  # for its cost


def test_no_test_is_the_answer_without_samples(columns):
    document = study(columns, no_test=True)
    assert "front_share" not in document.fields
    assert document.provenance.resamples is None
    assert "Nothing says how sure that is: with" in document.verdict


def test_a_tail_mean_and_a_total_are_what_they_are_called(columns):
    document = study(columns, objective=["cost:tvar@0.1", "cost:mean", "price:total"], resamples=200)
    cost = np.array(columns["cost"]).reshape(4, -1)
    for model, values in zip(MODELS, cost, strict=True):
        found = of_model(document)[model].values
        assert found["cost:tvar@0.1"] == pytest.approx(np.sort(values)[-12:].mean())
        assert found["cost"] == pytest.approx(values.mean())
        assert found["price:total"] == pytest.approx(120 * MODELS.index(model))
    weights = document.objectives.by_metric(document.objectives.weights)
    assert weights == pytest.approx(dict.fromkeys(weights, 0.25))


def test_two_objectives_of_a_metric_share_its_weight(columns):
    asked = {"weight": {"cost": 0.5, "acc": 0.3, "price": 0.2}}
    document = study(columns, asked, objective=["cost:tvar@0.1", "cost:mean"], no_test=True)
    weights = document.objectives.by_metric(document.objectives.weights)
    assert weights == pytest.approx({"acc": 0.3, "cost:tvar@0.1": 0.25, "cost": 0.25, "price": 0.2})


def test_cvar_is_tvar(columns):
    assert study(columns, objective="cost:cvar@0.1", no_test=True).rows == (
        study(columns, objective="cost:tvar@0.1", no_test=True).rows
    )


def test_constraints_are_shown_refuted_or_open(columns, few):
    mid = float(np.mean(np.array(columns["cost"]).reshape(4, -1)[1]))
    rows = of_model(study(few, require=[f"cost <= {mid + 0.001}"], resamples=2000))
    answers = {name: next(iter(row.meets.values())) for name, row in rows.items()}
    assert answers == {"small": "shown", "mid": "open", "big": "refuted", "worse": "refuted"}
    assert [rows[name].front for name in MODELS] == ["on", "open", "off", "off"]
    assert rows["mid"].front_share < 0.9


def test_what_was_not_seen_speaks_against_an_answer_whichever_way_a_constraint_goes():
    table = {
        "model": ["a"] * 12 + ["b"] * 12 + ["c"] * 12,
        "sample": [f"s{i}" for i in range(12)] * 3,
        "acc": [1.0] * 12 + [0.0, 1.0] * 6 + [0.0] * 12,
    }
    rows = of_model(study(table, require="acc <= 0.95", resamples=4000))
    assert next(iter(rows["a"].meets.values())) == "open"
    rows = of_model(study(table, require="acc <= 0.3", resamples=4000))
    assert next(iter(rows["a"].meets.values())) == "refuted"
    assert next(iter(rows["b"].meets.values())) == "open"


def test_no_p_value_of_the_front_stands_beside_what_a_constraint_decides(columns, few):
    """A model off by a constraint alone showed the p-value of being on, and an open one a significant one."""
    mid = float(np.mean(np.array(columns["cost"]).reshape(4, -1)[1]))
    document = study(few, require=[f"cost <= {mid + 0.001}"], resamples=2000)
    shown = evidence(document)
    assert of_model(document)["mid"].on_p_adjusted <= 0.05
    assert shown["mid"] == ("–", f"not shown to meet {document.objectives.constraints[0]}")
    assert shown["big"] == ("–", "it violates a constraint")
    assert shown["small"][0] != "–"
    assert any("none where a constraint decides" in str(part) for part in sections(document))


def evidence(document):
    """Rows of the table of who is on the front."""
    found = next(part for part in sections(document) if getattr(part, "title", "") == "Who is on the front")
    return {name: (p, because) for name, _, p, because in found.rows}


def test_answers_are_two_sided_and_of_one_family(columns, few):
    found = build_objectives(table_of(few), CopaSettings(require="cost <= 3"))
    scores, units = build_objective_scores(found, {})
    drawn = resample_objectives(scores, units, shared_units=True, resamples=1000, seed=0)
    edge = np.full((1000, 4, 2), -1.0)
    edge[:33, 1, 1] = -4.0  # of a cost, oriented: one resample in thirty speaks against the second model
    edge = replace(drawn, low=edge, high=edge)
    (first, second, *others) = decide_constraints(found, scores, edge, Family())
    assert second == (Side.OPEN,)
    assert {first, *others} == {(Side.SHOWN,)}


def test_clusters_count_as_their_number(few):
    doc = [int(name[1:]) // 10 for name in few["sample"]]
    document = study(dict(few, doc=doc), {"cluster": "doc"}, resamples=200)
    assert document.uncertainty.sample_text == "12 clusters of samples"
    alone = of_model(study(few, resamples=200))
    assert of_model(document)["big"].on_p_adjusted > alone["big"].on_p_adjusted


def test_unpaired_models_are_compared_without_their_common_difficulty(few):
    names = [f"{model}{sample}" for model, sample in zip(few["model"], few["sample"], strict=True)]
    apart = of_model(study(dict(few, sample=names), {"unpaired": True}, resamples=200))
    assert apart["worse"].front == "off"
    assert apart["big"].on_p_adjusted > of_model(study(few, resamples=200))["big"].on_p_adjusted


@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_an_objective_nobody_measured_for_a_model(few, missing):
    few["cost"][:120] = [None] * 120
    with pytest.raises(InputError, match="no score for model 'small'"):
        study(few)
    rows = of_model(study(few, missing=missing, resamples=100))
    assert ("small" in rows) == (missing == "worst")
    if missing == "worst":
        assert rows["small"].low["cost"] is None or np.isnan(rows["small"].low["cost"])
        assert rows["small"].front == "off"


def test_models_of_other_samples_are_told_how_to_be_compared(columns, few):
    few["sample"][120:240] = [f"other{i}" for i in range(120)]
    for missing in ("error", "drop"):
        with pytest.raises(InputError) as error:
            study(dict(few), missing=missing)
        assert error.value.lines()[2].endswith("unpaired=True compares means over each model's own samples")
    assert study(few, {"unpaired": True}, resamples=100).rows
    gap = dict(few, sample=columns["sample"], cost=[None, *few["cost"][1:]])
    with pytest.raises(InputError) as error:
        study(gap)
    assert "unpaired" not in error.value.lines()[2]


def test_repeats_are_answered_by_what_copa_takes(few):
    twice = {name: values * 2 for name, values in few.items()}
    for more in ({}, {"run": [1] * 480 + [2] * 480}):
        with pytest.raises(InputError) as error:
            study(twice | more)
        hint = error.value.lines()[2]
        assert 'repeats="mean"' in hint
        assert "draws" not in hint


def test_an_equal_of_a_model_that_nobody_betters_is_told():
    table = {"model": ["a", "b", "c"], "acc": [3.0, 3.0, 1.0], "cost": [1.0, 1.0, 2.0]}
    verdict = study(table, no_test=True).verdict
    assert "has a weight; b is as good by that, and only the names tell them apart." in verdict


def test_names_alone_decide_only_where_all_equals_are_alike():
    """b is a by another name; c is as weak on its weakest objective, and not on the others."""
    table = {
        "model": ["a", "b", "c", "d", "e"],
        "acc": [1.0, 1.0, 2.0, 3.0, 4.0],
        "cost": [2.0, 2.0, 4.0, 2.0, 5.0],
        "price": [3.0, 3.0, 2.0, 5.0, 4.0],
    }
    assert "; b and c are as good by that. Nothing" in study(table, no_test=True).verdict
    without = {name: [*values[:2], *values[3:]] for name, values in table.items()}
    assert "b is as good by that, and only the names tell them apart" in study(without, no_test=True).verdict


def suite_of(columns, sizes):
    task = np.repeat(np.arange(len(sizes)), sizes)
    return dict(columns, task=[f"t{t}" for t in np.tile(task, 4)])


def test_values_of_a_suite_are_means_over_tasks(few):
    sizes = [10, 20, 20, 20, 20, 30]
    document = study(suite_of(few, sizes), resamples=300)
    acc = np.array(few["acc"]).reshape(4, -1)
    parts = np.split(acc, np.cumsum(sizes)[:-1], axis=1)
    macro = np.mean([part.mean(axis=1) for part in parts], axis=0)
    for model, value in zip(MODELS, macro, strict=True):
        assert of_model(document)[model].values["acc"] == pytest.approx(value)
    assert document.uncertainty.sample_text == "120 samples of 6 tasks"
    assert not document.uncertainty.random_tasks
    pooled = study(suite_of(few, sizes), {"task": "none"}, no_test=True)
    assert of_model(pooled)["mid"].values["acc"] == pytest.approx(acc[1].mean())


@pytest.mark.parametrize(("missing", "filled"), [("drop", None), ("worst", 0.0)])
def test_scores_missing_on_samples_cost_no_model_its_place(few, missing, filled):
    acc = np.array(few["acc"]).reshape(4, -1)
    acc[0, :20], few["acc"][:20] = filled, [None] * 20
    bounded = {"metrics": {"acc": {"bounds": [0, 1]}}}
    rows = of_model(study(suite_of(few, [20] * 6), bounded, missing=missing, no_test=True))
    assert [rows[m].values["acc"] for m in MODELS] == pytest.approx(
        np.nanmean(acc[:, 20 * (filled is None) :], axis=1)
    )


def test_tasks_like_these_are_fewer_than_samples(few):
    fixed, random = (
        study(suite_of(few, [15] * 8), tasks=tasks, resamples=300) for tasks in ("fixed", "random")
    )
    assert random.uncertainty.sample_text == "8 tasks"
    assert random.uncertainty.random_tasks
    assert "resampled tasks" in random.verdict
    assert of_model(random)["small"].on_p_adjusted >= of_model(fixed)["small"].on_p_adjusted
    with pytest.raises(InputError, match="at least 6 tasks"):
        study(suite_of(few, [24] * 5), tasks="random")


def test_metrics_of_tasks_of_their_own_stay_objectives():
    rng = np.random.default_rng(0)
    made = [
        (model, f"{task}{i}", metric, task, float(rng.random()))
        for model in "ab"
        for metric, task in (("acc", "quiz"), ("cost", "bill"))
        for i in range(20)
    ]
    names = ("model", "sample", "metric", "task", "score")
    rows = {name: [one[at] for one in made] for at, name in enumerate(names)}
    table = read_scores(
        [FrameSource(rows)], ReadOptions(higher=("acc",), lower=("cost",), **BY_NAME["copa"].needs)
    )
    document = copa(table, CopaSettings(resamples=100))
    assert list(document.rows[0].values) == ["acc", "cost"]
    assert document.uncertainty is not None
    of = zip(rows["model"], rows["metric"], rows["score"], strict=True)
    mean = np.mean([score for model, metric, score in of if (model, metric) == ("a", "acc")])
    assert of_model(document)["a"].values["acc"] == pytest.approx(mean)


def test_margins_let_a_model_be_off_that_is_hardly_better():
    rng = np.random.default_rng(1)
    hard = rng.normal(size=300)
    table = {
        "model": ["dear"] * 300 + ["cheap"] * 300,
        "sample": [f"s{i}" for i in range(300)] * 2,
        "acc": [*(hard + 0.01), *(hard + 0.02 * rng.normal(size=300))],
        "cost": [*rng.normal(5, 1, 300), *rng.normal(1, 0.1, 300)],
    }
    assert of_model(study(table, resamples=100))["dear"].front != "off"
    document = study(table, margin="acc=0.1", resamples=100)
    assert of_model(document)["dear"].front == "off"
    assert document.provenance.method["margin"] == {"acc": 0.1}


def test_few_samples_are_said_and_refuse_what_is_asked_of_them(columns):
    few = {name: [values[i] for i in range(480) if i % 120 < 6] for name, values in columns.items()}
    document = study(few)
    assert document.uncertainty is None
    assert document.verdict.endswith("it takes 10 samples a model, and of acc there are 6.")
    with pytest.raises(InputError, match="nothing is known of that"):
        study(few, alpha=0.1)
    one = {name: values[::120] for name, values in columns.items()}
    assert study(one).verdict.endswith("places are those of the values as given.")
    with pytest.raises(UsageError, match="nothing is known of that"):
        study(one, margin="acc=0.1")


def test_too_many_models_to_test_all_pairs_of_are_said(columns, monkeypatch):
    monkeypatch.setattr("riskrank.studies.copa.objective_scores._MOST_MODELS", 3)
    document = study(columns, alpha=0.1)
    assert document.uncertainty is None
    assert "models are not tested" in document.verdict


def test_a_model_of_one_sample_beside_others_of_many(columns):
    few = {name: values[:361] for name, values in columns.items()}
    few["sample"] = [f"{model}{at}" for at, model in enumerate(few["model"])]
    document = study(few, {"unpaired": True})
    assert document.verdict.endswith("and of acc there is 1.")


def test_who_is_behind_by_just_a_margin_is_as_good_up_to_it():
    table = {"model": ["dear"] * 20 + ["cheap"] * 20, "sample": [*range(20)] * 2}
    table |= {"acc": [1.0] * 15 + [0.0] * 5 + [0.0, 1.0] * 10, "cost": [2.0, 4.0] * 10 + [1.0, 3.0] * 10}
    document = study(table, margin="acc=0.25", resamples=100)
    dear = document.objectives.population.names.index("dear")
    told = explain_open_state(document.objectives, document.uncertainty, dear)
    assert told.startswith("cheap is as good on both up to the margins, ")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"objective": "cots:total"}, "about no metric"),
        ({"objective": "cots:total"}, 'did you mean objective="cost:total"?'),
        ({"objective": "total:cost"}, 'did you mean objective="cost:total"?'),
        ({"objective": "foo"}, 'write objective="acc:tvar@0.05", an option an objective'),
        ({"objective": "cost:median"}, "no statistic of cost"),
        ({"objective": "cost:tvar@0"}, "no statistic of cost"),
        ({"objective": "cost:tvar@1.5"}, "no statistic of cost"),
        ({"margin": "cots=1"}, "there is no objective 'cots'"),
        ({"margin": "0.1"}, "needs a metric and a number"),
        ({"margin": "acc=2"}, "is no margin for acc"),
        ({"tasks": "random"}, "the tasks of a suite"),
        ({"no_test": True, "margin": "acc=0.1"}, "nothing is known of that"),
        ({"no_test": True, "seed": 3}, "nothing is known of that"),
        ({"require": "cost:total <= 3"}, "which is not an objective"),
        ({"require": "acc >= 80"}, 'write require="acc >= 0.8"'),
    ],
)
def test_wrong_questions_of_samples(columns, options, what):
    with pytest.raises(UsageError) as error:
        study(columns, **options)
    assert what in str(error.value)


def test_objectives_that_are_no_means_need_samples():
    table = {"model": ["a", "b"], "acc": [1.0, 2.0], "cost": [1.0, 2.0]}
    with pytest.raises(UsageError, match="a statistic of samples"):
        study(table, objective="cost:total")


def test_a_total_of_different_numbers_of_scores_is_refused(columns):
    names = [f"{model}{sample}" for model, sample in zip(columns["model"], columns["sample"], strict=True)]
    table = {name: values[:-5] for name, values in dict(columns, sample=names).items()}
    with pytest.raises(InputError, match="different numbers of scores"):
        study(table, {"unpaired": True}, objective="cost:total")


def test_what_is_better_by_a_hair_is_not_called_nowhere_better():
    rng = np.random.default_rng(0)
    hard = rng.normal(size=200)
    found = {"model": [], "sample": [], "acc": [], "cost": []}
    for model, skill, cost in (
        ("mid", 0.24, 1.0),
        ("other", 0.0, 1.0),
        ("cheap", -2.0, 0.5),
        ("dear", 2.0, 4.0),
    ):
        found["model"] += [model] * 200
        found["sample"] += [f"s{i}" for i in range(200)]
        found["acc"] += (hard + skill + rng.normal(size=200)).tolist()
        found["cost"] += (cost * np.exp(0.3 * rng.normal(size=200))).tolist()
    document = study(found, resamples=100)
    doubt, names = document.uncertainty, document.objectives.population.names
    mid, other = names.index("mid"), names.index("other")
    raw = [one.better[mid, other] for one in doubt.evidence]
    assert doubt.membership.state[mid] == Side.OPEN
    assert min(raw) < 0.05 < doubt.membership.p_nondominated[mid]
    assert doubt.membership.rival[mid] == other
    assert "better than other on acc, not shown among so many comparisons" in document.verdict
    assert "nowhere" not in explain_open_state(document.objectives, doubt, mid)


def test_a_tie_of_norms_is_told(columns):
    two = {
        name: [one for at, one in enumerate(values) if at // 120 in (0, 2)]
        for name, values in columns.items()
    }
    document = study(two, resamples=100)
    assert "of 2 models its weakest objective is as strong as any" in document.verdict
    assert document.verdict.endswith("big is as good by that.")


def test_who_is_as_good_up_to_margins_only_is_not_called_as_good(columns):
    document = study(columns, margin=["acc=0.9", "cost=9", "price=9"], resamples=100)
    table, doubt = document.objectives, document.uncertainty
    values = table.population.objectives
    for loser in np.flatnonzero(doubt.membership.dominator >= 0).tolist():
        everywhere = np.all(values[doubt.membership.dominator[loser]] >= values[loser])
        assert ("up to the margins" in describe_dominator(table, doubt, loser)) != everywhere


def test_what_only_names_choose_is_no_choice():
    acc = np.random.default_rng(0).integers(0, 2, 40) * 1.0
    columns = {"model": ["new"] * 40 + ["old"] * 40, "sample": [*range(40)] * 2, "acc": [*acc, *acc]}
    found = rr.copa(pl.DataFrame(columns), wide=True, higher="acc").document
    assert found.uncertainty.shares.chosen.tolist() == [0, 0]
    assert found.uncertainty.shares.tied == 1
    assert found.verdict.startswith("Nothing but names chooses between new and old: all tie.")
