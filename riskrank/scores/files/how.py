"""How files are opened: their format, what counts of those that hold several tables, and how much at most."""

from dataclasses import dataclass
from typing import BinaryIO

# Far more than a machine holds beside the table it becomes; it is there to stop what unpacks without end.
MAX_TABLE_BYTES = 16 * 1024**3


@dataclass(frozen=True, kw_only=True)
class How:
    """How files are opened.

    Attributes
    ----------
    input_format : str, optional
        One of `FORMATS`, of every input; without it the suffix of each name decides.
    stdin : BinaryIO, optional
        Where ``-`` reads from.
    sql : str, optional
        Query for inputs that hold several tables: databases, in their own SQL, and workbooks.
    sheet : str, optional
        Sheet of a workbook, by its name or its number.
    skip_rows : int
        Rows above the names of the columns, of files that people write.
    limit : int
        Most bytes a file may unpack to, or a database answer.
    """

    input_format: str | None = None
    stdin: BinaryIO | None = None
    sql: str | None = None
    sheet: str | None = None
    skip_rows: int = 0
    limit: int = MAX_TABLE_BYTES
