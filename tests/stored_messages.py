"""Text files of what is given and what is told, for the tests that read them; reviewers read their diffs.

``$``, ``%`` and ``>>>`` begin a call, ``>`` the name of a file that ``|`` lines hold, and ``#`` a remark; all
else is what is told below a call, in which ``[…]`` stands for words that are not ours. With ``--write-made``
(and ``-n 0``) it is written anew.
"""

import difflib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^(>>> |[$%>#] |)(.*)\n((?:[^$%>#\n].*\n)*)", re.MULTILINE)


def files_of(test, folder):
    """The text files beside a test, one case each."""
    found = sorted(Path(test).with_name(folder).glob("*.txt"))
    return pytest.mark.parametrize("told", found, ids=[path.stem for path in found])


def write_text(path, text):
    path.write_text(text, "utf-8")


def fits(line, stored):
    """Whether a line is the stored one, but for what is not ours in it."""
    pattern = ".+".join(map(re.escape, stored.split("[…]")))
    return line == stored or ("[…]" in stored and re.fullmatch(pattern, line) is not None)


def compare(told, write_made, answer, write=write_text):
    """Compare what stands below each sign with ``answer(sign, text, lines)``, or write that there."""
    stored, made = told.read_text("utf-8"), []
    for sign, text, below in BLOCK.findall(stored):
        lines = below.splitlines()
        if sign == "> ":
            write(Path(text), "".join(f"{line[2:]}\n" for line in lines))
        found = answer(sign, text, lines)
        same = len(found) == len(lines) and all(map(fits, found, lines))
        made += [sign + text, *(lines if same else found)]
    if write_made:
        told.write_text("\n".join(made) + "\n", "utf-8")
    elif made != stored.splitlines():
        changes = difflib.unified_diff(stored.splitlines(), made, "stored", "made", lineterm="")
        pytest.fail("\n".join(["if that is meant, write it anew with --write-made", *changes]))


def link_sample_data(told, folder):
    """Put the sample data that a file names into a folder."""
    stored = told.read_text("utf-8")
    for path in (ROOT / "sample_data").glob("*.*"):
        if path.name in stored:
            (folder / path.name).symlink_to(path)
