"""Uncertainty of fronts: designs, statistics, constraints, refusals."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.engine.copa.front import resample_objectives
from riskrank.engine.family import Answer, Family
from riskrank.errors import InputError, UsageError
from riskrank.options.commands import BY_NAME
from riskrank.options.reading import ReadOptions
from riskrank.render.sections import sections
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.copa.objectives import build_objectives
from riskrank.studies.copa.options import CopaSettings, ObjectiveReading
from riskrank.studies.copa.ranking import describe_dominator, explain_undecided_state
from riskrank.studies.copa.study import copa
from riskrank.studies.copa.uncertainty import build_objective_scores, decide_constraints

MODELS = ("small", "mid", "big", "worse")
NEEDS = BY_NAME["copa"].needs
UPWARD = {"higher": ("acc",), "lower": ("cost", "price")}


def scores(n=120, seed=0):
    """A trade-off of accuracy and cost, with constant prices, and a model that is worse on both."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(size=n)
    columns = {"model": [], "sample": [], "acc": [], "cost": [], "price": []}
    for at, (model, skill, cost) in enumerate(
        zip(MODELS, (-0.8, 0.4, 1.4, -0.6), (1.0, 2.0, 4.0, 4.5), strict=True)
    ):
        columns["model"] += [model] * n
        columns["sample"] += [f"s{i:04d}" for i in range(n)]
        columns["acc"] += (skill > difficulty + 0.5 * rng.normal(size=n)).astype(float).tolist()
        columns["cost"] += (cost * np.exp(0.3 * rng.normal(size=n))).tolist()
        columns["price"] += [float(at)] * n
    return columns


def table_of(columns, reading=None):
    metrics = [name for name in ("acc", "cost", "price") if name in columns]
    options = {"wide": True, "metric": metrics} | UPWARD | NEEDS | (reading or {})
    options |= {side: [name for name in options[side] if name in metrics] for side in ("higher", "lower")}
    return read_scores([FrameSource(columns)], ObjectiveReading(**options))


def study(columns, reading=None, **options):
    return copa(table_of(columns, reading), CopaSettings(**options))


def rows_by_model(document):
    return {row.model: row for row in document.rows}


@pytest.fixture(scope="module")
def columns():
    return scores()


@pytest.fixture
def few(columns):
    """Columns of accuracy and cost only."""
    return {name: list(values) for name, values in columns.items() if name != "price"}


@pytest.fixture(scope="module")
def document(columns):
    return study({name: values for name, values in columns.items() if name != "price"}, resamples=500)


def test_models_have_states_and_evidence(document):
    rows = rows_by_model(document)
    assert [rows[name].front for name in MODELS] == ["on", "on", "on", "off"]
    assert rows["worse"].dominated_by in ("mid", "big")
    assert rows["worse"].off_p_adjusted <= 0.05
    assert rows["small"].better_on == "cost"
    assert rows["big"].better_on == "acc"
    assert all(row.on_p_adjusted <= 0.05 for name, row in rows.items() if name != "worse")
    assert sum(row.chosen_share for row in document.rows) == pytest.approx(1)
    assert rows["worse"].front_share < 0.05
    pairs = document.meta()["dominance"]
    assert {(pair["winner"], pair["loser"]) for pair in pairs} >= {(rows["worse"].dominated_by, "worse")}
    assert "worse is off the front" in document.verdict
    assert "chosen in" in document.verdict
    assert sections(document)


def test_intervals_match_t_intervals_of_means(columns, document):
    cost = np.array(columns["cost"]).reshape(4, -1)
    for model, values in zip(MODELS, cost, strict=True):
        row = rows_by_model(document)[model]
        low, high = stats.t.interval(0.95, values.size - 1, values.mean(), stats.sem(values))
        assert row.low["cost"] == pytest.approx(low, abs=0.25 * (high - low))
        assert row.high["cost"] == pytest.approx(high, abs=0.25 * (high - low))
        assert row.low["cost"] < row.values["cost"] < row.high["cost"]


