"""Documents can be reproduced from their own metadata: files, settings and seed give identical bytes.

The screen, the warnings and the JSON are compared with stored ones in ``tests/cli/made``, so that each change
is visible in a diff. Every file starts with its calls; a new file needs nothing else.
``pytest tests/cli/test_stored_documents.py -n 0 --write-made`` rewrites them.
"""

import difflib
import itertools
import json
import re
import shlex
from importlib.metadata import version
from math import inf, sin
from pathlib import Path

import polars as pl
import pytest

import riskrank as rr
from riskrank.options.commands import COMMANDS
from riskrank.render.sections import sections
from riskrank.render.view import Table
from tests.cli.test_schema import keeps_to_its_schema
from tests.screens import shortened

RICH = int(version("rich").partition(".")[0])
STORED = Path(__file__).with_name("made")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
CHANGED = "otherwise than before: if that is meant, write it anew with --write-made\n"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder of tables that no test modifies."""
    place = tmp_path_factory.mktemp("tables")
    for name in ("judge.csv", "uci.csv", "uci.toml", "llm_leaderboard.csv", "llm_leaderboard.toml"):
        (place / name).symlink_to(SAMPLES / name)
    rows = [
        {
            "model": m,
            "sample": f"s{n}",
            "metric": k,
            "score": sin(7.0 * n * (at + 1) + n) + 0.4 * at,
            "half": n % 2,
        }
        for at, m in enumerate("CBA")
        for n in range(24)
        for k in ("acc", "f1")
    ]
    table = pl.DataFrame(rows)
    table.write_csv(place / "t.csv")
    weeks = [table.with_columns(pl.col("score").round(week), week=week) for week in (1, 2, 10)]
    pl.concat([*weeks[:2], weeks[2].with_columns(pl.col("score") - 1)]).write_csv(place / "weeks.csv")
    # Six tasks with 2 to 7 samples; 24 of 27 samples are present.
    starts = [0, 2, 5, 9, 14, 18]
    tasks = [f"t{sum(int(row['sample'][1:]) >= start for start in starts)}" for row in rows]
    table.with_columns(task=pl.Series(tasks)).write_csv(place / "suite.csv")
    judged = [
        {"model": m, "sample": n, "people": grade if n < 24 else None, "judge": min(grade + n % 4 // 3, 5)}
        for at, m in enumerate("CBA")
        for n in range(60)
        for grade in [1 + (7 * n + 3 * at * (n % 5 > 1)) % 5]
    ]
    pl.DataFrame(judged).write_csv(place / "judged.csv")
    (place / "bounds.toml").write_text("[acc]\nbounds = [-1, 2]\n", "utf-8")
    page = "[report]\ntitle = 'What is better'\nhigher = ['*']\nresamples = 40\n"
    (place / "page.toml").write_text(page, "utf-8")
    table.filter(~((pl.col("sample") == "s3") & (pl.col("model") == "A"))).write_csv(place / "gaps.csv")
    # Forty clusters, thirty of one sample and ten of five: effective size about 22.
    patients = [n if n < 30 else 30 + (n - 30) // 5 for n in range(80)]
    clusters = [
        {"model": m, "sample": n, "metric": "acc", "score": sin(5 * n + 3 * at) + at / 3, "patient": patient}
        for at, m in enumerate("CBA")
        for n, patient in enumerate(patients)
    ]
    pl.DataFrame(clusters).write_csv(place / "clusters.csv")
    acc = table.filter(pl.col("metric") == "acc").select("model", "sample", acc="score")
    prices = pl.col("model").replace_strict({"A": 3.0, "B": 2.0, "C": 1.0})
    acc.with_columns(price=prices).write_csv(place / "priced.csv")
    runs = [
        {"model": m, "sample": n, "metric": "ok", "score": int((3 * n + 5 * run + at) % 7 > 1), "run": run}
        for at, m in enumerate("BA")
        for n in range(20)
        for run in range(6)
    ]
    pl.DataFrame(runs).write_csv(place / "runs.csv")
    return place


def of_document(text):
    """Return the lines of a JSON document: one per setting and row, without the version."""
    document = json.loads(text)
    document["meta"]["version"] = "0"
    rows = document.pop("results")
    lines = json.dumps(shortened(document, 7), indent=1, ensure_ascii=False).splitlines()
    return [*lines, *(json.dumps(shortened(row, 7), ensure_ascii=False) for row in rows)]


NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?(?:e-?\d+)?\b")


def same(lines, stored):
    """Return whether two lines of a document are equal up to the last digits of their numbers."""
    if lines == stored:
        return True
    if NUMBER.sub("#", lines) != NUMBER.sub("#", stored):
        return False
    pairs = zip(NUMBER.findall(lines), NUMBER.findall(stored), strict=True)
    return all(float(number) == pytest.approx(float(other), rel=2e-6, abs=1e-9) for number, other in pairs)


def standing_out(document):
    """Yield one line per section with styled cells: their styles and texts."""
    for part in sections(document):
        cells = itertools.chain(*part.rows) if isinstance(part, Table) else [part]
        styled = [f"{cell.style} {cell.text}" for cell in cells if getattr(cell, "style", "")]
        yield from ["; ".join(styled).replace("\n", " ")] * bool(styled)


def laid_out(line):
    """Normalise a line of a screen; earlier versions of Rich use wider gaps between columns."""
    return line if RICH >= 14 else re.sub("[ ─]+", " ", line).strip()


def changed(lines, stored):
    """Return the difference to a stored document as a diff, or an empty text."""
    at = lines.index("$ json") if "$ json" in lines else inf
    if len(lines) == len(stored) and all(
        laid_out(line_now) == laid_out(other) if line < at else same(line_now, other)
        for line, (line_now, other) in enumerate(zip(lines, stored, strict=True))
    ):
        return ""
    return "\n".join(difflib.unified_diff(stored, lines, "stored", "made", lineterm="", n=1))


@pytest.mark.parametrize("stored", sorted(STORED.glob("*.txt")), ids=lambda path: path.stem)
def test_a_document_reproduces_itself(run, tables, tmp_path, monkeypatch, update_stored, stored):
    before = stored.read_text("utf-8").splitlines()
    command = shlex.split(before[0].removeprefix("$ "))
    monkeypatch.chdir(tables)
    paths = [tmp_path / name for name in ("made.json", "made.txt")]
    outcome = run(*command, *(word for path in paths for word in ("--output", path)))
    assert outcome.stdout == ""
    first, screen = (path.read_text("utf-8") for path in paths)
    keeps_to_its_schema(json.loads(first))
    meta = json.loads(first)["meta"]
    seed = {} if meta["seed"] is None else {"seed": meta["seed"]}
    paths = [entry["path"] for entry in meta["inputs"]]
    reproduced = getattr(rr, command[0])(paths[:1], **meta["settings"], **seed)
    assert reproduced.to_json() == first
    parts = {
        before[0].removeprefix("$ "): screen,
        f"stderr, exit {outcome.status}": outcome.stderr,
        "styles": "\n".join(standing_out(reproduced.document)),
        "json": "\n".join(of_document(first)),
    }
    lines = [line for name, text in parts.items() for line in (f"$ {name}", *text.splitlines())]
    if update_stored:
        stored.write_text("\n".join(lines) + "\n", "utf-8")
    assert update_stored or not (diff := changed(lines, before)), CHANGED + diff


def test_a_change_of_a_word_or_digit_is_noticed():
    stored = ["$ rank", "Ship A: 0.51", "$ json", '{"p": 1.234567, "x": "b2"}']
    assert not changed([*stored[:3], '{"p": 1.234568, "x": "b2"}'], stored)
    for line, text in ((1, "Ship A: 0.52"), (3, '{"p": 1.2346, "x": "b2"}'), (3, '{"p": 1, "x": "b2"}')):
        assert changed([*stored[:line], text, *stored[line + 1 :]], stored).count("\n-") == 1


def test_every_command_of_python_is_reproduced():
    commands = {path.name.partition("-")[0].partition(".")[0] for path in STORED.glob("*.txt")}
    assert {*commands, "convert"} == {row.name for row in COMMANDS if row.python}


def test_an_export_is_reproduced(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [{"inputs": f"q{n}", "latency": n / 7, "rouge1/v1/score": n % 2} for n in range(5)]
    table = {"columns": [*lines[0]], "data": [[*line.values()] for line in lines]}
    (tmp_path / "eval_results_table.json").write_text(json.dumps(table))
    path = "m=eval_results_table.json"
    first = run("convert", "mlflow", path, "--metric", "latency", "--format", "json").stdout
    assert rr.convert(path, **json.loads(first)["meta"]["settings"]).to_json() == first
