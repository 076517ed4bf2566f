"""What names of columns say, in the words and languages people use, and what content adds to that."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

# Roles whose column is found where it is called like them.
FOUND_BY_NAME = ("model", "sample", "metric", "score", "draw", "task")


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
# Words of languages that write no blanks, found within names.
_UNSPACED: set[str] = set()
_FIRST_UNSPACED = "\u2e80"


def plain(name: str) -> str:
    """A name with accents and umlauts written without."""
    if name.isascii():
        return name
    found = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name).translate(_UMLAUTS))
    # Vowel signs of scripts such as Devanagari are marks, at which a name would fall to pieces.
    bare = "".join(char for char in found if not unicodedata.category(char).startswith("M"))
    bare = bare.replace("ł", "l")
    return unicodedata.normalize("NFC", bare)


def vocabulary(text: str) -> frozenset[str]:
    """The words of a text, as `words` has those of a name."""
    found = frozenset(plain(text).casefold().split())
    _UNSPACED.update(word for word in found if word[0] >= _FIRST_UNSPACED)
    return found


_PARTS = re.split(r"(?m)^\[(.+)\]$", Path(__file__).with_name("vocabularies.txt").read_text("utf-8"))
_LISTED = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))


def known(name: str) -> frozenset[str]:
    """The words that ``vocabularies.txt`` lists under a name."""
    return vocabulary(_LISTED[name])


def pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The pairs of words that ``vocabularies.txt`` lists under a name, as they are written there."""
    return tuple((one, other) for one, _, other in (pair.partition("/") for pair in _LISTED[name].split()))


# What people call these columns: English first, then languages of Europe, then those without blanks.
_ROLES = ("model", "compared", "sample", "metric", "score", "model_a", "model_b", "verdict")
_USUAL_NAMES = {role: _LISTED[f"role {role}"] for role in _ROLES}
_TELLING = vocabulary(" ".join(text for role, text in _USUAL_NAMES.items() if role != "compared"))
_PLACES = {
    role: {name: at for at, name in enumerate(plain(text).split())} for role, text in _USUAL_NAMES.items()
}

# Words for one of several runs of the same thing: its scores are draws of one sample.
RUN = known("run")
# Words for one of several answers to a sample, each drawn anew.
ANEW = known("anew")
# Words for who or what gave a score: its scores are metrics of their own.
JUDGE = known("judge")
# Words for how a sample was put: another way to ask the same.
WORDING = known("wording")
# Words for what numbers samples anew: a name in it is another sample than the same name elsewhere.
WHOLE = known("whole")
# Words for what several samples are about, or come from, so that they are no independent ones.
BELONGING = known("belonging")
# Words behind it for its kinds, of which each is a part of the samples, and no sample of parts.
_KINDS = vocabulary("type types kind kinds class category genre typ art kategorie catégorie categoria tipo")
# Words for what models are scored on once, as a whole: kinds of it, and names of well-known ones.
BENCHMARK = known("benchmark")
# Words for a place in such a whole.
WITHIN = known("within")
# Words for how a model was run: its few values are settings, even if they are fractions.
SETTING = known("setting")
# Words for what is true of a sample, beside which predictions stand.
TRUE = known("truth")
# Words for who labels by hand, and for who labels in their place.
HUMAN = known("human")
AUTOMATIC = vocabulary("judge llm auto autoeval autorater automatic automated gpt grader juge juez richter")
# Words for what a model was asked and said.
ANSWER = vocabulary("output response answer text input prediction reply completion comment note url path")
# Words for whether something came to an end.
STATUS = known("status")
# Words in it for what came to no end, for whom nothing was asked, and for none of this.
_UNFINISHED, _UNASKED, _NEITHER = known("unfinished"), known("unasked"), vocabulary("no not none without")
# Words for what names, numbers or dates a row; as a metric it would be nonsense.
IDENTIFIER = known("identifier")
_SAMPLE = vocabulary(_USUAL_NAMES["sample"]) | vocabulary("name")
# Words for when something was: "submission_date" names no submission.
_TIME = vocabulary("date datetime time timestamp created updated year month day datum fecha")
# Words for how far scores lie apart, how sure a mean is, or of how many it is one.
_SPREAD = vocabulary("std sd stdev stddev se sem stderr ci variance n num support")
_NO_DIGITS = str.maketrans("0123456789", " " * 10)
# Fewer whole numbers may be all different, or in order, by chance.
_FEWEST_ROWS = 10
# Epoch seconds of this century and beyond, up to nanoseconds.
_OLDEST_TIME = 9e8


def listed_words(name: str) -> list[str]:
    """Words of a column's name in their order, in lower case."""
    split = re.sub(r"([^\W\d_A-Z])([A-Z])", r"\1 \2", plain(name))
    return re.findall(r"[^\W\d_]+", split.casefold())


def words(name: str) -> frozenset[str]:
    """Words of a column's name, and those found within it that are written without blanks."""
    return _words(name.translate(_NO_DIGITS))  # columns of a wide table have one stem and many numbers


