"""An option, declared once: a field of a frozen dataclass that carries its type, default, words and choices.

The command line, the signatures and the documentation of the Python door, the checks of types, the
configuration file, ``meta.settings`` and the flags that are suggested are made of these declarations.
"""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from inspect import get_annotations
from operator import ge, gt, lt
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from riskrank.errors import UsageError, one_of, option
from riskrank.options.values import contradict, named_numbers, names, numbers, split_names, whole_numbers

# Numbers by the name of a metric, "" being all others.
ByName = tuple[tuple[str, float], ...]

# Where an option stands on the page of --help, in this order.
INPUT, METHOD, TESTS, OUTPUT = "Input", "Method", "Tests", "Output"
PANELS = (INPUT, METHOD, TESTS, OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How an option is asked for.

    Attributes
    ----------
    words : str
        What it does, for both doors: other options in it are marked by :func:`riskrank.errors.option`.
    metavar : str
        What a value looks like on the command line.
    choices : tuple
        The values there are; empty for any. They are checked when the settings are made.
    inner : tuple
        Values that only commands give, not people.
    example : str
        A value for messages that say how to write it.
    unset : str
        What holds where it is not given, if the default itself does not say so.
    short : str
        A second flag of one letter.
    panel : str
        Where it stands on the page of ``--help``, if not with its group.
    raw : bool
        Whether its group brings it into its one form itself.
    commas : bool
        Whether a value of the command line may hold several names, with commas between them.
    also : str
        Another name that Python takes it by.
    instead : str
        Of an option that only Python has: the command line's option for the same.
    truth : bool
        Whether Python may say True, where other options name what it is about.
    common : bool
        Whether people use it: ``--help`` shows it, and not only ``--help-all``.
    decides : bool
        Whether it can change the result, so that documents tell it.
    least, above, below : float or None
        Smallest number it takes, and numbers it has to lie above and below.
    needs : str
        Options, with spaces between, that say nothing at their defaults, without which this one says nothing.
    against : tuple of str
        Options that it excludes, but for their defaults.
    """

    words: str
    metavar: str = ""
    choices: tuple[Any, ...] = ()
    inner: tuple[Any, ...] = ()
    example: str = ""
    unset: str = ""
    short: str = ""
    panel: str = ""
    raw: bool = False
    commas: bool = False
    also: str = ""
    instead: str = ""
    truth: bool = False
    common: bool = True
    decides: bool = True
    least: float | None = None
    above: float | None = None
    below: float | None = None
    needs: str = ""
    against: tuple[str, ...] = ()

    def refusal(self, number: float) -> str:
        """In words the bounds of its numbers where this one is not within, or none; else nothing."""
        ends = (("at least", self.least, ge), ("above", self.above, gt), ("below", self.below, lt))
        told = [(f"{words} {end:g}", keeps(number, end)) for words, end, keeps in ends if end is not None]
        return "" if all(kept for _, kept in told) else " and ".join(words for words, _ in told)


def ask(words: str, default: Any = None, **how: Any) -> Any:
    """Declare an option: the field of a dataclass, with what :class:`Asking` says of it.

    Examples
    --------
    A whole option, of a command's own settings:

    >>> @dataclass(frozen=True, kw_only=True)
    ... class TallySettings(Settings):
    ...     top: int | None = ask("Only so many models.", metavar="N")
    """
    return field(default=default, metadata={"asking": Asking(words=words, **how)})


def several(words: str, **how: Any) -> Any:
    """Declare an option that takes several values, and none where nobody gives any."""
    return ask(words, (), **how)


def switch(words: str, **how: Any) -> Any:
    """Declare an option that is off where nobody turns it on."""
    return ask(words, False, **how)


def rare(words: str, default: Any = None, **how: Any) -> Any:
    """Declare an option of any of these kinds that few need: only ``--help-all`` shows it."""
    return ask(words, default, common=False, **how)


@dataclass(frozen=True, kw_only=True)
class Option:
    """A declared option of a group, as the doors read it.

    Attributes
    ----------
    name : str
        Of the keyword argument; the flag has dashes for its underscores.
    kind : type
        Declared type.
    default : object
    panel : str
        Where it stands on the page of ``--help``.
    asking : Asking
    """

    name: str
    kind: Any
    default: Any
    panel: str
    asking: Asking

    @property
    def flag(self) -> str:
        """How the command line writes it."""
        return f"--{self.name.rstrip('_').replace('_', '-')}"

    @property
    def several(self) -> bool:
        """Whether it takes several values: names, numbers, or numbers by name."""
        return get_origin(self.kind) in (tuple, dict)

    @property
    def by_name(self) -> bool:
        """Whether its values are numbers by the name of a metric, the name "" being all others."""
        return get_origin(self.kind) is dict or get_origin((get_args(self.kind) or (None,))[0]) is tuple

    @property
    def switch(self) -> bool:
        """Whether it is on or off."""
        return self.kind is bool


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of every group of options: frozen, and checked when it is made, by whichever door.

    A command's own settings inherit the groups it takes. A group's check ends by calling the next one's.
    """

    PANEL: ClassVar[str] = METHOD

    def __post_init__(self) -> None:
        """Bring every option into the one form its type stands for, and check choices and bounds."""
        for one in options_of(type(self)):
            given = _in_one_form(one, getattr(self, one.name))
            self._normalise(one.name, given)
            if one.asking.choices:
                free = (one.default, *one.asking.inner)
                for value in given if one.several else (given,):
                    if value not in free:
                        one_of(one.name, value, one.asking.choices)
            for name, number in given.items() if isinstance(given, dict) else ((None, given),):
                if number is not None and (wanted := one.asking.refusal(number)):
                    usual = one.asking.unset or one.default
                    written = option(one.name, one.asking.example or one.asking.metavar)
                    raise UsageError(
                        f"{option(one.name)} must be {wanted}",
                        found=f"{number:g}" if name is None else f"{name}={number:g}",
                        hint=f"{usual} is the default" if usual else f"write {written}, or leave it out",
                    )
            if given != one.default:
                self._check_others(one, given)

    def _check_others(self, one: Option, given: Any) -> None:
        """Refuse an option without the one that it goes with, or beside one that it excludes."""
        known = {other.name: other for other in options_of(type(self))}
        chosen = {name: value for name in known if (value := getattr(self, name)) != known[name].default}
        for name in one.asking.against:
            if chosen.get(name):
                contradict(_written(one.name, given), _written(name, chosen[name]))
        needed = next((name for name in one.asking.needs.split() if not chosen.get(name)), None)
        if needed is None:
            return
        partner = known[needed]
        written = partner.asking.example or partner.asking.metavar
        values = (True,) if partner.switch else partner.asking.choices or (written,)
        asked = option(needed, next(value for value in values if value != partner.default))
        raise UsageError(
            f"{option(one.name)} goes with {asked}",
            found=f"no {asked}",
            hint=f"add {asked}, or leave out {option(one.name)}",
        )

    def _normalise(self, name: str, value: Any) -> None:
        """Store the one form of a value that may be given in several."""
        object.__setattr__(self, name, value)


def _written(name: str, value: Any) -> str:
    """An option with its value, if that is one."""
    return option(name) if isinstance(value, tuple | dict) else option(name, value)


def _in_one_form(one: Option, given: Any) -> Any:
    """Names and numbers as tuples, weights as a mapping; a number where its text is a choice."""
    member = (get_args(one.kind) or (None,))[0]
    if one.asking.raw:
        return given
    if get_origin(one.kind) is dict:
        return named_numbers(one.name, given or {})
    if get_origin(one.kind) is tuple and member is str:
        commas = one.asking.commas and isinstance(given, str)
        return split_names([given], parameter=one.name) if commas else names(given)
    if get_origin(one.kind) is tuple and member in (int, float):
        read = whole_numbers if member is int else numbers
        example = one.asking.example or ("100,500" if member is int else "0.05,0.1")
        return read(given, parameter=one.name, example=example)
    if one.asking.choices and isinstance(given, int):
        return str(given)
    return given


def options_of(group: Any) -> tuple[Option, ...]:
    """The options of a group and of those it inherits, in the order they are declared."""
    return _declared(group)


@cache
def _declared(group: Any) -> tuple[Option, ...]:
    hints = get_type_hints(group)
    return tuple(
        Option(
            name=one.name,
            kind=hints[one.name],
            default=None if one.default is MISSING else one.default,
            panel=one.metadata["asking"].panel or _panel(group, one.name),
            asking=one.metadata["asking"],
        )
        for one in fields(group)
        if "asking" in one.metadata
    )


def _panel(group: type, name: str) -> str:
    """The panel of the most basic group that declares an option, which others may declare anew."""
    home = [one for one in group.__mro__ if name in get_annotations(one)][-1]
    return str(getattr(home, "PANEL", METHOD))


def differing(group: Any, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Values of the options that decide a result and differ from their defaults, by name."""
    decide = [one for one in options_of(type(group)) if one.asking.decides and one.name not in left_out]
    chosen = {one.name: value for one in decide if (value := getattr(group, one.name)) != one.default}
    return {name: value for name, value in chosen.items() if value or not isinstance(value, tuple | dict)}


def told(settings: Any, reading: Any = None) -> dict[str, Any]:
    """What was asked for beyond the defaults, in words JSON has, as Python takes it: all but the seed.

    A document tells its seed elsewhere, and only if something random was done.
    """
    own = differing(settings, left_out=("seed",))
    names = [one.name for one in options_of(type(settings))]
    read = {} if reading is None else differing(reading, left_out=names)
    return {name: _plain(value) for name, value in (read | own).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        named = dict(value)
        return named[""] if set(named) == {""} else named
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return "inf" if value == float("inf") else value
