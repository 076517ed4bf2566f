"""Infer whether higher or lower is better from names of metrics, their values, and words for outcomes."""

import re
from dataclasses import dataclass
from itertools import pairwise

from riskrank.engine.types import Floats
from riskrank.scores.names.vocabulary import (
    has_word,
    parse_vocabulary,
    split_words,
    strip_accents,
    vocabulary,
    word_pairs,
    words,
)

# Quantities for which lower is better about half of the time.
_UNCERTAIN = vocabulary("uncertain")
# Words such as "until", and undesirable events.
_UNTIL, _TERMINAL_EVENTS = vocabulary("until"), vocabulary("ends")
# Endings of compound words that imply that lower is better.
_COST_ENDING = re.compile(
    "(?:zeit|dauer|kosten|latenz|verbrauch|tijd|duur|kostnad"
    "|(?P<no_amount>fehler|verlust|abweichung|fout(?:en)?|abbruch|ausfall|storno|retouren|reklamations|absturz|fehlalarm|chybovost|foerlust)"
    "(?:rate|quote|zahl|anzahl|anteil|percentage)?)$"
)
# Words that may reverse the direction, because something is saved, avoided, negated or lasts until an event.
_REVERSING = vocabulary("turning")
_REVERSED, _AMBIGUOUS = vocabulary("rid"), vocabulary("either")
# Words that mean an error or a risk only in a name without other informative words.
_ALONE, _UNINFORMATIVE = vocabulary("alone"), parse_vocabulary("mean avg average rate percent pct test val")
# Words for desirable quantities.
_GOOD_NAMES = vocabulary("good")
_ATTACKS, _SUCCESS = vocabulary("attacks"), parse_vocabulary("success successful")
# Words for quantities to minimise; whole words are matched, so that "timeline" is not "time".
_AMOUNT_WORDS = vocabulary("amount")
# Quantities for which lower is usually, but not always, better.
_DOUBTFUL_WORDS = vocabulary("doubtful")
_COST_WORDS = _AMOUNT_WORDS | vocabulary("cost") | _DOUBTFUL_WORDS
_NEGATIVE_LIKELIHOOD = re.compile("neg(?:ative)?log(?:likelihood|lik)$")
# Words and signs that precede an operating point, as in "tpr at fpr 1" and "recall@p90".
_AT_POINT = re.compile(r"(?i)[\W_]at[\W_](?!risk)|@")
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
# Units of time and energy after a name, as in "answer (s)".
_COST_UNIT = re.compile(r"[(\[]\s*([mun\u00b5\u03bc]?s|sec|min|[km]?Wh)\s*[)\]]\s*$")
# Remarks in a name that state its direction, as in "place (1 = best)".
_LOWER_STATED = re.compile(r"(?i)\b1\s*(?:=|is)\s*(?:the )?best\b|\b(?:lower|less|smaller) (?:is|=) better\b")


def looks_like_a_cost(name: str) -> bool:
    """Return True if a word in the name, a unit at its end or a remark implies that lower is better."""
    return _matches_words(name, _COST_WORDS) or _LOWER_STATED.search(name) is not None


def clearly_lower_is_better(name: str) -> bool:
    """Return whether the name clearly implies that lower is better."""
    return looks_like_a_cost(name) and not has_uncertain_direction(name)


def has_uncertain_direction(name: str) -> bool:
    """Return whether the name suggests that lower is better, but not strongly enough to assume it."""
    if _LOWER_STATED.search(name):
        return False
    is_good = _is_good(name) or bool(_tokens(name) & vocabulary("carriers") and "brier" not in words(name))
    if not looks_like_a_cost(name):
        # A rate such as calls per second is a speed.
        return bool(_tokens(name) & _UNCERTAIN) and not is_good and "per" not in words(name)
    return is_good or _may_be_reversed(name) or not _matches_words(name, _COST_WORDS - _DOUBTFUL_WORDS)


def has_clear_direction(name: str) -> bool:
    """Return whether the name leaves no doubt about the better direction, as accuracy and RMSE do."""
    return not has_uncertain_direction(name) and (looks_like_a_cost(name) or _is_good(name))


