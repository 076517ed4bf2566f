"""Parsing of distributions to simulate from, such as ``normal:0.5,2`` or ``new=normal:0.5,2``."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from riskrank.engine.power.distributions import FAMILIES, Distribution, parse_distribution
from riskrank.errors import UsageError, did_you_mean, listing, option


def parse_distributions(arguments: Sequence[object]) -> dict[str, Distribution]:
    """Parse distributions such as ``normal:0.5,2`` or ``new=normal:0.5,2``, or return {} for tables.

    Parameters
    ----------
    arguments : sequence of object
        Positional arguments of the command: distributions, or files and data frames.

    Returns
    -------
    dict of str to Distribution
        Distributions by name, or by text if unnamed.

    Raises
    ------
    UsageError
        If some arguments are distributions and others are not, or a name is given twice.
    """
    is_named = [
        isinstance(item, str) and _family(item) in FAMILIES and not Path(item).exists() for item in arguments
    ]
    if not any(is_named):
        return {}
    if not all(is_named):
        table, families = arguments[is_named.index(False)], f"available distributions: {listing(FAMILIES)}"
        raise UsageError(
            "files and distributions cannot be combined",
            found=f"{table} and {arguments[is_named.index(True)]}",
            hint=did_you_mean(_family(table), FAMILIES, fallback=families),
        )
    distributions: dict[str, Distribution] = {}
    for argument in arguments:
        label, equals, text = str(argument).rpartition("=")
        distribution = parse_distribution(text)
        name = label.strip() if equals else str(distribution)
        if not name or name in distributions:
            raise UsageError(
                "every distribution needs a unique name",
                found=str(argument),
                hint="name them: new=normal:0.5,2 old=normal:0,1",
            )
        distributions[name] = distribution
    return distributions


def refuse_table_options(names: Iterable[str]) -> None:
    """Raise an error if an option for reading or aggregating a table is set although there is no table.

    Raises
    ------
    UsageError
        If `names` is not empty.
    """
    for name in names:
        raise UsageError(
            f"{option(name)} needs a pilot table",
            found="distributions instead of a table",
            hint=f"leave out {option(name)}",
        )


def _family(argument: object) -> str:
    """Return the part of an argument that may name a distribution family, in lower case."""
    text = str(argument)
    return (text.partition("=")[2] if "=" in text else text).partition(":")[0].strip().casefold()
