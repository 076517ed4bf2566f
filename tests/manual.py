"""Write the man page, the shell completions and the type stubs: ``make manual``.

They are generated from the commands; a slow test checks that they are up to date.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANUAL = ROOT / "docs" / "manual"
SHELLS = {"bash": "riskrank.bash", "zsh": "_riskrank", "fish": "riskrank.fish"}

sys.path.insert(0, str(ROOT))


def man_page() -> str:
    """Return the man page of all commands with their options."""
    import typer

    from riskrank.cli.main import app

    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="riskrank", **group.context_settings)
    lines = [
        '.TH RISKRANK 1 "" "riskrank" "User Commands"',
        ".SH NAME",
        "riskrank \\- rank models from score tables",
        ".SH SYNOPSIS",
        ".B riskrank",
        "COMMAND [SCORES...] [OPTIONS]",
        ".SH DESCRIPTION",
        *_text(group.help or ""),
        ".SH COMMANDS",
    ]
    for name in group.list_commands(context):
        lines += _command(name, group.get_command(context, name))
    lines += [
        ".SH EXIT STATUS",
        *_entry("0", "done"),
        *_entry("1", "a gate failed; nothing else ever exits 1"),
        *_entry("2", "usage, input or schema"),
        *_entry("3", "numerical or internal"),
        *_entry("4", "a gate is inconclusive"),
        *_entry("130", "interrupted"),
    ]
    return "\n".join(lines) + "\n"


def completion(shell: str) -> str:
    """Return the completion script of a shell for commands and options."""
    variables = os.environ | {"_RISKRANK_COMPLETE": f"source_{shell}", "PYTHONPATH": str(ROOT)}
    code = "import sys; sys.argv[0] = 'riskrank'; from riskrank.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return done.stdout.strip() + "\n"


def stub() -> str:
    """Return the typed signatures of the Python API, which are computed at run time."""
    import riskrank

    lines = [
        "# Written by make manual.",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal",
        "",
        "from riskrank import errors as errors",
        "from riskrank.api import GateResult as GateResult",
        "from riskrank.api import Result as Result",
        "from riskrank.api import Scores as Scores",
        "from riskrank.api import check as check",
        "from riskrank.api import read as read",
        "",
        "__version__: str",
    ]
    for name in dir(riskrank):
        signature = getattr(getattr(riskrank, name), "__signature__", None)
        if signature is None:
            continue
        head, *keywords = signature.parameters.values()
        first = f"*{head.name}: Any" if head.kind is head.VAR_POSITIONAL else f"{head.name}: Any"
        first += "" if head.default is head.empty else " = ..."
        first += "" if head.kind is head.VAR_POSITIONAL else ", /, *"
        words = [f"    {key.name}: {_annotation(key)} = ...," for key in keywords]
        lines += ["", f"def {name}(", f"    {first},", *words, f") -> {signature.return_annotation}: ..."]
    return "\n".join(lines) + "\n"


# Options that take more types in Python than on the command line.
_ANY = ("baseline", "new", "old", "columns", "task_weight", "better", "not_worse", "weights", "pair")


def _annotation(key) -> str:
    if key.name in _ANY:
        return "Any"
    text = key.annotation.__name__ if isinstance(key.annotation, type) else str(key.annotation)
    text = text.replace("collections.abc.", "").replace("typing.", "")
    return re.sub(r"Optional\[(.*)\]$", r"\1 | None", text)


def files() -> dict[Path, str]:
    """Return the contents of all generated files, by path."""
    pages = {MANUAL / file: completion(shell) for shell, file in SHELLS.items()}
    return {MANUAL / "riskrank.1": man_page(), ROOT / "riskrank" / "__init__.pyi": stub(), **pages}


def options(*path: str) -> list[tuple[str, str]]:
    """Return arguments and options of a command with their texts, for the man page and the site."""
    import typer

    from riskrank.cli.main import app

    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="riskrank", **command.context_settings)
    for name in path:
        command = command.get_command(context, name)
        context = typer.Context(command, info_name=name, parent=context)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    return [record for record in records if record is not None]


def _command(name, command) -> list[str]:
    lines = [f".SS {_escaped(f'riskrank {name}')}", *_text(command.help or command.get_short_help_str(200))]
    for head, words in options(name):
        lines += _entry(head, words)
    return lines


def _entry(head: str, text: str) -> list[str]:
    return [".TP", f".B {_escaped(head)}", *_text(text)]


def _text(text: str) -> list[str]:
    paragraphs = text.replace("\b", "").split("\n\n")
    lines = []
    for number, paragraph in enumerate(paragraphs):
        lines += [".PP"] if number else []
        lines.append(_escaped(" ".join(paragraph.split())))
    return lines


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    for place, text in files().items():
        place.write_text(text, encoding="utf-8")
