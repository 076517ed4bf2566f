"""Two models named in one text: ``NEW:OLD``."""

from collections.abc import Sequence

from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.scores.table.score_table import ScoreTable


def resolve_pair(text: str, models: Sequence[str], *, parameter: str) -> tuple[int, int]:
    """Find the two models of ``A:B``; names may hold colons themselves.

    Raises
    ------
    UsageError
        If no split gives two different known models.
    """
    splits = [(text[:at], text[at + 1 :]) for at, mark in enumerate(text) if mark == ":"]
    known = [pair for pair in splits if pair[0] in models and pair[1] in models]
    if len(known) == 1 and known[0][0] != known[0][1]:
        return list(models).index(known[0][0]), list(models).index(known[0][1])
    if not splits:
        hint = f"write {option(parameter, 'NEW:OLD')} with two of the models"
    elif known:
        hint = "name two different models"
    else:
        strange = next(name for pair in splits for name in pair if name not in models)
        hint = did_you_mean(
            strange,
            models,
            write=lambda near: f"{near} instead of {strange}",
            otherwise=f"models: {listing(models)}",
        )
    raise UsageError(
        f"{option(parameter, text)} does not name two models of the table", found=text, hint=hint
    )


def require_pair(table: ScoreTable, text: str | None, source: str) -> tuple[int, int]:
    """Find the two models that one claim is about; the source is the option that plans it.

    Raises
    ------
    UsageError
        If there are several metrics, or more than two models and nobody named a pair.
    """
    if len(table.metrics) > 1:
        raise UsageError(
            f"{source} plans a claim on one metric",
            found=f"{len(table.metrics)} metrics",
            hint=f"choose one: {option('metric', table.metrics[0].name)}",
        )
    if text is not None:
        return resolve_pair(text, table.models, parameter="pair")
    if len(table.models) > 2:
        raise UsageError(
            f"{source} plans one claim, about two models",
            found=f"{len(table.models)} models and no {option('pair')}",
            hint=f"name them: {option('pair', 'NEW:OLD')}",
        )
    return 0, 1
