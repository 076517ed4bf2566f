"""Run tasks for pairs of models in the current process or, if that takes long, in several processes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from time import monotonic
from typing import Any

from riskrank.engine.sampling.processes import Jobs, run_tasks

Progress = Callable[[int, int, str], None]

# Remaining seconds of work above which several processes are worthwhile.
_SECONDS_BEFORE_PARALLEL = 1.0


def run_pairs(
    function: Callable[[Any, Any], tuple[Any, int]],
    plan: Any,
    tasks: Sequence[Any],
    jobs: Jobs,
    progress: Progress | None,
    programs: Sequence[int] = (),
) -> Iterator[tuple[Any, int]]:
    """Apply a function to each task, and yield its results in order.

    The first tasks run in the current process, and their duration is used to estimate the remaining time. If
    that is long, the remaining tasks run in parallel. Each result is yielded together with the number of
    linear programs solved.

    Parameters
    ----------
    function : callable
        Maps the plan and a task to a result and the number of linear programs solved.
    plan : object
        Input shared by all tasks.
    tasks : sequence
        Picklable descriptions of the tasks.
    jobs : int or Workers
        Number of processes, or existing workers.
    progress : callable, optional
        Called with the work done, the total work and a description.
    programs : sequence of int, optional
        Expected number of linear programs per task, used as the unit of progress instead of tasks.
    """
    totals, solved, started = list(accumulate(programs or [1] * len(tasks), initial=0)), 0, monotonic()

    def results() -> Iterator[tuple[Any, int]]:
        """Yield the results in the order of the tasks."""
        next_task = 0
        # The first tasks show how long the others will take. A given executor is used from the start.
        while next_task < len(tasks) and isinstance(jobs, int):
            if (
                next_task
                and (monotonic() - started) * (totals[-1] - totals[next_task])
                > _SECONDS_BEFORE_PARALLEL * totals[next_task]
            ):
                break
            yield function(plan, tasks[next_task])
            next_task += 1
        yield from run_tasks(function, plan, tasks[next_task:], jobs=jobs)

    for done, (result, n_programs) in zip(totals[1:], results(), strict=True):
        solved += n_programs
        if progress:
            progress(done, totals[-1], f"{solved:,} LPs")
        yield result, n_programs
