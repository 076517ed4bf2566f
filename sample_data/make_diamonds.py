"""Make diamonds.parquet: seven models value 2,000 diamonds they had not seen, in dollars.

A dealer weighs and gauges a stone before a laboratory grades its cut, colour and clarity, and asks what it
will sell for. `error_usd` is by how much a model is off. None of the models is tuned; three are the same
gradient boosting and differ only in the loss it minimises.

`boosting_absolute` minimises the absolute error and has the smallest mean error of all. Of stones that
measure alike a few fine ones cost much more than most. This loss aims at their median: it comes nearer to
most stones, and is further off on the fine ones. `boosting_squared` aims at their mean. Its mean error is
larger by a few dollars, which may be chance; the mean of its worst 5 % of errors is smaller by hundreds,
which is not. So the best mean is a hidden risk. `boosting_squared` also answers sooner, and its intervals
are on average no wider and hold the price no less often: the combined score puts it first.

Run with the `data` dependency group installed; it takes about two minutes. Times are measured, so they
differ from run to run; all else is seeded.
"""

from importlib.resources import files
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from threadpoolctl import threadpool_limits

TARGET = Path(__file__).with_name("diamonds.parquet")
SEED = 0
HELD_OUT = 2_000
CALIBRATION = 5_000
# What a scale and a gauge tell: weight, height and the width of the top. The rest is the laboratory's.
MEASURED = ["carat", "depth", "table"]
GRADED = ["cut", "color", "clarity"]
# Intervals are calibrated among stones of about the same predicted price, as errors grow with it.
PRICE_CLASSES = 20
OUTSIDE = 0.1
TIMINGS = 5


def stones() -> pl.DataFrame:
    """Return the diamonds in random order, once where several are alike in all that was measured and graded.

    Some stones are listed twice. With both, a model could have seen the stone it is asked about.
    """
    listed = pl.read_csv(files("plotnine.data") / "diamonds.csv")
    listed = listed.unique([*MEASURED, *GRADED], keep="first", maintain_order=True)
    return listed[np.random.default_rng(SEED).permutation(len(listed))]


def models() -> dict[str, BaseEstimator]:
    """Return the models by name, none of them fitted; what is not named is scikit-learn's choice.

    None is much quicker than boosting. The quickest model is the quickest on every stone, so that in a
    combination of ranks a single tree would come before models that know the price better.
    """
    logarithm = {"func": np.log, "inverse_func": np.exp}
    splines = make_pipeline(SplineTransformer(), LinearRegression())
    layers = MLPRegressor(early_stopping=True, random_state=SEED)
    network = make_pipeline(SplineTransformer(), StandardScaler(), layers)
    return {
        "linear_splines": TransformedTargetRegressor(splines, **logarithm),
        "nearest_neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor()),
        "neural_net": TransformedTargetRegressor(network, transformer=StandardScaler()),
        "random_forest": RandomForestRegressor(random_state=SEED),
        "boosting_squared": HistGradientBoostingRegressor(random_state=SEED),
        "boosting_absolute": HistGradientBoostingRegressor(loss="absolute_error", random_state=SEED),
        "boosting_log": TransformedTargetRegressor(
            HistGradientBoostingRegressor(random_state=SEED), **logarithm
        ),
    }


def interval_ends(
    predicted: np.ndarray, price: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of 90 % intervals around predictions, by split conformal prediction.

    Parameters
    ----------
    predicted, price : numpy.ndarray of shape (c,)
        Predictions and prices of the calibration stones.
    asked : numpy.ndarray of shape (n,)
        The predictions that want an interval.

    Returns
    -------
    low, high : numpy.ndarray of shape (n,)
        The prediction plus the 5 % and 95 % quantiles of price minus prediction among the calibration stones
        in the same of twenty classes of predicted price.
    """
    edges = np.quantile(predicted, np.linspace(0, 1, PRICE_CLASSES + 1)[1:-1])
    known, wanted = np.searchsorted(edges, predicted), np.searchsorted(edges, asked)
    low, high = np.empty_like(asked), np.empty_like(asked)
    for number in range(PRICE_CLASSES):
        missed = (price - predicted)[known == number]
        here = wanted == number
        # One rank further out than the plain quantile: the new stone is itself one of the class.
        low[here] = asked[here] + np.quantile(missed, OUTSIDE / 2, method="weibull")
        high[here] = asked[here] + np.quantile(missed, 1 - OUTSIDE / 2, method="weibull")
    return low, high


def microseconds(fitted: list[BaseEstimator], features: np.ndarray) -> np.ndarray:
    """Return how long each model takes to predict each stone alone, the fastest of five times, shape (k, n).

    A machine drifts: the stones are timed in random order and, one stone after the other, all models in
    random order, so that whatever drifts does not make neighbours alike or favour a model. Each first
    answers for another stone, untimed, as a model in service would have.
    """
    rng = np.random.default_rng(SEED)
    taken = np.empty((TIMINGS, len(fitted), len(features)))
    with threadpool_limits(1):
        for repeat in range(TIMINGS):
            for row in rng.permutation(len(features)):
                for number in rng.permutation(len(fitted)):
                    fitted[number].predict(features[row - 1 : row] if row else features[1:2])
                    start = perf_counter_ns()
                    fitted[number].predict(features[row : row + 1])
                    taken[repeat, number, row] = perf_counter_ns() - start
    return taken.min(axis=0) / 1000


def score_table() -> pl.DataFrame:
    """Return the long table: each row one score of one model on one stone under one metric."""
    table = stones()
    features, price = table.select(MEASURED).to_numpy(), table["price"].to_numpy().astype(float)
    held_out, calibration = slice(0, HELD_OUT), slice(HELD_OUT, HELD_OUT + CALIBRATION)
    training = slice(HELD_OUT + CALIBRATION, None)
    samples = [f"stone-{number:04d}" for number in range(1, HELD_OUT + 1)]
    parts, named = [], models()
    for model in named.values():
        model.fit(features[training], price[training])
    taken = microseconds([*named.values()], features[held_out])
    for (name, model), own in zip(named.items(), taken, strict=True):
        predicted = model.predict(features[held_out])
        low, high = interval_ends(model.predict(features[calibration]), price[calibration], predicted)
        error = np.abs(price[held_out] - predicted)
        scores = {
            "error_usd": error.round(),
            "covered": ((low <= price[held_out]) & (price[held_out] <= high)).astype(float),
            "width_usd": (high - low).round(),
            "time_us": own.round(),
        }
        parts += [
            table[held_out].select(
                pl.lit(name).alias("model"),
                "cut",
                pl.Series("sample", samples),
                pl.lit(metric).alias("metric"),
                pl.Series("score", values),
            )
            for metric, values in scores.items()
        ]
        print(f"{name:20}", *(f"{metric} {values.mean():.3f}" for metric, values in scores.items()))
    return pl.concat(parts)


if __name__ == "__main__":
    score_table().write_parquet(TARGET, compression="zstd", compression_level=19)
