"""Numbers written with something behind them, ``85%`` and ``0.81 ± 0.02``: how a query reads them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.parsing import MISSING_TEXT, numeric_share
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.names.judgements import Judgement, judgement
from riskrank.scores.names.words import known, listed_words, vocabulary, words

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
_NO_VERDICT = (*MISSING_TEXT, *known("no verdict"), "not run")
# Words in brackets before what they judge.
_TAG = r"^\s*\[([^\W\d_]+)\]\s"
# Minutes and seconds, and hours before them; in a column of amounts, for else it is the time of a day.
_CLOCK = r"^\s*(?:\d+:)?\d+:[0-5]\d(?:\.\d+)?\s*$"
_HOURS, _OF_DAY = 23, vocabulary("start end begin started ended created arrival departure day")
# Stars of a rating, those that are filled first.
_STARS = r"^\s*(?:[★⭐]+☆*|☆+)\s*$"


@dataclass(frozen=True)
class Writing:
    """How every filled cell of a column is written.

    Attributes
    ----------
    what : str
        For a message: ``percentages``.
    sign : str
        What stands behind the number.
    dollars : bool
        Whether a cell is a formula of LaTeX.
    percent : bool
        Whether the number is one of percent.
    comma : bool
        Whether it has a decimal comma.
    trimmed : str
        Characters before and behind the number: a unit, a currency.
    groups : str
        What stands between thousands.
    truths : Judgement, or None
        The words for true and false, where these are all that is written.
    tagged : bool
        Whether they are tags in brackets before other text, ``[PASS] Yes``.
    stars : bool
        Whether it is stars, of which the filled ones count.
    clock : int
        How many parts it has at most, where it is minutes and seconds, ``12:30``, or hours before; else 0.
    """

    what: str
    sign: str
    dollars: bool = False
    percent: bool = False
    comma: bool = False
    trimmed: str = ""
    groups: str = ""
    truths: Judgement | None = None
    tagged: bool = False
    stars: bool = False
    clock: int = 0

    def query(self, name: str) -> str:
        """The number alone, in SQL."""
        found = quoted_column(name)
        if self.truths:
            found = f"SPLIT_PART(SPLIT_PART({found}, ']', 1), '[', 2)" if self.tagged else found
            wrong = " ".join(f"WHEN {quoted_text(word)} THEN 0" for word in self.truths.no)
            return f"CASE LOWER(TRIM({found})) WHEN {quoted_text(self.truths.yes)} THEN 1 {wrong} END"
        if self.stars:
            return f"CASE WHEN TRIM({found}) <> '' THEN LENGTH(TRIM(REPLACE({found}, '☆', ''))) END"
        if self.clock:
            parts = [f"CAST(SPLIT_PART(TRIM({found}), ':', {at}) AS DOUBLE)" for at in (1, 2, 3)]
            short, long = f"{parts[0]} * 60 + {parts[1]}", f"{parts[0]} * 3600 + {parts[1]} * 60 + {parts[2]}"
            if self.clock == 2:
                return short
            return f"CASE WHEN {found} LIKE '%:%:%' THEN {long} ELSE {short} END"
        if not self.spread:
            found = f"REPLACE({found}, '{self.groups}', '')" if self.groups else found
            found = f"REPLACE({found}, ',', '.')" if self.comma else found
            if self.trimmed or self.groups:
                return f"RTRIM(LTRIM({found}, '{self.trimmed} '), '{self.trimmed} ')"
            return f"RTRIM({found}, '% ')" if self.comma else f"RTRIM({found}, '%')"
        found = f"SPLIT_PART({found}, '{self.sign}', 1)"
        found = f"LTRIM({found}, '$')" if self.dollars else found
        return f"RTRIM({found}, '% \\')" if self.percent else found

    @property
    def spread(self) -> bool:
        """Whether a spread stands behind the number."""
        return self.sign not in ("%", "")

    @property
    def ends(self) -> bool:
        """Whether several words say how what ran came to a bad end."""
        return self.truths is not None and len(self.truths.no) > 1

    def in_doubt(self) -> "Writing":
        """The same, of which the reader is to say which word is better, if the words do not."""
        if self.truths is None or self.truths.told:
            return self
        return replace(self, truths=replace(self.truths, open=True))

    @property
    def counts(self) -> str:
        """What is said of texts that count; nothing of numbers."""
        if self.truths:
            return f"{self.truths.yes} counts 1 and {listing(self.truths.no)} 0"
        if self.clock:
            return "12:30 counts 12 times 60 and 30"
        return "each filled star counts 1" if self.stars else ""

    def numbers(self, column: pl.Series) -> pl.Series:
        """The numbers of a column, as text or as numbers."""
        if self.stars:
            return column.str.count_matches("[★⭐]")
        if self.clock:
            parts = column.str.strip_chars().str.split(":").list.reverse()
            places = (parts.list.get(at, null_on_oob=True).cast(pl.Float64) * 60**at for at in (0, 1, 2))
            first, second, third = places
            return first + second + third.fill_null(0)
        if not self.truths:
            column = column.str.replace_all(self.groups, "", literal=True) if self.groups else column
            return column.str.extract(r"([+-]?\d*[.,]?\d+)", 1)
        said = (self.truths.yes, *self.truths.no)
        counted = [float(word == said[0]) for word in said]
        folded = _folded(column, self.tagged)
        return folded.replace_strict(said, counted, default=None, return_dtype=pl.Float64)


def truths_of(series: pl.Series) -> Writing | None:
    """The words for true and false of a column that holds both of them and no others."""
    if series.dtype != pl.String:
        return None
    head = series.head(_LOOK).drop_nulls()
    tagged = head.len() > 0 and "[" in head[0] and bool(head.str.contains(_TAG).all())
    if _folded(series.head(_LOOK), tagged).n_unique() > 2 + len(_NO_VERDICT):
        return None
    folded = _folded(series.drop_nulls(), tagged)
    found = judgement(*folded.filter(~folded.is_in(_NO_VERDICT)).unique())
    return None if found is None else Writing("truths in words", "%", truths=found, tagged=tagged)


def _folded(column: pl.Series, tagged: bool) -> pl.Series:
    """Words of a column in lower case, those of a tag before others alone."""
    found = pl.first().str.extract(_TAG, 1) if tagged else pl.first()
    return column.to_frame().select(found.str.strip_chars().str.to_lowercase()).to_series()


def writing_of(series: pl.Series) -> Writing | None:
    """How a column of text writes its numbers: only where all cells write them alike have they one unit."""
    if series.dtype != pl.String:
        return None
    filled = series.drop_nulls()
    first = filled[0] if filled.len() else ""
    if not _BEGINS.match(first) and first.strip().lower() not in MISSING_TEXT:
        return None
    filled = filled.filter(~filled.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT))
    if filled.len() == 0:
        return None
    if filled.str.contains(_STARS).all():
        return Writing("stars", "", stars=True)
    if filled.str.contains(_CLOCK).all() and _is_amount(series.name, filled):
        return Writing("times", "", clock=3 if filled.str.contains(r":.*:").any() else 2)
    if filled.str.contains(_PERCENT).all():
        return Writing("percentages", "%", comma=bool(filled.str.contains(",", literal=True).any()))
    sign = next((sign for sign in _SIGNS if sign in filled[0]), None)
    if sign is None:
        return _of_units(filled)
    for dollars in (False, True):
        for percent in (False, True):
            edge, unit = r"\$" if dollars else "", r"\s*\\?%" if percent else ""
            spread = rf"{_NUMBER}(?:{unit})?\)?"
            pattern = rf"^\s*{edge}\s*{_NUMBER}{unit}\s*{re.escape(sign)}\s*{spread}\s*{edge}\s*$"
            if filled.str.contains(pattern).all():
                return Writing("means with spreads", sign, dollars, percent)
    return None


def _is_amount(name: str, filled: pl.Series) -> bool:
    """Whether times are how long something took: more than a day has, or called so by more than "time"."""
    longer = (filled.str.extract(r"^\s*(\d+):", 1).cast(pl.Int64) > _HOURS).any()
    told = len(listed_words(name)) > 1 and not words(name) & _OF_DAY
    return looks_like_an_amount(name) and (told or longer)


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
            return Writing("thousands", "", trimmed=trimmed, groups=groups, comma=decimal == ",")
    comma = not number.str.contains(".", literal=True).any() and number.str.contains(_DECIMAL_COMMA).any()
    plain = rf"^[+-]?\d*{',' if comma else '[.]'}?\d+$"
    if not (trimmed or comma) or not number.str.contains(plain).all():
        return None
    return Writing("units" if trimmed else "decimal commas", "", trimmed=trimmed, comma=bool(comma))


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
    spread = any(writing.spread for writing in found.values())
    if any(source.own_sql or source.queried for source in sources):
        if spread:
            sign = next(writing.sign for writing in found.values() if writing.spread)
            return f"take the spread away in the query: SPLIT_PART(column, '{sign}', 1) is the mean"
        return "take the sign away in the query: RTRIM(column, '%') is a number of percent"
    percent = all(writing.sign == "%" for writing in found.values())
    what = "the means" if spread else "them as numbers of percent" if percent else "the numbers"
    return f"{option('sql', reading_query(found))} reads {what}"


def reading_query(found: Mapping[str, Writing]) -> str:
    """The query that reads columns as numbers."""
    columns = ", ".join(f"{writing.query(name)} AS {quoted_column(name)}" for name, writing in found.items())
    return f"SELECT * REPLACE ({columns}) FROM scores"
