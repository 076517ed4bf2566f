"""Numbers written with something behind them, ``85%`` and ``0.81 ± 0.02``: how a query reads them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.parsing import MISSING_TEXT, numeric_share, present
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.outcome_words import OutcomePair, classify_outcomes
from riskrank.scores.names.vocabulary import vocabulary

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+|\d+,\d{1,2})"
_PERCENT = rf"^\s*{_NUMBER}\s*%\s*$"
# A number with a currency before it, or a unit behind it; and one that has a decimal comma for sure.
_UNITS = "s|ms|us|\u00b5s|ns|sec|secs|seconds|min|h|kB|KB|MB|GB|kWh|Wh|J|x|pts|tok/s|\u20ac|\\$|USD|EUR"
_AMOUNT = r"(?P<number>[+-]?\d[\d.,]*|\.\d+)"
_IN_UNITS = rf"^\s*(?P<before>[$\u20ac\u00a3\u00a5])?\s*{_AMOUNT}\s*(?P<behind>{_UNITS})?\s*$"
_DECIMAL_COMMA = r"^[+-]?\d*,(?:\d{1,2}|\d{4,})$|^[+-]?0,"
# How every number that is written with something begins: most columns of text are told by their first cell.
_BEGINS = re.compile(r"\s*[$\u20ac\u00a3\u00a5]?\s*[+-]?[.\d,★⭐☆]")
# A text column with at least this share of numbers may be one of scores with failures in it.
_DOUBTFUL_SHARE = 0.2
# What stands between a mean and its spread.
_SIGNS = ("±", "+/-", "+-", "\\pm", "(")


# Cells that tell whether a column holds two words or many.
_LOOK = 1000
# What stands in place of a verdict where there is none.
_NO_VERDICT = (*MISSING_TEXT, *vocabulary("no verdict"), "not run")
# Words in brackets before what they judge.
_TAG = r"^\s*\[([^\W\d_]+)\]\s"
# Stars of a rating, those that are filled first.
_RATING, _STARS = "stars", r"^\s*(?:[★⭐]+☆*|☆+)\s*$"


# The column in the SQL that reads it.
_COLUMN = "{0}"


@dataclass(frozen=True)
class Writing:
    """How every filled cell of a column is written.

    Attributes
    ----------
    what : str
        For a message: ``percentages``.
    sql : str
        The number alone, of the column ``{0}``.
    sign : str
        What stands behind the number: ``%``, or what parts a mean from its spread.
    truths : Judgement, or None
        The words for true and false, where these are all that is written.
    """

    what: str
    sql: str
    sign: str = ""
    truths: OutcomePair | None = None

    def query(self, name: str) -> str:
        """The number alone, in SQL."""
        return self.sql.replace(_COLUMN, quoted_column(name))

    @property
    def ends(self) -> bool:
        """Whether several words say how what ran came to a bad end."""
        return self.truths is not None and len(self.truths.negatives) > 1

    def in_doubt(self) -> "Writing":
        """The same, of which the reader is to say which word is better, if the words do not."""
        if self.truths is None or self.truths.is_explicit:
            return self
        return replace(self, truths=replace(self.truths, is_ambiguous=True))

    @property
    def counts(self) -> str:
        """What is said of texts that count; nothing of numbers."""
        if self.truths:
            return f"{self.truths.positive} counts 1 and {listing(self.truths.negatives)} 0"
        return "each filled star counts 1" if self.what == _RATING else ""

    def numbers(self, column: pl.Series) -> pl.Series:
        """The numbers of a column, as text or as numbers."""
        return column.to_frame().sql(f"SELECT {self.query(column.name)} FROM self").to_series()


def truths_of(series: pl.Series) -> Writing | None:
    """The words for true and false of a column that holds both of them and no others."""
    if series.dtype != pl.String:
        return None
    head = present(series.head(_LOOK))
    tagged = head.len() > 0 and "[" in head[0] and bool(head.str.contains(_TAG).all())
    if _folded(series.head(_LOOK), tagged).n_unique() > 2 + len(_NO_VERDICT):
        return None
    folded = _folded(present(series), tagged)
    found = classify_outcomes(*folded.filter(~folded.is_in(_NO_VERDICT)).unique())
    if found is None:
        return None
    word = f"SPLIT_PART(SPLIT_PART({_COLUMN}, ']', 1), '[', 2)" if tagged else _COLUMN
    wrong = " ".join(f"WHEN {quoted_text(word)} THEN 0" for word in found.negatives)
    sql = f"CASE LOWER(TRIM({word})) WHEN {quoted_text(found.positive)} THEN 1 {wrong} END"
    return Writing("truths in words", sql, "%", found)


def _folded(column: pl.Series, tagged: bool) -> pl.Series:
    """Words of a column in lower case, those of a tag before others alone."""
    found = pl.first().str.extract(_TAG, 1) if tagged else pl.first()
    return column.to_frame().select(found.str.strip_chars().str.to_lowercase()).to_series()


def writing_of(series: pl.Series) -> Writing | None:
    """How a column of text writes its numbers: only where all cells write them alike have they one unit."""
    if series.dtype != pl.String:
        return None
    filled = present(series)
    first = filled[0] if filled.len() else ""
    if not _BEGINS.match(first) and first.strip().lower() not in MISSING_TEXT:
        return None
    filled = filled.filter(~filled.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT))
    if filled.len() == 0:
        return None
    if filled.str.contains(_STARS).all():
        filled_stars = f"LENGTH(TRIM(REPLACE({_COLUMN}, '☆', '')))"
        return Writing(_RATING, f"CASE WHEN TRIM({_COLUMN}) <> '' THEN {filled_stars} END")
    if filled.str.contains(_PERCENT).all():
        comma = filled.str.contains(",", literal=True).any()
        sql = f"RTRIM(REPLACE({_COLUMN}, ',', '.'), '% ')" if comma else f"RTRIM({_COLUMN}, '%')"
        return Writing("percentages", sql, "%")
    sign = next((sign for sign in _SIGNS if sign in filled[0]), None)
    if sign is None:
        return _of_units(filled)
    part = rf"{_NUMBER}(?:\s*\\?%)?"
    alike = filled.str.contains("%", literal=True).n_unique() == 1
    if (
        not alike
        or not filled.str.contains(rf"^\s*\$?\s*{part}\s*{re.escape(sign)}\s*{part}\)?\s*\$?\s*$").all()
    ):
        return None
    mean = f"SPLIT_PART({_COLUMN}, '{sign}', 1)"
    return Writing("means with spreads", f"RTRIM(LTRIM({mean}, '$ '), '% \\')", sign)


def _of_units(filled: pl.Series) -> Writing | None:
    """Numbers with the same currency before or unit behind them, and thousands that a second sign tells."""
    parts = filled.str.extract_groups(_IN_UNITS)
    signs = [set(parts.struct.field(name)) for name in ("before", "behind")]
    if parts.struct.field("number").null_count() or any(len(found) > 1 for found in signs):
        return None
    trimmed = "".join(sign or "" for found in signs for sign in found)
    number = parts.struct.field("number")
    for groups, decimal in ((",", "."), (".", ",")):
        thousands = rf"^[+-]?\d{{1,3}}(?:\{groups}\d{{3}})*(?:\{decimal}\d+)?$"
        told = rf"\{groups}\d{{3}}[\{groups}\{decimal}]"
        if number.str.contains(thousands).all() and number.str.contains(told).any():
            number_alone = f"REPLACE({_COLUMN}, '{groups}', '')"
            return Writing("thousands", _trimmed(number_alone, trimmed, comma=decimal == ","))
    comma = not number.str.contains(".", literal=True).any() and number.str.contains(_DECIMAL_COMMA).any()
    plain = rf"^[+-]?\d*{',' if comma else '[.]'}?\d+$"
    if not (trimmed or comma) or not number.str.contains(plain).all():
        return None
    return Writing("units" if trimmed else "decimal commas", _trimmed(_COLUMN, trimmed, comma=bool(comma)))


def _trimmed(number: str, signs: str, *, comma: bool) -> str:
    """SQL of a number without what stands before and behind it."""
    number = f"REPLACE({number}, ',', '.')" if comma else number
    return f"RTRIM(LTRIM({number}, '{signs} '), '{signs} ')"


def refuse_mixed(source: Source, texts: pl.DataFrame, parameter: str) -> None:
    """Refuse columns of text of which many cells are numbers, where a parameter picks others.

    Raises
    ------
    InputError
    """
    for column in texts:
        share = numeric_share(column, source.decimal_comma)
        if share >= _DOUBTFUL_SHARE:
            kind = parameter.removesuffix("s")
            raise InputError(
                f"{source.label}: column '{column.name}' holds numbers and text",
                found=f"{100 * share:.0f} % numbers, and values such as {example(column)}",
                hint=f"clean it if it is a {kind}, or pick the {kind}s with {option(parameter)}",
            )


def example(series: pl.Series) -> str:
    """Two cells, for a message."""
    return listing((repr(value) for value in series.drop_nulls().head(2).to_list()), 2)


def as_numbers(sources: Sequence[Source], found: Mapping[str, Writing]) -> str:
    """The query that reads columns as numbers, for a hint."""
    if any(source.own_sql or source.queried for source in sources):
        return "take away in the query what stands beside the numbers: RTRIM(column, '%') is one of percent"
    percent = all(writing.sign == "%" for writing in found.values())
    return f"{option('sql', reading_query(found))} reads {'numbers of percent' if percent else 'the numbers'}"


def reading_query(found: Mapping[str, Writing]) -> str:
    """The query that reads columns as numbers."""
    columns = ", ".join(f"{writing.query(name)} AS {quoted_column(name)}" for name, writing in found.items())
    return f"SELECT * REPLACE ({columns}) FROM scores"
