"""What looks at distributions of scores is refused where scores are means, or means are all that is told."""

from __future__ import annotations

from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import counted


def refuse_distributions(table: ScoreTable, command: str) -> None:
    """Refuse what looks at distributions of scores, where scores are means of folds.

    Raises
    ------
    UsageError
    """
    if table.noise is not None:
        raise UsageError(
            f"{command} looks at distributions of scores, and sources of noise are told of means",
            found=option("noise", ",".join(table.options.noise)),
            hint=f"riskrank rank and gate compare means; or average the runs: {option('repeats', 'mean')}",
        )
    if table.folds is None:
        return
    raise UsageError(
        f"{command} looks at distributions, and a fold's score is a mean, whose spread is the fold's size",
        found=f"{len(table.samples):,} folds of {counted(len(table.folds.folds), 'data set')}",
        hint="riskrank rank and gate compare their means; for the rest score every row once, by the model of "
        "the fold that left it out",
    )
