"""Options in both interfaces: Python signatures, command-line arguments, and names from other libraries."""

import inspect
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from riskrank.errors import SET_KEYS, spell
from riskrank.options.option import Option, non_defaults, options_of


def signature(
    options: Iterable[Option], *, first: inspect.Parameter, returns: str = "Result"
) -> inspect.Signature:
    """Return the signature of a function with a scores parameter and options as keywords."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    keywords = [
        inspect.Parameter(opt.name, keyword, default=opt.default, annotation=type_of(opt)) for opt in options
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
    if opt.spec.choices and not opt.spec.accepts_model:
        literal: Any = Literal[opt.spec.choices]
        return literal | None if opt.default is None else literal
    return opt.kind


def option_docs(options: Iterable[Option]) -> list[str]:
    """Return numpydoc lines that describe the options."""
    lines: list[str] = []
    for opt in options:
        more = f" By default {spell(opt.spec.unset, flags=False)}." if opt.spec.unset else ""
        more += f" Alias: ``{opt.spec.python_alias}``." if opt.spec.python_alias else ""
        lines += [f"{opt.name} : {_numpydoc_type(opt)}", f"    {spell(opt.spec.words, flags=False)}{more}"]
    return lines


def _numpydoc_type(opt: Option) -> str:
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
        choices = f"{{{', '.join(repr(choice) for choice in opt.spec.choices)}}}"
        return f"{choices}{', or name of a model' * opt.spec.accepts_model}{optional}"
    kinds = [opt.kind] if get_origin(opt.kind) is Mapping else [*get_args(opt.kind)] or [opt.kind]
    return " or ".join(_describe_type(kind) for kind in kinds if kind is not NoneType) + optional


def _describe_type(kind: Any) -> str:
    """Return a type as text for a docstring, such as ``mapping of str to float``."""
    if get_origin(kind) is Mapping:
        key, value = map(_describe_type, get_args(kind))
        return f"mapping of {key} to {value}"
    return "value" if kind is Any else str(kind.__name__)


def flag_arguments(group: Any, exclude: Collection[str] = ()) -> list[str]:
    """Return the command-line arguments that reproduce the non-default options of a settings object."""
    values = non_defaults(group, exclude=[*exclude])
    declared = {opt.name: opt for opt in options_of(type(group))}
    words: list[str] = []
    for name, value in values.items():
        instead = declared.get(declared[name].spec.cli_equivalent)
        # A value that only Python accepts must be written into a file first.
        arguments = _option_arguments(declared[name], value)
        words += [instead.flag, instead.spec.metavar] if instead else arguments
    return words


def _option_arguments(opt: Option, value: Any) -> Iterator[str]:
    """Yield the command-line arguments that set an option to a value."""
    if opt.name in SET_KEYS:
        yield from ("--set", f"{opt.name.replace('_', '-')}={value}")
    elif opt.switch:
        yield opt.flag
    elif opt.by_name:
        for name, number in dict(value).items():
            yield from (opt.flag, f"{name}={number:g}" if name else f"{number:g}")
    elif opt.spec.commas:
        yield from (opt.flag, join_commas(value))
    else:
        for text in value if opt.several else (value,):
            yield from (opt.flag, str(text))


def join_commas(names: Iterable[Any]) -> str:
    """Join names with commas.

    Names with a comma or a quote are quoted.
    """
    texts = map(str, names)
    return ",".join('"' + s.replace('"', '""') + '"' if "," in s or '"' in s else s for s in texts)


_ADVICE = tomllib.loads((files("riskrank.options") / "advice.toml").read_text(encoding="utf-8"))
# Advice for option names that this command lacks.
ADVICE = {word: text for text, words in _ADVICE.items() for word in words.split()}
# Explanations of proposed options that a value is easily confused with.
MEANINGS = {"alpha": " (1 − confidence)", "unpaired": " (the opposite of paired)"}


def equivalent_option(name: str, options: Iterable[str]) -> str | None:
    """Return the option that means the same as a word of another tool, or None.

    Parameters
    ----------
    name : str
        Word, with or without dashes.
    options : iterable of str
        Names of the available options.
    """
    names, word = [*options], name.strip("-").casefold().replace("-", "_").rstrip("_")
    text = (files("riskrank.options") / "words.txt").read_text(encoding="utf-8")
    rows = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    equivalents = (option for meant, _, words in rows if word in words.split() for option in meant.split())
    return next((option for option in equivalents if option in names), None)
