"""JSON Schemas of output documents, generated from their dataclasses."""

import dataclasses
import inspect
import types
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from riskrank.errors import UsageError, did_you_mean, listing
from riskrank.options.commands import DOC_TYPES
from riskrank.render.formats.data import SCHEMA_VERSION
from riskrank.studies.document import Document, FindingEntry, Provenance

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SCALARS: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def document_classes(name: str) -> list[type[Document]]:
    """Return the document classes for a schema name.

    Raises
    ------
    UsageError
        If the schema does not exist.
    """
    if name not in DOC_TYPES:
        problem = f"unknown command or document '{name}'"
        hint = did_you_mean(name, DOC_TYPES, fallback="name one of these")
        raise UsageError(problem, found=f"available: {listing(DOC_TYPES, 30)}", hint=hint)
    module, _, classes = DOC_TYPES[name].documents.partition(":")
    loaded = import_module(f".{module}", "riskrank.studies")
    return [getattr(loaded, class_name) for class_name in classes.split(",")]


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a command's document.

    Parameters
    ----------
    name : str
        Name of the command, or a document's ``schema`` without the prefix ``riskrank/``.

    Returns
    -------
    dict

    Raises
    ------
    UsageError
        If the document type does not exist.
    """
    kinds = document_classes(name)
    rows = [_dataclass_schema(kind.row_type) for kind in kinds]
    return {
        "$schema": DIALECT,
        "title": f"riskrank/{name}",
        "description": f"{_docstring_summary(kinds[0])} More fields may be added.",
        "type": "object",
        "properties": {
            "schema": {"const": f"riskrank/{name}"},
            "schema_version": {"const": SCHEMA_VERSION},
            "meta": _meta_schema(kinds[0], name),
            "results": {"type": "array", "items": rows[0] if len(rows) == 1 else {"anyOf": rows}},
        },
        "required": ["schema", "schema_version", "meta", "results"],
    }


def _meta_schema(kind: type[Document], name: str) -> dict[str, Any]:
    """Return the schema of ``meta``: entries common to all documents, and those declared by the command."""
    origin = _dataclass_schema(Provenance)
    properties: dict[str, Any] = {"version": {"type": "string"}} | origin["properties"]
    properties["command"] = {"const": name.partition("-")[0]}
    properties["inputs"] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "sha256": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"},  # None for a data frame
                "rows": {"type": "integer"},
            },
            "required": ["path", "sha256", "rows"],
        },
    }
    properties["verdict"] = {"type": ["string", "null"]}
    optional = {"config": properties.pop("config") | {"type": "string"}}
    optional["scored"] = properties.pop("scored")
    optional["findings"] = {"type": "array", "items": _dataclass_schema(FindingEntry)}
    optional |= {entry: _dataclass_schema(of) for entry, of in kind.entries.items()}
    return {"type": "object", "properties": properties | optional, "required": list(properties)}


def _dataclass_schema(kind: type) -> dict[str, Any]:
    """Return the schema of a dataclass as an object with all its fields."""
    hints = get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)
    return {
        "title": kind.__name__,
        "description": _docstring_summary(kind),
        "type": "object",
        "properties": {name: type_schema(hints[name]) for name in (field.name for field in fields)},
        "required": [field.name for field in fields if field.default is dataclasses.MISSING],
    }


def type_schema(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type, or the schema given as a dict in an ``Annotated`` type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return next((note for note in inner[1:] if isinstance(note, dict)), type_schema(inner[0]))
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        choices = [type_schema(member) for member in inner]
        plain = all(choice.keys() == {"type"} for choice in choices)
        return {"type": [member["type"] for member in choices]} if plain else {"anyOf": choices}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _dataclass_schema(hint)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": type_schema(inner[1])}
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return {"type": "array", "items": type_schema(inner[0])}
    return {}


def _docstring_summary(kind: type) -> str:
    """Return the summary line of a class docstring."""
    return inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
