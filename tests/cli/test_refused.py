"""What is refused, in the words of today: the calls of ``tests/cli/refused``, and the lines that answer them.

There ``$`` begins a call of riskrank, ``%`` one that succeeds before it, ``>>>`` one in Python, ``>`` the
name of a file that ``|`` lines hold, and ``#`` a remark; all else is the answer, in which ``[…]`` stands for
words that are not ours. ``pytest tests/cli/test_refused.py -n 0 --write-made`` writes the answers anew: what
changed can be read in their diff.
"""

import difflib
import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr

ROOT = Path(__file__).resolve().parents[2]
REFUSED = Path(__file__).with_name("refused")


@pytest.fixture
def answer(run):
    """The lines a call is refused by: no output beside them, which would go by turns to a file and not."""
    outputs = itertools.cycle((["-o", "never.json"], []))

    def answered(call):
        words = shlex.split(call)
        looks = words[0] == "check"  # it tells what it can of a table that nothing else reads
        writes = not looks and "--bless" not in words  # a baseline alone is no result
        outcome = run(*words, *(next(outputs) if writes else []))
        lines = outcome.stderr.replace(" -o never.json", "").splitlines()
        assert outcome.status == 2, (call, outcome)
        assert looks or outcome.stdout == "", (call, outcome)
        assert [line.split(": ")[0] for line in lines[:3]] == ["error", "found", "hint"], (call, lines)
        assert all(line.split(": ", 1)[1].strip() for line in lines[:3]), (call, lines)
        assert all(line.startswith("  riskrank ") for line in lines[3:]), (call, lines)
        assert not Path("never.json").exists(), call
        return lines

    return answered


def answer_of_python(call):
    """The same of a call in Python, whose errors are exceptions."""
    with pytest.raises(rr.errors.RiskrankError) as caught:
        eval(call, {"rr": rr, "np": np, "pl": pl})
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines[:3]] == ["error", "found", "hint"], (call, lines)
    assert all(line.startswith("  ") for line in lines[3:]), (call, lines)
    assert not [line for line in lines if "--" in line], (call, "flags are for the command line")
    return lines


def fits(line, stored):
    """Whether a line is the stored one, but for what is not ours in it."""
    return re.fullmatch(".+".join(map(re.escape, stored.split("[…]"))), line) is not None


def blocks(text):
    """Calls and files, each with the lines that follow."""
    return re.findall(r"^(>>> |[$%>#] |)(.*)\n((?:[^$%>#\n].*\n)*)", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(path.stem for path in REFUSED.glob("*.txt")))
def test_what_is_refused_is_told_as_before(run, answer, tmp_path, monkeypatch, write_made, name):
    monkeypatch.chdir(tmp_path)
    stored, made = (REFUSED / f"{name}.txt").read_text("utf-8"), []
    for path in (ROOT / "sample_data").glob("*.*"):
        if path.name in stored:
            (tmp_path / path.name).symlink_to(path)
    for sign, text, below in blocks(stored):
        lines = below.splitlines()
        if sign == "> ":
            Path(text).write_text("".join(f"{line[2:]}\n" for line in lines), "utf-8")
        if sign == "% ":
            assert run(*shlex.split(text)).status == 0, text
        if sign in ("$ ", ">>> "):
            told = answer(text) if sign == "$ " else answer_of_python(text)
            same = len(told) == len(lines) and all(map(fits, told, lines))
            lines = lines if same else told
        made += [sign + text, *lines]
    if write_made:
        (REFUSED / f"{name}.txt").write_text("\n".join(made) + "\n", "utf-8")
    elif made != stored.splitlines():
        pytest.fail("\n".join(difflib.unified_diff(stored.splitlines(), made, "stored", "made", lineterm="")))
