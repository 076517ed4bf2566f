"""Options of ``gsd``: scales of the criteria, the dominance relation, its tests and further analyses."""

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.option import METHOD, ByName, Settings, ask, rare, several, switch
from riskrank.options.resampling import CORRECTIONS, FamilySettings
from riskrank.options.suites import FIXED, RANDOM
from riskrank.options.values import number_or_nan, numbers_by_name

# A double has no more decimal digits.
MOST_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class CriteriaSettings(Settings):
    """Options for the scales and the rounding of the criteria."""

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
        self._normalise("digits", _normalise_roundings("digits", self.digits))
        self._normalise("tolerance", _normalise_roundings("tolerance", self.tolerance))


@dataclass(frozen=True, kw_only=True)
class RelabellingSettings(FamilySettings):
    """Options for the relabelling tests."""

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
    """Options of ``gsd``: the dominance relation, its tests and further analyses."""

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


def _normalise_roundings(parameter: str, values: Any) -> ByName:
    """Return roundings as (criterion, number) pairs from a number, a mapping or texts such as ``acc=2``."""
    return tuple(_normalise_rounding(parameter, name, number) for name, number in numbers_by_name(values))


def _normalise_rounding(parameter: str, name: str, number: Any) -> tuple[str, float]:
    """Return the rounding of one criterion; raise a UsageError if the number is invalid."""
    is_digits, value = parameter == "digits", number_or_nan(number)
    if not (value.is_integer() and abs(value) <= MOST_DIGITS if is_digits else 0 < value < inf):
        expected = f"a whole number from -{MOST_DIGITS} to {MOST_DIGITS}" if is_digits else "a number above 0"
        example = "3" if is_digits else "0.001"
        raise UsageError(
            f"{option(parameter)} takes {expected}, with the name of a criterion before it or without",
            found=f"{name}={number}" if name else f"{number}",
            hint=f"write {option(parameter, example)}, or {option(parameter, f'NAME={example}')} for one "
            "criterion",
        )
    return name, value
