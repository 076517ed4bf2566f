"""riskrank: which model is better, and how sure are we.

``import riskrank as rr`` opens the Python door: :func:`read` a table and :func:`rank` its models. Names
are loaded when they are first used, so that the import costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import takes longer than all of this

__version__ = "0.1.0"

__all__ = [
    "Result",
    "Scores",
    "__version__",
    "check",
    "copa",
    "dominance",
    "errors",
    "gate",
    "gsd",
    "mrm",
    "portfolio",
    "power",
    "rank",
    "read",
    "report",
]

if TYPE_CHECKING:
    from typing import Any

    from riskrank import errors
    from riskrank.api import (
        Result,
        Scores,
        check,
        copa,
        dominance,
        gate,
        gsd,
        mrm,
        portfolio,
        power,
        rank,
        read,
        report,
    )


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "errors":
        return import_module("riskrank.errors")
    if name in __all__:
        return getattr(import_module("riskrank.api"), name)
    raise AttributeError(f"module 'riskrank' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
