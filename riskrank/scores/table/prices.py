"""Prices of models, one row a model: what a call costs whoever makes it."""

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.reading import read_frame


def read_prices(path: str, limit: int | None = None) -> dict[str, float]:
    """Price of every model in a file, by its name.

    Raises
    ------
    InputError
        If the file holds no column of prices, or one is missing, below 0, or there twice.
    """
    options = ReadOptions(wide=True, sample_optional=True, min_models=1, max_bytes=limit)
    scores = read_frame([path], options)
    metrics = scores.metrics
    if len(metrics) != 1:
        raise InputError(
            f"{option('price', path)}: a file of prices has a column of models and one of prices",
            found=f"columns of numbers: {listing(metrics)}",
            hint="keep one, such as model,price",
        )
    models = scores.frame["model"].cast(str).to_list()
    found = dict(zip(models, scores.values.tolist(), strict=True))
    wrong = [model for model, price in found.items() if not (np.isfinite(price) and price >= 0)]
    wrong += [model for model in found if models.count(model) > 1]
    if wrong:
        written = scores.notes.files[0].source.load(metrics)[metrics[0]].gather(scores.frame["row"])
        raise InputError(
            f"{option('price', path)}: the price of {wrong[0]} is no price, or there twice",
            found=listing(str(written[at]) for at, model in enumerate(models) if model == wrong[0]),
            hint="write a number not below 0, once a model",
        )
    return found