def test_units_of_costs_do_not_matter(columns):
    few = {
        name: [value for at, value in enumerate(values) if at % 120 < 15] for name, values in columns.items()
    }
    del few["price"]
    cents = rows_by_model(study(few, resamples=1000))
    dollars = rows_by_model(study(dict(few, cost=[cost / 100 for cost in few["cost"]]), resamples=1000))
    assert max(row.high["cost"] for row in dollars.values()) < 0.1
    for name, row in dollars.items():
        assert row.front == cents[name].front
        assert row.on_p_adjusted == pytest.approx(cents[name].on_p_adjusted)
        assert [row.low["cost"], row.high["cost"]] == pytest.approx(
            [cents[name].low["cost"] / 100, cents[name].high["cost"] / 100]
        )


def test_seed_fixes_the_document(few):
    first, repeated, reseeded = (study(few, resamples=100, seed=seed).rows for seed in (1, 1, 2))
    assert first == repeated
    assert [row.front for row in first] == [row.front for row in reseeded]


def test_prices_are_compared_as_they_are(columns):
    rows = rows_by_model(study(columns, resamples=100))
    # Prices increase from model to model, so the last is the most expensive.
    assert rows["worse"].front == "off"
    assert all(row.low["price"] == row.high["price"] == row.values["price"] for row in rows.values())
    negated = dict(columns, price=[3.0 - price for price in columns["price"]])
    assert rows_by_model(study(negated, resamples=100))["worse"].front == "on"


def test_constant_price_changes_no_state(columns, few):
    equal_prices = rows_by_model(study(dict(columns, price=[1.0] * 480), resamples=100))
    without = rows_by_model(study(few, resamples=100))
    assert equal_prices["worse"].front == "off"
    assert [row.off_p_adjusted for row in equal_prices.values()] == [
        row.off_p_adjusted for row in without.values()
    ]


def test_price_missing_for_a_model_is_still_a_price(columns):
    incomplete = dict(columns, price=[None] * 120 + list(columns["price"][120:]))
    rows = rows_by_model(study(incomplete, missing="worst", resamples=100))
    assert rows["mid"].low["price"] == rows["mid"].high["price"] == 1.0
    assert rows["small"].front == "on"  # for its cost


def test_no_test_reports_no_uncertainty(columns):
    document = study(columns, no_test=True)
    assert "front_share" not in document.fields
    assert document.provenance.resamples is None
    assert "The uncertainty of the choice is unknown: with" in document.verdict


def test_values_of_tail_mean_and_total(columns):
    document = study(columns, objective=["cost:tvar@0.1", "cost:mean", "price:total"], resamples=200)
    cost = np.array(columns["cost"]).reshape(4, -1)
    for model, values in zip(MODELS, cost, strict=True):
        objectives = rows_by_model(document)[model].values
        assert objectives["cost:tvar@0.1"] == pytest.approx(np.sort(values)[-12:].mean())
        assert objectives["cost"] == pytest.approx(values.mean())
        assert objectives["price:total"] == pytest.approx(120 * MODELS.index(model))
    weights = document.objectives.by_objective(document.objectives.weights)
    assert weights == pytest.approx(dict.fromkeys(weights, 0.25))


def test_two_objectives_of_a_metric_share_its_weight(columns):
    reading = {"weight": {"cost": 0.5, "acc": 0.3, "price": 0.2}}
    document = study(columns, reading, objective=["cost:tvar@0.1", "cost:mean"], no_test=True)
    weights = document.objectives.by_objective(document.objectives.weights)
    assert weights == pytest.approx({"acc": 0.3, "cost:tvar@0.1": 0.25, "cost": 0.25, "price": 0.2})


def test_cvar_is_tvar(columns):
    assert study(columns, objective="cost:cvar@0.1", no_test=True).rows == (
        study(columns, objective="cost:tvar@0.1", no_test=True).rows
    )


