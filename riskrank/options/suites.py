"""Options for suites of tasks."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.options.option import METHOD, OUTPUT, Settings, rare

FIXED, RANDOM = "fixed", "random"
NONE, RANK, BOUNDS = "none", "rank", "bounds"


@dataclass(frozen=True, kw_only=True)
class TaskTableSettings(Settings):
    """Output options for a suite of tasks."""

    per_task: bool = rare(
        "Task suites: show the mean of each model on each task.", False, panel=OUTPUT, affects_result=False
    )


@dataclass(frozen=True, kw_only=True)
class TaskScopeSettings(Settings):
    """Scope of inference: these tasks, or the population they are sampled from."""

    PANEL: ClassVar[str] = METHOD

    tasks: str = rare(
        "Task suites: compare the models on these tasks (fixed), or generalise to other tasks (random).",
        FIXED,
        choices=(FIXED, RANDOM),
    )


@dataclass(frozen=True, kw_only=True)
class SuiteSettings(TaskScopeSettings):
    """Scope of inference and scale of scores for a suite of tasks."""

    task_scale: str | None = rare(
        "Task suites: compare scores as they are, as ranks within each task, or as shares of the metric's "
        "bounds.",
        choices=(NONE, RANK, BOUNDS),
        unset="rank if the tasks have different metrics, else none",
    )
