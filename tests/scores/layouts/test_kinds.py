"""Kinds of tables that strangers bring, and neighbours of each kind, which need another reading."""

import json
import re

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError, RiskrankError
from riskrank.options.reading import RankReading
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(7)
N = 30
ITEMS = [f"i{number:02}" for number in range(N)]


def read(table, **options):
    source = table if isinstance(table, str) else FrameSource(table)
    return read_scores([source], RankReading(tests=True, weighs_tasks=True, **options))


def error(table, **options):
    with pytest.raises(InputError) as raised:
        read(table, **options)
    return raised.value


def message(table, **options):
    """Return the problem of a table, or an empty text if it can be read."""
    try:
        read(table, **options)
    except RiskrankError as failure:
        return failure.problem
    return ""


def suggested(error):
    return "\n".join(text for text, _ in error.suggestions)


def noisy(truth, scale=1.0):
    return truth + RNG.normal(0, scale, truth.size)


def test_forecasts_beside_true_values_become_errors():
    truth = RNG.normal(100, 20, N).round()
    frame = pl.DataFrame({"valore_reale": truth, "ridge": noisy(truth), "media_mobile": noisy(truth, 9)})
    lines = suggested(error(frame))
    assert "abs_error" in lines
    assert "media_mobile - valore_reale" in lines


