"""Cost per success: parsing the option, and checking the scores (method §18)."""

from collections.abc import Sequence

from riskrank.engine.evidence.cost_per_success import MIN_SUCCESSES, Costs
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, listing, option

PER_SUCCESS = "cost-per-success"


def parse_cost_per_success(flag: str, text: str, metrics: Sequence[str]) -> tuple[str, str] | None:
    """Parse ``cost-per-success:COST/SUCCESS`` into its two metrics, or return None for any other text.

    Metric names may contain a slash.

    Parameters
    ----------
    flag : str
        Name of the option that contains the text, for messages.
    text : str
    metrics : sequence of str
        Names of all metrics.

    Raises
    ------
    UsageError
        If the text does not name two known metrics.
    """
    head, _, names = text.partition(":")
    if head != PER_SUCCESS:
        return None
    for at, sign in enumerate(names):
        both = names[:at], names[at + 1 :]
        if sign == "/" and all(name in metrics for name in both):
            return both
    problem = f"{option(flag, text)} must name a cost metric and a success metric"
    hint = f"write {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')} with two of these"
    raise UsageError(problem, found=f"the metrics are {listing(metrics)}", hint=hint)


def require_costs(
    request: tuple[str, str],
    costs: tuple[bool, Sequence[Floats]],
    successes: tuple[bool, Sequence[Floats]],
    *,
    independent: bool,
) -> None:
    """Raise an error if the cost per success is undefined for the scores.

    Parameters
    ----------
    request : (str, str)
        Name and value of the option, for messages.
    costs, successes : (bool, sequence of ndarray)
        True if lower values are better in the input file, and the scores of each model. The scores are
        oriented so that larger values are better.
    independent : bool
        True if samples are resampled one by one.

    Raises
    ------
    UsageError
        If costs are negative or higher is better, or successes are outside 0 to 1 or lower is better. Also if
        samples are weighted or in time order.
    """
    flag, text = request
    cost, _, success = text.partition(":")[2].partition("/")
    problem: tuple[str, str] | None = None
    if not independent:
        problem = "independent samples", "weighted tasks, folds, or rows in time order"
    elif not costs[0] or any(scores.size and float(scores.max()) > 0 for scores in costs[1]):
        problem = f"costs in {cost}: lower is better, and at least 0", "other scores"
    elif successes[0] or any(
        scores.size and (float(scores.min()) < 0 or float(scores.max()) > 1) for scores in successes[1]
    ):
        problem = f"successes in {success}: higher is better, from 0 to 1", "other scores"
    if problem is not None:
        hint = (
            f"write the cost first, {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')}, and add "
            f"{option('lower', 'COST')}; {option('task', 'none')} pools tasks"
        )
        raise UsageError(f"{option(flag, text)} needs {problem[0]}", found=problem[1], hint=hint)


def require_successes(costs: Costs, model: str, name: str) -> None:
    """Raise an error if a model has too few successes to estimate its cost per success.

    `name` is the name of the cost per success, for the message.

    Raises
    ------
    InputError
    """
    if not costs.has_enough_successes:
        raise InputError(
            f"{model} has fewer than {MIN_SUCCESSES} successes on {name}, too few to estimate the cost per "
            "success",
            found=f"{costs.successes.sum():g} in {costs.successes.size:,} scores",
            hint="score more samples, or compare costs and successes separately",
        )
