"""riskrank: which model is better, and how sure are we.

``import riskrank as rr`` opens the Python door: :func:`read` a table and :func:`rank` its models. Names
are loaded when they are first used, so that the import costs nothing.
"""

from __future__ import annotations

from riskrank.version import __version__ as __version__

TYPE_CHECKING = False  # as in typing, whose import takes longer than all of this

# Beside the functions of the commands.
_OWN = ("GateResult", "Result", "Scores", "__version__", "errors", "read")

if TYPE_CHECKING:
    from typing import Any

    from riskrank import errors as errors
    from riskrank.api import GateResult as GateResult
    from riskrank.api import Result as Result
    from riskrank.api import Scores as Scores
    from riskrank.api import check as check
    from riskrank.api import convert as convert
    from riskrank.api import power as power
    from riskrank.api import read as read


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "errors":
        return import_module("riskrank.errors")
    if name == "__all__":
        return __dir__()
    if name in __dir__():
        return getattr(import_module("riskrank.api"), name)
    raise AttributeError(f"module 'riskrank' has no attribute '{name}'")


def __dir__() -> list[str]:
    from riskrank.options.commands import COMMANDS

    return sorted([*_OWN, *(row.name for row in COMMANDS if row.python)])