def test_probabilities_beside_a_label_become_brier_scores():
    y = np.tile([0, 1], N // 2)
    p, q = (np.clip(y * 0.5 + RNG.random(N) / 2, 0, 1) for _ in range(2))
    assert "brier" in suggested(error(pl.DataFrame({"y": y, "gbm": p, "mlp": q})))


@pytest.mark.parametrize("name", ["target", "label"])
def test_scores_unrelated_to_a_column_named_like_the_truth_are_no_forecasts(name):
    frame = pl.DataFrame({"item": ITEMS, name: RNG.random(N), "ann": RNG.random(N), "bob": RNG.random(N)})
    assert "predictions" not in message(frame, higher=("*",))


def test_groups_of_samples_are_no_models_beside_columns_of_one_scale(tmp_path):
    patients, slices = np.repeat([f"P{number}" for number in range(15)], 20), np.tile(np.arange(20), 15)
    dice = {name: RNG.random(300) for name in ("net_2d", "net_3d")}
    pl.DataFrame({"patient": patients, "slice": slices, **dice}).write_csv(tmp_path / "dice.csv")
    assert read(str(tmp_path / "dice.csv")).models == ("net_2d", "net_3d")


def test_codes_for_missing_ratings_do_not_make_a_column_another_metric():
    ratings = RNG.integers(0, 11, (2, 60))
    ratings[0, ::4] = 99
    frame = pl.DataFrame(
        {"user": [f"u{at}" for at in range(60)], "Werkzeug Nord": ratings[0], "Werkzeug Ost": ratings[1]}
    )
    assert 'NULLIF("Werkzeug Nord", 99)' in error(frame).suggestions[0][0]


def test_text_of_runs_beside_a_column_of_measures_names_models():
    rows = [(r, m, t) for r in ("bm25", "splade") for m in ("map", "ndcg") for t in ITEMS]
    frame = pl.DataFrame(rows, schema=["run", "measure", "topic"], orient="row")
    table = read(frame.with_columns(value=pl.Series(RNG.random(len(rows)))))
    assert table.models == ("bm25", "splade")
    assert [metric.name for metric in table.metrics] == ["map", "ndcg"]


def test_votes_need_no_column_of_questions():
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")] * 40
    wins = np.where(RNG.random(len(pairs)) < 0.5, "model_a", "model_b")
    voters = [f"v{number % 60}" for number in range(len(pairs))]
    frame = pl.DataFrame(pairs, schema=["model_a", "model_b"], orient="row")
    table = read(frame.with_columns(voter=pl.Series(voters), winner=pl.Series(wins)))
    assert {*table.models} == {"a", "b", "c"}


def test_crossed_levels_name_samples_together():
    rows = [
        (kind, level) for kind in ("blur", "fog", "snow", "noise", "jpeg", "frost") for level in range(1, 11)
    ]
    frame = pl.DataFrame(rows, schema=["corruption", "severity"], orient="row")
    scores = {name: pl.Series(RNG.random(len(rows)) * 40) for name in ("vit_old", "vit_new")}
    table = read(frame.with_columns(**scores), matrix="accuracy", higher=("accuracy",))
    assert {*table.models} == {"vit_old", "vit_new"}
    assert len(table.samples) == 60


def test_listeners_who_rate_all_sentences_are_judges():
    rows = [(who, at, m) for who in ("L1", "L2", "L3") for at in range(N) for m in ("a", "b")]
    frame = pl.DataFrame(rows, schema=["listener", "sentence", "voice"], orient="row")
    frame = frame.with_columns(rating=pl.Series(RNG.integers(1, 6, len(rows))))
    assert len(read(frame, higher=("rating",)).samples) == N


def test_failures_of_one_model_count_as_the_worst_score_first():
    scores = [*RNG.random(N), *(None if at % 3 else 0.9 for at in range(N))]
    status = ["ok" if score is not None else "crashed" for score in scores]
    frame = pl.DataFrame(
        {"agent": ["a"] * N + ["b"] * N, "task": ITEMS * 2, "score": scores, "status": status}
    )
    assert "worst" in error(frame).suggestions[0][0]


def ranks(values):
    rows = {"retriever": ["a"] * N + ["b"] * N, "query": ITEMS * 2}
    return pl.DataFrame({**rows, "rank_of_hit": values})


def test_ranks_of_zero_become_reciprocal_ranks():
    failure = error(ranks(RNG.integers(0, 9, 2 * N)))
    assert "nothing was found" in failure.problem
    assert "1.0 / rank_of_hit" in failure.suggestions[0][0]


@pytest.mark.parametrize("options", [{"lower": ("rank_of_hit",)}, {}])
def test_ranks_with_a_direction_or_from_one_are_accepted(options):
    values = RNG.integers(0 if options else 1, 9, 2 * N)
    assert "nothing was found" not in message(ranks(values), **options)


def test_metrics_on_complementary_samples_become_tasks():
    rows = {"system": ["a"] * N + ["b"] * N, "person": ITEMS * 2}
    hits = RNG.integers(0, 2, 2 * N)
    ill = np.tile(np.arange(N) % 2 == 0, 2)
    sensitivity = [int(hit) if is_ill else None for hit, is_ill in zip(hits, ill, strict=True)]
    specificity = [None if is_ill else int(hit) for hit, is_ill in zip(hits, ill, strict=True)]
    failure = error(pl.DataFrame({**rows, "sensitivity": sensitivity, "specificity": specificity}))
    assert "COALESCE(sensitivity, specificity)" in failure.suggestions[0][0]
    assert "worst" not in suggested(failure)


def test_codes_of_failures_among_run_times_are_penalised():
    times = RNG.exponential(100, (2, N)).round(1).astype(str)
    times[:, ::5] = "TO"
    frame = pl.DataFrame({"instance": ITEMS, "fast": times[0], "slow": times[1]})
    lines = error(frame).suggestions
    assert "IN ('TO') THEN '" in lines[0][0]
    assert "lower" in lines[0][0]


def test_columns_of_seeds_are_repeats():
    rows = [(env, algo) for env in ITEMS[:8] for algo in ("ppo", "a2c")]
    frame = pl.DataFrame(rows, schema=["env", "algo"], orient="row")
    frame = frame.with_columns(pl.Series(f"seed_{at}", RNG.random(len(rows))) for at in range(5))
    failure = error(frame)
    assert "repeats of a score" in failure.problem
    assert "CROSS JOIN" in suggested(failure)


def query_of(failure):
    """Return the only query that an error suggests."""
    return re.search(r"SELECT .*FROM [^\ue002]*", suggested(failure))[0]


def columns_of_models(*names):
    return pl.DataFrame({"id": ITEMS, **{name: RNG.random(N) for name in names}})


@pytest.mark.parametrize("separator", ["_", " ", "/"])
@pytest.mark.parametrize("metric_last", [True, False])
def test_columns_of_one_metric_and_model_become_rows(separator, metric_last):
    pairs = [(model, metric) for model in ("terse", "cot", "plain") for metric in ("score", "seconds")]
    names = [separator.join(pair if metric_last else pair[::-1]) for pair in pairs]
    failure = error(columns_of_models(*names))
    assert "one metric of one model" in failure.problem
    scores = read(columns_of_models(*names), sql=query_of(failure))
    assert sorted(scores.models) == ["cot", "plain", "terse"]


def test_columns_of_a_table_without_a_sample_are_numbered():
    frame = columns_of_models("a_score", "a_cost", "b_score", "b_cost").drop("id")
    assert len(read(frame, sql=query_of(error(frame))).samples) == N


@pytest.mark.parametrize(
    "names",
    [
        ("acc_mean", "acc_std", "f1_mean", "f1_std"),
        ("acc_train", "acc_test", "f1_train", "f1_test"),
        ("acc_seed1", "acc_seed2", "f1_seed1", "f1_seed2"),
        ("a_score", "a_cost", "b_score"),
    ],
)
def test_columns_of_spreads_splits_runs_or_an_incomplete_grid_are_not_of_models(names):
    assert "one metric of one model" not in message(columns_of_models(*names))


def test_a_property_of_people_is_no_score_beside_their_answers_in_words():
    people = [f"p{number}" for number in range(N)]
    words = ("very poor", "poor", "fair", "good", "excellent")
    ages = dict(zip(people, RNG.integers(18, 70, N).tolist(), strict=True))
    rows = [(p, ages[p], m, words[RNG.integers(0, 5)]) for p in people for m in ("Hal", "Jarvis")]
    frame = pl.DataFrame(rows, schema=["Participant", "Age", "Assistant", "How was it?"], orient="row")
    scores = read(frame)
    assert [metric.name for metric in scores.metrics] == ["How was it?"]
    assert scores.options.higher == ("How was it?",)


def test_a_few_tasks_whose_samples_are_numbered_from_0_are_a_suite():
    rows = [(m, t, i, RNG.random()) for m in ("a", "b") for t in ("arc", "boolq") for i in range(40)]
    frame = pl.DataFrame(rows, schema=["model", "task", "doc_id", "acc"], orient="row")
    assert read(frame).options.task == "task"
    assert read(frame.rename({"task": "document"})).options.task is None


JSON = {
    "nested.jsonl": "\n".join(
        json.dumps({"q": i, "ndcg": {"a": RNG.random(), "b": RNG.random()}}) for i in ITEMS
    ),
    "named.json": json.dumps(
        {
            "metric": "rmse",
            "rows": [{"q": i, "scores": {"a": RNG.random(), "b": RNG.random()}} for i in ITEMS],
        }
    ),
    "levels.json": json.dumps(
        {
            "config": {"shots": 5},
            "results": {
                m: {f"mmlu_{i}": {"alias": i, "acc": RNG.random(), "acc_stderr": 0.01} for i in ITEMS}
                for m in "ab"
            },
        }
    ),
}


@pytest.mark.parametrize("name", JSON)
def test_keys_below_a_metric_or_results_are_models(name, tmp_path):
    path = tmp_path / name
    path.write_text(JSON[name])
    table = read(str(path))
    assert table.models == ("a", "b")
    assert table.metrics[0].name == {"nested.jsonl": "ndcg", "named.json": "rmse", "levels.json": "acc"}[name]
    assert len(table.samples) == N


def test_keys_below_a_metric_beside_a_column_of_models_are_no_models(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = [
        {"q": i, "model": m, "acc": {"base": RNG.random(), "plus": RNG.random()}} for i in ITEMS for m in "ab"
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert read(str(path)).models == ("a", "b")


def test_levels_without_known_tasks_are_asked(tmp_path):
    scores = {task: {f"m{at}": {"acc": RNG.random()} for at in range(30)} for task in ("x", "y", "z", "w")}
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"results": scores}))
    lines = suggested(error(str(path)))
    assert "model=level_2" in lines
    assert "model=level_3" in lines