def test_constraints_have_three_states(columns, few):
    mid = float(np.mean(np.array(columns["cost"]).reshape(4, -1)[1]))
    rows = rows_by_model(study(few, require=[f"cost <= {mid + 0.001}"], resamples=2000))
    answers = {name: next(iter(row.meets.values())) for name, row in rows.items()}
    assert answers == {
        "small": "significant",
        "mid": "undecided",
        "big": "contradicted",
        "worse": "contradicted",
    }
    assert [rows[name].front for name in MODELS] == ["on", "undecided", "off", "off"]
    assert rows["mid"].front_share < 0.9


def test_unobserved_values_widen_constraint_intervals():
    table = {
        "model": ["a"] * 12 + ["b"] * 12 + ["c"] * 12,
        "sample": [f"s{i}" for i in range(12)] * 3,
        "acc": [1.0] * 12 + [0.0, 1.0] * 6 + [0.0] * 12,
    }
    rows = rows_by_model(study(table, require="acc <= 0.95", resamples=4000))
    assert next(iter(rows["a"].meets.values())) == "undecided"
    rows = rows_by_model(study(table, require="acc <= 0.3", resamples=4000))
    assert next(iter(rows["a"].meets.values())) == "contradicted"
    assert next(iter(rows["b"].meets.values())) == "undecided"


def test_p_value_is_omitted_if_a_constraint_decides(columns, few):
    """No p-value of front membership for models that a constraint excludes or leaves undecided."""
    mid = float(np.mean(np.array(columns["cost"]).reshape(4, -1)[1]))
    document = study(few, require=[f"cost <= {mid + 0.001}"], resamples=2000)
    reasons = evidence_by_model(document)
    assert rows_by_model(document)["mid"].on_p_adjusted <= 0.05
    assert reasons["mid"] == ("–", f"may violate {document.objectives.constraints[0]}")
    assert reasons["big"] == ("–", "it violates a constraint")
    assert reasons["small"][0] != "–"
    assert any("unless a constraint decides" in str(part) for part in sections(document))


def evidence_by_model(document):
    """Return p-value and reason by model from the table of front membership."""
    section = next(part for part in sections(document) if getattr(part, "title", "") == "Models on the front")
    return {name: (p, because) for name, _, p, because in section.rows}


def test_constraints_are_two_sided_in_a_single_family(columns, few):
    objectives = build_objectives(table_of(few), CopaSettings(require="cost <= 3"))
    scores, units = build_objective_scores(objectives, {})
    resampled = resample_objectives(scores, units, shared_units=True, resamples=1000, seed=0)
    answers = decide_constraints(objectives, scores, resampled, Family())
    # Costs are oriented: larger is better.
    expected = Family().answer(scores[1].mean_evidence(-3.0, "auto", 0))
    assert [answer for (answer,) in answers] == expected.side.tolist()
    assert {*expected.side.tolist()} == {1, -1} or expected.undecided.any()


