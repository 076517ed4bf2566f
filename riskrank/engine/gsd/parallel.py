"""Pairs of models one after another: in this process where that is soon done, else on several."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from time import monotonic
from typing import Any

from riskrank.engine.sampling.processes import Jobs, run_tasks

Progress = Callable[[int, int, str], None]

# Seconds of work that are worth processes.
_WORTH = 1.0


def spread(
    function: Callable[[Any, Any], tuple[Any, int]],
    plan: Any,
    tasks: Sequence[Any],
    jobs: Jobs,
    progress: Progress | None,
    programs: Sequence[int] = (),
) -> Iterator[tuple[Any, int]]:
    """Yield what a function finds of each task, and how many linear programs that took.

    Where these were foreseen, progress counts them instead of tasks.
    """
    ends, solved, begun = list(accumulate(programs or [1] * len(tasks), initial=0)), 0, monotonic()

    def results() -> Iterator[tuple[Any, int]]:
        here = 0
        # The first tell how long the others take; an executor of the caller's is there already.
        while here < len(tasks) and isinstance(jobs, int):
            if here and (monotonic() - begun) * (ends[-1] - ends[here]) > _WORTH * ends[here]:
                break
            yield function(plan, tasks[here])
            here += 1
        yield from run_tasks(function, plan, tasks[here:], jobs=jobs)

    for done, (found, took) in zip(ends[1:], results(), strict=True):
        solved += took
        if progress:
            progress(done, ends[-1], f"{solved:,} LPs")
        yield found, took
