"""The sample data match their README: shapes, ranges, sources, and the described results."""

import runpy
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

SAMPLE_DATA = Path(__file__).parents[1] / "sample_data"
METRICS = ["correct", "log_loss", "brier", "margin"]
DIAMOND_METRICS = ["error_usd", "covered", "width_usd", "time_us"]
CUTS = {"Fair", "Good", "Very Good", "Premium", "Ideal"}
BENCHMARKS = ["ifeval", "bbh", "math", "gpqa", "musr", "mmlu_pro"]


@pytest.fixture(scope="module")
def classifiers():
    return pl.read_parquet(SAMPLE_DATA / "classifiers.parquet")


@pytest.fixture(scope="module")
def classifiers_wide(classifiers):
    return classifiers.pivot(on="metric", index=["model", "dataset", "sample"], values="score")


@pytest.fixture(scope="module")
def diamonds():
    return pl.read_parquet(SAMPLE_DATA / "diamonds.parquet")


@pytest.fixture(scope="module")
def diamonds_wide(diamonds):
    return diamonds.pivot(on="metric", index=["model", "cut", "sample"], values="score").sort("sample")


@pytest.fixture(scope="module")
def uci():
    return pl.read_csv(SAMPLE_DATA / "uci.csv")


@pytest.fixture(scope="module")
def llm_leaderboard():
    return pl.read_csv(SAMPLE_DATA / "llm_leaderboard.csv")


def declared(name):
    return tomllib.loads((SAMPLE_DATA / f"{name}.toml").read_text(encoding="utf-8"))


def test_classifiers_has_every_model_on_every_sample(classifiers):
    assert classifiers.columns == ["model", "dataset", "sample", "metric", "score"]
    assert classifiers.null_count().sum_horizontal().item() == 0
    assert classifiers["score"].is_finite().all()
    models, samples, metrics = (classifiers[column].unique() for column in ("model", "sample", "metric"))
    assert len(models) >= 8
    assert len(samples) == 1797 + 569
    assert sorted(metrics) == sorted(METRICS)
    # No duplicates, and as many rows as the full product: so no cell is missing.
    assert not classifiers.select("model", "sample", "metric").is_duplicated().any()
    assert len(classifiers) == len(models) * len(samples) * len(METRICS)


def test_classifiers_metrics_are_consistent(classifiers_wide):
    correct, log_loss, brier, margin = (classifiers_wide[metric].to_numpy() for metric in METRICS)
    assert set(np.unique(correct)) == {0.0, 1.0}
    # The arg-max is the true class if its margin is positive; equal probabilities may go either way.
    assert np.array_equal(correct[margin != 0] == 1, margin[margin != 0] > 0)
    # A prediction is wrong if the probability of its class is at most ½.
    assert log_loss[correct == 0].min() >= np.log(2) - 1e-6
    # With two classes the margin, 2p − 1, determines all the rest.
    two = (classifiers_wide["dataset"] == "cancer").to_numpy()
    p_true = (1 + margin[two]) / 2
    np.testing.assert_allclose(brier[two], 2 * (1 - p_true) ** 2, atol=5e-6)
    surely = p_true > 0.01
    np.testing.assert_allclose(log_loss[two][surely], -np.log(p_true[surely]), atol=1e-4)


