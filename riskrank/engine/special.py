"""The compiled functions of ``scipy.special``, without the start-up time of that package.

The package itself also imports ``numpy.f2py``, ``numpy.testing`` and others. This takes a third of the CPU
time of a command on a small table.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import scipy


def _import_functions() -> ModuleType:
    """Import the compiled module with a placeholder for its package; fall back to the package."""
    placeholder = ModuleType("scipy.special")
    placeholder.__path__ = [f"{folder}/special" for folder in scipy.__path__]
    package = sys.modules.setdefault("scipy.special", placeholder)
    try:
        return import_module("scipy.special._ufuncs")
    except ImportError:
        pass
    finally:
        if package is placeholder:
            del sys.modules["scipy.special"]
    return import_module("scipy.special")


_FUNCTIONS = _import_functions()


def __getattr__(name: str) -> Any:
    """Return the function `name` of ``scipy.special``."""
    return getattr(_FUNCTIONS, name)
