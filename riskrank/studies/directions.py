"""Methods without a common unit must know which way is better for every metric: nothing is guessed."""

from __future__ import annotations

from riskrank.errors import UsageError, listing, option
from riskrank.scores.table.score_table import ScoreTable


def require_directions(table: ScoreTable, *, command: str, metrics: str) -> None:
    """Refuse metrics whose direction nobody declared.

    Parameters
    ----------
    table : ScoreTable
    command : str
        The command that does not guess.
    metrics : str
        What it calls its metrics, in the plural.

    Raises
    ------
    UsageError
    """
    lacking = [spec.name for spec in table.metrics if not spec.declared]
    if lacking:
        have = "has" if len(lacking) == 1 else "have"
        raise UsageError(
            f"{command} does not guess directions, and {listing(lacking)} {have} none",
            found=f"{len(table.metrics) - len(lacking)} of {len(table.metrics)} {metrics} have one, "
            f"from {option('metrics_file')}, {option('lower')} or {option('higher')}",
            hint=f"say {option('lower', lacking[0])} or {option('higher', lacking[0])}, for each; "
            f"{option('higher', '*')} is all that are not named",
        )