def lower_is_likelier(name: str) -> bool:
    """Return True if lower is probably better, for a name that does not determine the direction."""
    # The success of an attack is a failure of the model.
    is_attack = _tokens(name) & _ATTACKS and _tokens(name) & _SUCCESS
    cost = bool(is_attack or _joined_neighbours(name) & _COST_WORDS)
    cost = cost or _matches_words(split_words(name)[-1], _COST_WORDS)
    return not _may_be_reversed(name) and (cost or not _is_good(name))


def _is_good(name: str) -> bool:
    """Return True if a name contains a word for a desirable quantity, such as accuracy.

    Words after "until" do not count, nor do words such as "score" that say nothing about desirability.
    """
    parts = split_words(name)
    end = next((position for position, word in enumerate(parts) if word in _UNTIL), 0)
    amount = " ".join(parts[:end]) or name
    return bool(_tokens(amount) & _GOOD_NAMES - vocabulary("carriers") - {"return", "match"})


def _may_be_reversed(name: str) -> bool:
    """Return whether a name measures the absence of an undesirable event, or the time until it."""
    tokens, lasting = _tokens(name), vocabulary("lasting")
    ends = tokens & _TERMINAL_EVENTS and tokens & (_UNTIL | vocabulary("at ends"))
    return bool(ends or tokens & (_REVERSING | lasting) or _joined_neighbours(name) & _REVERSED)


def is_ambiguous_name(name: str) -> bool:
    """Return whether a name may denote an error rate or a detection task, as ``hate_speech`` does."""
    return "".join(split_words(name)) in _AMBIGUOUS


def looks_like_an_amount(name: str) -> bool:
    """Return whether the name denotes an amount of money, time, energy or memory."""
    return _matches_words(name, _AMOUNT_WORDS)


def is_duration(name: str) -> bool:
    """Return whether the name denotes the duration of a run."""
    name_words = words(name)
    is_run_time = "time" in name_words and bool(name_words & vocabulary("ran"))
    return is_run_time or bool(name_words & vocabulary("durations"))


def is_metric_name(name: str) -> bool:
    """Return whether a word in the name describes a measured quantity."""
    return looks_like_a_cost(name) or _is_beneficial(name)


def clearly_higher_is_better(name: str) -> bool:
    """Return whether a word in the name implies that higher is better."""
    return _is_beneficial(name) and not looks_like_a_cost(name)


def metric_in_file_name(file_name: str) -> str:
    """Return the last word in a file name that is the name of a metric.

    Return an empty string if there is no such word, or if several words imply different directions.
    """
    file_words = split_words(file_name.replace("time series", "").replace("match", ""))
    metric_words = [word for word in file_words if is_metric_name(word) and word not in _ALONE]
    return metric_words[-1] if len({*map(looks_like_a_cost, metric_words)}) == 1 else ""


def _is_beneficial(name: str) -> bool:
    """Return whether a high value of the named quantity is desirable."""
    ending = split_words(name)[-2:]
    is_speed = ending[:1] == ["per"] and ending[-1] in vocabulary("second")
    return bool(_tokens(name) & (_GOOD_NAMES | vocabulary("lasting"))) or is_speed


def _matches_words(name: str, targets: frozenset[str]) -> bool:
    """Return whether a name contains a target word, a unit of cost, or a compound word for a cost."""
    tokens = _tokens(name)
    is_target = any(word in targets or word.rstrip("0123456789") in targets for word in tokens)
    if is_target or _COST_UNIT.search(name):
        return True
    endings = [end for word in tokens if (end := _COST_ENDING.search(word))]
    return any(
        targets > _AMOUNT_WORDS or (targets == _AMOUNT_WORDS and not end["no_amount"]) for end in endings
    )


def _joined_neighbours(name: str) -> set[str]:
    """Return every pair of adjacent words in a name, joined to one word."""
    return {*map("".join, pairwise(split_words(name)))}


