"""Few bytes can ask for very much: what files unpack to, how wide and empty tables are, how long names.

Of what files unpack to a run has one budget: however many parts share it, they are as one file.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from riskrank.errors import InputError, UsageError, listing, option

# Bytes that files may unpack to, and times their own: tables and logs pack ten to fifty times.
_LEAST_BYTES, _TIMES_PACKED = 1 << 27, 200
# Values and lines of text, and times its bytes, packed and not; an object takes what several numbers take.
_LEAST_VALUES, _VALUES_A_BYTE, _VALUES_A_LETTER, _OF_AN_OBJECT = 5_000_000, 16, 2, 8
MOST_COLUMNS = 100_000
# Metrics and models somebody compares, and letters of a name that stands in every table and picture.
_MOST, LONGEST_NAME = {"metric": 5_000, "model": 10_000}, 10_000
# Cells of a table that is never too empty; and cells a byte, which columns of numbers do not reach.
_FEW_CELLS = 10_000_000
_CELLS_A_BYTE = 4
# What to do about a folder that is no table.
FROM_HARNESS = f"if a harness wrote it, add {option('from', 'auto')}"
COPY_AGAIN = "copy the file again (it may be cut short)"
_LONG = "write a long table, a row a score: model, sample, metric, score"


class BeyondLimitError(InputError):
    """A file gives more, or for longer, than is allowed: to ask it once more would be the same again."""


class BrokenFileError(InputError):
    """A file is cut short or damaged; whoever reads several can leave it out."""


def unreadable(what: str, why: object, hint: str, how: str = "") -> InputError:
    """Tell that something cannot be read, and why: in words, or as the system's error says it."""
    found = getattr(why, "strerror", None) or str(why)
    return InputError(f"{what} cannot be read{how}", found=found, hint=hint)


def no_match(pattern: str, where: str) -> InputError:
    """Tell that a pattern matches no file."""
    hint = f"check {where}; quote the pattern if the shell expands it"
    return InputError(f"{pattern}: no file matches the pattern", found="0 files", hint=hint)


def too_large(label: str, limit: int) -> BeyondLimitError:
    """Tell that a file or a member of an archive holds more than allowed."""
    return BeyondLimitError(
        f"{label}: more than {limit:,} bytes once read",
        found="a file that large, or compressed data that unpacks to it",
        hint=f"if it is what you want, allow it: {option('max_bytes', 2 * limit)}",
    )


def too_dense(label: str, found: str) -> InputError:
    """Tell that few bytes hold more than anybody wrote into so few."""
    hint = "look what repeats in it; or write the results that count into a file of their own"
    return InputError(f"{label}: packed more densely than results are", found=found, hint=hint)


class Room:
    """What all files of a run may unpack to.

    Parameters
    ----------
    limit : int
        Most bytes of one of them.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._files: dict[str, tuple[int, int, int]] = {}
        self._sums = [0, 0, 0]

    def take(self, label: str, packed: int, size: int, values: int = 0) -> None:
        """Take what a file unpacks to, as far as it is known; what is refused takes nothing.

        Raises
        ------
        InputError
            If it is more than is allowed, or than anybody wrote into the bytes that all files have so far.
        """
        before = self._files.pop(label, (0, 0, 0))
        now = (before[0] or packed, max(size, before[1]), max(values, before[2]))
        self._sums = [whole - one for whole, one in zip(self._sums, before, strict=True)]
        packed_all, size_all, values_all = (whole + one for whole, one in zip(self._sums, now, strict=True))
        found = ""
        if size_all > max(_LEAST_BYTES, _TIMES_PACKED * packed_all):
            found = f"more than {size_all:,} bytes"
        elif values_all > _LEAST_VALUES + min(_VALUES_A_BYTE * packed_all, _VALUES_A_LETTER * size_all):
            found = f"{values_all:,} values, objects {_OF_AN_OBJECT}-fold,"
        if found:
            files = f", of {len(self._files) + 1:,} files" if self._files else ""
            raise too_dense(label, f"{found} in {packed_all:,} bytes{files}")
        if size > self.limit:
            raise too_large(label, self.limit)
        self._files[label], self._sums = now, [packed_all, size_all, values_all]

    def take_text(self, label: str, packed: int, text: bytes) -> None:
        """Take the values and lines of a text."""
        values = sum(map(text.count, b",;\t\n")) + _OF_AN_OBJECT * sum(map(text.count, b"{["))
        self.take(label, packed, len(text), values)


def empty(label: str, found: str) -> BrokenFileError:
    """Tell that there is nothing in a file."""
    hint = "check the program that wrote it; a score table needs at least one row of scores"
    return BrokenFileError(f"{label}: the file is empty", found=found, hint=hint)


def cut_short(what: str, found: str) -> BrokenFileError:
    """Tell that a file is damaged, and most likely not all of it."""
    return BrokenFileError(what, found=found, hint=COPY_AGAIN)


def lacks_package(what: str, package: str, hint: str) -> UsageError:
    """Tell that a library which does something is not there."""
    return UsageError(f"{what} needs the package {package}", found="it is not installed", hint=hint)


def require_distinct(label: str, names: Sequence[str], where: str = "") -> None:
    """Refuse columns of one name, which could mean either; of one without a name there may be several.

    Raises
    ------
    InputError
    """
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        what = f"{label}: two columns{where} are called '{twice[0]}'"
        raise InputError(what, found=f"columns: {listing(names, 20)}", hint="rename one of them")


def require_columns(label: str, names: Sequence[str]) -> None:
    """Refuse more columns than a table of scores has.

    Raises
    ------
    InputError
    """
    if len(names) > MOST_COLUMNS:
        raise too_wide(label, f"{len(names):,} columns: {listing(names, 20)}")


def too_wide(label: str, found: str) -> InputError:
    """Tell that there are more columns than a table of scores has."""
    return InputError(
        f"{label}: more than {MOST_COLUMNS:,} columns, which no table of scores has", found=found, hint=_LONG
    )


def require_few(label: str, what: str, names: Sequence[str]) -> None:
    """Refuse more metrics or models than anybody compares, each of which is looked at.

    Raises
    ------
    InputError
    """
    if len(names) > _MOST[what]:
        few = ",".join(names[:2])
        picked = option("metric", names[0]) if what == "metric" else option("models", few)
        raise InputError(
            f"{label}: more than {_MOST[what]:,} {what}s, which nobody compares at once",
            found=f"{len(names):,}: {listing(names)}",
            hint=f"pick those that count: {picked}",
        )


def require_short(label: str, what: str, names: Iterable[str]) -> None:
    """Refuse names as long as texts.

    Raises
    ------
    InputError
    """
    longest = max(names, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise InputError(
            f"{label}: a name of {len(longest):,} characters {what}; {LONGEST_NAME:,} are allowed",
            found=f"{longest[:60]}…",
            hint=f"is that the text that was scored? name the columns that count with {option('columns')}",
        )


def require_filled(label: str, rows: int, columns: int, size: int) -> None:
    """Refuse a table whose cells are far more than the bytes that hold them.

    Raises
    ------
    InputError
    """
    if rows * columns > _FEW_CELLS + _CELLS_A_BYTE * size:
        raise InputError(
            f"{label}: a table of {rows:,} rows and {columns:,} columns, nearly all of it empty",
            found=f"{rows * columns:,} cells in {size:,} bytes",
            hint=_LONG,
        )
