"""Formatting of numbers with meaningful decimals, and wording of numbers and lists in sentences."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.dominance.tests import COMBINED, REPLACED, DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.monte_carlo import UpperBound
from riskrank.errors import counted as counted

# Decimals of numbers with an unknown error, and maximum number of decimals.
_DEFAULT_DECIMALS, _MAX = 3, 6
# Maximum number of extra decimals to make two numbers differ.
_EXTRA_DECIMALS = 4
# Maximum numbers of sentences and words in a verdict.
_SENTENCES, _WORDS = 3, 70
_SIGN = re.compile("(?<!e)-")


def decimals_from_errors(errors: Iterable[float]) -> int:
    """Return the number of decimals at which the median standard error has one significant digit.

    If that digit is 1, one more decimal is kept. The result is between 0 and 6.

    Parameters
    ----------
    errors : iterable of float
        Standard errors; zeros and non-finite values are ignored.

    Returns
    -------
    int
        0 for errors above 2.
    """
    finite = sorted(error for error in errors if math.isfinite(error) and error > 0)
    if not finite:
        return _DEFAULT_DECIMALS
    usual = finite[len(finite) // 2]
    return min(max(0, -math.floor(math.log10(usual) - math.log10(2))), _MAX)


def decimals_for_gaps(values: Iterable[float]) -> int:
    """Return the number of decimals that makes neighbouring values differ, if standard errors are unknown.

    Parameters
    ----------
    values : iterable of float
        Non-finite values are ignored.

    Returns
    -------
    int
        Enough to show a quarter of the median gap, or a thousandth of the range.
    """
    finite = sorted({value for value in values if math.isfinite(value)})
    gaps = sorted(high - low for low, high in pairwise(finite))
    if not gaps:
        return _DEFAULT_DECIMALS
    return decimals_from_errors([max(gaps[len(gaps) // 2] / 4, (finite[-1] - finite[0]) / 1000)])


def decimals_for_exact_values(values: Iterable[float]) -> int:
    """Return the number of decimals, at most 6, that shows each exact value to within 0.1 %."""
    finite = [value for value in values if math.isfinite(value)]
    for decimals in range(_MAX):
        if all(abs(round(value, decimals) - value) <= abs(value) / 1000 for value in finite):
            return decimals
    return _MAX


def decimals_from_range(low: float, high: float, count: int) -> int:
    """Return the number of decimals for the mean of `count` scores between `low` and `high`.

    The standard error of such a mean is at most range/√n.
    """
    return decimals_from_errors([(high - low) / math.sqrt(max(count, 1))])


def typeset(number: str) -> str:
    """Typeset a formatted number with a true minus sign and a space before the percent sign.

    Exponents are unchanged, such as 1e-6.
    """
    return _SIGN.sub("−", number).replace("%", " %")


def format_fixed(value: float, decimals: int) -> str:
    """Format a number with fixed decimals and thousands separators, or extreme ones as powers of ten."""
    if not math.isfinite(value):
        return typeset(f"{value:g}")
    if value != 0 and (abs(value) >= 1e7 or (abs(value) < 10.0**-_MAX and decimals == _MAX)):
        return typeset(f"{value:.2e}")
    text = f"{value:,.{decimals}f}"
    # Avoid −0.00: a sign without visible digits.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else typeset(text)


def format_limit(value: float, decimals: int) -> str:
    """Format an interval limit with enough decimals to show on which side of zero it lies."""
    while value != 0 and decimals < _MAX and abs(value) < 0.5 * 10.0**-decimals:
        decimals += 1
    return format_fixed(value, decimals)


def distinct_pair(x: float, y: float, write: Callable[[float, int], str], decimals: int) -> tuple[str, str]:
    """Format two numbers with enough decimals to make them differ, if possible.

    Parameters
    ----------
    x, y : float
        The two numbers.
    write : callable
        Function that formats a number with a given number of decimals.
    decimals : int
        Decimals to start with, also used if additional decimals do not help.
    """
    for more in range(_EXTRA_DECIMALS + 1) if x != y else ():
        left, right = write(x, decimals + more), write(y, decimals + more)
        if left != right:
            return left, right
    return write(x, decimals), write(y, decimals)


def count_range(counts: Iterable[int]) -> str:
    """Format the range of counts: ``5 to 8``, or ``5`` if all are equal."""
    limits = sorted({*counts})
    return f"{limits[0]:,}" if len(limits) == 1 else f"{limits[0]:,} to {limits[-1]:,}"


def round_up(count: int) -> int:
    """Return a count rounded up to one significant digit."""
    unit: int = 10 ** (len(str(count)) - 1)
    return -(-count // unit) * unit


def round_two_digits(count: float) -> int:
    """Return a large count rounded to two significant digits."""
    unit = 10 ** max(len(str(int(count))) - 2, 0)
    return round(count / unit) * unit


def format_number(value: float) -> str:
    """Format a score or a difference with three significant digits."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, 2 - math.floor(math.log10(abs(value))))
        return typeset(f"{value:,.{decimals}f}")
    return typeset(f"{value:.2e}")


