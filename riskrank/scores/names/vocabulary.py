"""What names of columns say, in the words and languages people use, and what content adds to that."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
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


_TEXT = Path(__file__).with_name("vocabularies.txt").read_text("utf-8")
_PARTS = re.split(r"(?m)(?:^#.*\n)*^\[(.+)\]$", _TEXT)
_LISTED = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
vocabulary(" ".join(_LISTED.values()))


@cache
def known(*names: str) -> frozenset[str]:
    """The words that ``vocabularies.txt`` lists under some names, which tell what they are for."""
    return vocabulary(" ".join(_LISTED[name] for name in names))


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

_SAMPLE = vocabulary(_USUAL_NAMES["sample"]) | vocabulary("name")
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


def says(name: str, *kinds: str) -> bool:
    """Whether a column's name has a word of some kinds, as ``vocabularies.txt`` lists them."""
    return bool(words(name) & known(*kinds))


@lru_cache(maxsize=4_096)
def _words(name: str) -> frozenset[str]:
    found = frozenset(listed_words(name))
    if max(name, default="") < _FIRST_UNSPACED:
        return found
    return found.union(part for word in found for part in _UNSPACED if part in word)


def may_name_samples(name: str) -> bool:
    """Whether a column's name has a word that samples go by."""
    return bool(words(name) & _SAMPLE) and not says(name, "run")


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
    if says(name, "identifier"):
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
    named = [name for name in candidates if role == "sample" or not says(name, "time")]
    places = {name: min((known[word] for word in words(name) & known.keys()), default=-1) for name in named}
    places = {name: place for name, place in places.items() if place >= 0}
    return min(places, key=places.__getitem__) if places else None


def names_wholes(name: str) -> bool:
    """Whether what a name says several samples are about, or come from; the answer to a document is none."""
    told = says(name, "truth", "kinds") or words(name) & {"answer", "answers"}
    return says(name, "belonging") and not told


def names_tasks(name: str) -> bool:
    """Whether what a name says is scored as a whole, once a model: a benchmark, a data set."""
    return says(name, "benchmark")


def sounds_like_a_role(name: str) -> bool:
    """Whether a word of a column's name is usual for any role."""
    return bool(words(name) & _TELLING)


def names_something(name: str) -> bool:
    """Whether a column may name a model: one that says when something was, or who judged it, does not."""
    return not says(name, "time", "judge", "status")


def unfinished(state: str) -> bool:
    """Whether a state says that there was no answer."""
    return says(state, "unfinished", "unasked") and not says(state, "neither")


def is_spread(name: str) -> bool:
    """Whether a column's name says that it holds the spread or number of scores, not scores."""
    return says(name, "spread")


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
