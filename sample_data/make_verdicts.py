"""Make verdicts.csv: a simulated judge compares classifiers pair by pair, sample by sample.

The judge looks at the margins in classifiers.parquet: it calls two answers a tie if their margins differ
by less than 0.05, both bad if both are wrong, and the larger margin the better answer otherwise.
"""

import itertools
from pathlib import Path

import polars as pl

HERE = Path(__file__).parent
MODELS = ("lda", "logistic", "naive_bayes")
SAMPLES = 40
CLOSE = 0.05


def verdict(first: float, second: float) -> str:
    """Return what the judge says of two margins."""
    if first <= 0 and second <= 0:
        return "both-bad"
    if abs(first - second) < CLOSE:
        return "tie"
    return "a" if first > second else "b"


def verdict_table() -> pl.DataFrame:
    """Return one row a sample and pair of models."""
    scores = pl.read_parquet(HERE / "classifiers.parquet").filter(
        (pl.col("metric") == "margin") & pl.col("model").is_in(MODELS)
    )
    wide = scores.pivot("model", index="sample", values="score").sort("sample")
    wide = wide.gather_every(len(wide) // SAMPLES).head(SAMPLES)
    return pl.DataFrame(
        [
            (row["sample"], a, b, verdict(row[a], row[b]))
            for row in wide.iter_rows(named=True)
            for a, b in itertools.combinations(MODELS, 2)
        ],
        schema=["sample", "model_a", "model_b", "verdict"],
        orient="row",
    )


if __name__ == "__main__":
    verdict_table().write_csv(HERE / "verdicts.csv")
