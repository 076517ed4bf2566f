"""How to resample, and when a test rejects."""

from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.errors import UsageError, by_door, option
from riskrank.options.option import TESTS, Settings, ask, rare, switch

CORRECTIONS = ("holm", "bonferroni", "bh", "none")

# The least number of resamples that can show p = 0.05.
FEWEST_RESAMPLES = 20

# Digits of a number that no run ever reaches.
_DIGITS = 16
# Score comparisons an automatic number of resamples may cost; the engine's own default.
WORK_LIMIT = 1e9


@dataclass(frozen=True, kw_only=True)
class RunOptions(Settings):
    """Where to run: never what comes out."""

    PANEL: ClassVar[str] = TESTS

    jobs: int | None = rare(
        "Processes; results do not depend on it.", metavar="N", unset="all cores", decides=False, least=1
    )
    executor: str | None = rare(
        by_door(
            "Run on the workers of a Dask cluster instead; the same results.",
            "A concurrent.futures.Executor, or dask:ADDRESS, to run on instead; the same results.",
        ),
        metavar="dask:ADDRESS",
        decides=False,
    )


@dataclass(frozen=True, kw_only=True)
class ResamplingSettings(Settings):
    """How to resample."""

    PANEL: ClassVar[str] = TESTS

    # Whether a family of tests can say how many resamples it needs.
    auto_resamples: ClassVar[bool] = False

    resamples: int = ask("Bootstrap resamples.", 1000, metavar="B")
    alpha: float = ask("Significance level of a family.", 0.05, metavar="LEVEL", above=0, below=1)
    seed: int = ask("Seed of the random streams.", 0, metavar="N", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.resamples
        if isinstance(given, str) and given.strip().isdecimal() and len(given) < _DIGITS:
            given = int(given)
            self._normalise("resamples", given)
        auto = given == "auto" and self.auto_resamples
        if not auto and not (isinstance(given, int) and given >= FEWEST_RESAMPLES):
            few = f"at least {FEWEST_RESAMPLES}"
            raise UsageError(
                f"{option('resamples')} must be "
                + (few if len(str(given)) < _DIGITS else f"of fewer than {_DIGITS} digits"),
                found=str(self.resamples),
                hint="20 is the least that can show p = 0.05, 1000 is usual",
            )


@dataclass(frozen=True, kw_only=True)
class LevelSettings(Settings):
    """How sure answers have to be that rest on no resampling."""

    PANEL: ClassVar[str] = TESTS

    alpha: float = ask("Significance level of a family.", 0.05, metavar="LEVEL", above=0, below=1)
    correction: str = rare("Correction for many tests.", "holm", choices=CORRECTIONS)


@dataclass(frozen=True, kw_only=True)
class FamilySettings(ResamplingSettings):
    """How to resample for a family of tests, and how to correct for it."""

    auto_resamples: ClassVar[bool] = True

    resamples: int | str = ask(  # type: ignore[assignment]  # a number, or a word
        "Bootstrap resamples: a number, or as many as the family needs.", "auto", metavar="auto|B"
    )
    correction: str = rare("Correction for many tests.", "holm", choices=CORRECTIONS)


@dataclass(frozen=True, kw_only=True)
class RejectionSettings(FamilySettings):
    """When a test of dominance rejects."""

    paper_exact: bool = rare(
        "Reject as the paper's Algorithm 1 prints it (liberal).", False, against=("correction",)
    )


@dataclass(frozen=True, kw_only=True)
class LimitedSettings(RejectionSettings):
    """What tests may cost, and whether there are any."""

    no_test: bool = switch("Statistics only: no resampling, any number of samples.", against=("paper_exact",))
    work_limit: float = rare(
        "Score comparisons (pairs x samples x resamples) auto may cost.",
        WORK_LIMIT,
        metavar="W",
        unset="1e9",
        above=0,
        against=("resamples",),
    )
