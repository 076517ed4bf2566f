"""Make forecasts.csv: three ways to forecast the number of unemployed a quarter ahead, month by month.

`economics` of the ggplot2 package has the monthly number of unemployed people in the United States since
1967. Every forecast knows the months up to its own and says the number three months later; `error` is by
how much it is off, in thousands. Errors of neighbouring months are alike, since their quarters overlap and
recessions last: 571 months are no 571 samples.

`last` says that nothing changes, `drift` carries the change of the last year on, `smoothed` is Holt's
double exponential smoothing. Run with the `data` dependency group installed; nothing is random.
"""

from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl

TARGET = Path(__file__).with_name("forecasts.csv")
AHEAD = 3
KNOWN = 24
LEVEL, TREND = 0.7, 0.1


def smoothed(seen: np.ndarray) -> float:
    """Return the forecast of Holt's linear method."""
    level, trend = seen[0], 0.0
    for value in seen[1:]:
        before = level
        level = LEVEL * value + (1 - LEVEL) * (level + trend)
        trend = TREND * (level - before) + (1 - TREND) * trend
    return level + AHEAD * trend


FORECASTS = {
    "last": lambda seen: seen[-1],
    "drift": lambda seen: seen[-1] + AHEAD * (seen[-1] - seen[-13]) / 12,
    "smoothed": smoothed,
}


def score_table() -> pl.DataFrame:
    """Return the long table: each row the error of one forecast in one month."""
    months = pl.read_csv(files("plotnine.data") / "economics.csv", try_parse_dates=True)
    unemployed = months["unemploy"].to_numpy().astype(float)
    rows = []
    for name, forecast in FORECASTS.items():
        for now in range(KNOWN, len(unemployed) - AHEAD):
            error = abs(unemployed[now + AHEAD] - forecast(unemployed[: now + 1]))
            rows.append((name, months["date"][now + AHEAD], "error", round(error, 1)))
    return pl.DataFrame(rows, schema=["model", "month", "metric", "score"], orient="row")


if __name__ == "__main__":
    score_table().write_csv(TARGET)
