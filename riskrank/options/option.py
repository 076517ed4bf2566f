"""Option declarations: fields of frozen dataclasses with a type, a default, a help text and constraints.

The command line, the Python signatures, the docs, the type checks, the configuration file, ``meta.settings``
and the suggested flags are all derived from these declarations.
"""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, cached_property
from inspect import get_annotations
from operator import ge, gt, lt
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from riskrank.errors import UsageError, check_choice, option
from riskrank.options import values

# Numbers by metric name; "" stands for all other metrics.
ByName = tuple[tuple[str, float], ...]

# Sections of --help, in this order.
INPUT, METHOD, TESTS, OUTPUT = "Input", "Method", "Tests", "Output"
PANELS = (INPUT, METHOD, TESTS, OUTPUT)


@dataclass(frozen=True, kw_only=True)
class OptionSpec:
    """Metadata of an option declaration.

    Attributes
    ----------
    words : str
        Help text for the command line and for Python. Other options are marked in it by
        :func:`riskrank.errors.option`.
    metavar : str
        Placeholder of the value on the command line.
    choices : tuple
        Valid values, checked when the settings are created, or empty if any value is valid.
    internal_choices : tuple
        Further valid values that only commands set internally.
    accepts_model : bool
        True if the name of a model is valid as well. It is checked when the scores are read.
    example : str
        Example value for error messages.
    unset : str
        Description of the default, if the default value does not explain itself.
    short : str
        Short flag, one letter.
    panel : str
        Section of ``--help``, if it differs from that of the group.
    raw : bool
        True if the settings class normalises the value itself.
    commas : bool
        True if a command-line value may contain several names, separated by commas.
    python_alias : str
        Alias of the Python keyword.
    cli_equivalent : str
        Equivalent command-line option, for an option that exists only in Python.
    accepts_true : bool
        True if Python accepts ``True`` instead of a value.
    common : bool
        True if ``--help`` shows the option, False if only ``--help-all`` does.
    affects_result : bool
        True if the option can affect the result, so that output documents record it.
    least, above, below : float or None
        Inclusive lower bound, exclusive lower bound, and exclusive upper bound.
    needs : str
        Options that this one requires, separated by spaces. An option at its default counts as absent.
    against : tuple of str
        Options that cannot be combined with this one.
    """

    words: str
    metavar: str = ""
    choices: tuple[Any, ...] = ()
    internal_choices: tuple[Any, ...] = ()
    accepts_model: bool = False
    example: str = ""
    unset: str = ""
    short: str = ""
    panel: str = ""
    raw: bool = False
    commas: bool = False
    python_alias: str = ""
    cli_equivalent: str = ""
    accepts_true: bool = False
    common: bool = True
    affects_result: bool = True
    least: float | None = None
    above: float | None = None
    below: float | None = None
    needs: str = ""
    against: tuple[str, ...] = ()

    def refusal(self, number: float) -> str:
        """Return the bounds as text if the number violates one of them, or else an empty string."""
        bounds = (("at least", self.least, ge), ("above", self.above, gt), ("below", self.below, lt))
        checks = [(f"{words} {end:g}", keeps(number, end)) for words, end, keeps in bounds if end is not None]
        return "" if all(holds for _, holds in checks) else " and ".join(words for words, _ in checks)


def param(words: str, default: Any = None, **attributes: Any) -> Any:
    """Declare an option as a dataclass field.

    Parameters
    ----------
    words : str
        Help text.
    default : object
        Default value of the option.
    **attributes
        Further attributes of :class:`OptionSpec`.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class TallySettings(Settings):
    ...     top: int | None = param("Show only the N best models.", metavar="N")
    """
    return field(default=default, metadata={"spec": OptionSpec(words=words, **attributes)})


def several(words: str, **attributes: Any) -> Any:
    """Declare an option with several values, by default an empty tuple."""
    return param(words, (), **attributes)


def switch(words: str, **attributes: Any) -> Any:
    """Declare an option that is off by default."""
    return param(words, False, **attributes)