def test_the_parts_of_a_rate_are_not_scores():
    visitors, share = RNG.integers(500, 900, (2, N)), RNG.uniform(0.02, 0.05, (2, N))
    orders = (visitors * share).round().astype(int)
    frames = [
        pl.DataFrame({"user": ITEMS, "variant": name, "visitors": visitors[at], "orders": orders[at]})
        for at, name in enumerate("ab")
    ]
    frame = pl.concat(frames).with_columns(conversion_rate=(pl.col("orders") / pl.col("visitors")).round(4))
    assert [metric.name for metric in read(frame).metrics] == ["conversion_rate"]
    other = frame.with_columns(conversion_rate=pl.col("conversion_rate").reverse())
    assert "unknown direction" in message(other)


@pytest.mark.parametrize("often", [2, 10])
def test_percentages_among_fractions_become_fractions(often):
    accuracy = [f"{at}.5 %" if at % often == 0 else f"0.{at:02}5" for at in range(10, 10 + N)]
    frame = pl.concat(
        pl.DataFrame({"model": model, "item": ITEMS, "accuracy": accuracy}) for model in ("a", "b")
    )
    table = read(frame) if often == 2 else read(frame, sql=query_of(error(frame)))
    np.testing.assert_allclose(table.column(0)[0], np.arange(10, 10 + N) / 100 + 0.005)


def test_quantiles_of_a_service_are_not_models():
    frame = pl.DataFrame({"service": ["go", "rust", "node"], "avg": [102.4, 91.7, 133.6]})
    values = {"min": [38.1, 33.9, 51.3], "max": [611.0, 540.2, 902.7], "p(90)": [160.3, 141.8, 210.5]}
    assert "missing columns 'model', 'sample'" in message(
        frame.with_columns(**{n: pl.Series(v) for n, v in values.items()})
    )


def test_models_rated_on_scales_of_their_own_are_not_compared():
    rows = [(m, i, s, RNG.integers(1, 6)) for m, s in (("a", "1-5"), ("b", "1-10")) for i in ITEMS]
    failure = error(pl.DataFrame(rows, schema=["model", "item", "scale", "rating"], orient="row"))
    assert "one for each model" in failure.found
    assert not failure.suggestions


