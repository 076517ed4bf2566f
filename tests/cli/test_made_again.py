"""A document can be made again from itself: files, settings and seed it tells give the same bytes."""

import json
import shlex
from math import sin

import polars as pl
import pytest

import riskrank as rr
from riskrank.asked.commands import COMMANDS

MIXES = {
    "rank": (
        "--resamples 40 --top 1 --alpha 0.1",
        "--no-test --per-metric --aggregate footrule --models A,B",
        "--no-test --copula empirical --order 2",
        "--resamples 40 --group-by half --seed 3",
        "--resamples 40 --stability 12 --stability-repeats 2",
    ),
    "dominance": ("--resamples 40 --threshold 0.1,0.3 --ratios", "--no-test --test all --metric acc"),
    "mrm": ("--no-test --risk gini-tail --level 0.1 --weight acc=2 --weight f1=1", "--resamples 40"),
    "gsd": ("--no-test --digits 1 --delta 0,0.001", "--resamples 20 --ordinal f1 --witness A:B"),
    "copa": (
        "--p inf,2 --require 'acc >= -9' --resample-models 20",
        "--sweep acc --steps 50 --missing worst",
        "--compare",
        "--why A",
        "--sweep-p --steps 40",
    ),
    "portfolio": ("", "--summary --level 0.1", "--where 'half = 1'"),
    "power": ("--sizes 20 --simulations 2 --resamples 40 --pair A:C --variance clt",),
    "gate": ("--better A:B --margin acc=0.01 --on mean", "--not-worse A:B --margin 0.2 --inconclusive pass"),
    "diff": ("--pair A:B --metric acc", "--pair C:B --group-by half --correction none --cases 2"),
    "report": ("--no-test --copa --title Mine",),
    "check": ("--lower f1", "--columns sample=sample+half"),
}
DIRECTIONS = "--higher *"
# A command that has no mix of its own, as a new one, is asked for what it does by default.
MIXES |= {row.name: ("",) for row in COMMANDS if row.python and row.name not in {"convert", *MIXES}}
CASES = [(name, mix) for name, mixes in MIXES.items() for mix in mixes]


@pytest.fixture
def table(tmp_path, monkeypatch):
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
    pl.DataFrame(rows).write_csv("t.csv")
    return "t.csv"


@pytest.mark.parametrize(("command", "mix"), CASES)
def test_a_document_is_made_again_from_itself(run, table, command, mix):
    ways = [] if "--lower" in mix else shlex.split(DIRECTIONS)
    first = run(command, table, *ways, *shlex.split(mix), "--format", "json").stdout
    meta = json.loads(first)["meta"]
    seed = {} if meta["seed"] is None else {"seed": meta["seed"]}
    paths = [entry["path"] for entry in meta["inputs"]]
    again = getattr(rr, command)(paths, **meta["settings"], **seed)
    assert again.to_json() == first


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
