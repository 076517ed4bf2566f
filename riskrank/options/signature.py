"""Options as the parameters of a Python function: a typed signature, and the text that explains it."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from riskrank.errors import spell
from riskrank.options.option import Option


def signature(
    options: Iterable[Option], *, first: inspect.Parameter, returns: str = "Result"
) -> inspect.Signature:
    """Signature of a function of scores, by a first parameter of its own, and of options as keywords."""
    keywords = [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=type_of(one)
        )
        for one in options
    ]
    return inspect.Signature([first, *keywords], return_annotation=returns)


def type_of(one: Option) -> Any:
    """What Python takes for an option; None where it may be left out."""
    member: Any = (get_args(one.kind) or (one.kind,))[0]
    if one.by_name:
        numbers: Any = Mapping[str, float] | Sequence[str] | str
        return numbers if get_origin(one.kind) is dict else numbers | float
    if one.several:
        return member | Sequence[member] | bool if one.asking.truth else member | Sequence[member]
    if one.asking.choices:
        found: Any = Literal[one.asking.choices]
        return found | None if one.default is None else found
    return one.kind


def documented(options: Iterable[Option]) -> list[str]:
    """Lines of a docstring, numpydoc style: what each option takes and does."""
    lines: list[str] = []
    for one in options:
        more = f" By default {spell(one.asking.unset, flags=False)}." if one.asking.unset else ""
        more += f" Also understood as ``{one.asking.also}``." if one.asking.also else ""
        lines += [f"{one.name} : {_kind_in_words(one)}", f"    {spell(one.asking.words, flags=False)}{more}"]
    return lines


def _kind_in_words(one: Option) -> str:
    optional = ", optional" if one.default is None else ""
    if one.by_name:
        return "mapping of str to float" if one.name == "weight" else "float, or mapping of str to float"
    if one.several:
        member = get_args(one.kind)[0].__name__
        several = f"{member} or sequence of {member}"
        if one.asking.commas:
            several += ", a text may hold several with commas"
        return f"{several}, or True" if one.asking.truth else several
    if one.asking.choices:
        return f"{{{', '.join(repr(choice) for choice in one.asking.choices)}}}{optional}"
    kinds = [one.kind] if get_origin(one.kind) is Mapping else [*get_args(one.kind)] or [one.kind]
    return " or ".join(_in_words(kind) for kind in kinds if kind is not NoneType) + optional


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Mapping:
        of, to = map(_in_words, get_args(kind))
        return f"mapping of {of} to {to}"
    return "value" if kind is Any else str(kind.__name__)
