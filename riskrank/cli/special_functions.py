"""SciPy's special functions without the package around them, for processes that do little else.

``scipy.special`` loads adapters of array libraries and writes documentation: with all that follows, a quarter
of what it takes to rank a small table. Its functions are in one compiled module, ``_ufuncs``, and a stand-in
has them in a process of ours; asked for more, or where there is no such module, the package takes over.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_NAME = "scipy.special"


class _StandIn(ModuleType):
    """Looks like the package until it is asked for what it has not."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(self, "__path__"):
            self.__path__ = [f"{place}/special" for place in import_module("scipy").__path__]
            try:
                functions = import_module("scipy.special._ufuncs")
            except ImportError:
                functions = ModuleType("nothing")
            self.__dict__.update((one, own) for one, own in vars(functions).items() if one[0] != "_")
            if name in self.__dict__:
                return self.__dict__[name]
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(import_module(_NAME), name)


def stand_in() -> None:
    """Let a stand-in be found, unless the package is there already."""
    sys.modules.setdefault(_NAME, _StandIn(_NAME))
