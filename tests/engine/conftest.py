"""Store the results of engine functions that tests call, and compare them.

``screens/<folder>.txt`` holds the first results of every function and method that a test module imports.
``tests/screens.py`` explains how to update them after an intended change.
"""

import contextlib
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property, wraps
from types import FunctionType

import numpy as np
import pytest

from tests.screens import hold, steady

MAX_RESULTS = 4  # per function
MAX_DEPTH = 3
MAX_FIELDS = 12
MAX_ENTRIES = 5  # of an array
SKIPPED = {"Scratch", "witness"}  # uninitialised arrays; a utility that is not unique
INTERNAL_FIELDS = {"lps_solved", "rows_generated", "utility"}  # depend on the path of the solver
ROUNDING = 1e-7  # of sums that are zero


@pytest.fixture(autouse=True)
def answers(request, monkeypatch, update_stored):
    """Record the results of the engine in a test, and compare them with the stored ones afterwards."""
    if not steady(request.node):
        yield
        return
    namespace, results = vars(request.module), {}
    if "RNG" in namespace:  # samples must not depend on earlier tests
        monkeypatch.setitem(namespace, "RNG", np.random.default_rng(7))
    for name, value in [*namespace.items()]:
        module = (name not in SKIPPED and getattr(value, "__module__", None)) or ""
        if module == namespace["__name__"] or not module.startswith(("riskrank.engine", "tests.engine")):
            continue
        if isinstance(value, FunctionType):
            monkeypatch.setitem(namespace, name, record(value, name, namespace, results))
        for method, attribute in vars(value).items() if isinstance(value, type) else ():
            kind = classmethod if isinstance(attribute, classmethod) else lambda function: function
            function = getattr(attribute, "__func__", attribute)
            if method[0] != "_" and isinstance(function, FunctionType):
                wrapper = record(function, f"{name}.{method}", namespace, results)
                monkeypatch.setattr(value, method, kind(wrapper))
    yield
    monkeypatch.undo()
    lines = [f"{name}: {line}" for name, values in results.items() for line in values]
    hold(request.node, ["\n".join(lines)], update_stored)


def record(function, name, namespace, results):
    """Wrap a function to record the results that it returns to a test module."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        lines = results.setdefault(name, [])
        if sys._getframe(1).f_globals is namespace and len(lines) < MAX_RESULTS:
            lines.append(describe(result))
        return result

    return wrapper


def describe(value, depth=0):
    """Describe a value in a line."""
    if is_dataclass(value) or isinstance(value, dict):
        parts = value if isinstance(value, dict) else field_values(value)
        first = [*parts.items()][:MAX_FIELDS] if depth < MAX_DEPTH else []
        inner = (f"{name}={describe(item, depth + 1)}" for name, item in first)
        return f"{type(value).__name__}({', '.join(inner)})"
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple, np.ndarray, bool, int, float, np.generic)):
        with contextlib.suppress(ValueError):  # ragged rows
            numbers = np.asarray(value)
            if numbers.dtype.kind in "biuf":
                return format_array(numbers)
        return f"[{', '.join(describe(item, depth + 1) for item in value[:MAX_FIELDS])}] {len(value)}"
    return str(value) if isinstance(value, (str, type(None))) else type(value).__name__


def field_values(value):
    """Return the fields and the properties of a dataclass by name."""
    values = {field.name: getattr(value, field.name) for field in fields(value) if field.name[0] != "_"}
    for name in dir(type(value)):
        if name[0] != "_" and isinstance(getattr(type(value), name), (property, cached_property)):
            with contextlib.suppress(Exception):  # a property may not apply to a result
                values[name] = getattr(value, name)
    return {name: part for name, part in values.items() if name not in INTERNAL_FIELDS}


def format_array(numbers):
    """Format a number, or the shape, the first entries and a position-weighted checksum of an array."""
    flat = numbers.ravel().astype(float if numbers.dtype.kind == "f" else int)
    with np.errstate(all="ignore"):
        places = np.arange(flat.size) % 97 + 1
        checksum = (np.nan_to_num(flat, nan=0.5, posinf=3, neginf=-3) * places).sum()
    texts = [format_number(entry) for entry in (*flat[:MAX_ENTRIES], checksum)]
    shape = "×".join(map(str, numbers.shape))
    return f"{shape}({' '.join(texts[:-1])} Σ {texts[-1]})" if shape else texts[0]


def format_number(value):
    """Format a number with five digits, and an integer with all of its digits."""
    return str(value) if isinstance(value, np.integer) else f"{value if abs(value) > ROUNDING else 0.0:#.5g}"
