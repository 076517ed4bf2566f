"""Parsing of model pairs such as ``NEW:OLD``."""

from collections.abc import Sequence

from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.scores.table.score_table import ScoreTable


def resolve_pair(text: str, models: Sequence[str], *, parameter: str) -> tuple[int, int]:
    """Return the indices of the models in a pair ``A:B``.

    Names may contain colons.

    Raises
    ------
    UsageError
        If the text cannot be split into two different known models.
    """
    splits = [(text[:at], text[at + 1 :]) for at, mark in enumerate(text) if mark == ":"]
    valid = [pair for pair in splits if pair[0] in models and pair[1] in models]
    if len(valid) == 1 and valid[0][0] != valid[0][1]:
        return list(models).index(valid[0][0]), list(models).index(valid[0][1])
    if not splits:
        hint = f"write {option(parameter, 'NEW:OLD')} with two of the models"
    elif valid:
        hint = "name two different models"
    else:
        strange = next(name for pair in splits for name in pair if name not in models)
        hint = did_you_mean(
            strange,
            models,
            write=lambda near: f"{near} instead of {strange}",
            fallback=f"models: {listing(models)}",
        )
    raise UsageError(f"{option(parameter, text)} must name two models of the table", found=text, hint=hint)


def require_pair(table: ScoreTable, text: str | None, source: str) -> tuple[int, int]:
    """Return the indices of the two models for which a test is planned.

    Parameters
    ----------
    table : ScoreTable
    text : str or None
        Pair such as ``NEW:OLD``; optional if there are exactly two models.
    source : str
        Name of the option that requests the plan, for messages.

    Raises
    ------
    UsageError
        If there are several metrics, or more than two models but no pair.
    """
    if len(table.metrics) > 1:
        raise UsageError(
            f"a plan with {source} needs a single metric",
            found=f"{len(table.metrics)} metrics",
            hint=f"choose one: {option('metric', table.metrics[0].name)}",
        )
    if text is not None:
        return resolve_pair(text, table.models, parameter="pair")
    if len(table.models) > 2:
        raise UsageError(
            f"a plan with {source} compares two models",
            found=f"{len(table.models)} models and no {option('pair')}",
            hint=f"name them: {option('pair', 'NEW:OLD')}",
        )
    return 0, 1
