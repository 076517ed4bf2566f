"""Options of ``gsd``: the scales of the criteria, the dominance relation, its tests and further analyses."""

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.inference import CORRECTIONS, FIXED, RANDOM, FamilySettings
from riskrank.options.option import METHOD, ByName, Settings, param, rare, several, switch
from riskrank.options.values import name_value_pairs, number_or_nan

# Maximum number of decimal digits of a double.
MOST_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class CriteriaSettings(Settings):
    """Options for the scales and the rounding of the criteria."""

    ordinal: tuple[str, ...] = several(
        "Metrics on an ordinal scale, where only the order has a meaning.", metavar="NAME,...", commas=True
    )
    digits: ByName = several(
        "Round cardinal metrics, or only the metric NAME, to N decimal places.",
        metavar="[NAME=]N",
        unset="all",
        against=("tolerance",),
    )
    tolerance: ByName = rare(
        "Round cardinal metrics, or only the metric NAME, to multiples of STEP.", (), metavar="[NAME=]STEP"
    )

    def __post_init__(self) -> None:
        """Parse the roundings of the criteria, and raise UsageError if one is invalid."""
        super().__post_init__()
        self._normalise("digits", _normalise_roundings("digits", self.digits))
        self._normalise("tolerance", _normalise_roundings("tolerance", self.tolerance))


@dataclass(frozen=True, kw_only=True)
class RelabellingSettings(FamilySettings):
    """Options for the relabelling tests."""

    resamples: int | str = param(
        "Number of random permutations. auto uses as many as the tests need. If fewer permutations exist, "
        "all are used and the test is exact.",
        "auto",
        metavar="auto|N",
    )
    resampling: str = rare(
        "How to permute: swap the scores of the two models within samples, or permute all scores (pooled).",
        "swap",
        choices=("swap", "pooled"),
    )
    pairs: str | None = param(
        "Pairs of models to test: those with dominance in these samples (dominant), or all.",
        choices=("dominant", "all"),
        unset="dominant",
    )
    correction: str = param("Correction for testing several pairs.", "holm", choices=CORRECTIONS)
    contamination: bool = rare(
        "Show how many samples could be wrong before a result is no longer significant.", False
    )
    no_test: bool = switch(
        "Show only the dominance relation, without tests.", against=("pairs", "contamination", "front_test")
    )


@dataclass(frozen=True, kw_only=True)
class GsdSettings(CriteriaSettings, RelabellingSettings):
    """Options of ``gsd``: the dominance relation, its tests and further analyses."""

    PANEL: ClassVar[str] = METHOD

    tasks: str | None = rare(
        "With tasks: random treats each task as one sample (its mean score), to generalise to other tasks.",
        choices=(FIXED, RANDOM),
    )
    delta: tuple[float, ...] = several(
        "Smallest difference in utility between a better and a worse score, such as 0.00001.",
        metavar="D,...",
        unset="0",
        example="0.00001",
    )
    delta_on: str | None = rare(
        f"Where {option('delta')} applies: between scores (r1), or also between differences (r1+r2).",
        choices=("r1", "r1+r2"),
        unset="r1",
    )
    regularization: tuple[float, ...] = rare(
        f"Instead of {option('delta')}: threshold on r1+r2, as a share of the largest possible one.",
        (),
        metavar="R,...",
        example="0.5",
        against=("delta", "delta_on"),
    )
    system: str = rare(
        "Scores to which utilities are assigned: those of the two models compared (pair), or of all models.",
        "pair",
        choices=("pair", "all"),
    )
    epsilon: float = rare(
        "Tolerance of the front. A model is off the front if another one dominates it up to this difference.",
        0.0,
        metavar="E",
    )
    front_test: tuple[str, ...] = several("Test that no other model dominates this model.", metavar="MODEL")
    witness: tuple[str, ...] = several("Show the utility that favours A least against B.", metavar="A:B")
    baselines: bool = rare(
        "Also show the Friedman and Nemenyi tests for each metric, and two baselines: significantly "
        "better on all metrics (all-test), or on at least one and worse on none (one-test).",
        False,
    )

    def __post_init__(self) -> None:
        """Validate the options, and remove duplicate thresholds."""
        super().__post_init__()
        for name in ("delta", "regularization"):
            self._normalise(name, tuple(dict.fromkeys(getattr(self, name))))


def _normalise_roundings(parameter: str, values: Any) -> ByName:
    """Convert a number, a mapping, or texts such as ``acc=2``, to (criterion, rounding) pairs.

    `parameter` is "digits" or "tolerance".

    Raises
    ------
    UsageError
        If a number is not a valid rounding.
    """
    is_digits, result = parameter == "digits", []
    for name, number in name_value_pairs(values):
        value = number_or_nan(number)
        if not (value.is_integer() and abs(value) <= MOST_DIGITS if is_digits else 0 < value < inf):
            whole = f"a whole number from -{MOST_DIGITS} to {MOST_DIGITS}"
            expected, example = (whole, "3") if is_digits else ("a number above 0", "0.001")
            raise UsageError(
                f"{option(parameter)} needs {expected}, optionally after the name of a criterion",
                found=f"{name}={number}" if name else f"{number}",
                hint=f"write {option(parameter, example)}, or {option(parameter, f'NAME={example}')} for one "
                "criterion",
            )
        result.append((name, value))
    return tuple(result)
