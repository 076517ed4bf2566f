"""What scores mean, which relation to find, how to test it, and what to ask beyond it."""

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.option import METHOD, ByName, Settings, ask, rare, several, switch
from riskrank.options.resampling import CORRECTIONS, FamilySettings
from riskrank.options.suites import FIXED, RANDOM
from riskrank.options.values import number_or_nan, numbers_by_name

# Beyond this a double holds no decimal digit.
MOST_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class CriteriaSettings(Settings):
    """What the scores of a criterion mean."""

    ordinal: tuple[str, ...] = several(
        "Criteria of which only the order means something.", metavar="NAME,...", commas=True
    )
    digits: ByName = several(
        "Decimal places that count, of all cardinal criteria or of one.",
        metavar="[NAME=]N",
        unset="all there are",
        against=("tolerance",),
    )
    tolerance: ByName = rare("Instead: the step cardinal scores are rounded to.", (), metavar="[NAME=]STEP")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalise("digits", _roundings("digits", self.digits))
        self._normalise("tolerance", _roundings("tolerance", self.tolerance))


@dataclass(frozen=True, kw_only=True)
class RelabellingSettings(FamilySettings):
    """How to test by relabelling."""

    resamples: int | str = ask(
        "Random relabellings: a number, or as many as the family needs; all, exactly, if there are no more.",
        "auto",
        metavar="auto|N",
    )
    resampling: str = rare(
        "Swap two models' scores within samples, or deal all of them out anew.",
        "swap",
        choices=("swap", "pooled"),
    )
    pairs: str | None = ask(
        "Test pairs with dominance in the sample, or all.", choices=("dominant", "all"), unset="dominant"
    )
    correction: str = ask("Correction over all ordered pairs.", "holm", choices=CORRECTIONS)
    contamination: bool = rare(
        "How many samples may be arbitrary before a result is significant no more.", False
    )
    no_test: bool = switch(
        "The relation only: no relabelling.", against=("pairs", "contamination", "front_test")
    )


@dataclass(frozen=True, kw_only=True)
class GsdSettings(CriteriaSettings, RelabellingSettings):
    """Which relation, how to test it, and what to ask beyond it."""

    PANEL: ClassVar[str] = METHOD

    tasks: str | None = rare(
        "Of a suite, random: its tasks are the samples, by their means, to speak of tasks like these.",
        choices=(FIXED, RANDOM),
    )
    delta: tuple[float, ...] = several(
        "Least difference in utility of a better and a worse score.",
        metavar="D,...",
        unset="0",
        example="0.00001",
    )
    delta_on: str | None = rare(
        f"Where {option('delta')} holds: between scores, or also between differences.",
        choices=("r1", "r1+r2"),
        unset="r1",
    )
    regularization: tuple[float, ...] = rare(
        f"Instead of {option('delta')}: this share of the largest one on r1+r2.",
        (),
        metavar="R,...",
        example="0.5",
        against=("delta", "delta_on"),
    )
    system: str = rare(
        "Utilities know the scores of the two models compared, or of all.", "pair", choices=("pair", "all")
    )
    epsilon: float = rare("How nearly another must dominate to leave the front.", 0.0, metavar="E")
    front_test: tuple[str, ...] = several("Test that no other model dominates this one.", metavar="MODEL")
    witness: tuple[str, ...] = several("The utility under which A compares worst with B.", metavar="A:B")
    baselines: bool = rare("Friedman and Nemenyi per criterion, all-test and one-test.", False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("delta", "regularization"):
            self._normalise(name, tuple(dict.fromkeys(getattr(self, name))))


def _roundings(parameter: str, given: Any) -> ByName:
    """One number for all, by name, or texts such as ``acc=2``, in one form."""
    return tuple(_rounding(parameter, name, number) for name, number in numbers_by_name(given))


def _rounding(parameter: str, name: str, number: Any) -> tuple[str, float]:
    whole, value = parameter == "digits", number_or_nan(number)
    if not (value.is_integer() and abs(value) <= MOST_DIGITS if whole else 0 < value < inf):
        wanted = f"a whole number from -{MOST_DIGITS} to {MOST_DIGITS}" if whole else "a number above 0"
        example = "3" if whole else "0.001"
        raise UsageError(
            f"{option(parameter)} takes {wanted}, with the name of a criterion before it or without",
            found=f"{name}={number}" if name else f"{number}",
            hint=f"write {option(parameter, example)}, or {option(parameter, f'NAME={example}')} for one "
            "criterion",
        )
    return name, value
