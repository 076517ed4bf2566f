"""Options as the command line takes them: what one would have to type."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from riskrank.options.option import Option, differing, options_of


def flags(group: Any, left_out: Collection[str] = ()) -> list[str]:
    """Words that ask for what differs from the defaults in a group of options, in the order declared."""
    given = differing(group, left_out=[*left_out])
    known = {one.name: one for one in options_of(type(group))}
    words = []
    for name, value in given.items():
        instead = known.get(known[name].asking.instead)
        # What only Python can say has to be written into a file first.
        words += [instead.flag, instead.asking.metavar] if instead else [*_words(known[name], value)]
    return words


def _words(one: Option, value: Any) -> Iterator[str]:
    if one.switch:
        yield one.flag
    elif one.by_name:
        for name, number in dict(value).items():
            yield from (one.flag, f"{name}={number:g}" if name else f"{number:g}")
    elif one.asking.commas:
        yield from (one.flag, among_commas(value))
    else:
        for text in value if one.several else (value,):
            yield from (one.flag, str(text))


def among_commas(names: Iterable[Any]) -> str:
    """Write names for an option that takes several, with commas between."""
    texts = map(str, names)
    return ",".join('"' + one.replace('"', '""') + '"' if "," in one or '"' in one else one for one in texts)
