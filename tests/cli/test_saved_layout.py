"""``check --save`` describes a table once: no command then needs an option to read it."""

import shlex
import tomllib

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.options.option import options_of
from riskrank.options.reading import RankReading
from tests.cli.conftest import RESAMPLES
from tests.scores.layouts.test_readings import TABLES

RNG = np.random.default_rng(10)
SWITCHES = {opt.flag: opt.switch for opt in options_of(RankReading) if opt.name != "group_by"}
GRID = {"model": ["a", "b"] * 40, "query": [f"q{at // 2}" for at in range(80)]}
FRAMES = {name: row[0] for name, row in TABLES.items()} | {
    "percentages": pl.DataFrame(GRID | {"score": [f"{value:.1f}%" for value in 100 * RNG.random(80)]}),
    "languages": pl.DataFrame(
        GRID | {"lang": ["de"] * 30 + ["en"] * 50, "acc": RNG.random(80), "cost_usd": RNG.random(80)}
    ),
}


def without_reading_options(words):
    """Return the words of a command without the options that read the table, and their values."""
    kept, rest = [], iter(words)
    for word in rest:
        if word not in SWITCHES:
            kept.append(word)
        elif not SWITCHES[word]:
            next(rest)
    return kept


@pytest.fixture
def document(run):
    """Return a function that runs a command and returns its JSON document without the configuration file."""

    def answer(words, *options):
        resamples = RESAMPLES if words[0] in ("rank", "dominance") else ()
        outcome = run(*words, *resamples, *options, "--format", "json")
        assert outcome.status == 0, outcome
        content = outcome.document
        content["meta"].pop("config", None)
        return content

    return answer


@pytest.mark.parametrize("kind", FRAMES)
def test_saved_options_are_the_printed_ones(run, document, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    FRAMES[kind].write_csv("scores.csv")
    checked = run("check", "scores.csv", "--save", "riskrank.toml", "--format", "json")
    assert checked.status == 0, checked
    commands = [shlex.split(row["command"])[1:] for row in checked.meta["suggestions"]]
    for words in commands[: len(commands) if kind == "languages" else 1]:
        if words[0] not in ("check", "portfolio", "power"):
            assert document(without_reading_options(words)) == document(words, "--config", "none"), words


def test_every_setting_has_a_comment(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAMES["languages"].write_csv("scores.csv")
    assert run("check", "scores.csv", "--missing", "drop", "--save", "riskrank.toml").status == 0
    text = (tmp_path / "riskrank.toml").read_text("utf-8")
    layout = rr.read("scores.csv", missing="drop").layout
    assert layout.to_toml() == text
    assert tomllib.loads(text) == {
        "columns": "sample=query",
        "task": "lang",
        "wide": True,
        "lower": ["cost_usd"],
        "higher": ["acc"],
        "missing": "drop",
    }
    sections = text.strip().split("\n\n")
    assert all(section.startswith("# ") for section in sections)
    assert '# metrics-file = "acc.bounds = [0, 1]"' in text
    assert (
        rr.rank("scores.csv", no_test=True, **layout.options).best == rr.rank("scores.csv", no_test=True).best
    )


def test_bounds_and_shared_samples_are_kept(run, document, tmp_path, monkeypatch):
    """Bounds stay lines of a metrics file; only some commands compare models on shared samples."""
    monkeypatch.chdir(tmp_path)
    frame = FRAMES["languages"].with_row_index().filter(pl.col("index") > 4)
    frame.select("model", "query", "acc").write_csv("scores.csv")
    options = ["--metrics-file", "acc.bounds = [0, 1]", "--missing"]
    (tmp_path / "sub").mkdir()
    assert run("check", "scores.csv", *options, "worst", "--save", "sub/layout.toml").status == 0
    words = ["rank", "scores.csv", "--higher", "acc"]
    saved = document(["rank", "scores.csv"], "--config", "sub/layout.toml")
    assert saved == document([*words, "--columns", "sample=query", "--wide", *options, "worst"])
    assert run("check", "scores.csv", "--missing", "shared", "--save", "riskrank.toml").status == 0
    assert document(["rank", "scores.csv"])["meta"]["method"]["missing"] == "shared"
    assert "were not scored on the same samples" in run("dominance", "scores.csv").stderr


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM scores",
        "SELECT * REPLACE ((SELECT x FROM read_csv('a')) AS score) FROM scores",
        "SELECT * REPLACE (1 AS score); DROP TABLE scores; (SELECT 1) FROM scores",
        "SELECT * REPLACE (1 AS score); ATTACH 'a'; () FROM scores",
    ],
)
def test_only_conversions_of_columns_are_safe_queries(refused, write, tmp_path, monkeypatch, query):
    monkeypatch.chdir(tmp_path)
    write("scores.csv")
    write("riskrank.toml", f'sql = "{query}"\n')
    assert "'sql' is allowed only in a file that --config names" in refused("rank", "scores.csv")[0]


def test_only_saved_layouts_are_replaced(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("scores.csv")
    write("riskrank.toml", 'missing = "drop"\n')
    outcome = run("check", "scores.csv", "--save", "riskrank.toml")
    assert outcome.status == 2
    assert outcome.stderr.startswith("error: riskrank.toml exists, and --save would overwrite it\n")
    for _ in range(2):
        assert run("check", "scores.csv", "--save", "layout.toml").status == 0
