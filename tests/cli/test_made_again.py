"""A document can be made again from itself: files, settings and seed it tells give the same bytes.

And its figures are those of the last time somebody looked: a change that no other test sees, in one of some
thousand numbers, shows here. ``pytest tests/cli/test_made_again.py -n 0 --write-figures`` writes them anew.
"""

import json
import shlex
from math import sin
from pathlib import Path
from zlib import crc32

import polars as pl
import pytest

import riskrank as rr
from riskrank.asked.commands import COMMANDS

FIGURES = Path(__file__).with_name("figures.json")
ANEW = "other figures than before: if they are meant, write them anew with --write-figures"
# Of every field of a document, as `folded` says.
STORED = json.loads(FIGURES.read_text("utf-8"))

MIXES = {
    "rank": (
        "--resamples 40 --top 1 --alpha 0.1",
        "--no-test --per-metric --aggregate footrule --models A,B",
        "--no-test --copula empirical --order 2",
        "--resamples 40 --group-by half --seed 3",
        "--resamples 40 --stability 12 --stability-repeats 2",
        "suite.csv --resamples 40",
        "suite.csv --resamples 40 --tasks random --metric acc",
        "suite.csv --no-test --task-scale rank --task-weight samples",
        "judged.csv --wide --human people --judge judge --resamples 40",
    ),
    "dominance": (
        "--resamples 40 --threshold 0.1,0.3 --ratios",
        "--no-test --test all --metric acc",
        "--unpaired --variance clt",
    ),
    "mrm": (
        "--no-test --risk gini-tail --level 0.1 --weight acc=2 --weight f1=1",
        "--resamples 40",
        "suite.csv --resamples 40",
    ),
    "gsd": ("--no-test --digits 1 --delta 0,0.001", "--resamples 20 --ordinal f1 --witness A:B"),
    "copa": (
        "--p inf,2 --require 'acc >= -9' --resample-models 20",
        "--sweep acc --steps 50 --missing worst",
        "--compare",
        "--why A",
        "--sweep-p --steps 40",
        "suite.csv --objective acc:mean --objective f1:tvar@0.2 --resamples 40",
        "suite.csv --objective acc:mean --tasks random --resamples 40 --margin acc=0.1",
    ),
    "portfolio": ("", "--summary --level 0.1", "--where 'half = 1'", "suite.csv --summary"),
    "power": (
        "--sizes 20 --simulations 2 --resamples 40 --pair A:C --variance clt",
        "suite.csv --sizes 20 --simulations 2 --resamples 40 --pair A:C --metric acc",
    ),
    "gate": (
        "--better A:B --margin acc=0.01 --on mean",
        "--not-worse A:B --margin 0.2 --inconclusive pass",
        "--better A:B --on tvar@0.2 --unpaired",
        "--not-worse A:B --margin 0.3 --metric acc --anytime --metrics-file bounds.toml",
        "suite.csv --not-worse A:B --margin 0.2 --on macro --metric acc",
        "judged.csv --wide --human people --judge judge --better A:B",
    ),
    "diff": ("--pair A:B --metric acc", "--pair C:B --group-by half --correction none --cases 2"),
    "report": ("--no-test --copa --title Mine",),
    "check": ("--lower f1", "--columns sample=sample+half", "judged.csv --wide --human people --judge judge"),
}
DIRECTIONS = "--higher *"
# A command that has no mix of its own, as a new one, is asked for what it does by default.
MIXES |= {row.name: ("",) for row in COMMANDS if row.python and row.name not in {"convert", *MIXES}}
CASES = [(name, mix) for name, mixes in MIXES.items() for mix in mixes]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
    table.write_csv("t.csv")
    # Six tasks of 2 to 7 samples, 24 of 27 there.
    starts = [0, 2, 5, 9, 14, 18]
    tasks = [f"t{sum(int(row['sample'][1:]) >= start for start in starts)}" for row in rows]
    table.with_columns(task=pl.Series(tasks)).write_csv("suite.csv")
    judged = [
        {"model": m, "sample": n, "people": said if n < 24 else None, "judge": min(said + n % 4 // 3, 5)}
        for at, m in enumerate("CBA")
        for n in range(60)
        for said in [1 + (7 * n + 3 * at * (n % 5 > 1)) % 5]
    ]
    pl.DataFrame(judged).write_csv("judged.csv")
    Path("bounds.toml").write_text("[acc]\nbounds = [-1, 2]\n", "utf-8")


def folded(value, at="", found=None):
    """One number a field of a document: its numbers in their order weighed, texts and gaps as numbers too."""
    found = {} if found is None else found
    if isinstance(value, dict):
        for name, one in value.items():
            folded(one, f"{at}.{name}" if at else name, found)
    elif isinstance(value, list):
        for one in value:
            folded(one, at, found)
    else:
        if isinstance(value, str):
            # Sentences are for other tests.
            value = crc32(value.encode()) % 997 if at.startswith("results") else 0
        count, total = found.get(at, (0, 0.0))
        found[at] = count + 1, total + (count % 7 + 1) * (0.5 if value is None else float(value))
    return found


@pytest.mark.parametrize(("command", "mix"), CASES)
def test_a_document_is_made_again_from_itself(run, tables, write_figures, command, mix):
    words = shlex.split(mix)
    table = words.pop(0) if words and words[0].endswith(".csv") else "t.csv"
    ways = [] if "--lower" in mix else shlex.split(DIRECTIONS)
    first = run(command, table, *ways, *words, "--format", "json").stdout
    meta = json.loads(first)["meta"]
    seed = {} if meta["seed"] is None else {"seed": meta["seed"]}
    paths = [entry["path"] for entry in meta["inputs"]]
    again = getattr(rr, command)(paths, **meta["settings"], **seed)
    assert again.to_json() == first
    case = f"{command} {mix}".strip()
    figures = folded({"results": json.loads(first)["results"], "meta": _told(meta)})
    if write_figures:
        _store(case, figures)
    stored = STORED.get(case, {})
    assert figures.keys() == stored.keys(), ANEW
    for field, found in figures.items():
        assert found == pytest.approx(stored[field], rel=1e-7, abs=1e-9), f"{field}: {ANEW}"


def _told(meta):
    return {name: value for name, value in meta.items() if name not in {"inputs", "settings", "warnings"}}


def _store(case, figures):
    STORED[case] = {field: [count, float(f"{total:.9g}")] for field, (count, total) in figures.items()}
    lines = (f"{json.dumps(one)}: {json.dumps(STORED[one])}" for one in sorted(STORED))
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def test_every_command_of_python_is_made_again():
    assert {*MIXES, "convert"} == {row.name for row in COMMANDS if row.python}


def test_an_export_is_made_again(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [{"inputs": f"q{n}", "latency": n / 7, "rouge1/v1/score": n % 2} for n in range(5)]
    table = {"columns": [*lines[0]], "data": [[*line.values()] for line in lines]}
    (tmp_path / "eval_results_table.json").write_text(json.dumps(table))
    path = "m=eval_results_table.json"
    first = run("convert", "mlflow", path, "--metric", "latency", "--format", "json").stdout
    assert rr.convert(path, **json.loads(first)["meta"]["settings"]).to_json() == first
