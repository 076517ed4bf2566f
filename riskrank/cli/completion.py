"""Names of models and metrics for the shell, from the files named before on the command line.

Whoever presses Tab waits. So files are read by a process of its own, which is ended after two seconds; only
small ones are read; and nothing is offered rather than late. What is offered goes into a command line: only
names without a character that a shell would act on.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from riskrank.asked.commands import BY_NAME
from riskrank.asked.option import options_of

SECONDS = 2.0
BYTES = 20_000_000
FILES = 200

# Options that take names: of what, and what stands between several of them, or before them.
_NAMES = {
    name: (kind, between)
    for kind, between, names in (
        ("models", ",", "models"),
        ("models", ":", "pair better not_worse witness"),
        ("models", "", "front_test why"),
        ("metrics", "", "metric weight sweep"),
        ("metrics", ":", "on"),
        ("metrics", ",", "lower higher ordinal"),
    )
    for name in names.split()
}

# Options that say how a file is read. Queries are left out: Tab runs none.
_READING = "columns wide matrix task input_format from_ filter split model_from_path"

_PLAIN = re.compile(r"[^\W_][\w./@%+:=-]*")


def completion_of(command: str, name: str) -> Callable[[Any, list[str], str], list[str]] | None:
    """What completes the values of an option; None if they are no names from a file."""
    if name not in _NAMES or command == "convert":
        return None
    kind, between = _NAMES[name]

    def complete(ctx: Any, _args: list[str], incomplete: str) -> list[str]:
        at = incomplete.rfind(between) + 1 if between else 0
        head, begun = incomplete[:at], incomplete[at:]
        # An option that still lacks its value leaves what is to be read among the rest.
        scores = ctx.params.get("scores") or [*ctx.args]
        return [head + one for one in names_of(scores, ctx.params)[kind] if one.startswith(begun)]

    # Typer tells the three apart by their types, which are texts here.
    complete.__annotations__ = {"_args": list[str], "incomplete": str}
    return complete


def names_of(scores: list[str], given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Models and metrics of files; none where that would take long.

    Parameters
    ----------
    scores : list of str
        Files, as the command line names them.
    given : mapping of str to object
        The options it has so far.
    """
    nothing: dict[str, list[str]] = {"models": [], "metrics": []}
    if not scores or not _are_small(scores):
        return nothing
    options = {one.name: one for one in options_of(BY_NAME["check"].reading_type)}
    words = ["check", *scores, "--format", "json", "--quiet"]
    for name in _READING.split():
        words += _written(options[name], given.get(name))
    # Not what the shell said to complete: this is a command to run.
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("_RISKRANK", "COMP_"))
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "riskrank", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            timeout=SECONDS,
            check=False,
        )
        said = json.loads(done.stdout)["meta"]
        models, metrics = said["models"], [one["name"] for one in said["metrics"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return nothing
    return {"models": _plain(models), "metrics": _plain(metrics)}


def _written(option: Any, value: Any) -> list[str]:
    """An option as the command line writes it, if it was given."""
    if not value:
        return []
    if value is True:
        return [option.flag]
    return [
        part for one in (value if isinstance(value, list | tuple) else [value]) for part in (option.flag, one)
    ]


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]


def _are_small(scores: Iterable[str]) -> bool:
    """Whether all are files or folders on this machine, and few bytes together."""
    left, files = BYTES, FILES
    for text in scores:
        path = Path(text)
        if not path.exists():
            path = Path(text.partition("=")[2])
        for place in (path,) if path.is_file() else path.rglob("*") if path.is_dir() else (None,):
            if place is None or not (place.is_file() or place.is_dir()):  # no pipe, no address, no pattern
                return False
            files -= 1
            left -= place.stat().st_size if place.is_file() else 0
            if files < 0 or left < 0:
                return False
    return True
