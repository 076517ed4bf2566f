"""Options as keyword parameters of Python functions: signatures and docstring entries."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from riskrank.errors import spell
from riskrank.options.option import Option


def signature(
    options: Iterable[Option], *, first: inspect.Parameter, returns: str = "Result"
) -> inspect.Signature:
    """Return the signature of a function with a scores parameter and options as keywords."""
    keywords = [
        inspect.Parameter(
            opt.name, inspect.Parameter.KEYWORD_ONLY, default=opt.default, annotation=type_of(opt)
        )
        for opt in options
    ]
    return inspect.Signature([first, *keywords], return_annotation=returns)


def type_of(opt: Option) -> Any:
    """Return the Python type annotation of an option."""
    member: Any = (get_args(opt.kind) or (opt.kind,))[0]
    if opt.by_name:
        numbers: Any = Mapping[str, float] | Sequence[str] | str
        return numbers if get_origin(opt.kind) is dict else numbers | float
    if opt.several:
        return member | Sequence[member] | bool if opt.spec.accepts_true else member | Sequence[member]
    if opt.spec.choices:
        literal: Any = Literal[opt.spec.choices]
        return literal | None if opt.default is None else literal
    return opt.kind


def option_docs(options: Iterable[Option]) -> list[str]:
    """Return numpydoc lines that describe the options."""
    lines: list[str] = []
    for opt in options:
        more = f" By default {spell(opt.spec.unset, flags=False)}." if opt.spec.unset else ""
        more += f" Alias: ``{opt.spec.python_alias}``." if opt.spec.python_alias else ""
        lines += [f"{opt.name} : {_describe_option(opt)}", f"    {spell(opt.spec.words, flags=False)}{more}"]
    return lines


def _describe_option(opt: Option) -> str:
    """Return the type of an option in numpydoc notation."""
    optional = ", optional" if opt.default is None else ""
    if opt.by_name:
        return "mapping of str to float" if opt.name == "weight" else "float, or mapping of str to float"
    if opt.several:
        member = get_args(opt.kind)[0].__name__
        several = f"{member} or sequence of {member}"
        if opt.spec.commas:
            several += ", or a text with commas between values"
        return f"{several}, or True" if opt.spec.accepts_true else several
    if opt.spec.choices:
        return f"{{{', '.join(repr(choice) for choice in opt.spec.choices)}}}{optional}"
    kinds = [opt.kind] if get_origin(opt.kind) is Mapping else [*get_args(opt.kind)] or [opt.kind]
    return " or ".join(_describe_type(kind) for kind in kinds if kind is not NoneType) + optional


def _describe_type(kind: Any) -> str:
    """Return a description of a type."""
    if get_origin(kind) is Mapping:
        of, to = map(_describe_type, get_args(kind))
        return f"mapping of {of} to {to}"
    return "value" if kind is Any else str(kind.__name__)
