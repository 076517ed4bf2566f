"""Options for inference: resampling and significance tests, suites of tasks, and tiers of claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.option import METHOD, OUTPUT, TESTS, Settings, param, rare, several, switch

CORRECTIONS = ("holm", "bonferroni", "bh", "none")

# Minimum number of resamples that can give p = 0.05.
FEWEST_RESAMPLES = 20

# Numbers with more digits are assumed to be mistakes.
_DIGITS = 16
# Maximum number of score comparisons for an automatic number of resamples, as in the engine.
WORK_LIMIT = 1e9
_LEVEL = "Significance level, for all tests together."


@dataclass(frozen=True, kw_only=True)
class RunOptions(Settings):
    """Execution options, which never affect the result."""

    PANEL: ClassVar[str] = TESTS

    jobs: int | None = rare(
        "Number of processes to use. It does not change the results.",
        metavar="N",
        unset="all cores",
        affects_result=False,
        least=1,
    )
    executor: str | None = rare(
        "Executor for parallel work: a concurrent.futures.Executor, or dask:ADDRESS.",
        metavar="dask:ADDRESS",
        affects_result=False,
    )


@dataclass(frozen=True, kw_only=True)
class ResamplingSettings(Settings):
    """Options for the bootstrap."""

    PANEL: ClassVar[str] = TESTS

    # True if the command can choose the number of resamples to suit the family of tests.
    auto_resamples: ClassVar[bool] = False

    resamples: int = param("Number of bootstrap resamples.", 1000, metavar="B")
    alpha: float = param(_LEVEL, 0.05, metavar="LEVEL", above=0, below=0.5)
    seed: int = param("Seed of the random number generator.", 0, metavar="N", least=0)

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError for an invalid number of resamples."""
        super().__post_init__()
        value: Any = self.resamples
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < _DIGITS:
            value = int(value)
            self._normalise("resamples", value)
        auto = value == "auto" and self.auto_resamples
        if not auto and not (isinstance(value, int) and value >= FEWEST_RESAMPLES):
            few = f"be at least {FEWEST_RESAMPLES}"
            rule = few if len(str(value)) < _DIGITS else f"have fewer than {_DIGITS} digits"
            hint = "use at least 20 for p = 0.05; 1000 is usual"
            raise UsageError(f"{option('resamples')} must {rule}", found=str(self.resamples), hint=hint)


@dataclass(frozen=True, kw_only=True)
class LevelSettings(Settings):
    """Significance level and multiple-testing correction for tests without resampling."""

    PANEL: ClassVar[str] = TESTS

    alpha: float = param(_LEVEL, 0.05, metavar="LEVEL", above=0, below=0.5)
    correction: str = rare("Correction for multiple tests.", "holm", choices=CORRECTIONS)


@dataclass(frozen=True, kw_only=True)
class StatisticSettings(Settings):
    """Statistics to compare, such as a percentile, instead of what a command compares by default."""

    PANEL: ClassVar[str] = METHOD

    on: tuple[str, ...] = several(
        "Statistic to compare: mean, median, p95, geomean, share>=4, sum(A)/sum(B). mean:NAME is the mean of "
        "one metric.",
        metavar="STATISTIC",
        unset="none: whole distributions, or single cases, are compared",
    )

    @property
    def needs(self) -> dict[str, Any]:
        """Reading options that the statistics require."""
        sums = any(text.startswith("sum(") for text in self.on)
        return {"statistics": self.on} | ({"allow_constant": True} if sums else {})


@dataclass(frozen=True, kw_only=True)
class FamilySettings(ResamplingSettings):
    """Bootstrap options for a family of tests, with a multiple-testing correction."""

    auto_resamples: ClassVar[bool] = True

    resamples: int | str = param(  # type: ignore[assignment]  # a number or auto
        "Number of bootstrap resamples. auto uses as many as the tests need.", "auto", metavar="auto|B"
    )
    correction: str = rare("Correction for multiple tests.", "holm", choices=CORRECTIONS)


@dataclass(frozen=True, kw_only=True)
class RejectionSettings(FamilySettings):
    """Rejection rule for dominance tests."""

    paper_exact: bool = rare(
        "Use the rejection rule of Nitsure et al. (2024), Algorithm 1, which rejects too often.",
        False,
        against=("correction",),
    )


@dataclass(frozen=True, kw_only=True)
class LimitedSettings(RejectionSettings):
    """Options that disable tests or limit their cost."""

    no_test: bool = switch(
        "Skip the tests and compute only statistics. Any number of samples is accepted.",
        against=("paper_exact",),
    )
    work_limit: float = rare(
        "Largest amount of work that auto resamples may cause: pairs x samples x resamples.",
        WORK_LIMIT,
        metavar="W",
        unset="1e9",
        above=0,
        against=("resamples",),
    )


FIXED, RANDOM = "fixed", "random"
NONE, RANK, BOUNDS = "none", "rank", "bounds"


@dataclass(frozen=True, kw_only=True)
class TaskTableSettings(Settings):
    """Output options for a suite of tasks."""

    per_task: bool = rare(
        "With tasks: show the mean of each model on each task.", False, panel=OUTPUT, affects_result=False
    )


@dataclass(frozen=True, kw_only=True)
class TaskScopeSettings(Settings):
    """Scope of inference: these tasks, or the population they are sampled from."""

    PANEL: ClassVar[str] = METHOD

    tasks: str = rare(
        "With tasks: compare the models on these tasks only (fixed), or on all tasks like these (random).",
        FIXED,
        choices=(FIXED, RANDOM),
    )


@dataclass(frozen=True, kw_only=True)
class SuiteSettings(TaskScopeSettings):
    """Scope of inference and scale of scores for a suite of tasks."""

    task_scale: str | None = rare(
        "With tasks: use the scores as they are (none), their ranks within each task (rank), or rescale them "
        "from the bounds of the metric to 0-1 (bounds).",
        choices=(NONE, RANK, BOUNDS),
        unset="rank if the tasks have different metrics, else none",
    )


CRITICAL, SUPPORTING, ADVISORY = "critical", "supporting", "advisory"
TIERS = (CRITICAL, SUPPORTING, ADVISORY)


def parse_tiers(texts: Sequence[str]) -> dict[str, str]:
    """Parse texts such as ``critical=accuracy,supporting=cost,latency`` into tiers by claim name.

    Raises
    ------
    UsageError
        If a tier is unknown, or a claim is in two tiers.
    """
    tiers: dict[str, str] = {}
    tier = ""
    for part in (part.strip() for text in texts for part in text.split(",")):
        head, equals, name = part.partition("=")
        if equals and head in TIERS:
            tier = head
        elif equals or not tier:
            near = did_you_mean(head, TIERS, fallback=f"the tiers are {listing(TIERS)}")
            hint = f"{near}; write {option('tier', f'critical={name or part}')}"
            raise UsageError(f"{option('tier', part)} needs a valid tier", found=head or "nothing", hint=hint)
        else:
            name = part
        if not name or tiers.get(name, tier) != tier:
            raise UsageError(
                f"{option('tier')} assigns {f'two tiers to {name!r}' if name else f'{tier} to no claim'}",
                found=f"{tiers[name]} and {tier}" if name else part,
                hint=f"name each claim once: {option('tier', f'{tier}=METRIC')}",
            )
        tiers[name] = tier
    return tiers
