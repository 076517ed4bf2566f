"""Which way metrics are better, by their names."""

import re
from itertools import pairwise

from riskrank.scores.names.vocabulary import known, listed_words, plain, vocabulary, words

# Less of these is better as often as not, where they are what is measured and no bookkeeping.
_UNCERTAIN = known("uncertain")
# Words between what is counted and what ends it; what nobody wants to come soon; and how long a thing lasts.
_UNTIL, _ENDS, _LASTING = known("until"), known("ends"), known("lasting")
_LASTING_ENDING = re.compile(
    "(?:leb(?:en)?s|ueberlebens|stand|akkulauf|batterielauf|nutzungs|levens|overlevings|livs)"
    "(?:zeit|dauer|duur|tijd|laengd)$"
)
# How words end that are written without blanks, and say that less is better.
_COST_ENDING = re.compile(
    "(?:zeit|dauer|kosten|latenz|verbrauch|tijd|duur|kostnad"
    "|(?P<no_amount>fehler|verlust|abweichung|fout(?:en)?|abbruch|ausfall|storno|retouren|reklamations|absturz|fehlalarm|chybovost|foerlust)"
    "(?:rate|quote|zahl|anzahl|anteil|percentage)?)$"
)
# Words that turn the others around, or may: what is saved, avoided or negated.
_TURNING = known("turning")
# Words behind what there is less of, and measures of how well it is told apart from what is not called so.
_RID = vocabulary(
    "free saving savings saved reduction avoided avoidance prevented caught fixed corrected suppression"
)
_RID_OF, _EITHER = known("rid"), known("either")
_TOLD_APART = vocabulary("accuracy acc f precision recall auc auroc auprc mcc kappa")
_KINDS = vocabulary("refusal refusals fraud spam anomaly toxicity hallucination hallucinations pii")
# Words that mean an error or a risk where a name says nothing else, and anything in others; what it may say.
_ALONE, _SAYS_NOTHING = known("alone"), vocabulary("mean avg average rate percent pct test val")
# Words that name what people want more of.
_GOOD_NAMES = known("good")
_ATTACKS, _WON = known("attacks"), vocabulary("success successful")
# Words that name a quantity people want less of. Matched word by word, so that "timeline" is not "time".
_AMOUNT_WORDS = known("amount")
# Less of these is better more often than not: nobody takes that for granted.
_DOUBTFUL_WORDS = known("doubtful")
_COST_WORDS = _AMOUNT_WORDS | known("cost") | _DOUBTFUL_WORDS
_NEGATIVE_LIKELIHOOD = re.compile("neg(?:ative)?log(?:likelihood|lik)$")
# Behind this a name says where something was measured, not what: "tpr at fpr 1", "recall@p90".
_PLACE = re.compile(r"(?i)[\W_]at[\W_](?!risk)|@")
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
# Units of time and energy behind a name, as in "answer (s)".
_COST_UNIT = re.compile(r"[(\[]\s*([mun\u00b5\u03bc]?s|sec|min|[km]?Wh)\s*[)\]]\s*$")


def looks_like_a_cost(name: str) -> bool:
    """Whether a word of the metric's name, or the unit behind it, says that less of it is better."""
    return _says(name, _COST_WORDS) and not _lasts(name) and not _turned(name)


def lower_by_name(name: str) -> bool:
    """Whether the name leaves no doubt that less is better."""
    return looks_like_a_cost(name) and not doubtful_by_name(name)


def doubtful_by_name(name: str) -> bool:
    """Whether less is probably better by the name, and nobody should take that for granted."""
    found = _tokens(name)
    if _lasts(name):
        # What else the name says may turn it around: an error of a lifetime, the cost of each failure.
        return bool(found & (_TURNING | known("paid", "cost")) - _ENDS)
    if (found & _ENDS and found & known("at ends")) or (found & _ATTACKS and found & _WON):
        return True
    no_score = known("carriers") if "brier" in found else set()
    good = bool(found & _GOOD_NAMES - {"return", "match", "rating"} - no_score)
    if end := counted_until(name):
        return looks_like_a_cost(end) or not looks_like_a_cost(name)
    if not looks_like_a_cost(name):
        # Calls per second are how fast it goes.
        return bool(found & _UNCERTAIN) and not good and "per" not in words(name)
    return bool(good or found & _TURNING) or not _says(name, _COST_WORDS - _DOUBTFUL_WORDS)


