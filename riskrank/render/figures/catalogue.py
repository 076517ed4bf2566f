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
    """Raise UsageError if Matplotlib is not installed."""
    _require(("matplotlib",), "plots need Matplotlib, which is not installed", "plot")


def can_make_pages() -> bool:
    """Return True if Jinja2 and Matplotlib, which pages need, are installed."""
    return all(map(find_spec, _PAGE_MODULES))


def require_pages() -> None:
    """Raise UsageError if Jinja2 or Matplotlib, which pages need, is not installed."""
    _require(_PAGE_MODULES, "pages need Jinja2 and Matplotlib; at least one is not installed", "report")


def _require(modules: Sequence[str], problem: str, extra: str) -> None:
    """Raise UsageError if a module is not installed; the hint names the extra of riskrank to install."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(problem, found=f"no module {missing[0]}", hint=f"pip install 'riskrank[{extra}]'")


def check_picture_name(command: str, name: str | None) -> None:
    """Raise UsageError if a command has no pictures, or none with the given name."""
    kinds = BY_NAME[command].pictures if command in BY_NAME else ()
    if not kinds:
        hint = (
            f"leave out {option('plot')}; commands with pictures: "
            f"{listing(row.name for row in COMMANDS if row.pictures)}"
        )
        raise UsageError(f"{command} has no pictures", found=option("plot"), hint=hint)
    if name is not None and name.partition("@")[0] not in kinds:
        raise _unknown_picture(command, name, kinds)


def pictures(document: Any, context: Any = None) -> Sequence[Picture]:
    """Return all pictures of a document, the main picture first; a model has the same style in all of them.

    Parameters
    ----------
    document : Document
        Result to render.
    context : Document, optional
        Larger document that contains this one and determines the models' styles.

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
    from riskrank.render.figures.legend import assign_styles, study_styles

    context = context or document
    order, named = _importance_order(document, context)
    styles = assign_styles(document.provenance.models, order)
    return [replace(picture, draw=study_styles(styles, named)(picture.draw)) for picture in drawings]


def _importance_order(document: Any, context: Any) -> tuple[list[int], list[int]]:
    """Return the model indices of a document by importance, and those of the models named in the verdict.

    `context` is the document or a larger one that contains it. The models named in its verdict come first,
    then its models in row order.
    """
    index = {name: number for number, name in enumerate(document.provenance.models)}
    ranking = getattr(context, "ranking", context)
    leaders = getattr(ranking, "leaders", None)
    pair = next((column.pair for column in leaders.values()), ()) if isinstance(leaders, Mapping) else ()
    models = context.provenance.models
    first = [models[number] for number in (*context.named, *pair)]
    roles = [role for role in ("model", "winner", "loser", "new", "old") if role in context.fields]
    rows = sorted(context.rows, key=lambda row: not getattr(row, "method", "").startswith("R-SSD"))
    listed = [getattr(row, role, None) for row in rows for role in roles]
    order = [index[name] for name in dict.fromkeys([*first, *listed, *index]) if name in index]
    return order, [index[models[number]] for number in context.named if models[number] in index]


def model_colors(document: Any) -> dict[str, str]:
    """Return the colors of a document's models by name, without models drawn in grey."""
    from riskrank.render.figures.legend import assign_styles
    from riskrank.render.figures.style import PALETTE

    models = document.provenance.models
    styles = assign_styles(models, _importance_order(document, document)[0])
    return {models[model]: PALETTE[number] for model, number in sorted(styles.items())}


def draw(document: Any, name: str | None = None) -> Plot:
    """Draw one picture of a document.

    Parameters
    ----------
    document : Document
        Result to render.
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
    for picture in available:
        if name in (None, picture.name) or picture.name.startswith(f"{name}@"):
            return picture.draw()
    raise _unknown_picture(document.schema, str(name), [picture.name for picture in available])


def _unknown_picture(command: str, name: str, available: Sequence[str]) -> UsageError:
    """Return the error for an unknown picture name, with the available names."""
    problem = f"{command} has no picture '{name}' for this result"
    hint = did_you_mean(name, available, fallback="use one of these, or no name for the main picture")
    return UsageError(problem, found=f"available: {listing(available)}", hint=hint)
