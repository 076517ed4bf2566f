"""Inference from the values of a metric: whether they are errors, school marks or signed numbers."""

from riskrank.engine.types import Floats
from riskrank.scores.names.directions import clearly_lower_is_better
from riskrank.scores.names.vocabulary import has_word

# Minimum number of values for a decision.
_FEWEST = 20
# Largest value of grades, shares and percentages.
_GRADES, _SHARES, _PERCENT = 10, 1.0, 100.0
# On a known scale, errors have a mean in this lower part of the scale and at least this skewness.
_LOWER_PART, _SKEWED = 0.3, 0.5
# Smallest share of each sign among signed values.
_BOTH = 0.05


def looks_like_errors(values: Floats) -> bool:
    """Return whether most values are low and a few are very high, as is typical of errors and amounts."""
    if values.size < _FEWEST or values.min() < 0 or values.max() == values.min():
        return False
    largest, mean = float(values.max()), float(values.mean())
    is_integer = not (values % 1).any()
    # Binary outcomes and grades are not errors.
    if is_integer and (largest <= 1 or (values.min() > 0 and largest <= _GRADES)):
        return False
    if largest <= _PERCENT and not (is_integer and largest <= _GRADES):
        scale = _SHARES if largest <= _SHARES else _PERCENT
        return mean < _LOWER_PART * scale and _skewness(values) > _SKEWED
    return _skewness(values) > _SKEWED


def has_long_tail(values: Floats) -> bool:
    """Return whether values have no known maximum and a long upper tail, as errors and amounts do."""
    is_bounded = values.min() < 0 or values.max() <= _SHARES or not (values % 1).any()
    # Grades are roughly symmetric.
    return not is_bounded and _skewness(values) > _SKEWED / 2


def _skewness(values: Floats) -> float:
    """Return the skewness of non-negative values."""
    scaled = values / values.max()
    deviations = scaled - scaled.mean()
    return float((deviations**3).mean() / (deviations**2).mean() ** 1.5)


def looks_like_school_marks(name: str, values: Floats) -> bool:
    """Return whether the name suggests school marks and all values are between 1 and 6."""
    return has_word(name, "marks") and values.size > 0 and values.min() >= 1 and values.max() <= 6


def has_both_signs(values: Floats) -> bool:
    """Return whether more than 5 % of the values are negative and more than 5 % are positive."""
    return values.size > 0 and min((values < 0).mean(), (values > 0).mean()) > _BOTH


def looks_like_negated_errors(name: str, values: Floats) -> bool:
    """Return whether a metric named like an error has no positive values, as negated errors do."""
    return clearly_lower_is_better(name) and values.size > 0 and values.max() <= 0 and values.min() < 0