def lower_is_likelier(name: str) -> bool:
    """Whether of a doubtful name less is rather better: nothing turns it, and its last word says so."""
    found, last = _tokens(name), listed_words(name)[-1]
    if _neighbours(name) & _COST_WORDS:
        return True
    if _lasts(name) or (found & _ENDS and found & known("at ends")):
        return False
    if end := counted_until(name):
        return not looks_like_a_cost(end)
    good = found & _GOOD_NAMES - known("carriers")
    # Success of an attack is none of the model.
    good -= _WON if found & _ATTACKS else set()
    return not found & _TURNING and (_says(last, _COST_WORDS) or not good)


def says_either(name: str) -> bool:
    """Whether a name says what goes wrong as often as what is to be done: hate speech, manipulation."""
    return "".join(listed_words(name)) in _EITHER


def _lasts(name: str) -> bool:
    """Whether a name says how long or how much something lasts, before it fails or at all."""
    found, whole = listed_words(name), words(name)
    until = [place for place, word in enumerate(found) if word in _UNTIL]
    ends = [next((word for word in found[at + 1 :] if word not in known("before ends")), "") for at in until]
    return bool(whole & _LASTING or {*ends} & _ENDS) or any(map(_LASTING_ENDING.search, whole))


def _turned(name: str) -> bool:
    """Whether of what nobody wants a name says how little there is, or how well it is told: "error free"."""
    found = listed_words(name)
    pairs = _neighbours(name) & _RID_OF
    if not pairs and (not {*found} & (_RID | _TOLD_APART | {"non"}) or {*found} & _UNTIL):
        return False
    bad = {word for word in found if _says(word, _COST_WORDS)}
    paired = any(all(word in pair for word in bad) for pair in pairs)
    rid = any(word in _RID and bad & {*found[max(at - 2, 0) : at]} for at, word in enumerate(found))
    told = {found[0], found[-1]} & _TOLD_APART and bad <= _KINDS
    return paired or (len(bad) == 1 and bool(rid or told or (found[0] == "non" and found[1] in bad)))


def counted_until(name: str) -> str:
    """What ends an amount or a number that a name counts up to it, as in "days until failure"."""
    found = listed_words(name)
    at = 0 if _is_speed(name) else next((place for place, word in enumerate(found) if word in _UNTIL), 0)
    return " ".join(found[at + 1 :]) if {*found[:at]} & (_AMOUNT_WORDS | _UNCERTAIN) else ""


def looks_like_an_amount(name: str) -> bool:
    """Whether they say that it is money, time, energy or room: no share of anything."""
    return _says(name, _AMOUNT_WORDS)


def is_duration(name: str) -> bool:
    """Whether the name says how long a run took."""
    found = words(name)
    return bool(found & known("durations")) or ("time" in found and bool(found & known("ran")))


def names_a_metric(name: str) -> bool:
    """Whether a word of the name says what is measured."""
    return looks_like_a_cost(name) or _is_good(name)


def more_by_name(name: str) -> bool:
    """Whether a word of the name says that more is better."""
    return _is_good(name) and not looks_like_a_cost(name)


def measured_by(file_name: str) -> str:
    """The last word of a file's name that names a metric; empty where none does.

    Words that tell different ways tell none.
    """
    named = listed_words(file_name.replace("time series", "").replace("match", ""))
    found = [word for word in named if names_a_metric(word) and word not in _ALONE]
    return found[-1] if len({*map(looks_like_a_cost, found)}) == 1 else ""


def _is_good(name: str) -> bool:
    return bool(_tokens(name) & _GOOD_NAMES) or _lasts(name) or _is_speed(name) or _turned(name)


def _is_speed(name: str) -> bool:
    return listed_words(name)[-2:-1] == ["per"] and listed_words(name)[-1] in known("second")


def _says(name: str, known: frozenset[str]) -> bool:
    found = _tokens(name)
    if _COST_UNIT.search(name) or any(word in known or word.rstrip("0123456789") in known for word in found):
        return True
    ends = [end for word in found if (end := _COST_ENDING.search(word))]
    return any(known > _AMOUNT_WORDS or (known == _AMOUNT_WORDS and not end["no_amount"]) for end in ends)


def _neighbours(name: str) -> set[str]:
    return {*map("".join, pairwise(listed_words(name)))}


def _tokens(name: str) -> frozenset[str]:
    """Words of a name, with the digits behind them and without, and neighbours as one: off topic, chrF."""
    name = _PLACE.split(name, 1)[0] or name
    listed = listed_words(name)
    if _NEGATIVE_LIKELIHOOD.search("".join(listed)):
        return frozenset({"nll"})
    humps = {word.lower() for word in _WORD.findall(plain(name))}
    found = words(name) | _neighbours(name) | {"".join(listed)} | humps
    # What means this alone means nothing in longer names.
    return found if len({*listed} - _SAYS_NOTHING) == 1 else found - _ALONE
