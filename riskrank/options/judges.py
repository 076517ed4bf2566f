"""Which options go with a judge and the people who correct it, and what to do in the place of the others."""

from collections.abc import Mapping
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.values import contradict

# In the place of a column of tasks, clusters or times: there is none.
NO_COLUMN = "none"

# Options that say of what kind samples and metrics are.
_OTHERS = ("metric", "weight", "unpaired", "cluster", "group_by", "task_weight", "matrix")


def check_judge(options: Mapping[str, Any]) -> None:
    """A judge and people's scores go together, and with neither units nor metrics of other kinds.

    Parameters
    ----------
    options : mapping of str to Any
        Of reading, by name.

    Raises
    ------
    UsageError
    """
    given = {name: options[name] for name in ("human", "judge") if options[name] is not None}
    if not given:
        return
    name, metric = next(iter(given.items()))
    if len(given) == 1:
        other = "judge" if name == "human" else "human"
        raise UsageError(
            f"{option(name, metric)} goes with {option(other)}",
            found=f"no {option(other)}",
            hint=f"name the metric of {'the judge' if name == 'human' else 'the people'}, "
            f"{option(other, 'METRIC')}, or compare by one metric: {option('metric', metric)}",
        )
    if options["human"] == options["judge"]:
        raise UsageError(
            f"{option('human', metric)} and {option('judge', metric)} are one metric",
            found="nothing to correct it by",
            hint="name the metric of the people's scores and that of the judge's",
        )
    asked = option("judge", options["judge"])
    for other in _OTHERS:
        value = options[other]
        if value:
            shown = value if isinstance(value, str | bool) else next(iter(value))
            contradict(asked, option(other, shown), _instead(other, options))
    if options["task"] not in (None, NO_COLUMN):
        contradict(asked, option("task", options["task"]), _instead("task", options))
    for other, beyond in (("repeats", ("draws",)), ("missing", ("worst", "bounds"))):
        if options[other] in beyond:
            contradict(asked, option(other, options[other]))


def _instead(other: str, options: Mapping[str, Any]) -> str:
    """What to do where a judge is corrected, in the place of another option."""
    if other in ("metric", "weight"):
        return f"leave out {option(other)}: the two metrics that become one are named already"
    if other == "group_by":
        return f"look at one group at a time, with {option('where')}"
    if other in ("task", "task_weight"):
        return (
            f"look at one task at a time, with {option('where')}, or pool them: {option('task', NO_COLUMN)}"
        )
    if other in ("unpaired", "cluster"):
        people = f"{option('metric', options['human'])} {option('missing', 'drop')}"
        return f"compare by what people said alone: {people} {option(other, options[other])}"
    return "leave out one of them"
