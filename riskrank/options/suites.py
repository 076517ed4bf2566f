"""What a suite of tasks is asked."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.options.option import METHOD, OUTPUT, Settings, rare

FIXED, RANDOM = "fixed", "random"
NONE, RANK, BOUNDS = "none", "rank", "bounds"


@dataclass(frozen=True, kw_only=True)
class TaskTableSettings(Settings):
    """What of a suite to show."""

    per_task: bool = rare(
        "Of a suite: the means of every model on every task.", False, panel=OUTPUT, decides=False
    )


@dataclass(frozen=True, kw_only=True)
class TaskScopeSettings(Settings):
    """Of which tasks an answer speaks."""

    PANEL: ClassVar[str] = METHOD

    tasks: str = rare(
        "Of a suite: which is better on these tasks, or on tasks like these, of which they are a sample.",
        FIXED,
        choices=(FIXED, RANDOM),
    )


@dataclass(frozen=True, kw_only=True)
class SuiteSettings(TaskScopeSettings):
    """What a suite of tasks is asked."""

    task_scale: str | None = rare(
        "Of a suite: what scores count as: themselves, ranks within the task, shares of their bounds.",
        choices=(NONE, RANK, BOUNDS),
        unset="none; rank where tasks have metrics of their own",
    )