def test_clusters_count_as_their_number(few):
    doc = [int(name[1:]) // 10 for name in few["sample"]]
    document = study(dict(few, doc=doc), {"cluster": "doc"}, resamples=200)
    assert document.uncertainty.sample_text == "12 clusters of samples"
    alone = rows_by_model(study(few, resamples=200))
    assert rows_by_model(document)["big"].on_p_adjusted > alone["big"].on_p_adjusted


def test_unpaired_models_share_no_difficulty(few):
    names = [f"{model}{sample}" for model, sample in zip(few["model"], few["sample"], strict=True)]
    unpaired = rows_by_model(study(dict(few, sample=names), {"unpaired": True}, resamples=200))
    assert unpaired["worse"].front == "off"
    assert unpaired["big"].on_p_adjusted > rows_by_model(study(few, resamples=200))["big"].on_p_adjusted


@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_objective_missing_for_a_model(few, missing):
    few["cost"][:120] = [None] * 120
    with pytest.raises(InputError, match="no score for model 'small'"):
        study(few)
    rows = rows_by_model(study(few, missing=missing, resamples=100))
    assert ("small" in rows) == (missing == "worst")
    if missing == "worst":
        assert rows["small"].low["cost"] is None or np.isnan(rows["small"].low["cost"])
        assert rows["small"].front == "off"


def test_different_samples_hint_at_unpaired(columns, few):
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


def test_repeats_hint_at_their_mean(few):
    repeated = {name: values * 2 for name, values in few.items()}
    for more in ({}, {"run": [1] * 480 + [2] * 480}):
        with pytest.raises(InputError) as error:
            study(repeated | more)
        hint = error.value.lines()[2]
        assert 'repeats="mean"' in hint
        assert "draws" not in hint


def test_equal_of_the_chosen_model_is_reported():
    table = {"model": ["a", "b", "c"], "acc": [3.0, 3.0, 1.0], "cost": [1.0, 1.0, 2.0]}
    verdict = study(table, no_test=True).verdict
    assert "with a positive weight; b ties (ordered by name)." in verdict


def test_names_decide_only_between_identical_models():
    """Models a and b are identical; c ties on its weakest objective only."""
    table = {
        "model": ["a", "b", "c", "d", "e"],
        "acc": [1.0, 1.0, 2.0, 3.0, 4.0],
        "cost": [2.0, 2.0, 4.0, 2.0, 5.0],
        "price": [3.0, 3.0, 2.0, 5.0, 4.0],
    }
    assert "; b and c tie. The uncertainty" in study(table, no_test=True).verdict
    without = {name: [*values[:2], *values[3:]] for name, values in table.items()}
    assert "b ties (ordered by name)" in study(without, no_test=True).verdict


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
        assert rows_by_model(document)[model].values["acc"] == pytest.approx(value)
    assert document.uncertainty.sample_text == "120 samples of 6 tasks"
    assert not document.uncertainty.random_tasks
    pooled = study(suite_of(few, sizes), {"task": "none"}, no_test=True)
    assert rows_by_model(pooled)["mid"].values["acc"] == pytest.approx(acc[1].mean())


@pytest.mark.parametrize(("missing", "filled"), [("drop", None), ("worst", 0.0)])
def test_missing_scores_do_not_drop_models(few, missing, filled):
    acc = np.array(few["acc"]).reshape(4, -1)
    acc[0, :20], few["acc"][:20] = filled, [None] * 20
    bounded = {"metrics": {"acc": {"bounds": [0, 1]}}}
    rows = rows_by_model(study(suite_of(few, [20] * 6), bounded, missing=missing, no_test=True))
    assert [rows[m].values["acc"] for m in MODELS] == pytest.approx(
        np.nanmean(acc[:, 20 * (filled is None) :], axis=1)
    )


def test_random_tasks_count_as_samples(few):
    fixed, random = (
        study(suite_of(few, [15] * 8), tasks=tasks, resamples=300) for tasks in ("fixed", "random")
    )
    assert random.uncertainty.sample_text == "8 tasks"
    assert random.uncertainty.random_tasks
    assert "resampled tasks" in random.verdict
    assert rows_by_model(random)["small"].on_p_adjusted >= rows_by_model(fixed)["small"].on_p_adjusted
    with pytest.raises(InputError, match="at least 6 tasks"):
        study(suite_of(few, [24] * 5), tasks="random")


def test_task_specific_metrics_stay_objectives():
    rng = np.random.default_rng(0)
    records = [
        (model, f"{task}{i}", metric, task, float(rng.random()))
        for model in "ab"
        for metric, task in (("acc", "quiz"), ("cost", "bill"))
        for i in range(20)
    ]
    names = ("model", "sample", "metric", "task", "score")
    rows = {name: [record[at] for record in records] for at, name in enumerate(names)}
    table = read_scores(
        [FrameSource(rows)], ReadOptions(higher=("acc",), lower=("cost",), **BY_NAME["copa"].needs)
    )
    document = copa(table, CopaSettings(resamples=100))
    assert list(document.rows[0].values) == ["acc", "cost"]
    assert document.uncertainty is not None
    scored = zip(rows["model"], rows["metric"], rows["score"], strict=True)
    mean = np.mean([score for model, metric, score in scored if (model, metric) == ("a", "acc")])
    assert rows_by_model(document)["a"].values["acc"] == pytest.approx(mean)


def test_margin_excludes_a_slightly_better_model():
    rng = np.random.default_rng(1)
    difficulty = rng.normal(size=300)
    table = {
        "model": ["dear"] * 300 + ["cheap"] * 300,
        "sample": [f"s{i}" for i in range(300)] * 2,
        "acc": [*(difficulty + 0.01), *(difficulty + 0.02 * rng.normal(size=300))],
        "cost": [*rng.normal(5, 1, 300), *rng.normal(1, 0.1, 300)],
    }
    assert rows_by_model(study(table, resamples=100))["dear"].front != "off"
    document = study(table, margin="acc=0.1", resamples=100)
    assert rows_by_model(document)["dear"].front == "off"
    assert document.provenance.method["margin"] == {"acc": 0.1}


def test_too_few_samples_refuse_tests(columns):
    few = {name: [values[i] for i in range(480) if i % 120 < 6] for name, values in columns.items()}
    document = study(few)
    assert document.uncertainty is None
    assert document.verdict.endswith("tests need 10 samples per model, but acc has 6.")
    with pytest.raises(InputError, match="concerns the uncertainty of the front, which is unknown"):
        study(few, alpha=0.1)
    single = {name: values[::120] for name, values in columns.items()}
    assert study(single).verdict.endswith("the values have no samples to resample.")
    with pytest.raises(UsageError, match="concerns the uncertainty of the front, which is unknown"):
        study(single, margin="acc=0.1")


def test_too_many_models_are_not_tested(columns, monkeypatch):
    monkeypatch.setattr("riskrank.studies.copa.uncertainty._MOST_MODELS", 3)
    document = study(columns, alpha=0.1)
    assert document.uncertainty is None
    assert "models are not tested" in document.verdict


def test_single_sample_of_a_model_is_reported(columns):
    few = {name: values[:361] for name, values in columns.items()}
    few["sample"] = [f"{model}{at}" for at, model in enumerate(few["model"])]
    document = study(few, {"unpaired": True})
    assert document.verdict.endswith("but acc has 1.")


def test_model_within_the_margin_is_as_good():
    table = {"model": ["dear"] * 20 + ["cheap"] * 20, "sample": [*range(20)] * 2}
    table |= {"acc": [1.0] * 15 + [0.0] * 5 + [0.0, 1.0] * 10, "cost": [2.0, 4.0] * 10 + [1.0, 3.0] * 10}
    document = study(table, margin="acc=0.25", resamples=100)
    dear = document.objectives.population.names.index("dear")
    text = explain_undecided_state(document.objectives, document.uncertainty, dear)
    assert text.startswith("cheap is as good on both within the margins, ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "cots:total"}, "does not name a metric"),
        ({"objective": "cots:total"}, 'did you mean objective="cost:total"?'),
        ({"objective": "total:cost"}, 'did you mean objective="cost:total"?'),
        ({"objective": "foo"}, 'write objective="acc:tvar@0.05", one option per objective'),
        ({"objective": "cost:median"}, "is not a statistic of cost"),
        ({"objective": "cost:tvar@0"}, "is not a statistic of cost"),
        ({"objective": "cost:tvar@1.5"}, "is not a statistic of cost"),
        ({"margin": "cots=1"}, "there is no objective 'cots'"),
        ({"margin": "0.1"}, "needs a metric and a number"),
        ({"margin": "acc=2"}, "is too large for acc"),
        ({"tasks": "random"}, "needs a suite of tasks"),
        ({"no_test": True, "margin": "acc=0.1"}, "concerns the uncertainty of the front, which is unknown"),
        ({"no_test": True, "seed": 3}, "concerns the uncertainty of the front, which is unknown"),
        ({"require": "cost:total <= 3"}, "which is not an objective"),
        ({"require": "acc >= 80"}, 'write require="acc >= 0.8"'),
    ],
)
def test_invalid_options_are_refused(columns, options, message):
    with pytest.raises(UsageError) as error:
        study(columns, **options)
    assert message in str(error.value)


