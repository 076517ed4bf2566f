"""Checks for undeclared directions, and for tables that allow only comparisons of means."""

from collections.abc import Iterable

from riskrank.errors import UsageError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.names.directions import has_uncertain_direction, looks_like_a_cost
from riskrank.scores.table.metrics import is_undeclared_cost
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import counted


def require_directions(table: ScoreTable, *, command: str, metrics: str) -> None:
    """Raise an error if a metric has no declared direction.

    Parameters
    ----------
    table : ScoreTable
    command : str
        Command that needs the directions.
    metrics : str
        The command's plural noun for its metrics, such as "criteria".

    Raises
    ------
    UsageError
        If any metric has no declared direction.
    """
    lacking = [spec.name for spec in table.metrics if not spec.declared]
    if lacking:
        less = join_commas(filter(looks_like_a_cost, lacking))
        likely = " ".join([*([option("lower", less)] if less else []), option("higher", "*")])
        doubtful = any(map(has_uncertain_direction, lacking))
        raise UsageError(
            f"{command} needs a direction for {listing(lacking)}",
            found=f"{len(table.metrics) - len(lacking)} of {len(table.metrics)} {metrics} have a direction "
            f"from {option('metrics_file')}, {option('lower')} or {option('higher')}",
            hint=f"add {option('lower', lacking[0])} or {option('higher', lacking[0])} for each; "
            f"{option('higher', '*')} applies to all that are not listed",
            suggestions=() if doubtful else [(likely, None)],
        )


def refuse_assumed_costs(metrics: Iterable[MetricSpec], *, command: str) -> None:
    """Raise an error if a metric's name suggests a cost but its direction is undeclared.

    Parameters
    ----------
    metrics : iterable of MetricSpec
        Metrics of the claims.
    command : str
        Command whose answer would be reversed otherwise.

    Raises
    ------
    UsageError
        If the direction of such a metric is undeclared.
    """
    doubtful = [spec.name for spec in metrics if is_undeclared_cost(spec)]
    if doubtful:
        together = join_commas(doubtful)
        raise UsageError(
            f"{command} needs a direction for {listing(doubtful)}",
            found="no declared direction, but the name suggests that lower is better",
            hint=f"add {option('lower', together)} or {option('higher', together)}",
            suggestions=[(option(way, together), None) for way in ("lower", "higher")],
        )


def refuse_distributions(table: ScoreTable, command: str, use: str = "compares distributions") -> None:
    """Raise an error if a table allows only comparisons of means: folds, or several sources of noise.

    Parameters
    ----------
    table : ScoreTable
    command : str
    use : str
        How the command uses the scores, for the message.

    Raises
    ------
    UsageError
        If only means can be compared.
    """
    if table.noise is not None:
        raise UsageError(
            f"{command} {use}, but sources of noise allow only comparisons of means",
            found=option("noise", ",".join(table.options.noise)),
            hint="use riskrank rank or gate, which compare means",
        )
    if table.folds is None:
        return
    raise UsageError(
        f"{command} {use}, but folds allow only comparisons of means",
        found=f"{len(table.samples):,} folds of {counted(len(table.folds.folds), 'data set')}",
        hint="use riskrank rank or gate, which compare means; or score every row once, with the model "
        "trained without its fold",
    )
