"""The cost per success: how it is asked for, and what it can be computed of (method §18)."""

from collections.abc import Sequence

from riskrank.engine.evidence.cost_per_success import FEWEST_SUCCESSES, Costs
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, listing, option

PER_SUCCESS = "cost-per-success"


def cost_and_success(flag: str, text: str, metrics: Sequence[str]) -> tuple[str, str] | None:
    """The two metrics of ``cost-per-success:COST/SUCCESS``, whose names may hold a slash; None of other text.

    Raises
    ------
    UsageError
        If it names no two metrics.
    """
    head, _, names = text.partition(":")
    if head != PER_SUCCESS:
        return None
    for at, sign in enumerate(names):
        both = names[:at], names[at + 1 :]
        if sign == "/" and all(name in metrics for name in both):
            return both
    raise UsageError(
        f"{option(flag, text)} names no cost and no success among the metrics",
        found=f"the metrics are {listing(metrics)}",
        hint=f"write {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')} with two of these",
    )


def require_costs(
    asked: tuple[str, str],
    costs: tuple[bool, Sequence[Floats]],
    successes: tuple[bool, Sequence[Floats]],
    *,
    alike: bool,
    paired: bool,
) -> None:
    """Refuse what has no cost per success.

    Parameters
    ----------
    asked : (str, str)
        The option, and what it was given.
    costs, successes : (bool, sequence of ndarray)
        Whether less is better, and oriented scores by model.
    alike : bool
        Whether samples are drawn one by one.
    paired : bool
        Whether models have the same samples.

    Raises
    ------
    UsageError
    """
    flag, text = asked
    cost, _, success = text.partition(":")[2].partition("/")
    problem: tuple[str, str] | None = None
    if not alike:
        problem = "samples that are drawn one by one", "tasks that weigh, folds, or rows in order"
    elif not paired:
        problem = "models with the same samples", option("unpaired", True)
    elif not costs[0] or any(one.size and float(one.max()) > 0 for one in costs[1]):
        problem = f"costs of which less is better, not below 0, in {cost}", "scores that are none"
    elif successes[0] or any(
        one.size and (float(one.min()) < 0 or float(one.max()) > 1) for one in successes[1]
    ):
        problem = f"successes from 0 to 1, of which more is better, in {success}", "other scores"
    if problem is not None:
        raise UsageError(
            f"{option(flag, text)} needs {problem[0]}",
            found=problem[1],
            hint=f"name the cost first, {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')}, and say "
            f"{option('lower', 'COST')}; {option('task', 'none')} pools tasks",
        )


def require_successes(found: Costs, model: str, name: str) -> None:
    """Refuse a model that has too few successes.

    Raises
    ------
    InputError
    """
    if not found.enough:
        raise InputError(
            f"{model} has fewer than {FEWEST_SUCCESSES} successes on {name}, too few to say what one costs",
            found=f"{found.successes.sum():g} in {found.successes.size:,} scores",
            hint="score more samples, or claim something of the costs and of the successes by themselves",
        )
