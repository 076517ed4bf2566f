"""Results of the Python API: verdicts of gates, files, and frames of other libraries."""

import builtins
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank import errors

QUICK = {"wide": True, "jobs": 1}


def table(shift: float = 0.0) -> dict[str, list]:
    rng = np.random.default_rng(0)
    hard = rng.random(60)
    scores = [*hard, *(hard + shift + 0.01 * rng.random(60))]
    return {"model": ["old"] * 60 + ["new"] * 60, "sample": [*range(60)] * 2, "acc": scores}


@pytest.mark.parametrize(
    ("shift", "counts_as", "status", "passed"),
    [
        (0.5, None, "pass", True),
        (-0.5, None, "fail", False),
        (-0.005, None, "inconclusive", False),
        (-0.005, "fail", "inconclusive", False),
        (-0.005, "pass", "inconclusive", True),
    ],
)
def test_a_gate_is_false_unless_it_passed(shift, counts_as, status, passed):
    options = {"not_worse": "new:old", "inconclusive": counts_as} | QUICK
    gate = rr.gate(table(shift), **options)
    assert isinstance(gate, rr.GateResult)
    assert (gate.status, gate.passed, bool(gate)) == (status, passed, passed)
    assert (gate.failed is None) == passed


def test_any_other_result_is_true():
    assert rr.check(table(), wide=True)
    ranking = rr.rank(table(), resamples=100, **QUICK)
    assert ranking
    assert not hasattr(ranking, "status")


FORMS = {
    "json": rr.Result.to_json,
    "jsonl": rr.Result.to_jsonl,
    "ndjson": rr.Result.to_jsonl,
    "csv": rr.Result.to_csv,
    "md": rr.Result.to_markdown,
    "tex": rr.Result.to_latex,
    "html": rr.Result.to_html,
}


@pytest.mark.parametrize("suffix", FORMS)
def test_file_suffix_selects_the_format(tmp_path, suffix):
    result = rr.gate(table(0.5), better="new:old", **QUICK)
    path = tmp_path / f"gate.{suffix}"
    result.save(path)
    assert path.read_text(encoding="utf-8") == FORMS[suffix](result)
    path.write_text("before")
    result.save(str(path))
    assert path.read_text(encoding="utf-8") == FORMS[suffix](result)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("command", ["rank", "mrm", "dominance", "portfolio", "check"])
def test_parquet_holds_the_frame(tmp_path, command):
    result = getattr(rr, command)(table(), wide=True)
    result.save(tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").equals(result.frame)


def test_junit_is_for_gates(tmp_path):
    rr.gate(table(0.5), better="new:old", **QUICK).save(tmp_path / "gate.xml")
    assert "<testsuite" in (tmp_path / "gate.xml").read_text()
    with pytest.raises(errors.UsageError, match=r"unknown format of .*rank\.xml"):
        rr.rank(table(), no_test=True, **QUICK).save(tmp_path / "rank.xml")


@pytest.mark.parametrize("name", ["x", "x.what", "no/x.json", "", 5, None, b"x.json"])
def test_invalid_paths_are_refused_and_leave_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.UsageError) as caught:
        rr.check(table(), wide=True).save(name)
    assert len(str(caught.value).splitlines()) == 3
    assert "--" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == []


def test_result_does_not_replace_its_input(tmp_path):
    path = tmp_path / "scores.csv"
    pl.DataFrame(table()).write_csv(path)
    with pytest.raises(errors.UsageError, match="would overwrite an input"):
        rr.check(path, wide=True).save(path)


def test_full_disk_keeps_the_existing_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    path.write_text("before")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(errors.UsageError, match="No space left"):
        rr.check(table(), wide=True).save(path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


def test_pandas_has_the_same_rows():
    pytest.importorskip("pandas")
    result = rr.gate(table(0.5), better="new:old", **QUICK)
    there = result.to_pandas()
    assert list(there.columns) == result.frame.columns
    assert there["estimate"].tolist() == result.frame["estimate"].to_list()
    assert there["new"].tolist() == ["new"]


def test_missing_pandas_is_an_error_with_a_hint(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **options):
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(errors.UsageError, match="needs pandas") as caught:
        rr.check(table(), wide=True).to_pandas()
    assert "pip install pandas" in caught.value.hint
