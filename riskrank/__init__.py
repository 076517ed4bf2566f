"""riskrank: rankings of models from score tables, with their uncertainty.

``import riskrank as rr`` gives the Python API: :func:`read` loads a table and :func:`rank` ranks its models.
Names are loaded on first use, so the import itself is fast.
"""

from __future__ import annotations

from riskrank.version import __version__ as __version__

TYPE_CHECKING = False  # defined here because importing typing is slow

# Public names in addition to the functions of the commands.
_API_NAMES = ("GateResult", "Result", "Scores", "__version__", "errors", "read")

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

    return sorted([*_API_NAMES, *(row.name for row in COMMANDS if row.python)])
