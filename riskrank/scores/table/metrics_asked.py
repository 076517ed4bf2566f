"""Metrics that were asked for by name: of all tasks, or of one."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import UsageError, did_you_mean, listing, option


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
            raise _unknown_task(*misspelt[0], tasks)
        if name not in known:
            raise _unknown_metric(name, known, parameter, of_task=task)
        if of_task.setdefault(task, name) != name:
            raise UsageError(
                f"{option('metric', text)}: task '{task}' has a metric already",
                found=f"{option('metric', f'{task}={of_task[task]}')} and {option('metric', text)}",
                hint="name one metric of a task",
            )
    return tuple(plain), of_task


def _unknown_metric(name: str, known: Sequence[str], parameter: str, *, of_task: str) -> UsageError:
    """The error of a metric that no file holds."""
    before = f"{of_task}=" if of_task else ""
    return UsageError(
        f"{option(parameter, before + name)}: there is no such metric",
        found=f"the scores hold {listing(known)}",
        hint=did_you_mean(
            name,
            known,
            write=lambda near: option(parameter, before + near),
            otherwise="name one of these metrics",
        ),
    )


def _unknown_task(task: str, metric: str, tasks: Sequence[str]) -> UsageError:
    return UsageError(
        f"{option('metric', f'{task}={metric}')}: there is no task '{task}'",
        found=f"the tasks are {listing(tasks)}",
        hint=did_you_mean(
            task,
            tasks,
            write=lambda near: option("metric", f"{near}={metric}"),
            otherwise="name one of these tasks",
        ),
    )
