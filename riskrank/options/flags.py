"""Conversion of options to command-line arguments."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from riskrank.errors import SET_KEYS
from riskrank.options.option import Option, non_defaults, options_of


def flag_arguments(group: Any, exclude: Collection[str] = ()) -> list[str]:
    """Return the command-line arguments that reproduce the non-default options of a settings object."""
    values = non_defaults(group, exclude=[*exclude])
    declared = {opt.name: opt for opt in options_of(type(group))}
    words = []
    for name, value in values.items():
        instead = declared.get(declared[name].spec.cli_equivalent)
        # A value that only Python accepts must be written into a file first.
        words += [instead.flag, instead.spec.metavar] if instead else [*_option_words(declared[name], value)]
    return words


def _option_words(opt: Option, value: Any) -> Iterator[str]:
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
