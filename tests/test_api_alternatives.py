"""Alternative spellings in Python: mappings, comma-separated texts, models of a gate by name."""

import inspect
import json

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank import errors
from riskrank.cli.options import flag_options
from riskrank.options.commands import COMMANDS


def table() -> dict[str, list]:
    rng = np.random.default_rng(0)
    models = [name for name in ("a", "b", "c, large") for _ in range(40)]
    numbers = {"acc": rng.random(120).tolist(), "cost": rng.random(120).tolist()}
    topics = [*["x"] * 10, *["y"] * 30] * 3
    return {"model": models, "sample": [*range(40)] * 3, "topic": topics} | numbers


def rank(**options) -> str:
    return rr.rank(table(), wide=True, no_test=True, jobs=1, **options).to_json()


def gate(**options) -> str:
    return rr.gate(table(), wide=True, lower="cost", jobs=1, **options).to_json()


BASE = {"lower": "cost", "higher": "acc"}


@pytest.mark.parametrize(
    ("guessed", "plain"),
    [
        ({"directions": {"cost": "lower", "acc": "higher"}}, BASE),
        ({"directions": {"cost": "lower"}, "higher": "acc"}, BASE),
        ({"metrics": {"cost": {"direction": "lower"}, "acc": {"direction": "higher"}}}, BASE),
        ({"lower": "cost, acc"}, {"lower": ["cost", "acc"]}),
        ({"models": "a,b"}, {"models": ["a", "b"]}),
        ({"models": 'a,"c, large"'}, {"models": ["a", "c, large"]}),
        ({"weights": {"acc": 2, "cost": 1}}, {"weight": {"acc": 2, "cost": 1}}),
        ({"metrics": None, "directions": None}, {}),
        ({"task": "topic", "task_weight": {"x": 2}}, {"task": "topic", "task_weight": ["x=2"]}),
    ],
)
def test_alternative_spellings_are_equivalent(guessed, plain):
    assert rank(**guessed) == rank(**plain)


def test_lists_are_not_split_at_commas():
    assert json.loads(rank(models=["a", "c, large"]))["meta"]["models"] == ["a", "c, large"]


def test_mapping_equals_a_metrics_file(tmp_path):
    (tmp_path / "m.toml").write_text(
        '[cost]\ndirection = "lower"\ntransform = "neg_log"\nbounds = [0, 1]\nweight = 1\n'
        '[acc]\ndirection = "higher"\nweight = 2\nscale = "ordinal"\n'
    )
    metrics = {
        "cost": {"direction": "lower", "transform": "neg_log", "bounds": (0, np.int64(1)), "weight": 1},
        "acc": {"direction": "higher", "weight": np.float32(2), "scale": "ordinal"},
    }
    ours, theirs = json.loads(rank(metrics=metrics)), json.loads(rank(metrics_file=tmp_path / "m.toml"))
    assert ours["results"] == theirs["results"]
    assert ours["meta"]["metrics"] == theirs["meta"]["metrics"]
    settings = ours["meta"]["settings"]
    assert json.loads(rr.rank(table(), **settings).to_json()) == ours


def test_mapping_applies_to_later_commands():
    scores = rr.read(table(), wide=True, metrics={"cost": {"direction": "lower"}})
    assert [metric.direction for metric in scores.table().metrics] == ["higher", "lower"]
    assert rr.read(scores, directions={"acc": "lower"}).table().metrics[0].direction == "lower"


@pytest.mark.parametrize(
    ("guessed", "plain"),
    [
        ({"not_worse": True, "margin": 0.05}, {"not_worse": "b:a", "margin": 0.05}),
        ({}, {"not_worse": "b:a"}),
        ({"better": True}, {"better": "b:a"}),
        ({"better": True, "not_worse": np.True_}, {"better": "b:a", "not_worse": "b:a"}),
        ({"better": False}, {"not_worse": "b:a"}),
        ({"new": ["b", "c, large"]}, {"not_worse": ["b:a", "c, large:a"]}),
    ],
)
def test_a_gate_takes_its_models_by_name(guessed, plain):
    assert gate(**({"new": "b", "old": "a"} | guessed)) == gate(**plain)


def test_help_and_signatures_document_the_alternatives():
    assert "Alias: ``weights``." in rr.rank.__doc__
    assert "\ndirections : mapping of str to str, optional\n" in rr.rank.__doc__
    assert "\nbetter : str or sequence of str, or True\n" in rr.gate.__doc__
    assert {"metrics", "directions"} <= set(inspect.signature(rr.copa).parameters)
    assert {"new", "old"} <= set(inspect.signature(rr.gate).parameters)
    assert inspect.signature(rr.gate).return_annotation == "GateResult"
    assert str(inspect.signature(rr.gate)).startswith("(scores=None, /")
    assert all(str(inspect.signature(call)).startswith("(scores, /") for call in (rr.rank, rr.diff, rr.copa))


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_command_line_has_no_such_options(row):
    assert {option.name for option in flag_options(row)}.isdisjoint({"metrics", "directions", "new", "old"})


def test_check_suggests_a_file_for_python_only_settings():
    metrics = {"cost": {"direction": "lower"}, "acc": {"direction": "higher", "bounds": [0, 1]}}
    text = repr(rr.check(pl.DataFrame(table()), wide=True, metrics=metrics))
    assert "--lower cost --higher acc --metrics-file FILE.toml" in " ".join(text.split())


def test_gate_accepts_two_files_or_frames(tmp_path):
    long = pl.DataFrame(table()).unpivot(
        on=["acc"], index=["model", "sample"], variable_name="metric", value_name="score"
    )
    tables = {name: long.filter(pl.col("model") == name) for name in ("a", "b")}
    paths = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, path in paths.items():
        tables[name].write_csv(path)
    options = {"margin": 0.1, "resamples": 400}
    labelled = [f"new={paths['a']}", f"old={paths['b']}"]
    plain = rr.gate(labelled, not_worse="new:old", **options)
    for new, old in ((paths["a"], str(paths["b"])), (tables["a"], tables["b"])):
        assert rr.gate(new=new, old=old, **options).rows == plain.rows
        assert rr.gate(new=new, old=old, not_worse="new:old", **options).rows == plain.rows
        assert rr.gate(new=new, old=old, better=True, **options).rows[0].claim == "better"
    rr.read(paths["b"]).bless(tmp_path / "kept.parquet")
    stored = rr.gate(new=paths["a"], baseline=str(tmp_path / "kept.parquet"), **options)
    assert (stored.rows[0].estimate, stored.rows[0].p_value) == (
        plain.rows[0].estimate,
        plain.rows[0].p_value,
    )


def test_errors_use_the_python_names():
    """The error uses the Python name of the only option whose name differs."""
    also = {
        option.name: option.spec.python_alias
        for row in COMMANDS
        for option in flag_options(row)
        if option.spec.python_alias
    }
    assert {errors.spell(errors.option(name), flags=False) for name in also} == set(also.values())
