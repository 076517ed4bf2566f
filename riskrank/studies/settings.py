"""Settings several studies share: frozen, and checked when they are made, by whichever door.

Each is a group of keyword arguments with the names and defaults of the command line. A study's own
settings inherit the groups it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, PAPER_THRESHOLDS, RELATIVE, Claim, claims
from riskrank.engine.dominance.inference import WORK_LIMIT, Inference
from riskrank.engine.sampling.processes import Jobs
from riskrank.errors import UsageError, one_of, option

ORDERS = ("1", "2", "both")
TESTS = (DIRECT, ABSOLUTE, RELATIVE, "all")
CORRECTIONS = ("bonferroni", "holm", "bh", "none")
VARIANCES = ("bootstrap", "clt")
COPULAS = ("independent", "empirical")
COPULA_SCOPES = ("pooled", "model")

Numbers = float | str | Iterable[float | str] | None

# The least number of resamples that can show p = 0.05.
FEWEST_RESAMPLES = 20


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings: a group checks itself, then the next one."""

    def __post_init__(self) -> None:
        """Check the settings; a group's own check ends by calling the next group's."""

    def _normalise(self, name: str, value: Any) -> None:
        """Store the one form of a value that may be given in several."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class PortfolioSettings(Settings):
    """How metrics become one score.

    Parameters
    ----------
    copula : {"independent", "empirical"}
        Fold the metrics by the independent copula, P(IC), or the empirical one, P(EC).
    copula_scope : {"pooled", "model"}
        P(EC) compares a sample with those of all models, or of its own.
    """

    copula: str = "independent"
    copula_scope: str = "pooled"

    def __post_init__(self) -> None:
        one_of("copula", self.copula, COPULAS)
        one_of("copula_scope", self.copula_scope, COPULA_SCOPES)
        if self.copula == "independent" and self.copula_scope == "model":
            raise UsageError(
                f"{option('copula_scope', 'model')} goes with the empirical copula only",
                found=option("copula", "independent"),
                hint=f"add {option('copula', 'empirical')}, or leave out {option('copula_scope')}",
            )
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class ResamplingSettings(Settings):
    """How to resample.

    Parameters
    ----------
    resamples : int
        Bootstrap resamples.
    alpha : float
        Significance level of a family.
    seed : int
        Seed of the random streams.
    """

    # Whether a family of tests can say how many resamples it needs.
    auto_resamples: ClassVar[bool] = False

    resamples: int = 1000
    alpha: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        given: Any = self.resamples
        if isinstance(given, str) and given.strip().isdecimal():
            given = int(given)
            self._normalise("resamples", given)
        auto = given == "auto" and self.auto_resamples
        if not auto and not (isinstance(given, int) and given >= FEWEST_RESAMPLES):
            raise UsageError(
                f"{option('resamples')} must be at least {FEWEST_RESAMPLES}",
                found=str(self.resamples),
                hint="20 is the least that can show p = 0.05, 1000 is usual",
            )
        if not 0 < self.alpha < 1:
            raise UsageError(
                f"{option('alpha')} must lie between 0 and 1",
                found=f"{self.alpha:g}",
                hint="0.05 is the default",
            )
        if self.seed < 0:
            raise UsageError(
                f"{option('seed')} must not be negative", found=str(self.seed), hint="0 is the default"
            )
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class RejectionSettings(ResamplingSettings):
    """When a test rejects.

    Parameters
    ----------
    correction : {"holm", "bonferroni", "bh", "none"}
        Correction for many tests.
    variance : {"bootstrap", "clt"}
        P-values from resampling, or asymptotic ones from influence functions.
    paper_exact : bool
        Reject as [RAB] Algorithm 1 prints it, which is liberal.
    """

    auto_resamples: ClassVar[bool] = True

    correction: str = "holm"
    variance: str = "bootstrap"
    paper_exact: bool = False

    def __post_init__(self) -> None:
        one_of("correction", self.correction, CORRECTIONS)
        one_of("variance", self.variance, VARIANCES)
        if self.paper_exact and self.correction != "holm":
            raise UsageError(
                f"{option('paper_exact', True)} brings its own correction, k²",
                found=option("correction", self.correction),
                hint="leave out one of the two",
            )
        if self.paper_exact and self.variance == "clt":
            _contradict(option("variance", "clt"), option("paper_exact", True))
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class DominanceTestSettings(RejectionSettings):
    """Which dominance to test, and how.

    Parameters
    ----------
    resamples : int or "auto"
        Bootstrap resamples; "auto" takes as many as the family of tests needs.
    order : {1, 2, "both"}
        Order of stochastic dominance.
    test : {"direct", "absolute", "relative", "all"}, optional
        Direct: one model against the other alone. Absolute: a violation ratio below a threshold.
        Relative: against the field. By default direct and absolute claims for ``dominance``, relative
        ones for ``rank``.
    threshold : sequence of float, optional
        Largest violation ratios of absolute tests; 0.08, 0.25 and 0.4 by default.
    no_test : bool
        Statistics only: no resampling, any number of samples.
    work_limit : float
        Score comparisons an automatic number of resamples may cost, never below 1000 resamples.
    """

    default_kinds: ClassVar[tuple[str, ...]] = (DIRECT, ABSOLUTE)

    resamples: int | str = "auto"  # type: ignore[assignment]
    order: str | int = "both"
    test: str | None = None
    threshold: tuple[float, ...] = ()
    no_test: bool = False
    work_limit: float = WORK_LIMIT

    def __post_init__(self) -> None:
        self._normalise("order", one_of("order", str(self.order), ORDERS))
        one_of("test", self.test, (*TESTS, None))
        self._normalise("threshold", numbers(self.threshold, parameter="threshold", example="0.25"))
        if self.threshold and self.test in (DIRECT, RELATIVE):
            raise UsageError(
                f"{option('threshold')} belongs to absolute tests",
                found=f"{option('test', self.test)} with {option('threshold', f'{self.threshold[0]:g}')}",
                hint=f"use {option('test', ABSOLUTE)} or all, or leave out {option('threshold')}",
            )
        if self.no_test and self.paper_exact:
            _contradict(option("no_test", True), option("paper_exact", True))
        if self.no_test and self.variance == "clt":
            _contradict(option("variance", "clt"), option("no_test", True))
        self._check_work()
        super().__post_init__()

    def _check_work(self) -> None:
        if not self.work_limit > 0:
            raise UsageError(
                f"{option('work_limit')} must be positive",
                found=f"{self.work_limit:g}",
                hint=f"{WORK_LIMIT:g} score comparisons is the default",
            )
        if self.work_limit != WORK_LIMIT and self.resamples != "auto":
            raise UsageError(
                f"{option('work_limit')} limits an automatic number of resamples",
                found=option("resamples", self.resamples),
                hint="leave out one of the two",
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of claims to test."""
        if self.test == "all":
            return (DIRECT, ABSOLUTE, RELATIVE)
        if self.test is not None:
            return (self.test,)
        return tuple(dict.fromkeys((*self.default_kinds, *((ABSOLUTE,) if self.threshold else ()))))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims to test."""
        thresholds = tuple(dict.fromkeys(self.threshold or PAPER_THRESHOLDS))
        return claims(
            self.orders,
            direct=DIRECT in self.kinds,
            relative=RELATIVE in self.kinds,
            thresholds=thresholds if ABSOLUTE in self.kinds else (),
        )

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders of dominance to test."""
        return (1, 2) if self.order == "both" else (int(self.order),)

    def inference(self, jobs: Jobs) -> Inference:
        """How the engine is to test, on so many processes."""
        return Inference(
            resamples=self.resamples,  # type: ignore[arg-type]
            alpha=self.alpha,
            correction=self.correction,
            seed=self.seed,
            jobs=jobs,
            test=not self.no_test,
            paper_exact=self.paper_exact,
            variance=self.variance,
            work_limit=self.work_limit,
        )

    def described_tests(self) -> dict[str, Any]:
        """Entries of the document's settings."""
        thresholds = {claim.threshold for claim in self.claims if claim.threshold is not None}
        return {
            "order": self.order,
            "test": list(self.kinds),
            "thresholds": sorted(thresholds),
            "alpha": self.alpha,
            "correction": "none" if self.no_test else "k^2" if self.paper_exact else self.correction,
            "family": None if self.no_test else "ordered pairs of one metric, order, test and threshold",
            "variance": None if self.no_test else self.variance,
            "no_test": self.no_test,
            "paper_exact": self.paper_exact,
            "resamples": None if self.no_test or self.variance == "clt" else self.resamples,
            "work_limit": self.work_limit if self.resamples == "auto" and not self.no_test else None,
        }


