"""Make weeks.csv: simulated scores of one assistant on the same cases, week after week.

Nobody scored anything: the scores are drawn. Most cases are answered alike every week, some flip. In week 14
a change loses a fifth of the cases for good.
"""

from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
WEEKS, CASES = 20, 120
CHANGED, LOST = 14, 24
SEED = 2


def weeks_table() -> pl.DataFrame:
    """Return one row a week and case."""
    rng = np.random.default_rng(SEED)
    chance = rng.beta(0.9, 0.2, CASES)
    later = np.where(np.arange(CASES) < LOST, 0.0, chance)
    rows = []
    for week in range(1, WEEKS + 1):
        passed = rng.random(CASES) < (chance if week < CHANGED else later)
        dollars = np.round(rng.lognormal(-4, 0.3, CASES), 5)
        rows += [
            (week, "assistant", f"case-{number:03d}", int(passed[number]), float(dollars[number]))
            for number in range(CASES)
        ]
    return pl.DataFrame(rows, schema=["week", "model", "case", "correct", "usd"], orient="row")


if __name__ == "__main__":
    weeks_table().write_csv(HERE / "weeks.csv")
