"""Numbers and lists in the sentences of verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.dominance.tests import BESIDE, INSTEAD, DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.rounding import typeset


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


def counted(count: int, noun: str) -> str:
    """A number of things: 1 metric, 2,000 metrics."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def all_others(others: Sequence[str]) -> str:
    """The others of a table: up to three by name, else all 5 others."""
    return names(others) if len(others) <= 3 else f"all {len(others)} others"


def all_metrics(count: int) -> str:
    """The metrics of a table: both metrics, all 3 metrics."""
    return "both metrics" if count == 2 else f"all {count} metrics"


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


def blind_to(worth: int) -> str:
    """What so many independent samples cannot see, as a caption has it: happens less than once in n/3."""
    return f"blind to what happens less than once in {max(worth // 3, 1):,}"


def unseen(samples: int, unit: str = "samples") -> str:
    """What n samples cannot see: what happens in fewer than about 3/n of the cases."""
    cases = "cases" if unit == "samples" else "of them"
    return (
        f"{samples:,} {unit} say nothing about what happens in fewer than about 3 in {samples:,} {cases} "
        f"({percent(3 / samples)})."
    )


def unseen_tasks(tasks: int) -> str:
    """What T drawn tasks cannot see: a kind of task of which none need be drawn, 1 − .05^(1/T) of them."""
    share = math.floor(100 * (1 - 0.05 ** (1 / tasks)))
    return f"A kind of task rarer than {share} in 100 need not be among these {tasks}."


def unseen_in(scores: ClusteredScores) -> str:
    """The same of the samples of a column, or of its clusters; of the least-sampled model."""
    fewest = "" if len(set(scores.cluster_counts)) == 1 else " of the model with the fewest"
    worth = scores.effective_size
    count = scores.cluster_counts[int(scores.independent.argmin())]
    told = unseen(worth, scores.unit)
    if worth < count and not scores.judged:
        uneven = f"{count:,} {scores.unit} of unequal weights, worth {worth:,} equal ones,"
        return told.replace(f"{worth:,} {scores.unit}", uneven, 1)
    return told.replace(" say nothing", f"{fewest} say nothing", 1)


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
