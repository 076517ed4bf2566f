"""Recognise pairs of words for good and bad outcomes: listed pairs, and a word with its negation."""

from dataclasses import dataclass

from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.names.vocabulary import has_word, split_words, strip_accents, vocabulary, word_pairs

# Words that are good or bad by themselves, and answers to the question in the column's name.
_VERDICTS, _ANSWERS = word_pairs("verdicts"), word_pairs("answers")
# Words for successful and failed endings of a run.
_SUCCESSES, _FAILURES = vocabulary("ended well"), vocabulary("ended badly")
# Prefixes or separate words, and endings, that negate a word.
_NEGATING, _NEGATING_ENDS = vocabulary("negating"), vocabulary("negating ends")
_ENDINGS = [(strip_accents(yes), strip_accents(no)) for yes, no in word_pairs("negating endings")]
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
    """Return the good and bad outcomes among lower-case words, or None if the words are not outcomes.

    Two words are matched as a pair. More than two words are accepted if one means that a run succeeded and
    the others that it failed.
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
            is_explicit = not is_bad and (
                bool({*split_words(positive)} & _GOOD_WORDS) or has_word(positive, "truths")
            )
            return OutcomePair(
                positive,
                (negative,),
                is_explicit=is_explicit,
                is_ambiguous=not is_explicit,
                is_likely=not is_bad,
            )
    return None


def is_negation(negated: str, word: str) -> bool:
    """Return whether one word negates the other by a prefix, an ending or an additional word."""
    long, short = ("".join(split_words(text)) for text in (negated, word))
    if not short or long == short:
        return False
    # In Turkish the negating ending replaces another: başarılı, başarısız.
    if any(short.endswith(yes) and long == short.removesuffix(yes) + no for yes, no in _ENDINGS):
        return True
    if long.endswith(short) or long.startswith(short):
        return long.removesuffix(short) in _NEGATING or long.removeprefix(short) in _NEGATING_ENDS
    return [text for text in split_words(negated) if text not in _NEGATING] == split_words(word)
