"""Options as the parameters of a Python function: a typed signature, and the text that explains it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from riskrank.asked.option import Option
from riskrank.errors import spell


def signature(options: Iterable[Option], *, several: bool = False) -> inspect.Signature:
    """Signature of a function of scores, or of several of them, and of options as keywords."""
    first = inspect.Parameter.VAR_POSITIONAL if several else inspect.Parameter.POSITIONAL_ONLY
    keywords = [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=type_of(one)
        )
        for one in options
    ]
    return inspect.Signature([inspect.Parameter("scores", first), *keywords], return_annotation="Result")


def type_of(one: Option) -> Any:
    """What Python takes for an option; None where it may be left out."""
    member: Any = (get_args(one.kind) or (one.kind,))[0]
    if one.by_name:
        numbers: Any = Mapping[str, float] | Sequence[str] | str
        return numbers if get_origin(one.kind) is dict else numbers | float
    if one.several:
        return member | Sequence[member]
    if one.asking.choices:
        found: Any = Literal[one.asking.choices]
        return found | None if one.default is None else found
    return one.kind


def documented(options: Iterable[Option]) -> list[str]:
    """Lines of a docstring, numpydoc style: what each option takes and does."""
    lines: list[str] = []
    for one in options:
        unset = f" By default {spell(one.asking.unset, flags=False)}." if one.asking.unset else ""
        lines += [f"{one.name} : {_kind_in_words(one)}", f"    {spell(one.asking.words, flags=False)}{unset}"]
    return lines


def _kind_in_words(one: Option) -> str:
    optional = ", optional" if one.default is None else ""
    if one.by_name:
        return "mapping of str to float" if one.name == "weight" else "float, or mapping of str to float"
    if one.several:
        member = get_args(one.kind)[0].__name__
        return f"{member} or sequence of {member}"
    if one.asking.choices:
        return f"{{{', '.join(repr(choice) for choice in one.asking.choices)}}}{optional}"
    plain = [kind.__name__ for kind in get_args(one.kind) or (one.kind,) if kind is not type(None)]
    return " or ".join(plain) + optional
