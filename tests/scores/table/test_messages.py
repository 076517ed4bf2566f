"""Each message of the reading stage: a table that provokes it, its advice followed, and what is read then.

`messages.toml` lists them: what the message says, the table or files, what is asked, and models, metrics and
number of samples that are read once the advice is followed. That is what the first way out or the hint says
to add, unless the advice is prose: then options or another table do what it says. `false` unsets an option.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import riskrank
from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.baseline import GateReading
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.layouts import column_profiles
from riskrank.scores.table.score_table import read_scores

ROOM = Path(riskrank.__file__).parent / "scores/table"
MESSAGES = tomllib.loads(Path(__file__).with_name("messages.toml").read_text())["message"]
KINDS = {"gate": GateReading, "rank": RankReading}
# Messages about gates, trends, prices, votes and what is done with a table have tests of their own.
ELSEWHERE = {
    *("baseline", "blessing", "overlap", "unshared", "apart", "metrics_file", "export_rows"),
    *("runs", "prices", "votes", "judged", "groups", "oriented"),
}
# A metric that was blessed otherwise, and a frame where a harness's files are asked for.
NEVER_OF_FILES = {("metrics.py", "_as_blessed"), ("reading.py", "_opened"), ("shifted.py", "require_most")}
# What makes an error, and what writes an option into one.
RAISES = {"InputError", "UsageError", "no_such", "contradict", "index_of"}
OPTION = re.compile("\ue000([a-z_]+)\ue001([^\ue002]*)\ue002")
TOGETHER = re.compile(rf"{OPTION.pattern}(?: {OPTION.pattern})*")

ROWS = [(model, f"q{s}", 0.3 + s % 5 / 10 + (model == "B") / 20) for model in "AB" for s in range(40)]
TABLES = {
    "good": "model,sample,metric,score\nA,1,m,0.1\nA,2,m,0.2\nB,1,m,0.3\nB,2,m,0.4\n",
    "columns": "\n".join(
        ",".join(f"{word}{at % over}" for at in range(120)) for word, over in (("c", 120), *[("", 7)] * 3)
    ),
    "labels": "model,sample,judge,human\n"
    + "".join(
        f"{m},{s},{x:.2f},{'' if at % 40 > 29 else at * 3 % 10 / 10}\n" for at, (m, s, x) in enumerate(ROWS)
    ),
    "books": "model,sample,Buch,acc\n"
    + "".join(
        f"{m},{s},Buch {s % 10},{0.2 + s / 500 + (m == 'B') * (s % 10) / 20:.3f}\n"
        for m in "AB"
        for s in range(60)
    ),
    "seeds": "model,seed,example,correct\n"
    + "".join(
        f"{m},{s},{at},{(at * 7 + s * 3) % 10 / 9 + s / 2:.3f}\n"
        for m in "AB"
        for s in range(4)
        for at in range(40)
    ),
    "failures": "model,sample,acc,status\n"
    + "".join(
        f"{m},{s},{',error' if at in range(1, 40, 2) else f'0.5{at % 7},ok'}\n"
        for at, (m, s, _) in enumerate(ROWS)
    ),
}


def options(told):
    """Options as a message's entry writes them."""
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    return {name: None if value is False else value for name, value in plain.items()}


def said_first(text):
    """The options that a text says first, by name."""
    found, together = {}, TOGETHER.search(text)
    for name, value in OPTION.findall(together[0]) if together else ():
        if name == "weight":
            found[name] = {value.split("=")[0]: float(value.split("=")[1])}
        elif isinstance(getattr(ReadOptions(), name), tuple):
            found[name] = (*found.get(name, ()), *(value.split(",") if name != "task_weight" else [value]))
        else:
            found[name] = value == "True" or value
    return found


@pytest.fixture(autouse=True)
def few_columns_are_many(monkeypatch):
    """Of a table of more columns than 100, in the place of 1,000, not all are looked at."""
    monkeypatch.setattr(column_profiles, "_MOST_COLUMNS", 100)


def read(folder, files, asked):
    """Write files, and read them, or the paths that are asked for."""
    given, paths = dict(asked), []
    kind, named = KINDS.get(given.pop("kind", ""), ReadOptions), given.pop("paths", None)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, str):
            path.write_text(TABLES.get(text, text))
        else:
            pl.DataFrame(text).write_parquet(path)
        paths += [] if name.endswith("toml") else [name]
    given |= (
        {"metrics_file": str(folder / given["metrics_file"])} if given.get("metrics_file") in files else {}
    )
    return read_scores([str(folder / name) for name in named or paths], kind(**given))


def files_of(message):
    return message.get("files") or {"t.csv": message.get("table", "good")}


@pytest.mark.parametrize("at", range(len(MESSAGES)), ids=lambda at: f"{at} {MESSAGES[at]['says']}")
def test_advice_that_is_followed_leads_to_a_table(tmp_path, at):
    message = MESSAGES[at]
    files, asked = files_of(message), options(message.get("asked", {}))
    with pytest.raises((InputError, UsageError)) as caught:
        read(tmp_path, files, asked)
    lines = caught.value.lines(flags=True)
    assert message["says"] in " ".join(lines)
    if "instead" in message:
        files, asked = {"t.csv": message["instead"]}, {}
    asked |= options(message.get("then", {}))
    error = caught.value
    for _ in range(2):
        if not {"then", "instead"} & message.keys():
            more = said_first(error.ways[0][0] if error.ways else error.hint)
            assert more, lines
            asked |= more
        try:
            table = read(tmp_path, files, asked)
            break
        except RiskrankError as again:
            error = again
    else:
        raise error
    metrics = " ".join(spec.name for spec in table.metrics)
    assert f"{' '.join(table.models)}|{metrics}|{len(table.samples)}" == message["reads"]


def making_messages():
    """Functions of the reading stage that make an error: (file, function)."""
    found = set()
    for path in (path for path in ROOM.rglob("*.py") if path.stem not in ELSEWHERE):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                called = {getattr(one.func, "id", "") for one in ast.walk(node) if isinstance(one, ast.Call)}
                found |= {(str(path.relative_to(ROOM)), node.name)} if called & RAISES else set()
    return found - NEVER_OF_FILES


@pytest.mark.slow
def test_every_message_is_among_them(tmp_path, monkeypatch):
    seen, made = set(), RiskrankError.__init__

    def recorded(self, *args, **kwargs):
        frame = sys._getframe(1)
        while frame is not None and ROOM not in Path(frame.f_code.co_filename).parents:
            frame = frame.f_back
        if frame is not None:
            seen.add((str(Path(frame.f_code.co_filename).relative_to(ROOM)), frame.f_code.co_name))
        made(self, *args, **kwargs)

    monkeypatch.setattr(RiskrankError, "__init__", recorded)
    for at, message in enumerate(MESSAGES):
        with pytest.raises(RiskrankError):
            read(tmp_path / str(at), files_of(message), options(message.get("asked", {})))
    assert making_messages() - seen == set()