def _tokens(name: str) -> frozenset[str]:
    """Return the words of a name in all spellings that word lists may have.

    Words occur with and without trailing digits, and adjacent words also as one word, as in "off topic" and
    "chrF".
    """
    name = _AT_POINT.split(name, 1)[0] or name
    name_words = split_words(name)
    if _NEGATIVE_LIKELIHOOD.search("".join(name_words)):
        return frozenset({"nll"})
    humps = {word.lower() for word in _WORD.findall(strip_accents(name))}
    tokens = words(name) | _joined_neighbours(name) | {"".join(name_words)} | humps
    # These words are meaningful only in names without other words.
    return tokens if len({*name_words} - _UNINFORMATIVE) == 1 else tokens - _ALONE


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


def has_both_signs(values: Floats) -> bool:
    """Return whether more than 5 % of the values are negative and more than 5 % are positive."""
    return values.size > 0 and min((values < 0).mean(), (values > 0).mean()) > _BOTH


# Words that are good or bad by themselves, and answers to the question in the column's name.
_VERDICTS, _ANSWERS = word_pairs("verdicts"), word_pairs("answers")
# Words for successful and failed endings of a run.
_SUCCESSES, _FAILURES = vocabulary("ended well"), vocabulary("ended badly")
# Prefixes or separate words, and endings, that negate a word.
_NEGATING, _NEGATING_ENDS = vocabulary("negating"), vocabulary("negating ends")
# Words for good and bad samples.
_GOOD_WORDS, _BAD_WORDS = vocabulary("judging") | vocabulary("good"), vocabulary("bad")


@dataclass(frozen=True)
class OutcomePair:
    """The words for good and bad outcomes in a text column.

    Attributes
    ----------
    positive : str
        Word that scores 1, in lower case.
    negatives : tuple of str
        Words that score 0.
    is_explicit : bool
        Whether the words alone determine which outcome is good, whatever the name of the column.
    is_ambiguous : bool
        Whether the user has to decide which outcome is better.
    is_likely : bool
        Whether `positive` is likely to be the better outcome.
    """

    positive: str
    negatives: tuple[str, ...]
    is_explicit: bool = False
    is_ambiguous: bool = False
    is_likely: bool = True


def classify_outcomes(*labels: str) -> OutcomePair | None:
    """Return which of some lower-case words are good and which are bad outcomes.

    Two words must be a known pair or a word and its negation. More than two words are accepted if one means
    that a run succeeded and the others that it failed. Return None if the words are not outcomes.
    """
    if len(labels) != 2:
        failures = tuple(sorted(_FAILURES.intersection(labels)))
        endings = [word for word in labels if word not in failures]
        is_ending = len(endings) == 1 and endings[0] in _SUCCESSES and bool(failures)
        return OutcomePair(endings[0], failures, is_explicit=True) if is_ending else None
    first, second = labels
    for positive, negative in ((first, second), (second, first)):
        if (positive, negative) in _VERDICTS or (positive, negative) in _ANSWERS:
            return OutcomePair(positive, (negative,), is_explicit=(positive, negative) in _VERDICTS)
    for positive, negative in ((first, second), (second, first)):
        if is_negation(negative, positive):
            is_bad = looks_like_a_cost(positive) or bool({*split_words(positive)} & _BAD_WORDS)
            is_good = bool({*split_words(positive)} & _GOOD_WORDS) or has_word(positive, "truths")
            is_explicit = is_good and not is_bad
            return OutcomePair(
                positive,
                (negative,),
                is_explicit=is_explicit,
                is_ambiguous=not is_explicit,
                is_likely=not is_bad,
            )
    return None


def is_negation(negated: str, word: str) -> bool:
    """Return whether `negated` is the opposite of `word`, formed by a prefix, an ending or an added word."""
    long, short = ("".join(split_words(text)) for text in (negated, word))
    if not short or long == short:
        return False
    if long.endswith(short) or long.startswith(short):
        return long.removesuffix(short) in _NEGATING or long.removeprefix(short) in _NEGATING_ENDS
    return [text for text in split_words(negated) if text not in _NEGATING] == split_words(word)
