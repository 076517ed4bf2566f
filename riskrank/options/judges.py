"""Checks of options used with a judge and human labels."""

from collections.abc import Mapping
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.values import contradict

# Value of task, cluster or time for no column.
NO_COLUMN = "none"

# Options that cannot be combined with a judge.
_INCOMPATIBLE = ("metric", "weight", "unpaired", "cluster", "group_by", "task_weight", "matrix")


def check_judge(options: Mapping[str, Any]) -> None:
    """Raise UsageError for invalid combinations of a judge, human labels and other options.

    Parameters
    ----------
    options : mapping of str to Any
        Reading options by name.
    """
    pair = {name: options[name] for name in ("human", "judge") if options[name] is not None}
    if not pair:
        return
    name, metric = next(iter(pair.items()))
    if len(pair) == 1:
        other = "judge" if name == "human" else "human"
        raise UsageError(
            f"{option(name, metric)} needs {option(other)}",
            found=f"no {option(other)}",
            hint=f"name the metric of the {'judge' if name == 'human' else 'human labels'}, "
            f"{option(other, 'METRIC')}, or compare on one metric: {option('metric', metric)}",
        )
    if options["human"] == options["judge"]:
        raise UsageError(
            f"{option('human', metric)} and {option('judge', metric)} name the same metric",
            found="one metric for both",
            hint="name the metric of the human labels and the metric of the judge's scores",
        )
    judge = option("judge", options["judge"])
    for other in _INCOMPATIBLE:
        value = options[other]
        if value:
            text = value if isinstance(value, str | bool) else next(iter(value))
            contradict(judge, option(other, text), _conflict_hint(other, options))
    if options["task"] not in (None, NO_COLUMN):
        contradict(judge, option("task", options["task"]), _conflict_hint("task", options))
    for other, beyond in (("repeats", ("draws",)), ("missing", ("worst", "bounds"))):
        if options[other] in beyond:
            contradict(judge, option(other, options[other]))


def _conflict_hint(other: str, options: Mapping[str, Any]) -> str:
    """Return the hint for an option that cannot be used with a judge."""
    if other in ("metric", "weight"):
        return f"leave out {option(other)}: {option('human')} and {option('judge')} name the metrics"
    if other == "group_by":
        return f"analyse one group at a time with {option('where')}"
    if other in ("task", "task_weight"):
        return (
            f"analyse one task at a time with {option('where')}, or pool all tasks: "
            f"{option('task', NO_COLUMN)}"
        )
    if other in ("unpaired", "cluster"):
        people = f"{option('metric', options['human'])} {option('missing', 'drop')}"
        return f"compare on the human labels alone: {people} {option(other, options[other])}"
    return "leave out one of them"
