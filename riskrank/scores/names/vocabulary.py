"""Word lists in many languages for column names, and functions that test names and values against them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import polars as pl

# Roles that a column takes if it has the role's name.
DEFAULT_ROLE_NAMES = ("model", "sample", "metric", "score", "draw", "task")


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
# Words of languages without spaces, which are searched within names.
_UNSPACED: set[str] = set()
_FIRST_UNSPACED = "\u2e80"


def strip_accents(name: str) -> str:
    """Return a name without accents and with umlauts spelled out."""
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name).translate(_UMLAUTS))
    # Remove marks: the vowel signs of scripts such as Devanagari would otherwise split a word.
    bare = "".join(char for char in decomposed if not unicodedata.category(char).startswith("M"))
    bare = bare.replace("ł", "l")
    return unicodedata.normalize("NFC", bare)


def parse_vocabulary(text: str) -> frozenset[str]:
    """Return the set of words in a text, separated by whitespace, in lower case and without accents."""
    text_words = frozenset(strip_accents(text).casefold().split())
    _UNSPACED.update(word for word in text_words if word[0] >= _FIRST_UNSPACED)
    return text_words


_TEXT = Path(__file__).with_name("vocabularies.txt").read_text("utf-8")
_SECTION_PARTS = re.split(r"(?m)(?:^#.*\n)*^\[(.+)\]$", _TEXT)
_SECTIONS = dict(zip(_SECTION_PARTS[1::2], _SECTION_PARTS[2::2], strict=True))
parse_vocabulary(" ".join(word for word in _TEXT.split() if word[0] >= _FIRST_UNSPACED))


@cache
def vocabulary(*headings: str) -> frozenset[str]:
    """Return the words listed under the given headings in ``vocabularies.txt``."""
    return parse_vocabulary(" ".join(_SECTIONS[heading] for heading in headings))


def word_pairs(heading: str) -> tuple[tuple[str, str], ...]:
    """Return the word pairs listed under a heading in ``vocabularies.txt``, in their original spelling."""
    return tuple(
        (first, second) for first, _, second in (pair.partition("/") for pair in _SECTIONS[heading].split())
    )


def grade_scales() -> list[dict[str, int]]:
    """Return the ordinal scales of grades in ``vocabularies.txt``.

    Each scale maps words to ranks, with 1 for the worst.
    """
    lines = filter(None, _SECTIONS["grades"].splitlines())
    return [
        {word: place for place, level in enumerate(line.split(), 1) for word in level.split("/")}
        for line in lines
    ]


# Usual column names of roles: English, other European languages, languages without spaces.
_ROLES = ("model", "compared", "sample", "metric", "score", "model_a", "model_b", "verdict")
_USUAL_NAMES = {role: _SECTIONS[f"role {role}"] for role in _ROLES}
_ROLE_WORDS = parse_vocabulary(" ".join(text for role, text in _USUAL_NAMES.items() if role != "compared"))
_NAME_RANKS = {
    role: {name: at for at, name in enumerate(strip_accents(text).split())}
    for role, text in _USUAL_NAMES.items()
}

_SAMPLE_WORDS = parse_vocabulary(_USUAL_NAMES["sample"]) | parse_vocabulary("name")
_NO_DIGITS = str.maketrans("0123456789", " " * 10)
# Minimum number of integers; fewer may be distinct or consecutive by chance.
_FEWEST_ROWS = 10
# Smallest Unix timestamp, in seconds or finer units.
_OLDEST_TIME = 9e8


def split_words(name: str) -> list[str]:
    """Return the words in a column name in order, in lower case."""
    split = re.sub(r"([^\W\d_A-Z])([A-Z])", r"\1 \2", strip_accents(name))
    return re.findall(r"[^\W\d_]+", split.casefold())


def words(name: str) -> frozenset[str]:
    """Return the set of words in a column name.

    In languages without spaces, listed words within the name are included.
    """
    return _words(name.translate(_NO_DIGITS))  # wide tables have many numbered columns; cache their stem


def has_word(name: str, *headings: str) -> bool:
    """Return whether a column name contains a word listed under one of the given headings."""
    return bool(words(name) & vocabulary(*headings))


@lru_cache(maxsize=4_096)
def _words(name: str) -> frozenset[str]:
    """Return the set of words in a column name; see `words`."""
    name_words = frozenset(split_words(name))
    if max(name, default="") < _FIRST_UNSPACED:
        return name_words
    return name_words.union(part for word in name_words for part in _UNSPACED if part in word)


def may_be_sample_name(name: str) -> bool:
    """Return whether a column name contains a word for samples."""
    return bool(words(name) & _SAMPLE_WORDS) and not has_word(name, "run")


def is_factor(name: str) -> bool:
    """Return True if the levels of a repeat column may each favour some model on all samples.

    Training seeds may do so, for example, whereas repeated trials do not.
    """
    return has_word(name, "trained") or not has_word(name, "run", "anew")


def to_numeric(values: pl.Series) -> pl.Series:
    """Convert a column of integers to an integer column and other numbers to floats; leave text unchanged."""
    try:
        is_exact = values.dtype == pl.String or values.dtype.is_decimal()
        numeric = values.cast(pl.Float64) if is_exact else values
    except pl.exceptions.PolarsError:
        return values
    if not numeric.dtype.is_float():
        return numeric
    numbers = numeric.to_numpy()
    filled = numbers[~np.isnan(numbers)]
    if not ((filled == np.rint(filled)).all() and (np.abs(filled) < 2.0**62).all()):
        return numeric
    return (numeric.fill_nan(None) if filled.size < numbers.size else numeric).cast(pl.Int64)


def looks_like_an_identifier(name: str, values: pl.Series) -> bool:
    """Return whether the values of a numeric column are identifiers or dates of rows rather than scores.

    The evidence is a word in the name, or distinct integers that are consecutive or are timestamps.
    """
    present = to_numeric(values).drop_nulls()
    if not present.dtype.is_integer() or present.len() < 2:
        return False
    if has_word(name, "identifier"):
        return True
    if present.len() < _FEWEST_ROWS or present.n_unique() < present.len():
        return False
    low, high = int(present.min()), int(present.max())  # type: ignore[arg-type]
    return high - low == present.len() - 1 or low > _OLDEST_TIME


def column_for_role(role: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate column whose name is most usual for a role, such as model or sample.

    A word in the name suffices. Return None if no name is usual for the role.
    """
    usual_names = _NAME_RANKS[role]
    candidates = [*candidates]
    joined = {name: "".join(re.findall(r"[^\W_]+", strip_accents(name).casefold())) for name in candidates}
    exact = {name: usual_names[text] for name, text in joined.items() if text in usual_names}
    if exact:
        return min(exact, key=exact.__getitem__)
    eligible = [name for name in candidates if role == "sample" or not has_word(name, "time")]
    ranks = {
        name: min((usual_names[word] for word in words(name) & usual_names.keys()), default=-1)
        for name in eligible
    }
    ranks = {name: rank for name, rank in ranks.items() if rank >= 0}
    return min(ranks, key=ranks.__getitem__) if ranks else None


def is_cluster_name(name: str) -> bool:
    """Return whether a name refers to something that several samples share, such as a document."""
    is_answer = has_word(name, "truth", "kinds") or words(name) & {"answer", "answers"}
    return has_word(name, "belonging") and not is_answer


def is_task_name(name: str) -> bool:
    """Return whether a name refers to benchmarks or data sets, which provide one score per model."""
    return has_word(name, "benchmark")


def are_task_names(names: Iterable[str]) -> bool:
    """Return True if more than half of the names are known task names."""
    are_tasks = [*map(is_task_name, names)]
    return 2 * sum(are_tasks) > len(are_tasks)


def suggests_role(name: str) -> bool:
    """Return True if a word in a column name is usual for a role, such as model or sample."""
    return bool(words(name) & _ROLE_WORDS)


def is_spread(name: str) -> bool:
    """Return whether a column name refers to the spread or the number of scores."""
    return has_word(name, "spread")


# Name given to the unnamed column that a saved pandas index leaves in a file.
INDEX = "index"


def is_unnamed(name: str) -> bool:
    """Return whether a column has no name, or the name that pandas gives to the index in a saved file."""
    return not name.strip() or name.startswith("Unnamed: ") or name == "__index_level_0__"
