"""Stored facts of calls: ``tests/cli/expected_facts``, in the format of ``tests/stored_messages.py``.

A file whose lines start with ``SELECT`` holds the result of this query. The lines below a call state facts:
``=`` a path in its JSON document and the value there (``*`` stands for every row, ``"-"`` for no value),
``~`` words of its screen, ``!`` words that are not on its screen, and ``|`` each line of the screen and of
stderr. A new call needs only one of these lines. The status is 0 unless the facts start with ``= status``.
``pytest tests/cli/test_stored_facts.py -n 0 --write-made`` rewrites the values.
"""

import json
import re
import shlex
from pathlib import Path

import duckdb
import pytest
from rich.cells import cell_len

from tests import stored_messages as texts

pytestmark = pytest.mark.slow


def at(value, *place):
    """Return the value at a path of a document, with numbers rounded to six digits."""
    if not place:
        return float(f"{value:.6g}") if isinstance(value, float) else value
    key, *inner = place
    if key == "*":
        return [at(item, *inner) for item in value]
    if isinstance(value, list):
        return at(value[int(key)], *inner) if int(key) < len(value) else "-"
    return at(value[key], *inner) if value and key in value else "-"


@pytest.fixture
def facts(run):
    """Return the current facts of a call, after checking the words of its screen."""

    def facts_of(call, lines):
        asked = shlex.split(call)
        facts_of = (
            [Path("told.json"), Path("told.txt")] if any(line.startswith("= ") for line in lines) else []
        )
        outcome = run(*asked, *(word for path in facts_of for word in ("-o", path)))
        found, screen = {"status": outcome.status}, outcome.stdout
        if facts_of and outcome.status not in (2, 3):
            found |= json.loads(facts_of[0].read_text("utf-8"))
            screen = facts_of[1].read_text("utf-8")
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

    return facts_of


def write(path, text):
    path.unlink(missing_ok=True)
    if text.startswith("SELECT "):
        duckdb.sql(text).write_csv(str(path))
    else:
        path.write_text(text, "utf-8")


@texts.files_of(__file__, "expected_facts")
def test_facts_of_calls_match_the_stored_ones(facts, tmp_path, monkeypatch, update_stored, stored):
    def answer(sign, text, lines):
        return facts(text, lines) if sign == "$ " else lines

    monkeypatch.chdir(tmp_path)
    texts.link_sample_data(stored, tmp_path)
    texts.compare(stored, update_stored, answer, write)
