"""What ``copa`` can be asked: a ranking, or one of four questions about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, isinf, nan
from typing import Any

from riskrank.engine.copa.comparison import BASELINES
from riskrank.errors import UsageError, listing, one_of, option
from riskrank.studies.objectives import ObjectiveSettings
from riskrank.studies.settings import names

# The p's every ranking is set beside, from the one that forgives nothing to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)

DEFAULT_STEPS = 10_000

# Settings that say something about some questions only; None stands for the ranking.
_HOMES: tuple[tuple[str, tuple[str | None, ...]], ...] = (
    ("steps", ("sweep", "sweep_p")),
    ("top", (None, "compare")),
    ("bootstrap", (None,)),
    ("ccdf", (None,)),
)


@dataclass(frozen=True, kw_only=True)
class CopaSettings(ObjectiveSettings):
    """The norm, and what to ask.

    Parameters
    ----------
    p : float or sequence of float
        Norms of the ranks: 1 is the mean rank and forgives a bad objective, ``inf`` looks at the worst one
        only and alone can reach every model of the front. The first one decides; ``inf`` by default.
    explain : str, optional
        Why this model ranks where it does, and what would choose it.
    sweep : str, optional
        Which model is chosen as this objective's weight goes from 0 to 1.
    sweep_p : bool
        Which model is chosen as p goes from 1 to infinity.
    steps : int, optional
        Steps of a sweep; 10000 by default.
    compare : bool
        Set COPA beside the average, Δ, min-max, the usual p-norm, SAW, AHP and MEW.
    against : str or sequence of str
        Compare with these only: ``average``, ``delta``, ``min-max``, ``p-norm``, ``saw``, ``ahp``, ``mew``.
    bootstrap : int, optional
        How often the choice stays in so many resampled populations.
    seed : int, optional
        Seed of ``bootstrap``; 0 by default.
    ccdf : bool
        Show how each model's ranks spread over the objectives.
    top : int, optional
        Only so many of the best models.
    """

    p: tuple[float, ...] = ()
    explain: str | None = None
    sweep: str | None = None
    sweep_p: bool = False
    steps: int | None = None
    compare: bool = False
    against: tuple[str, ...] = ()
    bootstrap: int | None = None
    seed: int | None = None
    ccdf: bool = False
    top: int | None = None

    def __post_init__(self) -> None:
        self._normalise("p", tuple(dict.fromkeys(norm_order(given) for given in _each(self.p))))
        self._normalise("against", names(self.against))
        for name in self.against:
            one_of("against", name, BASELINES)
        self._refuse_two_questions()
        self._refuse_what_says_nothing()
        self._refuse_impossible_numbers()
        super().__post_init__()

    @property
    def question(self) -> str | None:
        """``explain``, ``sweep``, ``sweep_p``, ``compare``, or None for the ranking itself."""
        return next(iter(self._questions), None)

    @property
    def orders(self) -> tuple[float, ...]:
        """The p's to rank by; the first one decides."""
        return self.p or (inf,)

    @property
    def _questions(self) -> list[str]:
        asked = {
            "explain": self.explain is not None,
            "sweep": self.sweep is not None,
            "sweep_p": self.sweep_p,
            "compare": self.compare or bool(self.against),
        }
        return [name for name, on in asked.items() if on]

    def _refuse_two_questions(self) -> None:
        if len(self._questions) > 1:
            given = [option(name) for name in self._questions]
            raise UsageError(
                f"{' and '.join(given)} are different questions",
                found=" ".join(given),
                hint="ask one at a time",
            )

    def _refuse_what_says_nothing(self) -> None:
        question = self.question
        for name, homes in _HOMES:
            if getattr(self, name) in (None, False) or question in homes:
                continue
            if question is None:
                raise UsageError(
                    f"{option(name)} needs a sweep",
                    found=f"{option(name)} without {option('sweep')} or {option('sweep_p')}",
                    hint=f"add {option('sweep', 'NAME')}, or leave it out",
                )
            raise UsageError(
                f"{option(name)} says nothing about {option(question)}",
                found=f"{option(name)} with {option(question)}",
                hint=f"leave out {option(name)}",
            )
        if self.seed is not None and self.bootstrap is None:
            raise UsageError(
                f"{option('seed')} has nothing to seed",
                found=f"{option('seed')} without {option('bootstrap')}",
                hint=f"add {option('bootstrap', 1000)}",
            )
        if self.sweep_p and self.p:
            raise UsageError(
                f"{option('sweep_p')} takes every p, so that none can be given",
                found=f"{option('sweep_p')} with {option('p', f'{self.p[0]:g}')}",
                hint=f"leave out {option('p')}, or sweep a weight with {option('sweep', 'NAME')}",
            )
        if self.explain is not None and len(self.p) > 1:
            raise UsageError(
                f"{option('explain')} works with one p",
                found=option("p", listing(f"{order:g}" for order in self.p)),
                hint="explain them one by one",
            )

    def _refuse_impossible_numbers(self) -> None:
        if self.seed is not None and self.seed < 0:
            raise UsageError(
                f"{option('seed')} must not be negative", found=str(self.seed), hint="0 is the default"
            )
        for name in ("steps", "bootstrap", "top"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(
                    f"{option(name)} must be at least 1",
                    found=str(number),
                    hint=f"leave out {option(name)} for its default",
                )


def norm_order(given: float | str) -> float:
    """Read one order of a norm.

    Raises
    ------
    UsageError
        For anything but numbers from 1 and ``inf``.
    """
    try:
        order = inf if given == "∞" else float(given)
    except ValueError:
        order = nan
    if not order >= 1:
        raise UsageError(
            f"{option('p')} must be a number of at least 1, or inf",
            found=option("p", given),
            hint="1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank",
        )
    return order


def order_key(p: float) -> str:
    """Write p as a key or value that every language reads back."""
    return f"{p:g}"


def order_value(p: float) -> float | str:
    """Write p as a number, or as text where JSON has none."""
    return "inf" if isinf(p) else float(p)


def _each(given: Any) -> Iterator[float | str]:
    """One order, several, or texts with commas between."""
    if isinstance(given, str):
        yield from (part.strip() for part in given.split(","))
    elif isinstance(given, Iterable):
        for one in given:
            yield from _each(one)
    elif given is not None:
        yield given