def test_classifiers_best_mean_has_a_bad_tail(classifiers_wide):
    models = sorted(classifiers_wide["model"].unique())
    oriented = classifiers_wide.sort("model", "sample").select(
        "correct", -pl.col("log_loss"), -pl.col("brier"), "margin"
    )
    ranks = [oriented[metric].rank("max").to_numpy() / len(oriented) for metric in oriented.columns]
    portfolio = np.sort(np.exp(np.mean(np.log(ranks), axis=0)).reshape(len(models), -1), axis=1)
    mean = dict(zip(models, portfolio.mean(axis=1), strict=True))
    worst = dict(zip(models, portfolio[:, : portfolio.shape[1] // 20].mean(axis=1), strict=True))
    assert max(mean, key=mean.get) == "naive_bayes"
    assert min(worst, key=worst.get) == "naive_bayes"
    # Sums over order statistics approximate the integrals; at this n the difference is negligible.
    integrated = np.cumsum(portfolio, axis=1)
    gap = integrated[None, :, :] - integrated[:, None, :]
    squares = (gap**2).sum(axis=2) + np.eye(len(models))
    violation = (np.maximum(gap, 0) ** 2).sum(axis=2) / squares
    order = [models[i] for i in np.argsort(violation.sum(axis=1))]
    assert order[:4] == ["neural_net", "lda", "logistic_weak_penalty", "naive_bayes"]


def worst_twentieth(losses):
    """Return the mean of the largest 5 % along the last axis."""
    return np.sort(losses)[..., -(losses.shape[-1] // 20) :].mean(axis=-1)


def test_diamonds_has_every_model_on_every_stone(diamonds):
    assert diamonds.columns == ["model", "cut", "sample", "metric", "score"]
    assert diamonds.null_count().sum_horizontal().item() == 0
    assert [diamonds[column].n_unique() for column in ("model", "sample", "metric")] == [7, 2000, 4]
    assert not diamonds.select("model", "sample", "metric").is_duplicated().any()
    assert len(diamonds) == 7 * 2000 * 4
    assert len(diamonds.select("sample", "cut").unique()) == 2000
    assert set(diamonds["cut"]) == CUTS
    assert (SAMPLE_DATA / "diamonds.parquet").stat().st_size < 400_000


def test_diamonds_metrics_are_consistent(diamonds_wide):
    error, covered, width, time = (diamonds_wide[metric].to_numpy() for metric in DIAMOND_METRICS)
    assert set(np.unique(covered)) == {0.0, 1.0}
    # An interval that holds prediction and price is as wide as they are apart, to a rounded dollar.
    assert (error <= width + 1)[covered == 1].all()
    assert (width > 0).all()
    assert (time > 0).all()
    # 2,000 draws of probability 0.9 have a standard error of 0.0067.
    share = diamonds_wide.group_by("model").agg(pl.col("covered").mean())["covered"]
    assert share.is_between(0.9 - 0.02, 0.9 + 0.02).all()


def test_diamonds_best_mean_error_has_a_significantly_worse_tail(diamonds_wide):
    models = sorted(diamonds_wide["model"].unique())
    errors = np.array([diamonds_wide.filter(model=model)["error_usd"].to_numpy() for model in models])
    mean = dict(zip(models, errors.mean(axis=1), strict=True))
    worst = dict(zip(models, worst_twentieth(errors), strict=True))
    assert min(mean, key=mean.get) == "boosting_absolute"
    assert min(worst, key=worst.get) == "boosting_squared"
    draws = np.random.default_rng(0).integers(0, errors.shape[1], (2000, errors.shape[1]))
    absolute, squared = (
        errors[models.index(name)][draws] for name in ("boosting_absolute", "boosting_squared")
    )
    # The mean's lead may be chance, and is small in any case; the tail's lag is neither.
    low, high = np.quantile(squared.mean(axis=1) - absolute.mean(axis=1), [0.025, 0.975])
    assert -10 < low < 0 < high < 30
    low, high = np.quantile(worst_twentieth(absolute) - worst_twentieth(squared), [0.0005, 0.9995])
    assert 100 < low < high < 500


def test_uci_matches_its_script():
    script = runpy.run_path(str(SAMPLE_DATA / "make_uci.py"))
    assert (SAMPLE_DATA / "uci.csv").read_bytes() == script["csv_text"]().encode()


def test_llm_leaderboard_matches_the_published_averages(llm_leaderboard):
    assert llm_leaderboard.columns == ["model", *BENCHMARKS, "co2"]
    assert llm_leaderboard["model"].n_unique() == len(llm_leaderboard) == 8
    printed = [51.243911, 43.546286, 40.095001, 30.839155, 27.178374, 21.913941, 16.210718, 4.743048]
    average = llm_leaderboard.select(BENCHMARKS).mean_horizontal()
    np.testing.assert_allclose(average, printed, atol=1.5e-6)
    assert llm_leaderboard["co2"].is_sorted(descending=True)


@pytest.mark.parametrize(
    ("name", "metrics", "lower"),
    [
        ("classifiers", METRICS, {"log_loss", "brier"}),
        ("diamonds", DIAMOND_METRICS, {"error_usd", "width_usd", "time_us"}),
        ("uci", ["auc", "acc", "brier"], {"brier"}),
        ("llm_leaderboard", [*BENCHMARKS, "co2"], {"co2"}),
    ],
)
def test_metrics_file_declares_all_metrics_with_valid_bounds(name, metrics, lower, request):
    settings = declared(name)
    assert list(settings) == metrics
    assert {metric for metric, entry in settings.items() if entry["direction"] == "lower"} == lower
    assert all(entry["direction"] in {"lower", "higher"} for entry in settings.values())
    table = request.getfixturevalue(name)
    for metric, entry in settings.items():
        scores = table[metric] if metric in table.columns else table.filter(metric=metric)["score"]
        low, high = entry.get("bounds", (0, np.inf))
        assert scores.is_between(low, high).all(), metric


def test_the_suite_has_every_model_on_every_sample_of_every_task():
    models = ["forest", "logistic", "naive_bayes", "neighbours"]
    files = sorted((SAMPLE_DATA / "suite").glob("*/*.csv"))
    assert sorted({path.parent.name for path in files}) == models
    sizes = {path.stem: pl.read_csv(path).height for path in files}
    assert sizes == {
        **{"cancer": 569, "cars": 234, "counties": 437, "digits": 900},
        **{"iris": 150, "motors": 32, "penguins": 333, "wine": 178},
    }
    assert len(files) == len(models) * len(sizes)
    for path in files:
        table = pl.read_csv(path)
        assert table.columns == ["sample", "correct", "log_loss"]
        assert sorted(table["sample"]) == list(range(1, sizes[path.stem] + 1))
        assert set(table["correct"]) <= {0, 1}
        assert table["log_loss"].is_between(0, 6.908).all()  # of a probability of one in a thousand
    assert sum(path.stat().st_size for path in files) < 150_000


def test_pooled_and_macro_mean_of_the_suite_differ():
    def means(model):
        tasks = [
            pl.read_csv(path)["correct"] for path in sorted((SAMPLE_DATA / "suite" / model).glob("*.csv"))
        ]
        return pl.concat(tasks).mean(), np.mean([task.mean() for task in tasks])

    (pooled, macro), (other_pooled, other_macro) = means("forest"), means("logistic")
    assert pooled - other_pooled > 0.006
    assert abs(macro - other_macro) < 0.001


def test_verdicts_match_their_script():
    verdicts = runpy.run_path(str(SAMPLE_DATA / "make_verdicts.py"))["verdict_table"]()
    assert verdicts.equals(pl.read_csv(SAMPLE_DATA / "verdicts.csv"))
    assert verdicts.shape == (120, 4)


@pytest.mark.parametrize(
    ("table", "maker"), [("weeks", "weeks_table"), ("judge", "judged_table"), ("prompts", "prompts_table")]
)
def test_simulated_tables_match_their_scripts(table, maker):
    generated = runpy.run_path(str(SAMPLE_DATA / f"make_{table}.py"))[maker]()
    assert generated.equals(pl.read_csv(SAMPLE_DATA / f"{table}.csv"))