def test_statistics_of_samples_need_samples():
    table = {"model": ["a", "b"], "acc": [1.0, 2.0], "cost": [1.0, 2.0]}
    with pytest.raises(UsageError, match="needs several samples per model"):
        study(table, objective="cost:total")


def test_total_of_unequal_sample_sizes_is_refused(columns):
    names = [f"{model}{sample}" for model, sample in zip(columns["model"], columns["sample"], strict=True)]
    table = {name: values[:-5] for name, values in dict(columns, sample=names).items()}
    with pytest.raises(InputError, match="different numbers of scores"):
        study(table, {"unpaired": True}, objective="cost:total")


def test_slightly_better_model_is_reported_as_undecided():
    rng = np.random.default_rng(0)
    difficulty = rng.normal(size=200)
    columns = {"model": [], "sample": [], "acc": [], "cost": []}
    for model, skill, cost in (
        ("mid", 0.24, 1.0),
        ("other", 0.0, 1.0),
        ("cheap", -2.0, 0.5),
        ("dear", 2.0, 4.0),
    ):
        columns["model"] += [model] * 200
        columns["sample"] += [f"s{i}" for i in range(200)]
        columns["acc"] += (difficulty + skill + rng.normal(size=200)).tolist()
        columns["cost"] += (cost * np.exp(0.3 * rng.normal(size=200))).tolist()
    document = study(columns, resamples=100)
    uncertainty, names = document.uncertainty, document.objectives.population.names
    mid, other = names.index("mid"), names.index("other")
    raw = [evidence.better[mid, other] for evidence in uncertainty.evidence]
    assert uncertainty.membership.state[mid] == Answer.UNDECIDED
    assert min(raw) < 0.05 < uncertainty.membership.p_nondominated[mid]
    assert uncertainty.membership.rival[mid] == other
    assert "better than other on acc, but not significantly after correction" in document.verdict
    assert "nowhere" not in explain_undecided_state(document.objectives, uncertainty, mid)