def others_phrase(models: Sequence[str]) -> str:
    """Return up to three names joined by commas and "and", or a phrase such as ``all 5 others``."""
    return join_names(models) if len(models) <= 3 else f"all {len(models)} others"


def few_samples_sentence(models: Sequence[str], size: str, by: str) -> str:
    """Return a sentence, without its full stop, on a leader that few samples do not separate from rivals.

    Parameters
    ----------
    models : sequence of str
        The leader and its rivals.
    size : str
        Sample size with its unit, such as ``7 tasks``.
    by : str
        What was compared, such as " in means of score".
    """
    first, *rivals = models
    names = f"{first} or one of {len(rivals)} others ({join_names(rivals)})"
    names = join_names(models).replace(" and ", " or ") if len(rivals) < 3 else names
    excluded = rivals[0] if len(rivals) == 1 else "the others"
    return f"{names}: no test separates them{by}; {size} are too few to exclude {excluded}"


def metrics_phrase(count: int) -> str:
    """Return a phrase for all of `count` metrics, such as ``both metrics`` or ``all 3 metrics``."""
    return count_of_total(count, count, "metrics")


def count_of_total(count: int, total: int, noun: str) -> str:
    """Return a phrase for a part of a total: ``2 of 3 groups``, ``all 3 groups``, ``both groups``."""
    every = "both" if total == 2 else f"all {total}"
    return f"{every if count == total else f'{count} of {total}'} {noun}"


def format_percent(proportion: float) -> str:
    """Format a proportion in percent with at most two significant digits, or four from 99 % on."""
    return f"{100 * proportion:.{2 if proportion < 0.99 else 4}g} %"


def format_points(difference: float) -> str:
    """Format a difference of proportions in percentage points: ``1 percentage point``."""
    number = format_percent(difference).removesuffix(" %")
    return f"{number} percentage point{'' if number == '1' else 's'}"


def p_value_phrase(value: float) -> str:
    """Format a p-value for a sentence: ``p = 0.012``, ``p < 0.001`` or, for a bound, ``p ≤ 0.004``."""
    if isinstance(value, UpperBound) and value >= 0.001:
        return f"p ≤ {math.ceil(1000 * value - 1e-9) / 1000:g}"
    return f"p = {value:.2g}" if value >= 0.001 else "p < 0.001"


def format_range(low: float, high: float) -> str:
    """Format an interval: ``0.1 to 0.3``."""
    return f"{format_number(low)} to {format_number(high)}"


