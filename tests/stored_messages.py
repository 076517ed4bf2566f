"""Compare messages with stored text files; reviewers read the differences.

A line that starts with ``$``, ``%`` or ``>>>`` is a call. ``>`` names a file, whose lines start with ``|``.
``#`` starts a comment. The lines below a call are its expected messages; ``[…]`` matches any words, such as
those of another library. ``--write-made -n 0`` rewrites the file.
"""

import difflib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^(>>> |[$%>#] |)(.*)\n((?:[^$%>#\n].*\n)*)", re.MULTILINE)


def files_of(test, folder):
    """Return the text files next to a test; each is one case."""
    paths = sorted(Path(test).with_name(folder).glob("*.txt"))
    return pytest.mark.parametrize("stored", paths, ids=[path.stem for path in paths])


def write_text(path, text):
    path.write_text(text, "utf-8")


def fits(line, stored):
    """Return whether a line equals the stored one, apart from its placeholders."""
    pattern = ".+".join(map(re.escape, stored.split("[…]")))
    return line == stored or ("[…]" in stored and re.fullmatch(pattern, line) is not None)


def compare(path, update_stored, answer, write=write_text):
    """Compare the lines below each sign with ``answer(sign, text, lines)``, or rewrite them."""
    stored, output = path.read_text("utf-8"), []
    for sign, text, below in BLOCK.findall(stored):
        lines = below.splitlines()
        if sign == "> ":
            write(Path(text), "".join(f"{line[2:]}\n" for line in lines))
        answered = answer(sign, text, lines)
        same = len(answered) == len(lines) and all(map(fits, answered, lines))
        output += [sign + text, *(lines if same else answered)]
    if update_stored:
        path.write_text("\n".join(output) + "\n", "utf-8")
    elif output != stored.splitlines():
        changes = difflib.unified_diff(stored.splitlines(), output, "stored", "made", lineterm="")
        pytest.fail("\n".join(["if this change is intended, rewrite the file with --write-made", *changes]))


def link_sample_data(file, folder):
    """Link the sample data that a file names into a folder."""
    stored = file.read_text("utf-8")
    for path in (ROOT / "sample_data").glob("*.*"):
        if path.name in stored:
            (folder / path.name).symlink_to(path)
