"""Which pictures there are of a document: as the table of commands says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.commands import BY_NAME, COMMANDS, PAPERS
from riskrank.render.figures.picture import Picture

if TYPE_CHECKING:
    from riskrank.render.figures.style import Plot

# What can be drawn of what a document may have beside its rows.
_PARTS = {
    "suite": "riskrank.studies.suites.figures.pictures",
    "judged": "riskrank.studies.judge.figures",
    "components": "riskrank.render.figures.shares",
}


def require_matplotlib() -> None:
    """Refuse to draw where nothing can draw.

    Raises
    ------
    UsageError
    """
    if find_spec("matplotlib") is None:
        raise UsageError(
            "pictures are drawn by Matplotlib, which is not installed",
            found="no module matplotlib",
            hint="pip install 'riskrank[plot]'",
        )


def check_name(command: str, name: str | None) -> None:
    """Refuse the name of a picture that a command never draws.

    Raises
    ------
    UsageError
    """
    known = BY_NAME[command].pictures if command in BY_NAME else ()
    if not known:
        raise UsageError(
            f"{command} has no pictures",
            found=option("plot"),
            hint=f"leave it out; {listing(row.name for row in COMMANDS if row.pictures)} have some",
        )
    if name is not None and name.partition("@")[0] not in known:
        raise _unknown(command, name, known)


def pictures(document: Any, whole: Any = None) -> Sequence[Picture]:
    """All pictures of a document, the main one first, in which a model has the same look.

    Parameters
    ----------
    document : Document
    whole : Document, optional
        Of which it is a part: models look as in the other parts.

    Raises
    ------
    UsageError
        If nothing can draw.
    """
    figures = PAPERS[document.schema].figures
    if not figures and getattr(document, "components", None) is None:
        return ()
    require_matplotlib()
    found = [*import_module(f".{figures}", "riskrank.studies").pictures(document)] if figures else []
    for name, home in _PARTS.items():
        more = getattr(document, name, None)
        found += [] if more is None else import_module(home).pictures(more)
    from riskrank.render.figures.legend import as_in_study, own_looks

    whole = whole or document
    order, named = _order(document, whole)
    own = own_looks(document.provenance.models, order)
    return [replace(one, draw=as_in_study(one.draw, own, named)) for one in found]


def _order(document: Any, whole: Any) -> tuple[list[int], list[int]]:
    """Models of a document by their importance in the whole: the named first, then as in its rows.

    Beside them those that are named.
    """
    place = {name: at for at, name in enumerate(document.provenance.models)}
    ranking = getattr(whole, "ranking", whole)
    leading = getattr(ranking, "leading", None)
    pair = next((one.pair for one in leading.values()), ()) if isinstance(leading, Mapping) else ()
    models = whole.provenance.models
    first = [models[at] for at in (*whole.named, *pair)]
    roles = [role for role in ("model", "winner", "loser", "new", "old") if role in whole.fields]
    rows = sorted(whole.rows, key=lambda row: not getattr(row, "method", "").startswith("R-SSD"))
    listed = [getattr(row, role, None) for row in rows for role in roles]
    order = [place[name] for name in dict.fromkeys([*first, *listed, *place]) if name in place]
    return order, [place[models[at]] for at in whole.named if models[at] in place]


def colors(document: Any) -> dict[str, str]:
    """Colours of the models in the pictures of a document, by name; none of those that are drawn in grey."""
    from riskrank.render.figures.legend import own_looks
    from riskrank.render.figures.style import PALETTE

    models = document.provenance.models
    own = own_looks(models, _order(document, document)[0])
    return {models[model]: PALETTE[look] for model, look in sorted(own.items())}


def draw(document: Any, name: str | None = None) -> Plot:
    """Draw one picture of a document.

    Parameters
    ----------
    document : Document
    name : str, optional
        As in :class:`Picture`; the main picture by default.

    Raises
    ------
    UsageError
        If there is no such picture of this document, or nothing can draw.
    """
    require_matplotlib()
    found = pictures(document)
    if not found:
        check_name(document.schema, name)
        raise _unknown(document.schema, name or "any", ())
    chosen = [one for one in found if name in (None, one.name) or one.name.startswith(f"{name}@")]
    if not chosen:
        raise _unknown(document.schema, str(name), [one.name for one in found])
    return chosen[0].draw()


def _unknown(what: str, name: str, known: Sequence[str]) -> UsageError:
    return UsageError(
        f"{what} has no picture '{name}' here",
        found=f"there {'is' if len(known) == 1 else 'are'} {listing(known)}",
        hint=did_you_mean(name, known, otherwise="name one of these, or none for the main one"),
    )
