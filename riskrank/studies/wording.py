"""Numbers as precise as they are sure, and numbers and lists in the sentences of verdicts."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.dominance.tests import BESIDE, INSTEAD, DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import counted as counted

# Decimals of numbers whose error nobody knows, and the most a reader can use.
_PLAIN, _MOST = 3, 6
# Decimals that two numbers beside each other may have more, if these tell them apart.
_MORE = 4
# Sentences and words that a reader takes in.
_SENTENCES, _WORDS = 3, 70
_SIGN = re.compile("(?<!e)-")


def decimals_of(errors: Iterable[float]) -> int:
    """Decimals at which the usual of some standard errors shows its first digit; a leading 1 the next too.

    Parameters
    ----------
    errors : iterable of float
        Standard errors; zeros and what is no number are passed over.

    Returns
    -------
    int
        0 where the error is above 2; at most 6.
    """
    known = sorted(error for error in errors if math.isfinite(error) and error > 0)
    if not known:
        return _PLAIN
    usual = known[len(known) // 2]
    return min(max(0, -math.floor(math.log10(usual) - math.log10(2))), _MOST)


def decimals_apart(values: Iterable[float]) -> int:
    """Decimals that tell neighbouring values apart, where nothing is known of how sure they are.

    Parameters
    ----------
    values : iterable of float
        What is no number is passed over.

    Returns
    -------
    int
        For a quarter of the usual gap between two of them, or a thousandth of their range.
    """
    known = sorted({value for value in values if math.isfinite(value)})
    gaps = sorted(high - low for low, high in pairwise(known))
    if not gaps:
        return _PLAIN
    return decimals_of([max(gaps[len(gaps) // 2] / 4, (known[-1] - known[0]) / 1000)])


def decimals_of_exact(values: Iterable[float]) -> int:
    """Decimals that show values that do not vary, such as prices, to a thousandth of each; at most 6."""
    known = [value for value in values if math.isfinite(value)]
    for decimals in range(_MOST):
        if all(abs(round(value, decimals) - value) <= abs(value) / 1000 for value in known):
            return decimals
    return _MOST


def decimals_of_range(low: float, high: float, count: int) -> int:
    """Decimals of a mean of so many scores between two ends: their range over √n bounds its error."""
    return decimals_of([(high - low) / math.sqrt(max(count, 1))])


def typeset(number: str) -> str:
    """A formatted number as print has it: its minus is no hyphen, its percent sign stands apart.

    Powers of ten stay as programs write them: 1e-6.
    """
    return _SIGN.sub("−", number).replace("%", " %")


def rounded(value: float, decimals: int) -> str:
    """A number with so many decimals, thousands apart; very large and very small ones as powers of ten."""
    if not math.isfinite(value):
        return typeset(f"{value:g}")
    if value != 0 and (abs(value) >= 1e7 or (abs(value) < 10.0**-_MOST and decimals == _MOST)):
        return typeset(f"{value:.2e}")
    text = f"{value:,.{decimals}f}"
    # −0.00 says a sign that the digits do not show.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else typeset(text)


def rounded_beside_zero(value: float, decimals: int) -> str:
    """The same of an end of an interval: which side of zero it is on has to be seen."""
    while value != 0 and decimals < _MOST and abs(value) < 0.5 * 10.0**-decimals:
        decimals += 1
    return rounded(value, decimals)


def told_apart(one: float, other: float, say: Callable[[float, int], str], decimals: int) -> tuple[str, str]:
    """Two numbers beside each other: what differs is not shown alike, where a few digits more can tell.

    Parameters
    ----------
    one, other : float
    say : callable
        Of a number and its decimals.
    decimals : int
        What both are shown with where that tells them apart, or nothing does.
    """
    for more in range(_MORE + 1) if one != other else ():
        first, second = say(one, decimals + more), say(other, decimals + more)
        if first != second:
            return first, second
    return say(one, decimals), say(other, decimals)


def whole(count: float) -> int | None:
    """A number of samples; None where no number would do."""
    return int(count) if math.isfinite(count) else None


def span(counts: Iterable[int]) -> str:
    """From the least count to the most, or the one that all are."""
    ends = sorted({*counts})
    return f"{ends[0]:,}" if len(ends) == 1 else f"{ends[0]:,} to {ends[-1]:,}"


def rounded_up(count: int) -> int:
    """A count with one significant digit, and no fewer."""
    unit: int = 10 ** (len(str(count)) - 1)
    return -(-count // unit) * unit


def two_digits(count: float) -> int:
    """A large count with two significant digits, where more are not known."""
    unit = 10 ** max(len(str(int(count))) - 2, 0)
    return round(count / unit) * unit


def number(value: float) -> str:
    """A score or a difference with three significant digits; minus zero is zero."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, 2 - math.floor(math.log10(abs(value))))
        return typeset(f"{value:,.{decimals}f}")
    return typeset(f"{value:.2e}")


def all_others(others: Sequence[str]) -> str:
    """The others of a table: up to three by name, else all 5 others."""
    return names(others) if len(others) <= 3 else f"all {len(others)} others"


