"""What calls tell, fact by fact: ``tests/cli/told``, tables and calls in the signs of ``tests/told.py``.

A file whose lines begin with ``SELECT`` is what DuckDB answers to them. Below a call ``=`` begins a place of
its JSON document and what stands there (``*`` is every row, ``"-"`` nothing), ``~`` words of its screen,
``!`` words that are not on it, and ``|`` each line of it and of stderr, of which one is enough to begin with.
A call ends with 0, or its facts begin with ``= status``.
``pytest tests/cli/test_told.py -n 0 --write-made`` writes the values anew.
"""

import json
import re
import shlex
from pathlib import Path

import duckdb
import pytest
from rich.cells import cell_len

from tests import stored_messages as texts


def at(found, *place):
    """What stands at a place of a document, numbers to six digits."""
    if not place:
        return float(f"{found:.6g}") if isinstance(found, float) else found
    key, *rest = place
    if key == "*":
        return [at(one, *rest) for one in found]
    if isinstance(found, list):
        return at(found[int(key)], *rest) if int(key) < len(found) else "-"
    return at(found[key], *rest) if found and key in found else "-"


@pytest.fixture
def facts(run):
    """The facts below a call as they are now, having looked for its words."""

    def told(call, lines):
        asked = shlex.split(call)
        told = [Path("told.json"), Path("told.txt")] if any(line.startswith("= ") for line in lines) else []
        outcome = run(*asked, *(word for path in told for word in ("-o", path)))
        found, screen = {"status": outcome.status}, outcome.stdout
        if told and outcome.status not in (2, 3):
            found |= json.loads(told[0].read_text("utf-8"))
            screen = told[1].read_text("utf-8")
        words = " ".join(f"{screen} {outcome.stderr}".replace(" -o told.json -o told.txt", "").split())
        assert "\x1b" not in words, call
        made, whole = [], ""
        for line in lines:
            sign, text = line[:2], line[2:]
            if sign == "= ":
                place = text.partition(": ")[0]
                value = json.dumps(at(found, *place.split(".")), ensure_ascii=False)
                made.append(f"= {place}: {value}")
            elif sign[0] == "|":
                whole = f"{screen}{outcome.stderr}".replace(" -o told.json -o told.txt", "")
            else:
                assert (text in words) == (sign == "~ "), (call, line, words)
                made.append(line)
        assert whole or all(cell_len(line) <= 100 for line in screen.splitlines()), screen
        made += ["| " + re.sub("[ ─]+", " ", line).strip() for line in whole.splitlines() if line.strip(" ─")]
        assert outcome.status == 0 or f"= status: {outcome.status}" in made, (call, outcome)
        return made

    return told


def write(path, text):
    path.unlink(missing_ok=True)
    if text.startswith("SELECT "):
        duckdb.sql(text).write_csv(str(path))
    else:
        path.write_text(text, "utf-8")


@texts.files_of(__file__, "told")
def test_what_calls_tell_is_told_as_before(facts, tmp_path, monkeypatch, write_made, told):
    def answer(sign, text, lines):
        return facts(text, lines) if sign == "$ " else lines

    monkeypatch.chdir(tmp_path)
    texts.link_sample_data(told, tmp_path)
    texts.compare(told, write_made, answer, write)