def numbers(
    values: Numbers, *, parameter: str, example: str = "0.05,0.1", kind: str = "numbers"
) -> tuple[float, ...]:
    """One number, several, or none, as a tuple; texts may hold several with commas between.

    Raises
    ------
    UsageError
        If a text is no number; ``example`` shows how to write it.
    """
    found = []
    for part in _parts(values):
        try:
            found.append(float(part))
        except ValueError:
            raise UsageError(
                f"{option(parameter)} takes {kind}",
                found=str(part) or "nothing",
                hint=f"write {option(parameter, example)}",
            ) from None
    return tuple(found)


def whole_numbers(values: Numbers, *, parameter: str, example: str = "100,500") -> tuple[int, ...]:
    """One whole number, several, or none, as a tuple.

    Raises
    ------
    UsageError
        If one is not whole.
    """
    found = numbers(values, parameter=parameter, example=example, kind="whole numbers")
    for number in found:
        if not number.is_integer():
            raise UsageError(
                f"{option(parameter)} takes whole numbers",
                found=f"{number:g}",
                hint=f"write {option(parameter, example)}",
            )
    return tuple(int(number) for number in found)


def _parts(values: Numbers) -> Iterator[float | str]:
    if isinstance(values, str):
        yield from (part.strip() for part in values.split(","))
    elif isinstance(values, Iterable):
        for value in values:
            yield from _parts(value)
    elif values is not None:
        yield values


def names(values: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name, several, or none, as a tuple."""
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else tuple(values)


def _contradict(one: str, other: str) -> NoReturn:
    raise UsageError(f"{one} and {other} contradict each other", found="both", hint="leave out one of them")
