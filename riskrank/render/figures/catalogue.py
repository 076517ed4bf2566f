"""Catalog of the pictures of all documents, based on the table of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.commands import BY_NAME, COMMANDS, DOC_TYPES
from riskrank.render.view import Picture

if TYPE_CHECKING:
    from riskrank.render.figures.style import Plot

_PAGE_MODULES = ("jinja2", "matplotlib")
# Modules that draw optional attributes of a document.
_PARTS = {
    "suite": "riskrank.studies.suites.figures",
    "judged": "riskrank.studies.judge.figures",
    "components": "riskrank.render.figures.rows",
}


def require_matplotlib() -> None:
    """Check that Matplotlib is installed.

    Raises
    ------
    UsageError
        If Matplotlib is not installed.
    """
    _require(("matplotlib",), "plots need Matplotlib, which is not installed", "plot")


def can_make_pages() -> bool:
    """Return True if pages can be rendered: Jinja2 and Matplotlib are installed."""
    return all(map(find_spec, _PAGE_MODULES))


def require_pages() -> None:
    """Check that pages can be rendered.

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    _require(_PAGE_MODULES, "pages need Jinja2 and Matplotlib; at least one is not installed", "report")


def _require(modules: Sequence[str], problem: str, extra: str) -> None:
    """Raise UsageError if a module is not installed; `extra` is the extra of riskrank that installs it."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(problem, found=f"no module {missing[0]}", hint=f"pip install 'riskrank[{extra}]'")


def check_picture_name(command: str, name: str | None) -> None:
    """Check that a command can draw a picture with this name.

    Raises
    ------
    UsageError
        If the command has no such picture.
    """
    kinds = BY_NAME[command].pictures if command in BY_NAME else ()
    if not kinds:
        raise UsageError(
            f"{command} has no pictures",
            found=option("plot"),
            hint=f"leave out {option('plot')}; commands with pictures: "
            f"{listing(row.name for row in COMMANDS if row.pictures)}",
        )
    if name is not None and name.partition("@")[0] not in kinds:
        raise _unknown_picture(command, name, kinds)


def pictures(document: Any, context: Any = None) -> Sequence[Picture]:
    """Return all pictures of a document, main picture first, with a consistent look per model.

    Parameters
    ----------
    document : Document
    context : Document, optional
        Larger document that contains this one and determines the models' looks.

    Raises
    ------
    UsageError
        If Matplotlib is not installed.
    """
    figures = DOC_TYPES[document.schema].figures
    if not figures and getattr(document, "components", None) is None:
        return ()
    require_matplotlib()
    module, _, function = figures.partition(":")
    drawings = []
    if module:
        drawings += getattr(import_module(f".{module}", "riskrank.studies"), function or "pictures")(document)
    for name, module in _PARTS.items():
        part = getattr(document, name, None)
        drawings += [] if part is None else import_module(module).pictures(part)
    from riskrank.render.figures.legend import assign_looks, with_study_looks

    context = context or document
    order, named = _importance_order(document, context)
    looks = assign_looks(document.provenance.models, order)
    return [replace(picture, draw=with_study_looks(picture.draw, looks, named)) for picture in drawings]


def _importance_order(document: Any, context: Any) -> tuple[list[int], list[int]]:
    """Return the models of a document by importance, and the models named in the verdict.

    The order is that of the larger document: models named in its verdict, then models in row order.
    """
    place = {name: number for number, name in enumerate(document.provenance.models)}
    ranking = getattr(context, "ranking", context)
    leading = getattr(ranking, "leaders", None)
    pair = next((column.pair for column in leading.values()), ()) if isinstance(leading, Mapping) else ()
    models = context.provenance.models
    first = [models[number] for number in (*context.named, *pair)]
    roles = [role for role in ("model", "winner", "loser", "new", "old") if role in context.fields]
    rows = sorted(context.rows, key=lambda row: not getattr(row, "method", "").startswith("R-SSD"))
    listed = [getattr(row, role, None) for row in rows for role in roles]
    order = [place[name] for name in dict.fromkeys([*first, *listed, *place]) if name in place]
    return order, [place[models[number]] for number in context.named if models[number] in place]


def model_colors(document: Any) -> dict[str, str]:
    """Return the colors of a document's models by name, without models drawn in grey."""
    from riskrank.render.figures.legend import assign_looks
    from riskrank.render.figures.style import PALETTE

    models = document.provenance.models
    looks = assign_looks(models, _importance_order(document, document)[0])
    return {models[model]: PALETTE[number] for model, number in sorted(looks.items())}


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
        If the document has no such picture, or Matplotlib is not installed.
    """
    require_matplotlib()
    available = pictures(document)
    if not available:
        check_picture_name(document.schema, name)
        raise _unknown_picture(document.schema, name or "any", ())
    chosen = [
        picture
        for picture in available
        if name in (None, picture.name) or picture.name.startswith(f"{name}@")
    ]
    if not chosen:
        raise _unknown_picture(document.schema, str(name), [picture.name for picture in available])
    return chosen[0].draw()


def _unknown_picture(command: str, name: str, available: Sequence[str]) -> UsageError:
    """Create the error for a picture that does not exist."""
    return UsageError(
        f"{command} has no picture '{name}' for this result",
        found=f"available: {listing(available)}",
        hint=did_you_mean(name, available, fallback="use one of these, or no name for the main picture"),
    )