@lru_cache(maxsize=4_096)
def _words(name: str) -> frozenset[str]:
    found = frozenset(listed_words(name))
    if max(name, default="") < _FIRST_UNSPACED:
        return found
    return found.union(part for word in found for part in _UNSPACED if part in word)


def numbers_runs(name: str) -> bool:
    """Whether a column's name says that it numbers runs."""
    return bool(words(name) & RUN)


def may_name_samples(name: str) -> bool:
    """Whether a column's name has a word that samples go by."""
    return bool(words(name) & _SAMPLE) and not numbers_runs(name)


def typed(values: pl.Series) -> pl.Series:
    """Whole numbers as integers, others as floats, whatever they were written as; text stays."""
    try:
        found = values.cast(pl.Float64) if values.dtype == pl.String or values.dtype.is_decimal() else values
    except pl.exceptions.PolarsError:
        return values
    if not found.dtype.is_float():
        return found
    numbers = found.to_numpy()
    filled = numbers[~np.isnan(numbers)]
    if not ((filled == np.rint(filled)).all() and (np.abs(filled) < 2.0**62).all()):
        return found
    return (found.fill_nan(None) if filled.size < numbers.size else found).cast(pl.Int64)


def looks_like_an_identifier(name: str, values: pl.Series) -> bool:
    """Whether a numeric column names, numbers or dates its rows rather than scoring them.

    By a word of its name, or by whole numbers that are all different:
    in order, or times.
    """
    filled = typed(values).drop_nulls()
    if not filled.dtype.is_integer() or filled.len() < 2:
        return False
    if words(name) & IDENTIFIER:
        return True
    if filled.len() < _FEWEST_ROWS or filled.n_unique() < filled.len():
        return False
    low, high = int(filled.min()), int(filled.max())  # type: ignore[arg-type]
    return high - low == filled.len() - 1 or low > _OLDEST_TIME


def synonym(role: str, candidates: Iterable[str]) -> str | None:
    """The candidate whose name, or a word of whose name, is usual for the role."""
    known = _PLACES[role]
    candidates = [*candidates]
    joined = {name: "".join(re.findall(r"[^\W_]+", plain(name).casefold())) for name in candidates}
    whole = {name: known[text] for name, text in joined.items() if text in known}
    if whole:
        return min(whole, key=whole.__getitem__)
    named = [name for name in candidates if role == "sample" or not words(name) & _TIME]
    places = {name: min((known[word] for word in words(name) & known.keys()), default=-1) for name in named}
    places = {name: place for name, place in places.items() if place >= 0}
    return min(places, key=places.__getitem__) if places else None


def names_wholes(name: str) -> bool:
    """Whether what a name says several samples are about, or come from; the answer to a document is none."""
    return bool(words(name) & BELONGING) and not words(name) & (TRUE | _KINDS | {"answer", "answers"})


def names_kinds(name: str) -> bool:
    """Whether a name says of what kind is what samples belong to: document_type."""
    return bool(words(name) & BELONGING) and bool(words(name) & _KINDS)


def names_tasks(name: str) -> bool:
    """Whether what a name says is scored as a whole, once a model: a benchmark, a data set."""
    return bool(words(name) & BENCHMARK)


def sounds_like_a_role(name: str) -> bool:
    """Whether a word of a column's name is usual for any role."""
    return bool(words(name) & _TELLING)


def names_something(name: str) -> bool:
    """Whether a column may name a model: one that says when something was, or who judged it, does not."""
    return not words(name) & (_TIME | JUDGE | STATUS)


def unfinished(state: str) -> bool:
    """Whether a state says that there was no answer."""
    found = words(state)
    return bool(found & (_UNFINISHED | _UNASKED)) and not found & _NEITHER


def unasked(state: str) -> bool:
    """Whether a state says that nobody got to ask, which tells nothing of who would have answered."""
    return bool(words(state) & _UNASKED)


def is_spread(name: str) -> bool:
    """Whether a column's name says that it holds the spread or number of scores, not scores."""
    return bool(words(name) & _SPREAD)


INDEX = "index"
"""What the column without a name is called that a frame's index of names leaves in a file."""


def is_unnamed(name: str) -> bool:
    """Whether a column has no name, or the one pandas gives it: the index of the frame that was saved."""
    return not name.strip() or name.startswith("Unnamed: ") or name == "__index_level_0__"


# Service → patterns of columns that its tables have, and no others do.
_TOLD_BY = {
    "braintrust": ("root_span_id", r"scores(\..+)?", r"input(\..+)?"),
    "langsmith": ("example_id", "execution_time", r"feedback\..+"),
    "phoenix": ("example_id", "repetition_number", "reference_output"),
    "langfuse": ("trace_?[iI]d", "data_?[tT]ype", "string_?[vV]alue", "name"),
}


def service_of(columns: Iterable[str]) -> str | None:
    """The service that keeps experiments in tables of these columns."""
    lines = "\n".join(columns)  # one look at all: there may be many thousands
    for service, patterns in _TOLD_BY.items():
        if all(re.search(rf"^(?:{pattern})$", lines, re.MULTILINE) for pattern in patterns):
            return service
    return None
