"""Stored refusals: the calls of ``tests/cli/refused`` and their messages.

The format is that of ``tests/stored_messages.py``: ``$`` starts a call of riskrank, ``%`` a call before it
that succeeds, and ``>>>`` a call in Python. ``pytest tests/cli/test_refused.py -n 0 --write-made`` rewrites
the messages.
"""

import itertools
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests import stored_messages as texts


@pytest.fixture
def answer(run):
    """Return the lines of a refused call; its output goes alternately to a file and to stdout."""
    outputs = itertools.cycle((["-o", "never.json"], []))

    def answered(call):
        words = shlex.split(call)
        looks = words[0] == "check"  # check describes even tables that no other command reads
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
    """Return the lines of a refused call in Python, from its exception."""
    with pytest.raises(rr.errors.RiskrankError) as caught:
        eval(call, {"rr": rr, "np": np, "pl": pl})
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines[:3]] == ["error", "found", "hint"], (call, lines)
    assert all(line.startswith("  ") for line in lines[3:]), (call, lines)
    assert not [line for line in lines if "--" in line], (call, "flags are for the command line")
    return lines


@texts.files_of(__file__, "refused")
def test_refusals_match_the_stored_ones(run, answer, tmp_path, monkeypatch, update_stored, stored):
    def answered(sign, text, lines):
        if sign == "% ":
            assert run(*shlex.split(text)).status == 0, text
        return answer(text) if sign == "$ " else answer_of_python(text) if sign == ">>> " else lines

    monkeypatch.chdir(tmp_path)
    texts.link_sample_data(stored, tmp_path)
    texts.compare(stored, update_stored, answered)
