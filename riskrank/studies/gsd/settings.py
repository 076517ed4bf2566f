"""What ``gsd`` can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from riskrank.engine.gsd.analysis import Relabelling
from riskrank.engine.gsd.labellings import RESAMPLINGS
from riskrank.engine.gsd.relation import SYSTEMS
from riskrank.engine.gsd.threshold import SLACK_ON, Threshold
from riskrank.errors import UsageError, one_of, option
from riskrank.studies.criteria import CriteriaSettings
from riskrank.studies.settings import CORRECTIONS, ResamplingSettings, names, numbers

TESTED = ("dominant", "all")


@dataclass(frozen=True, kw_only=True)
class GsdSettings(CriteriaSettings, ResamplingSettings):
    """Which relation, how to test it, and what to ask beyond it.

    Parameters
    ----------
    delta : float or sequence of float
        Least differences in utility of a better and a worse score; 0 by default.
    delta_on : {"r1", "r1+r2"}, optional
        Where ``delta`` holds: between scores, or also between differences. ``r1`` by default.
    regularization : float or sequence of float
        Instead of ``delta``: this share of the largest one on ``r1+r2``.
    system : {"pair", "all"}
        Utilities know the scores of the two models compared, or of all.
    epsilon : float
        How nearly another must dominate to leave the front.
    resampling : {"swap", "pooled"}
        Swap two models' scores within samples, or deal all of them out anew.
    pairs : {"dominant", "all"}, optional
        Test pairs with dominance in the sample, or all. ``dominant`` by default.
    correction : {"bonferroni", "holm", "bh", "none"}
        Correction over all ordered pairs.
    contamination : bool
        Find how many samples may be arbitrary before a result is significant no more.
    no_test : bool
        The relation only: no relabelling.
    front_test : str or sequence of str
        Models to test for being in the front.
    explain : str or sequence of str
        ``A:B`` each: find the utility under which A compares worst with B.
    baselines : bool
        Friedman and Nemenyi per criterion, all-test and one-test.
    """

    delta: tuple[float, ...] = ()
    delta_on: str | None = None
    regularization: tuple[float, ...] = ()
    system: str = "pair"
    epsilon: float = 0.0
    resampling: str = "swap"
    pairs: str | None = None
    correction: str = "bonferroni"
    contamination: bool = False
    no_test: bool = False
    front_test: tuple[str, ...] = ()
    explain: tuple[str, ...] = ()
    baselines: bool = False

    def __post_init__(self) -> None:
        for name in ("delta", "regularization"):
            given = numbers(
                getattr(self, name), parameter=name, example="0.00001" if name == "delta" else "0.5"
            )
            self._normalise(name, tuple(dict.fromkeys(given)))
        for name in ("front_test", "explain"):
            self._normalise(name, names(getattr(self, name)))
        one_of("delta_on", self.delta_on, (None, *SLACK_ON))
        one_of("system", self.system, SYSTEMS)
        one_of("resampling", self.resampling, RESAMPLINGS)
        one_of("pairs", self.pairs, (None, *TESTED))
        one_of("correction", self.correction, CORRECTIONS)
        self._refuse_two_thresholds()
        self._refuse_questions_about_tests()
        super().__post_init__()
        _ = self.thresholds  # impossible ones are refused at the door

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Thresholds to compare at, each once, in the order given."""
        if self.regularization:
            return tuple(Threshold(share=share) for share in self.regularization)
        return tuple(Threshold(delta=delta, on=self.delta_on or "r1") for delta in self.delta or (0.0,))

    @property
    def relabelling(self) -> Relabelling:
        """How the engine is to test."""
        return Relabelling(
            pairs="none" if self.no_test else self.pairs or "dominant",
            resampling=self.resampling,
            resamples=self.resamples,
            seed=self.seed,
            alpha=self.alpha,
            correction=self.correction,
            contamination=self.contamination,
        )

    def described(self) -> dict[str, Any]:
        """Entries of the document's settings: relation and tests."""
        tested = not self.no_test
        return {
            "delta": [threshold.delta for threshold in self.thresholds if threshold.share is None],
            "regularization": list(self.regularization),
            "delta_on": self.thresholds[0].rows,
            "system": self.system,
            "epsilon": self.epsilon,
            "no_test": self.no_test,
            "pairs": self.relabelling.pairs if tested else None,
            "resampling": self.resampling if tested else None,
            "alpha": self.alpha,
            "correction": self.correction if tested else "none",
            "family": "ordered pairs of one threshold" if tested else None,
            "contamination": self.contamination,
        }

    def _refuse_two_thresholds(self) -> None:
        other = "delta" if self.delta else "delta_on" if self.delta_on is not None else None
        if self.regularization and other:
            raise UsageError(
                f"{option('regularization')} and {option(other)} are two ways to set a threshold",
                found=f"{option('regularization')} with {option(other)}",
                hint="leave out one: a regularization is a share of the largest threshold on r1+r2",
            )

    def _refuse_questions_about_tests(self) -> None:
        if not self.no_test:
            return
        for name in ("pairs", "contamination", "front_test"):
            if getattr(self, name):
                raise UsageError(
                    f"{option(name)} asks for tests, which {option('no_test', True)} leaves out",
                    found=f"{option('no_test', True)} with {option(name)}",
                    hint="leave out one of them",
                )