def test_tie_of_norms_is_reported(columns):
    two = {
        name: [value for at, value in enumerate(values) if at // 120 in (0, 2)]
        for name, values in columns.items()
    }
    document = study(two, resamples=100)
    assert "its weakest objective is as strong as any" in document.verdict
    assert document.verdict.endswith("big ties.")


def test_equality_up_to_margins_is_labelled(columns):
    document = study(columns, margin=["acc=0.9", "cost=9", "price=9"], resamples=100)
    table, uncertainty = document.objectives, document.uncertainty
    values = table.population.objectives
    for loser in np.flatnonzero(uncertainty.membership.dominator >= 0).tolist():
        everywhere = np.all(values[uncertainty.membership.dominator[loser]] >= values[loser])
        assert ("within the margins" in describe_dominator(table, uncertainty, loser)) != everywhere


def test_identical_models_leave_no_choice():
    acc = np.random.default_rng(0).integers(0, 2, 40) * 1.0
    columns = {"model": ["new"] * 40 + ["old"] * 40, "sample": [*range(40)] * 2, "acc": [*acc, *acc]}
    document = rr.copa(pl.DataFrame(columns), wide=True, higher="acc").document
    assert document.uncertainty.shares.chosen.tolist() == [0, 0]
    assert document.uncertainty.shares.tied == 1
    assert document.verdict.startswith(
        "new and old tie on every objective, so their names decide the choice."
    )
