"""Score tables for tests, with one row per score."""

import polars as pl


def of_rows(rows) -> pl.DataFrame:
    """Build a frame from rows of model, sample, metric and score."""
    return pl.DataFrame([*rows], schema=["model", "sample", "metric", "score"], orient="row")


def long_table(models, metric="q", named="s{}".format) -> pl.DataFrame:
    """Build a long table of one metric from the scores of each model."""
    return of_rows(
        (name, named(at), metric, float(x)) for name, scores in models.items() for at, x in enumerate(scores)
    )