def rare(words: str, default: Any = None, **attributes: Any) -> Any:
    """Declare a rarely needed option, shown only by ``--help-all``."""
    return param(words, default, common=False, **attributes)


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a settings class.

    Attributes
    ----------
    name : str
        Name of the keyword argument; in the flag, dashes replace underscores.
    kind : type
        Declared type.
    default : object
        Default value of the option.
    panel : str
        Section of ``--help``.
    spec : OptionSpec
        Declaration of the option.
    """

    name: str
    kind: Any
    default: Any
    panel: str
    spec: OptionSpec

    @property
    def flag(self) -> str:
        """Long flag of the command line."""
        return f"--{self.name.rstrip('_').replace('_', '-')}"

    @cached_property
    def several(self) -> bool:
        """True if the option takes several values, such as names, numbers, or numbers by name."""
        return get_origin(self.kind) in (tuple, dict)

    @property
    def by_name(self) -> bool:
        """True if the option takes numbers by metric name.

        The name "" stands for all other metrics.
        """
        return get_origin(self.kind) is dict or get_origin((get_args(self.kind) or (None,))[0]) is tuple

    @property
    def switch(self) -> bool:
        """True if the option is a boolean flag."""
        return self.kind is bool


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base class of all option groups, which are immutable and validated on creation.

    A command's settings class inherits from the option groups it uses. Every ``__post_init__`` calls that of
    its parent.
    """

    PANEL: ClassVar[str] = METHOD

    def __post_init__(self) -> None:
        """Normalise every option to its declared type, and check choices, bounds and combinations.

        Raises
        ------
        UsageError
            If a value is invalid.
        """
        for opt in options_of(type(self)):
            # Settings are copied often, and most values are defaults.
            if (given := getattr(self, opt.name)) is opt.default and not opt.several:
                continue
            current = _normalise_value(opt, given)
            self._normalise(opt.name, current)
            if opt.spec.choices and not opt.spec.accepts_model:
                free = (opt.default, *opt.spec.internal_choices)
                for value in current if opt.several else (current,):
                    if value not in free:
                        check_choice(opt.name, value, opt.spec.choices)
            for name, number in current.items() if isinstance(current, dict) else ((None, current),):
                if number is not None and (bounds := opt.spec.refusal(number)):
                    usual = opt.spec.unset or opt.default
                    written = option(opt.name, opt.spec.example or opt.spec.metavar)
                    detail = f"{number:g}" if name is None else f"{name}={number:g}"
                    hint = f"{usual} is the default" if usual else f"write {written}, or leave it out"
                    raise UsageError(f"{option(opt.name)} must be {bounds}", found=detail, hint=hint)
            if current != opt.default:
                self._check_partners(opt, current)

    @property
    def needs(self) -> dict[str, Any]:
        """Reading options that the settings require."""
        return {}

    def _check_partners(self, opt: Option, current: Any) -> None:
        """Raise UsageError if an option lacks a required option or conflicts with another one."""
        opts = {other.name: other for other in options_of(type(self))}
        chosen = {name: value for name in opts if (value := getattr(self, name)) != opts[name].default}
        written = _option_with_value(opt.name, current)
        for name in filter(chosen.get, opt.spec.against):
            values.contradict(written, _option_with_value(name, chosen[name]))
        needed = next((name for name in opt.spec.needs.split() if not chosen.get(name)), None)
        if needed is None:
            return
        partner = opts[needed]
        spec = partner.spec
        usable = (True,) if partner.switch else spec.choices or (spec.example or spec.metavar,)
        requirement = option(needed, next(value for value in usable if value != partner.default))
        hint = f"add {requirement}, or leave out {option(opt.name)}"
        raise UsageError(f"{option(opt.name)} needs {requirement}", found=f"no {requirement}", hint=hint)

    def _normalise(self, name: str, value: Any) -> None:
        """Store the normalised value of an option."""
        object.__setattr__(self, name, value)


def _option_with_value(name: str, value: Any) -> str:
    """Return an option marked for a message, with its value unless that is a tuple or a mapping."""
    return option(name) if isinstance(value, tuple | dict) else option(name, value)


def _normalise_value(opt: Option, value: Any) -> Any:
    """Convert a value to the declared type of its option.

    Names and numbers become tuples, and weights a mapping. For an option with choices, an integer becomes a
    string.
    """
    member = (get_args(opt.kind) or (None,))[0]
    if opt.spec.raw:
        return value
    if get_origin(opt.kind) is dict:
        return values.named_numbers(opt.name, value or {})
    if get_origin(opt.kind) is tuple and member is str:
        commas = opt.spec.commas and isinstance(value, str)
        return values.split_names([value], parameter=opt.name) if commas else values.to_names(value)
    if get_origin(opt.kind) is tuple and member in (int, float):
        read = values.parse_ints if member is int else values.parse_numbers
        example = opt.spec.example or ("100,500" if member is int else "0.05,0.1")
        return read(value, parameter=opt.name, example=example)
    return str(value) if opt.spec.choices and isinstance(value, int) else value


def options_of(group: Any) -> tuple[Option, ...]:
    """Return the options of a settings class in declaration order, inherited ones included."""
    return _collect_options(group)


@cache
def _collect_options(group: Any) -> tuple[Option, ...]:
    """Return the options of a settings class from its dataclass fields, cached by class."""
    hints, options = get_type_hints(group), list[Option]()
    for entry in fields(group):
        if (spec := entry.metadata.get("spec")) is None:
            continue
        # The help section is that of the first base class that declares the option.
        owner = [cls for cls in group.__mro__ if entry.name in get_annotations(cls)][-1]
        panel = spec.panel or str(getattr(owner, "PANEL", METHOD))
        default = None if entry.default is MISSING else entry.default
        options.append(
            Option(name=entry.name, kind=hints[entry.name], default=default, panel=panel, spec=spec)
        )
    return tuple(options)


def non_defaults(group: Any, exclude: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options that affect the result and differ from their defaults, by name."""
    decide = [opt for opt in options_of(type(group)) if opt.spec.affects_result and opt.name not in exclude]
    chosen = {opt.name: value for opt in decide if (value := getattr(group, opt.name)) != opt.default}
    return {name: value for name, value in chosen.items() if value or not isinstance(value, tuple | dict)}


def changed_settings(settings: Any, reading: Any = None) -> dict[str, Any]:
    """Return all options that differ from their defaults, as JSON values, except the seed.

    Output documents store the seed separately, and only if random numbers were used.

    Parameters
    ----------
    settings : Settings
        Settings of the study.
    reading : ReadOptions, optional
        Reading options; settings of the study take precedence.
    """
    chosen = non_defaults(settings, exclude=("seed",))
    names = [opt.name for opt in options_of(type(settings))]
    read = {} if reading is None else non_defaults(reading, exclude=names)
    return {name: _json_value(value) for name, value in (read | chosen).items()}


def _json_value(value: Any) -> Any:
    """Convert a value to a JSON-serialisable form."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        named = dict(value)
        return named[""] if set(named) == {""} else named
    if isinstance(value, tuple):
        return [_json_value(item) for item in value]
    return "inf" if value == float("inf") else value
