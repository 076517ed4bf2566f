"""Two words of which one judges a sample to be good: listed pairs, and a word beside its negation."""

from dataclasses import dataclass

from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.names.vocabulary import known, listed_words, pairs, plain, says

# Words that judge by themselves, and answers to whatever the name of the column asks.
_VERDICTS, _ANSWERS = pairs("verdicts"), pairs("answers")
# How a run ends, well in one of these words, and badly in several.
_WELL, _BADLY = known("ended well"), known("ended badly")
# What is written before or behind a word and turns it into its contrary, as part of it or apart.
_NEGATING, _NEGATING_ENDS = known("negating"), known("negating ends")
_ENDINGS = [(plain(yes), plain(no)) for yes, no in pairs("negating endings")]
# What is good where it is said of a sample, and what is bad.
_JUDGING, _BAD = known("judging") | known("good"), known("bad")


@dataclass(frozen=True)
class Judgement:
    """Two words that are all a column holds.

    Attributes
    ----------
    yes : str
        What counts 1, in lower case.
    no : tuple of str
        What counts 0.
    told : bool
        Whether the words say themselves what is right, whatever the column is called.
    open : bool
        Whether nothing but the reader knows which of the two is better.
    likely : bool
        Whether `yes` is likelier to be.
    """

    yes: str
    no: tuple[str, ...]
    told: bool = False
    open: bool = False
    likely: bool = True


def judgement(*said: str) -> Judgement | None:
    """What words in lower case say of samples, two or how runs ended; None where they are no judgement."""
    if len(said) != 2:
        badly = tuple(sorted(_BADLY.intersection(said)))
        well = [word for word in said if word not in badly]
        ended = len(well) == 1 and well[0] in _WELL and bool(badly)
        return Judgement(well[0], badly, told=True) if ended else None
    one, other = said
    for yes, no in ((one, other), (other, one)):
        if (yes, no) in _VERDICTS or (yes, no) in _ANSWERS:
            return Judgement(yes, (no,), told=(yes, no) in _VERDICTS)
    for yes, no in ((one, other), (other, one)):
        if negates(no, yes):
            bad = looks_like_a_cost(yes) or bool({*listed_words(yes)} & _BAD)
            told = not bad and (bool({*listed_words(yes)} & _JUDGING) or says(yes, "truths"))
            return Judgement(yes, (no,), told=told, open=not told, likely=not bad)
    return None


def negates(negated: str, word: str) -> bool:
    """Whether a word is another with a prefix, an ending or a word that negates it."""
    long, short = ("".join(listed_words(one)) for one in (negated, word))
    if not short or long == short:
        return False
    # Endings take each other's place in Turkish: başarılı, başarısız.
    if any(short.endswith(yes) and long == short.removesuffix(yes) + no for yes, no in _ENDINGS):
        return True
    if long.endswith(short) or long.startswith(short):
        return long.removesuffix(short) in _NEGATING or long.removeprefix(short) in _NEGATING_ENDS
    return [one for one in listed_words(negated) if one not in _NEGATING] == listed_words(word)
