"""A document can be made again from itself: files, settings and seed it tells give the same bytes.

And its screen, its warnings and its JSON are those of the last time somebody looked: a change that no other
test sees, in one word or one of some thousand numbers, shows here, and what changed can be read in a diff of
``tests/cli/made``. ``pytest tests/cli/test_made_again.py -n 0 --write-made`` writes them anew.
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
from riskrank.asked.commands import COMMANDS
from riskrank.shown.sections import sections
from riskrank.shown.view import Table
from tests.cli.test_schema import keeps_to_its_schema

RICH = int(version("rich").partition(".")[0])
MADE = Path(__file__).with_name("made")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
ANEW = "otherwise than before: if that is meant, write it anew with --write-made\n"

LEADERBOARD = "llm_leaderboard.csv --wide --metrics-file llm_leaderboard.toml"
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
        "--metric acc --explain",
        "suite.csv --metric acc --explain",
        "clusters.csv --cluster patient --resamples 200",
        "--resamples 40 --all-methods --threshold 0.25",
        "--resamples 40 --per-metric --aggregate kemeny --test all",
        "--resamples 40 --rank-by wins --metric acc",
        "judge.csv --wide --human people --judge judge --resamples 100",
    ),
    "dominance": (
        "--resamples 40 --threshold 0.1,0.3 --ratios",
        "--resamples 40 --metric f1",
        "--no-test --test all --metric acc",
        "--unpaired --variance clt",
        "--resamples 40 --group-by half --metric acc",
        "judged.csv --wide --human people --judge judge --resamples 40 --explain",
        "clusters.csv --cluster patient --resamples 200 --explain",
    ),
    "mrm": (
        "--no-test --risk gini-tail --level 0.1 --weight acc=2 --weight f1=1",
        "--resamples 40",
        "suite.csv --resamples 40",
        "--risk standard-deviation --metric acc --resamples 40 --explain",
        "--resamples 40 --group-by half",
        "clusters.csv --cluster patient --resamples 200",
    ),
    "gsd": (
        "--no-test --digits 1 --delta 0,0.001",
        "--resamples 20 --ordinal f1 --witness A:B",
        "--resamples 20 --delta 0.0001 --front-test A --explain",
        "uci.csv --metrics-file uci.toml --models GBM,RF,CART --no-test --baselines --explain",
    ),
    "copa": (
        "--p inf,2 --require 'acc >= -9' --resample-models 20",
        "--sweep acc --steps 50 --missing worst",
        "--compare",
        "--why A",
        "--sweep-p --steps 40",
        "suite.csv --objective acc:mean --objective f1:tvar@0.2 --resamples 40",
        "suite.csv --objective acc:mean --tasks random --resamples 40 --margin acc=0.1",
        "priced.csv --wide --higher acc --lower price --explain",
        "clusters.csv --cluster patient",
        f"{LEADERBOARD} --explain",
        f"{LEADERBOARD} --sweep co2 --p 1,inf",
        f"{LEADERBOARD} --compare --require 'co2 <= 0.5'",
    ),
    "portfolio": (
        "",
        "--summary --level 0.1",
        "--copula empirical --copula-scope model",
        "--where 'half = 1'",
        "suite.csv --summary",
    ),
    "power": (
        "--sizes 20 --simulations 2 --resamples 40 --pair A:C --variance clt",
        "suite.csv --sizes 20 --simulations 2 --resamples 40 --pair A:C --metric acc",
        "--anytime --pair A:B --metric acc --metrics-file bounds.toml --simulations 20 --limit 2000",
        "judged.csv --wide --human people --judge judge --pair A:B",
        "judge.csv --wide --human people --judge judge --pair wordy:base --simulations 5",
        "judge.csv --wide --human people --judge judge --pair small:tuned --margin 1.5 --simulations 5",
    ),
    "gate": (
        "--better A:B --margin acc=0.01 --on mean",
        "--not-worse A:B --margin 0.2 --inconclusive pass",
        "--better A:B --on tvar@0.2 --unpaired",
        "--not-worse A:B --margin 0.3 --metric acc --anytime --metrics-file bounds.toml",
        "suite.csv --not-worse A:B --margin 0.2 --on macro --metric acc",
        "judged.csv --wide --human people --judge judge --better A:B",
        "judge.csv --wide --human people --judge judge --better tuned:small --on tvar@0.25 --on ssd",
        "suite.csv --not-worse A:B --margin 0.5 --on macro --tasks random --metric acc --explain",
        "gaps.csv --not-worse A:B --margin 0.2 --missing bounds --metrics-file bounds.toml --metric acc",
        "--not-worse A:B --margin 0.3 --group-by half --metric acc --cases 2 --explain",
        "clusters.csv --cluster patient --better A:B --on mean --on ssd",
        "runs.csv --each-sample 0.2 --repeats draws --models A,B",
    ),
    "diff": (
        "--pair A:B --metric acc",
        "--pair C:B --group-by half --correction none --cases 2",
        "runs.csv --pair A:B --repeats draws --explain",
    ),
    "report": ("--no-test --copa --title Mine",),
    "check": ("--lower f1", "--columns sample=sample+half", "judged.csv --wide --human people --judge judge"),
}
MIXES["trend"] = (
    "weeks.csv --columns run=week --baseline 2",
    "weeks.csv --columns run=week --metric acc --explain",
)
DIRECTIONS = "--higher *"
# A command that has no mix of its own, as a new one, is asked for what it does by default.
MIXES |= {row.name: ("",) for row in COMMANDS if row.python and row.name not in {"convert", *MIXES}}
CASES = [(name, mix) for name, mixes in MIXES.items() for mix in mixes]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables, which no test writes to."""
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
    # Six tasks of 2 to 7 samples, 24 of 27 there.
    starts = [0, 2, 5, 9, 14, 18]
    tasks = [f"t{sum(int(row['sample'][1:]) >= start for start in starts)}" for row in rows]
    table.with_columns(task=pl.Series(tasks)).write_csv(place / "suite.csv")
    judged = [
        {"model": m, "sample": n, "people": said if n < 24 else None, "judge": min(said + n % 4 // 3, 5)}
        for at, m in enumerate("CBA")
        for n in range(60)
        for said in [1 + (7 * n + 3 * at * (n % 5 > 1)) % 5]
    ]
    pl.DataFrame(judged).write_csv(place / "judged.csv")
    (place / "bounds.toml").write_text("[acc]\nbounds = [-1, 2]\n", "utf-8")
    table.filter(~((pl.col("sample") == "s3") & (pl.col("model") == "A"))).write_csv(place / "gaps.csv")
    # Forty clusters, thirty of one sample and ten of five: worth about 22.
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
    """A JSON document to be read: a line a setting and a row, without the version."""
    document = json.loads(text)
    document["meta"]["version"] = "0"
    rows = document.pop("results")
    lines = json.dumps(shortened(document), indent=1, ensure_ascii=False).splitlines()
    return [*lines, *(json.dumps(shortened(row), ensure_ascii=False) for row in rows)]


def shortened(value):
    """Numbers with seven digits: what other libraries make of the last ones is nobody's matter."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?(?:e-?\d+)?\b")


def same(made, stored):
    """Whether two lines of a document are the same but for the last digits of their numbers."""
    if made == stored:
        return True
    if NUMBER.sub("#", made) != NUMBER.sub("#", stored):
        return False
    pairs = zip(NUMBER.findall(made), NUMBER.findall(stored), strict=True)
    return all(float(one) == pytest.approx(float(other), rel=2e-6, abs=1e-9) for one, other in pairs)


def standing_out(document):
    """A line a section of a page: style and text of what does not look like the rest."""
    for part in sections(document):
        cells = itertools.chain(*part.rows) if isinstance(part, Table) else [part]
        found = [f"{one.style} {one.text}" for one in cells if getattr(one, "style", "")]
        yield from ["; ".join(found).replace("\n", " ")] * bool(found)


def laid_out(line):
    """A line of a screen; earlier versions of Rich set some columns further apart."""
    return line if RICH >= 14 else re.sub("[ ─]+", " ", line).strip()


def changed(made, stored):
    """What is made otherwise than it is stored, as a diff; nothing where it is the same."""
    at = made.index("$ json") if "$ json" in made else inf
    if len(made) == len(stored) and all(
        laid_out(one) == laid_out(other) if line < at else same(one, other)
        for line, (one, other) in enumerate(zip(made, stored, strict=True))
    ):
        return ""
    return "\n".join(difflib.unified_diff(stored, made, "stored", "made", lineterm="", n=1))


@pytest.mark.parametrize(("command", "mix"), CASES)
def test_a_document_is_made_again_from_itself(run, tables, tmp_path, monkeypatch, write_made, command, mix):
    monkeypatch.chdir(tables)
    words = [word for word in shlex.split(mix) if word != "--explain"]
    table = words.pop(0) if words and words[0].endswith(".csv") else "t.csv"
    ways = (
        []
        if {"--lower", "--higher", "--metrics-file"} & {*words} and "bounds.toml" not in words
        else shlex.split(DIRECTIONS)
    )
    asked = (command, table, *ways, *words)
    explain = ["--explain"] if "--explain" in mix else []
    paths = [tmp_path / name for name in ("made.json", "made.txt")]
    outcome = run(*asked, *explain, *(word for path in paths for word in ("--output", path)))
    assert outcome.stdout == ""
    first, screen = (path.read_text("utf-8") for path in paths)
    keeps_to_its_schema(json.loads(first))
    meta = json.loads(first)["meta"]
    seed = {} if meta["seed"] is None else {"seed": meta["seed"]}
    paths = [entry["path"] for entry in meta["inputs"]]
    again = getattr(rr, command)(paths[:1], **meta["settings"], **seed)
    assert again.to_json() == first
    parts = {
        shlex.join(asked): screen,
        f"stderr, exit {outcome.status}": outcome.stderr,
        "styles": "\n".join(standing_out(again.document)),
        "json": "\n".join(of_document(first)),
    }
    made = [line for name, text in parts.items() for line in (f"$ {name}", *text.splitlines())]
    stored = MADE / (re.sub(r"[^a-z0-9.]+", "-", f"{command} {mix}".lower()).strip("-") + ".txt")
    if write_made:
        stored.write_text("\n".join(made) + "\n", "utf-8")
    before = stored.read_text("utf-8").splitlines() if stored.exists() else []
    assert not (diff := changed(made, before)), ANEW + diff


def test_a_change_of_one_word_or_digit_is_seen():
    stored = ["$ rank", "Ship A: 0.51", "$ json", '{"p": 1.234567, "x": "b2"}']
    assert not changed([*stored[:3], '{"p": 1.234568, "x": "b2"}'], stored)
    for line, text in (
        (1, "Ship A: 0.52"),
        (3, '{"p": 1.2346, "x": "b2"}'),
        (3, '{"p": 1, "x": "b2"}'),
    ):
        assert changed([*stored[:line], text, *stored[line + 1 :]], stored).count("\n-") == 1


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
