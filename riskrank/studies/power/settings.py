"""What ``power`` is asked."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, RELATIVE, Claim
from riskrank.engine.dominance.column import Inference
from riskrank.engine.power.planning import (
    check_search,
)
from riskrank.engine.sampling.processes import Jobs
from riskrank.errors import UsageError, listing, one_of, option
from riskrank.studies.settings import PortfolioSettings, RejectionSettings, numbers, whole_numbers


@dataclass(frozen=True, kw_only=True)
class PowerSettings(PortfolioSettings, RejectionSettings):
    """The one test whose power is wanted, and the sizes to try.

    Parameters
    ----------
    order : {1, 2}
        Order of dominance.
    test : {"direct", "relative", "absolute"}, optional
        By default direct dominance of a named pair, else relative dominance, unless a threshold is given.
    threshold : float, optional
        Largest violation ratio of an absolute test.
    resamples : int or "auto"
        Bootstrap resamples of each test; "auto" takes as many as the family of tests needs.
    sizes : sequence of int
        Samples per model to simulate.
    pair : str, optional
        ``BETTER:WORSE``, one pair instead of the whole order.
    target : float
        Power to find the sample size of.
    limit : int, optional
        Largest size to try; 5 times the largest of the sizes by default.
    simulations : int
        Data sets to simulate per size.
    """

    order: str | int = "2"
    test: str | None = None
    threshold: tuple[float, ...] = ()
    resamples: int | str = "auto"  # type: ignore[assignment]
    sizes: tuple[int, ...] = (100, 500, 1000)
    pair: str | None = None
    target: float = 0.8
    limit: int | None = None
    simulations: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalise("order", one_of("order", str(self.order), ("1", "2")))
        one_of("test", self.test, (DIRECT, RELATIVE, ABSOLUTE, None))
        self._normalise("threshold", numbers(self.threshold, parameter="threshold", example="0.25"))
        if self.test in (DIRECT, RELATIVE) and self.threshold:
            raise UsageError(
                f"{option('threshold')} belongs to an absolute test",
                found=f"{option('test', self.test)} with {option('threshold', f'{self.threshold[0]:g}')}",
                hint=f"use {option('test', 'absolute')}, or leave out {option('threshold')}",
            )
        if len(self.threshold) > 1 or (self.test == "absolute" and not self.threshold):
            raise UsageError(
                "an absolute test needs one threshold",
                found=listing(f"{tau:g}" for tau in self.threshold),
                hint=f"give one, e.g. {option('threshold', 0.25)}, and run again for another",
            )
        self._normalise("sizes", whole_numbers(self.sizes, parameter="sizes"))
        if self.simulations < 1:
            raise UsageError(
                f"{option('simulations')} must be at least 1",
                found=str(self.simulations),
                hint="100 is the default",
            )
        check_search(self.sizes, target=self.target, limit=self.limit)
        _ = self.claim  # a threshold outside (0, 1) is refused here, before anything is read

    @property
    def claim(self) -> Claim:
        """The claim to test."""
        if self.threshold:
            return Claim(int(self.order), ABSOLUTE, self.threshold[0])
        return Claim(int(self.order), self.test or (RELATIVE if self.pair is None else DIRECT))

    def inference(self, jobs: Jobs) -> Inference:
        """How each simulated data set is tested, on so many processes."""
        return Inference(
            resamples=self.resamples,  # type: ignore[arg-type]
            alpha=self.alpha,
            correction=self.correction,
            seed=self.seed,
            jobs=jobs,
            paper_exact=self.paper_exact,
            variance=self.variance,
        )
