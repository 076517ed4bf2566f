"""Named distributions in the place of a table: ``normal:0.5,2``, ``new=normal:0.5,2``."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskrank.engine.power.distributions import FAMILIES, Distribution, parse_distribution
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.option import told
from riskrank.studies.document import Provenance
from riskrank.studies.power.options import PowerSettings


def named_distributions(arguments: Sequence[object]) -> dict[str, Distribution]:
    """Read distributions such as ``normal:0.5,2`` or ``new=normal:0.5,2``; empty if these are tables.

    Parameters
    ----------
    arguments : sequence of object
        What a door was given: distributions, or files and frames.

    Returns
    -------
    dict of str to Distribution
        By the name given, else by what they are.

    Raises
    ------
    UsageError
        If some are distributions and others are not, or a name is given twice.
    """
    named = [
        isinstance(one, str) and _family(one) in FAMILIES and not Path(one).exists() for one in arguments
    ]
    if not any(named):
        return {}
    if not all(named):
        stranger, known = arguments[named.index(False)], f"the distributions are {listing(FAMILIES)}"
        raise UsageError(
            "files and distributions do not go together",
            found=f"{stranger} beside {arguments[named.index(True)]}",
            hint=did_you_mean(_family(stranger), FAMILIES, otherwise=known),
        )
    found: dict[str, Distribution] = {}
    for argument in arguments:
        label, equals, text = str(argument).rpartition("=")
        distribution = parse_distribution(text)
        name = label.strip() if equals else str(distribution)
        if not name or name in found:
            raise UsageError(
                "every distribution needs a name of its own",
                found=str(argument),
                hint="name them: new=normal:0.5,2 old=normal:0,1",
            )
        found[name] = distribution
    return found


def refuse_table_options(given: Iterable[str]) -> None:
    """Refuse options that say how to read or fold a table, where there is none.

    Raises
    ------
    UsageError
        For the first of them.
    """
    for name in given:
        raise UsageError(
            f"{option(name)} belongs to a pilot table",
            found="distributions, which are not read from a table",
            hint="leave it out",
        )


def provenance_of_distributions(
    settings: PowerSettings, distributions: Mapping[str, Distribution], how: Mapping[str, Any], **more: Any
) -> Provenance:
    """Return the provenance of a plan that has no table."""
    return Provenance(
        command="power",
        seed=settings.seed,
        settings=told(settings),
        method={"distributions": {name: str(one) for name, one in distributions.items()}, **how},
        inputs=[],
        models=tuple(distributions),
        metrics=[],
        samples=0,
        **{"warnings": [], **more},
    )


def _family(argument: object) -> str:
    text = str(argument)
    return (text.partition("=")[2] if "=" in text else text).partition(":")[0].strip().casefold()
