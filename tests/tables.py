"""Score tables of tests: a row a score."""

import polars as pl


def of_rows(rows) -> pl.DataFrame:
    """Of a model, a sample, a metric and a score each."""
    return pl.DataFrame([*rows], schema=["model", "sample", "metric", "score"], orient="row")


def long_table(models, metric="q", named="s{}".format) -> pl.DataFrame:
    """Of one metric, from the scores of every model."""
    return of_rows(
        (name, named(at), metric, float(x)) for name, scores in models.items() for at, x in enumerate(scores)
    )
