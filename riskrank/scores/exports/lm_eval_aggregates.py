"""lm-eval's metrics that are no means of samples: what the parts its samples log come to."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

Pairs = Sequence[tuple[float, float]]


def aggregate(metric: str, values: Sequence[object]) -> float | None:
    """A metric over all samples, as lm-eval computes it from what they log.

    Parameters
    ----------
    metric : str
    values : sequence
        Of the samples: ``[gold, prediction]`` for ``mcc``, ``[log-likelihood, weight]`` for perplexities.

    Returns
    -------
    float or None
        None for a metric that is a mean, and for values of another form.
    """
    of = _AGGREGATES.get(metric)
    if of is None or not values:
        return None
    pairs = []
    for value in values:
        if not isinstance(value, list) or len(value) != 2:
            return None
        first, second = value
        if type(first) not in (int, float) or type(second) not in (int, float):
            return None
        pairs.append((first, second))
    try:
        found = of(pairs)
    except (OverflowError, ZeroDivisionError):
        return None
    return found if math.isfinite(found) else None


def matthews(pairs: Pairs) -> float:
    """Matthews' correlation of classes and predictions, of two classes or more; 0 where one never varies."""
    number = len(pairs)
    right = sum(gold == predicted for gold, predicted in pairs)
    gold = Counter(first for first, _ in pairs)
    predicted = Counter(second for _, second in pairs)
    agreement = right * number - sum(gold[name] * predicted[name] for name in gold)
    spread = number**2 - sum(count**2 for count in gold.values())
    other = number**2 - sum(count**2 for count in predicted.values())
    return agreement / math.sqrt(spread * other) if spread and other else 0.0


def nats(pairs: Pairs) -> float:
    """Negative log-likelihood a word or byte, in nats: all samples' over all samples' weights."""
    return -math.fsum(first for first, _ in pairs) / math.fsum(weight for _, weight in pairs)


_AGGREGATES: dict[str, Callable[[Pairs], float]] = {
    "mcc": matthews,
    "word_perplexity": lambda pairs: math.exp(nats(pairs)),
    "byte_perplexity": lambda pairs: math.exp(nats(pairs)),
    "bits_per_byte": lambda pairs: nats(pairs) / math.log(2),
}