def join_names(models: Sequence[str], most: int = 4) -> str:
    """Join names for a sentence, such as ``a, b and c``.

    If there are more than `most`, the last ones are only counted.
    """
    parts = list(models)
    if len(parts) > most:
        parts = [*parts[: most - 1], f"{len(parts) - most + 1} others"]
    return "".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def rarest_detectable(size: int) -> int:
    """Return N for the rarest event that `size` samples can detect: one that occurs once in N cases.

    N is `size` / 3, by the rule of three, and at least 2.
    """
    return max(size // 3, 2)


def detection_limit_words(size: int) -> str:
    """Return a phrase about the rarest event that `size` samples can detect, for a caption."""
    return f"cannot detect events rarer than 1 in {rarest_detectable(size):,}"


def undetected_share(tasks: int) -> float:
    """Return the largest proportion of tasks that a sample of T tasks can miss entirely: 1 − 0.05^(1/T)."""
    return float(1 - 0.05 ** (1 / tasks))


def detection_limit_sentence(size: int, unit: str = "samples") -> str:
    """Return a sentence about the rarest event that `size` samples, or randomly drawn tasks, can detect."""
    if unit == "tasks":
        rarer = math.floor(100 * undetected_share(size))
        return f"These {size} tasks may miss kinds of tasks rarer than {rarer} in 100."
    unit = re.sub(r"s\b", "", unit, count=1) if size == 1 else unit
    return f"{size:,} independent {unit} {detection_limit_words(size)}."


def design_words(scores: ClusteredScores) -> str:
    """Return a phrase such as ``200 paired samples``: the number of samples, paired or per model."""
    counts = scores.cluster_counts
    if scores.judged:
        return f"{counts[0]:,} paired samples, {scores.n_labelled:,} labelled"
    if scores.paired:
        return f"{counts[0]:,} paired {scores.unit_name}"
    if len(set(counts)) == 1:
        return f"{counts[0]:,} unpaired {scores.unit_name} per model"
    return f"{min(counts):,} to {max(counts):,} unpaired {scores.unit_name} per model"


def undecided_words(undecided: int, family: int, resamples: int, method: str = "") -> str:
    """Describe how many of `family` claims need more than the given number of resamples.

    `method` names the tests, if they are about one method.
    """
    verb = "needs" if undecided == 1 else "need"
    scope = f" of {method}" if method else ""
    return f"{undecided} of {family} claims{scope} {verb} more than {resamples:,} resamples"


def claim_words(claim: Claim) -> str:
    """Return the name of a dominance hypothesis, such as ``direct SSD``, ``SSD(0.25)`` or ``R-SSD`` [RAB]."""
    return f"direct {'FSD' if claim.order == 1 else 'SSD'}" if claim.kind == DIRECT else claim.method


def higher_mean_phrase(model: str, comparison: str, interval: str, order: int) -> str:
    """Describe a model with a significantly better mean that does not significantly dominate its rivals.

    Parameters
    ----------
    model : str
        Name of the model.
    comparison : str
        Comparison of the means, such as "the higher mean".
    interval : str
        Interval of the difference.
    order : int
        Order of stochastic dominance: 1, or 2 for risk-averse users.
    """
    users = "every user" if order == 1 else "every risk-averse user"
    return f"{model} has {comparison} ({interval}); that {users} prefers it is not significant"


def method_words(method: str) -> str:
    """Return the name of a dominance method in words, such as "second-order dominance" for ``R-SSD``.

    Unknown names are returned unchanged.
    """
    match = re.fullmatch(r"(?:R-(?P<relative>[FS])SD|(?P<absolute>[FS])SD\((?P<threshold>[\d.]+)\))", method)
    if match is None:
        return method
    order = "first" if "F" in (match["relative"], match["absolute"]) else "second"
    at = "" if match["threshold"] is None else f" up to ε {match['threshold']}"
    return f"{order}-order dominance{at}"


def tests_words(name: str, tests: DominanceTests) -> str:
    """Return a phrase that names the tests that were used: dominance tests, tests of task means, or both.

    `name` is the name of the dominance tests.
    """
    means = "Student's t on macro means"
    if tests.mean_test == REPLACED:
        return f"{means} instead of {name}"
    return f"{name} and {means}" if tests.mean_test == COMBINED else name


def ordinal(rank: int) -> str:
    """Return an ordinal as a word up to "tenth", and as a number from there on."""
    words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    return words[rank - 1] if rank <= len(words) else f"number {rank}"


def split_verdict(sentences: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Split sentences into a verdict of at most three sentences and 70 words, and the rest.

    The first sentence is always part of the verdict.

    Parameters
    ----------
    sentences : iterable of str
        Sentences, the most severe first. A long one may be skipped in favour of later short ones. Empty
        ones are ignored.

    Returns
    -------
    verdict : str
    more : tuple of str
        Sentences that did not fit.
    """
    first, *following = filter(None, sentences)
    chosen, more = [first], list[str]()
    for sentence in following:
        fits = len(chosen) < _SENTENCES and len(" ".join([*chosen, sentence]).split()) <= _WORDS
        (chosen if fits else more).append(sentence)
    return " ".join(chosen), tuple(more)
