"""What the engine answers its tests, held whole: whatever they look at of it, all of it is stored.

Of each test the first answers of every function, and of every method of a class, that its module imports, in
``screens/<room>.txt``: whoever changes a number on purpose writes it anew as told in ``tests/screens.py``.
"""

import contextlib
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property, wraps
from types import FunctionType

import numpy as np
import pytest

from tests.screens import hold, steady

ANSWERS = 4  # of a function
DEEP = 3
FIELDS = 12
FIRST = 5  # numbers of an array
UNTOLD = {"Scratch", "witness"}  # whose arrays hold anything; whose utility is one of several
ON_THE_WAY = {"lps_solved", "rows_generated", "utility"}  # hang on the corners that a solver meets
NOISE = 1e-7  # what is left where a sum comes to nothing


@pytest.fixture(autouse=True)
def answers(request, monkeypatch, write_made):
    """Keep what the engine answers a test, and look at it when the test is over."""
    if not steady(request.node):
        yield
        return
    own, kept = vars(request.module), {}
    if "RNG" in own:  # what is drawn is not to hang on which tests ran before
        monkeypatch.setitem(own, "RNG", np.random.default_rng(7))
    for name, value in [*own.items()]:
        place = (name not in UNTOLD and getattr(value, "__module__", None)) or ""
        if place == own["__name__"] or not place.startswith(("riskrank.engine", "tests.engine")):
            continue
        if isinstance(value, FunctionType):
            monkeypatch.setitem(own, name, keeping(value, name, own, kept))
        for method, made in vars(value).items() if isinstance(value, type) else ():
            kind = classmethod if isinstance(made, classmethod) else lambda function: function
            function = getattr(made, "__func__", made)
            if method[0] != "_" and isinstance(function, FunctionType):
                watched = keeping(function, f"{name}.{method}", own, kept)
                monkeypatch.setattr(value, method, kind(watched))
    yield
    monkeypatch.undo()
    lines = [f"{name}: {line}" for name, found in kept.items() for line in found]
    hold(request.node, ["\n".join(lines)], write_made)


def keeping(function, name, own, kept):
    """A function that keeps what it answers a module."""

    @wraps(function)
    def watched(*args, **options):
        found = function(*args, **options)
        lines = kept.setdefault(name, [])
        if sys._getframe(1).f_globals is own and len(lines) < ANSWERS:
            lines.append(told(found))
        return found

    return watched


def told(value, deep=0):
    """A value in a line."""
    if is_dataclass(value) or isinstance(value, dict):
        parts = value if isinstance(value, dict) else parts_of(value)
        first = [*parts.items()][:FIELDS] if deep < DEEP else []
        inner = (f"{name}={told(one, deep + 1)}" for name, one in first)
        return f"{type(value).__name__}({', '.join(inner)})"
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple, np.ndarray, bool, int, float, np.generic)):
        with contextlib.suppress(ValueError):  # of rows of several lengths
            numbers = np.asarray(value)
            if numbers.dtype.kind in "biuf":
                return of_numbers(numbers)
        return f"[{', '.join(told(one, deep + 1) for one in value[:FIELDS])}] {len(value)}"
    return str(value) if isinstance(value, (str, type(None))) else type(value).__name__


def parts_of(value):
    """Fields of a dataclass, and what it has to say besides."""
    found = {one.name: getattr(value, one.name) for one in fields(value) if one.name[0] != "_"}
    for name in dir(type(value)):
        if name[0] != "_" and isinstance(getattr(type(value), name), (property, cached_property)):
            with contextlib.suppress(Exception):  # not every answer has each
                found[name] = getattr(value, name)
    return {name: part for name, part in found.items() if name not in ON_THE_WAY}


def of_numbers(numbers):
    """The only number, or shape, first numbers, and a sum that hangs on the place of each."""
    flat = numbers.ravel().astype(float if numbers.dtype.kind == "f" else int)
    with np.errstate(all="ignore"):
        places = np.arange(flat.size) % 97 + 1
        weighed = (np.nan_to_num(flat, nan=0.5, posinf=3, neginf=-3) * places).sum()
    shown = [number(one) for one in (*flat[:FIRST], weighed)]
    shape = "×".join(map(str, numbers.shape))
    return f"{shape}({' '.join(shown[:-1])} Σ {shown[-1]})" if shape else shown[0]


def number(one):
    """A number with five digits; whole ones have all of theirs."""
    return str(one) if isinstance(one, np.integer) else f"{one if abs(one) > NOISE else 0.0:#.5g}"