def all_metrics(count: int) -> str:
    """The metrics of a table: both metrics, all 3 metrics."""
    return so_many(count, count, "metrics")


def so_many(count: int, of: int, noun: str) -> str:
    """Some of all: 2 of 3 groups, all 3 groups, both groups."""
    every = "both" if of == 2 else f"all {of}"
    return f"{every if count == of else f'{count} of {of}'} {noun}"


def percent(share: float) -> str:
    """A share in percent with two significant digits at most, more where they are nines: 99.9 is not 100."""
    return f"{100 * share:.{2 if share < 0.99 else 4}g} %"


def p_words(value: float) -> str:
    """A p-value in a sentence: ``p = 0.012``; of what is below a thousandth no more."""
    return f"p = {value:.2g}" if value >= 0.001 else "p < 0.001"


def interval(low: float, high: float) -> str:
    """Two ends as words."""
    return f"{number(low)} to {number(high)}"


def names(models: Sequence[str], most: int = 4) -> str:
    """Names joined as in a sentence; a long list is cut with a count of the rest."""
    shown = list(models)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} others"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def rarest_seen(worth: int) -> int:
    """Once in how many cases something happens that n independent samples would just show: n/3."""
    return max(worth // 3, 2)


def blind_to(worth: int) -> str:
    """What so many independent samples cannot see, as a caption has it."""
    return f"too few to see what happens less than once in {rarest_seen(worth):,}"


def unseen_share(tasks: int) -> float:
    """How much of all tasks a kind may be of which so many drawn ones need hold none."""
    return float(1 - 0.05 ** (1 / tasks))


def unseen(worth: int, unit: str = "samples") -> str:
    """The same as a sentence; of T drawn tasks a kind of which none need be drawn, 1 − .05^(1/T) of them."""
    if unit == "tasks":
        rarer = math.floor(100 * unseen_share(worth))
        return f"A kind of task rarer than {rarer} in 100 need not be among these {worth}."
    unit, verb = (re.sub(r"s\b", "", unit, count=1), "is") if worth == 1 else (unit, "are")
    return f"{worth:,} independent {unit} {verb} {blind_to(worth)}."


def design(scores: ClusteredScores) -> str:
    """How many samples there are: paired, or of each model."""
    counts = scores.cluster_counts
    if scores.judged:
        return f"{counts[0]:,} paired samples, {scores.labelled:,} of them labelled"
    if scores.paired:
        return f"{counts[0]:,} paired {scores.unit}"
    if len(set(counts)) == 1:
        return f"{counts[0]:,} unpaired {scores.unit} a model"
    return f"{min(counts):,} to {max(counts):,} unpaired {scores.unit} a model"


def not_decided(undecided: int, family: int, resamples: int, of: str = "") -> str:
    """How many claims the resamples are too few for, and of how many."""
    verb = "is" if undecided == 1 else "are"
    what = f" of {of}" if of else ""
    return f"{undecided} of {family} claims{what} {verb} not decided at {resamples:,} resamples"


def claim_words(claim: Claim) -> str:
    """``direct SSD`` for the direct claim; ``SSD(0.25)`` and ``R-SSD`` as [RAB] writes the others."""
    if claim.kind == DIRECT:
        return f"direct {'FSD' if claim.order == 1 else 'SSD'}"
    return claim.method


def method_words(method: str) -> str:
    """A method of dominance in words: ``R-SSD`` is second-order dominance, others keep their names."""
    found = re.fullmatch(r"(?:R-(?P<relative>[FS])SD|(?P<absolute>[FS])SD\((?P<threshold>[\d.]+)\))", method)
    if found is None:
        return method
    order = "first" if "F" in (found["relative"], found["absolute"]) else "second"
    at = "" if found["threshold"] is None else f" up to ε {found['threshold']}"
    return f"{order}-order dominance{at}"


def tests_words(name: str, tests: DominanceTests) -> str:
    """Which tests were made: those of the method named, and of few drawn tasks those of their means."""
    means = "Student's t of macro means"
    if tests.of_means == INSTEAD:
        return f"{means} in place of {name}"
    return f"{name} and {means}" if tests.of_means == BESIDE else name


def ordinal(place: int) -> str:
    """A place as a word up to tenth, then as a number."""
    words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    return words[place - 1] if place <= len(words) else f"number {place}"


def fitting(sentences: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """As many sentences as a reader takes in; the first always.

    Parameters
    ----------
    sentences : iterable of str
        The gravest first; a long one gives way to a later short one. Empty ones are passed over.

    Returns
    -------
    verdict : str
    more : tuple of str
        Those it had no room for.
    """
    first, *rest = filter(None, sentences)
    kept, more = [first], list[str]()
    for sentence in rest:
        fits = len(kept) < _SENTENCES and len(" ".join([*kept, sentence]).split()) <= _WORDS
        (kept if fits else more).append(sentence)
    return " ".join(kept), tuple(more)
