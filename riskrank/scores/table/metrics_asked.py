"""Metrics that were asked for by name: of all tasks, or of one."""

from collections.abc import Sequence
from functools import partial

from riskrank.errors import UsageError, no_such, option


def metrics_asked(
    asked: Sequence[str], known: Sequence[str], tasks: Sequence[str], *, parameter: str = "metric"
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Metrics that were asked for of all tasks, and by ``TASK=NAME`` of one, by an option of that name.

    Raises
    ------
    UsageError
        If one is not there.
    """
    plain: list[str] = []
    of_task: dict[str, str] = {}
    for text in asked:
        if text in known:
            plain.append(text)
            continue
        parts = text.split("=")
        pairs = [("=".join(parts[:at]), "=".join(parts[at:])) for at in range(1, len(parts))]
        task, name = next((pair for pair in pairs if pair[0] in tasks), ("", text))
        if not task and tasks and (misspelt := [pair for pair in pairs if pair[1] in known]):
            wrong, of = misspelt[0]
            write = partial("{1}={0}".format, of)
            raise no_such(wrong, tasks, kind="task", parameter=parameter, write=write)
        if name not in known:
            before = f"{task}=" if task else ""
            raise no_such(name, known, kind="metric", parameter=parameter, write=before.__add__)
        if of_task.setdefault(task, name) != name:
            raise UsageError(
                f"{option('metric', text)}: task '{task}' has a metric already",
                found=f"{option('metric', f'{task}={of_task[task]}')} and {option('metric', text)}",
                hint="name one metric of a task",
            )
    return tuple(plain), of_task
