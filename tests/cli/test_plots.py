"""--plot writes pictures in addition to the result, and is refused before any computation if it cannot."""

import importlib.util

import pytest

from riskrank.render.figures import catalogue

FAST = ("--resamples", "50", "--set", "jobs=1")


@pytest.mark.slow
def test_main_and_named_pictures(run, table, tmp_path):
    requested = [
        tmp_path / "main.svg",
        f"pair:{tmp_path / 'pair.PNG'}",
        f"heatmap@FSD:{tmp_path / 'first.pdf'}",
    ]
    options = [part for picture in requested for part in ("--plot", picture)]
    plain = run("dominance", table, *FAST, "--format", "json")
    outcome = run("dominance", table, *FAST, "--format", "json", *options)
    assert (outcome.status, outcome.stdout) == (0, plain.stdout)
    assert (tmp_path / "main.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "pair.PNG").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "first.pdf").read_bytes().startswith(b"%PDF")
    second = tmp_path / "again.svg"
    assert run("dominance", table, *FAST, "--plot", second, "-o", tmp_path / "d.json").status == 0
    assert second.read_bytes() == (tmp_path / "main.svg").read_bytes()
    assert (tmp_path / "d.json").read_text() == plain.stdout


def test_a_command_without_pictures(refused, table):
    assert "check has no pictures" in refused("check", table, "--plot", "x.svg")[0]


def test_two_results_for_a_single_file(refused, table, tmp_path, no_reading):
    place = tmp_path / "x.svg"
    assert "twice" in refused("dominance", table, "--plot", place, "--plot", f"pair:{place}")[1]


def test_a_picture_this_table_does_not_have(refused, table):
    lines = refused("dominance", table, *FAST, "--plot", "heatmap@TSD:x.svg")
    assert lines[2] in ("hint: did you mean heatmap@FSD?", "hint: did you mean heatmap@SSD?")


def test_without_matplotlib(refused, table, no_reading, monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    lines = refused("dominance", table, "--plot", "x.svg")
    assert lines[2] == "hint: pip install 'riskrank[plot]'"
    assert importlib.util.find_spec("matplotlib")


@pytest.mark.parametrize(
    ("full", "more"), [("os.fsync", ("-o", "a.json")), ("riskrank.render.files.write_stdout", ())]
)
def test_all_files_and_standard_output_or_none(run, table, tmp_path, monkeypatch, full, more):
    def broken(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(full, broken)
    assert run("dominance", table, *FAST, "--plot", "a.svg", *more).status == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["scores.csv"]
