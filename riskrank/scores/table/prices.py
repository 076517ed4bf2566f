"""Prices of models, from files with one row per model."""

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.reading import read_frame


def read_prices(path: str, limit: int | None = None) -> dict[str, float]:
    """Read the price of every model from a file.

    Raises
    ------
    InputError
        If the file does not have exactly one price column, or a price is missing, negative or duplicated.
    """
    options = ReadOptions(wide=True, sample_optional=True, min_models=1, max_bytes=limit)
    scores = read_frame([path], options)
    metrics = scores.metrics
    if len(metrics) != 1:
        raise InputError(
            f"{option('price', path)}: a price file needs one model column and one price column",
            found=f"numeric columns: {listing(metrics)}",
            hint="keep one numeric column, such as model,price",
        )
    models = scores.frame["model"].cast(str).to_list()
    prices = dict(zip(models, scores.values.tolist(), strict=True))
    invalid = [model for model, price in prices.items() if not (np.isfinite(price) and price >= 0)]
    invalid += [model for model in prices if models.count(model) > 1]
    if invalid:
        texts = scores.notes.files[0].source.load(metrics)[metrics[0]].gather(scores.frame["row"])
        raise InputError(
            f"{option('price', path)}: the price of {invalid[0]} is invalid or repeated",
            found=listing(str(texts[at]) for at, model in enumerate(models) if model == invalid[0]),
            hint="write one price of at least 0 per model",
        )
    return prices