def test_times_in_several_units_are_read_in_seconds():
    times = [f"{at + 1}.5{('s', 'ms', ' µs')[at % 3]}" for at in range(N)]
    frame = pl.concat(
        pl.DataFrame({"engine": name, "case": ITEMS, "time": times}) for name in ("re2", "pcre")
    )
    seconds = (np.arange(N) + 1.5) * np.tile([1, 1e-3, 1e-6], N // 3)
    np.testing.assert_allclose(-read(frame).column(0)[0], seconds)
    assert "units" not in message(frame.with_columns(time=pl.lit("1.5s")))


def test_rows_of_averages_and_wins_below_a_matrix_are_not_samples():
    cells = [[f"{at}.5(0.{at % 10})" for at in range(12)] for _ in range(3)]
    footer = ["2.1", "5"]
    frame = pl.DataFrame({"": [f"set{at}" for at in range(12)] + ["Average_Rank", "Wins"]})
    frame = frame.with_columns(
        pl.Series(name, cells[at] + footer) for at, name in enumerate(("FCN", "MLP", "CNN"))
    )
    assert "Wins" in suggested(error(frame))
    assert "matrix" in suggested(error(frame))


def test_successes_of_trials_are_shares():
    cells = {name: [f"{at % 20}/20" for at in range(N)] for name in ("act", "octo", "pi")}
    table = read(pl.DataFrame({"Task": ITEMS} | cells), matrix="success")
    np.testing.assert_allclose(table.column(0)[0], np.arange(N) % 20 / 20)


@pytest.mark.parametrize("cells", [[f"{at % 12 + 1}/{at % 9 + 12}" for at in range(N)], ["21/20"] * N])
def test_dates_and_other_ratios_are_no_shares(cells):
    frame = pl.DataFrame({"Task": ITEMS, "act": cells, "octo": cells})
    assert "missing columns" in message(frame)


def test_outcomes_of_agents_are_read_if_one_column_is_named_agent():
    words = ["resolved", "unresolved", "empty_patch", "error"]
    names = ("sweep", "my-agent", "coder")
    frame = pl.DataFrame({"instance_id": ITEMS} | {n: RNG.choice(words, N).tolist() for n in names})
    assert sorted(read(frame).models) == sorted(names)


def test_a_lone_column_named_after_agents_names_the_models():
    rows = [(i, agent, RNG.choice(["resolved", "unresolved"])) for i in ITEMS for agent in ("a1", "a2")]
    frame = pl.DataFrame(rows, schema=["instance_id", "agent", "outcome"], orient="row")
    assert sorted(read(frame).models) == ["a1", "a2"]


def test_data_sets_in_rows_are_not_models():
    sets = [f"uci-{at}" for at in range(20)] + ["Média", "Posto médio"]
    scores = {name: (RNG.random(22) * 30 + 60).round(2) for name in ("NB", "kNN", "MLP", "RF", "GBM", "JRip")}
    table = read(pl.DataFrame({"Conjunto de dados": sets} | scores), matrix="acc")
    assert sorted(table.models) == sorted(scores)
    assert len(table.samples) == 20


def test_durations_beside_scores_in_words_are_not_scores():
    rows = [(m, i, RNG.choice(["C", "I"]), RNG.random(), RNG.random()) for m in "ab" for i in ITEMS]
    frame = pl.DataFrame(rows, schema=["model", "id", "match", "total_time", "working_time"], orient="row")
    assert [metric.name for metric in read(frame).metrics] == ["match"]
    times = frame.drop("match").rename({"total_time": "train_time"})
    assert len(read(times).metrics) == 2


def test_a_counter_of_votes_is_not_their_verdict():
    sides = [("a", "b"), ("b", "a")] * 15
    frame = pl.DataFrame(sides, schema=["first", "second"], orient="row")
    frame = frame.with_columns(preferred=pl.Series(RNG.choice(["first", "second"], 2 * 15)))
    assert sorted(read(frame.with_row_index("vote", 1)).models) == ["a", "b"]


def test_the_mean_of_a_benchmark_is_its_metric():
    mean = RNG.lognormal(size=2 * N)
    names = {"name": ITEMS * 2, "lib": ["a"] * N + ["b"] * N, "min": mean * 0.9, "max": mean * 1.3}
    names |= {"mean": mean, "stddev": mean * 0.1, "median": mean, "ops": 1 / mean}
    frame = pl.DataFrame(names | {"rounds": RNG.integers(5, 99, 2 * N)})
    failure = error(frame.rename({"lib": "model"}))
    assert "unknown direction of mean:" in failure.problem
