"""What numbers of a metric tell of it beside its name: whether they look like errors, or have a sign."""

from riskrank.engine.types import Floats
from riskrank.scores.names.directions import lower_by_name
from riskrank.scores.names.vocabulary import says

# Fewer numbers tell nothing.
_FEWEST = 20
# Grades have an end that is low; shares and percent have one that is known.
_GRADES, _SHARES, _PERCENT = 10, 1.0, 100.0
# The mean lies in this lower part of a known scale, and the third standardised moment is at least this large.
_LOWER_PART, _SKEWED = 0.3, 0.5
# Of numbers with a sign each sign has more than this share.
_BOTH = 0.05


def like_errors(values: Floats) -> bool:
    """Whether numbers lie as errors and amounts do, and scores seldom: most of them low, few very high."""
    if values.size < _FEWEST or values.min() < 0 or values.max() == values.min():
        return False
    top, mean = float(values.max()), float(values.mean())
    whole = not (values % 1).any()
    # Outcomes of 0 and 1, and grades.
    if whole and (top <= 1 or (values.min() > 0 and top <= _GRADES)):
        return False
    if top <= _PERCENT and not (whole and top <= _GRADES):
        scale = _SHARES if top <= _SHARES else _PERCENT
        return mean < _LOWER_PART * scale and _skewness(values) > _SKEWED
    return _skewness(values) > _SKEWED


def long_tailed(values: Floats) -> bool:
    """Whether numbers have no known end above and a long tail there, as errors and amounts have."""
    known_end = values.min() < 0 or values.max() <= _SHARES or not (values % 1).any()
    # Grades lie as much on both sides, and far from 0.
    return not known_end and _skewness(values) > _SKEWED / 2


def _skewness(values: Floats) -> float:
    shares = values / values.max()
    apart = shares - shares.mean()
    return float((apart**3).mean() / (apart**2).mean() ** 1.5)


def marks_of_a_school(name: str, values: Floats) -> bool:
    """Whether numbers called as marks are lie between 1 and 6."""
    return says(name, "marks") and values.size > 0 and values.min() >= 1 and values.max() <= 6


def of_both_signs(values: Floats) -> bool:
    """Whether numbers lie below 0 and above it."""
    return values.size > 0 and min((values < 0).mean(), (values > 0).mean()) > _BOTH


def negated_errors(name: str, values: Floats) -> bool:
    """Whether errors by name are all below 0, as where more is to be better."""
    return lower_by_name(name) and values.size > 0 and values.max() <= 0 and values.min() < 0
