"""What a command refuses: directions nobody declared, and tables that only tell of means."""

from collections.abc import Iterable

from riskrank.errors import UsageError, listing, option
from riskrank.options.flags import among_commas
from riskrank.scores.names.directions import has_uncertain_direction, looks_like_a_cost
from riskrank.scores.table.metrics import assumed_cost
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import counted


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
        less = among_commas(filter(looks_like_a_cost, lacking))
        likely = " ".join([*([option("lower", less)] if less else []), option("higher", "*")])
        doubtful = any(map(has_uncertain_direction, lacking))
        raise UsageError(
            f"{command} does not guess directions, and {listing(lacking)} {have} none",
            found=f"{len(table.metrics) - len(lacking)} of {len(table.metrics)} {metrics} have one, "
            f"from {option('metrics_file')}, {option('lower')} or {option('higher')}",
            hint=f"say {option('lower', lacking[0])} or {option('higher', lacking[0])}, for each; "
            f"{option('higher', '*')} is all that are not named",
            ways=() if doubtful else [(likely, None)],
        )


def refuse_assumed_costs(metrics: Iterable[MetricSpec], *, command: str) -> None:
    """Refuse metrics whose names say that less is better, where nobody said so or otherwise.

    Parameters
    ----------
    metrics : iterable of MetricSpec
        Those an answer is about.
    command : str
        The command whose answer would be the wrong way round.

    Raises
    ------
    UsageError
    """
    doubtful = [spec.name for spec in metrics if assumed_cost(spec)]
    if doubtful:
        together = among_commas(doubtful)
        raise UsageError(
            f"{command} does not guess which way is better of {listing(doubtful)}",
            found="nobody declared it, and by its name less is better: a step back might pass",
            hint=f"say {option('lower', together)} or {option('higher', together)}",
            ways=[(option(way, together), None) for way in ("lower", "higher")],
        )


def refuse_distributions(table: ScoreTable, command: str, looks: str = "looks at distributions") -> None:
    """Refuse what looks at distributions of scores, or at each, where scores are means of folds.

    Raises
    ------
    UsageError
    """
    if table.noise is not None:
        raise UsageError(
            f"{command} {looks}, and sources of noise are told of means",
            found=option("noise", ",".join(table.options.noise)),
            hint="riskrank rank and gate compare means",
        )
    if table.folds is None:
        return
    raise UsageError(
        f"{command} {looks}, and a fold's score is a mean, whose spread is the fold's size",
        found=f"{len(table.samples):,} folds of {counted(len(table.folds.folds), 'data set')}",
        hint="riskrank rank and gate compare their means; for the rest score every row once, by the model of "
        "the fold that left it out",
    )
