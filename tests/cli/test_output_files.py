"""--output is written completely or not at all, and an unwritable path is refused before any computation."""

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest


def refusal(outcome) -> list[str]:
    assert (outcome.status, outcome.stdout) == (2, "")
    lines = outcome.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["error", "found", "hint"]
    return lines


@pytest.mark.parametrize("command", ["rank", "dominance", "portfolio"])
def test_a_missing_folder(run, table, tmp_path, command, no_reading):
    lines = refusal(run(command, table, "-o", tmp_path / "no" / "r.json"))
    assert lines[1] == f"found: no folder {tmp_path / 'no'}"


def test_a_folder(run, table, tmp_path, no_reading):
    refusal(run("rank", table, "-o", tmp_path, "--format", "json"))
    refusal(run("rank", table, "-o", f"{tmp_path}/new.json/"))


def test_a_link_that_leads_to_itself(run, table, tmp_path, no_reading):
    (tmp_path / "loop").symlink_to("loop")
    refusal(run("rank", table, "-o", tmp_path / "loop" / "r.json"))
    refusal(run("rank", table, "-o", tmp_path / "r.json", "-o", tmp_path / "loop" / "r.json"))


def test_an_input(run, write, table, tmp_path, monkeypatch, no_reading):
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    hard = tmp_path / "hard.csv"
    os.link(table, hard)
    for output in (table, link, hard):
        assert "would overwrite an input" in refusal(run("rank", table, "-o", output))[0]
    assert "would overwrite" in refusal(run("rank", tmp_path / "*.csv", "-o", table))[0]
    monkeypatch.chdir(tmp_path)
    assert "would overwrite" in refusal(run("rank", "scores.csv", "-o", "./scores.csv"))[0]
    metrics = write("metrics.csv", "[acc]\n")
    assert "would overwrite" in refusal(run("rank", table, "--metrics-file", metrics, "-o", metrics))[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_closed_folders_and_files(run, table, tmp_path, no_reading):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "r.json").touch()
    closed.chmod(0o500)
    refusal(run("rank", table, "-o", closed / "new.json"))
    refusal(run("rank", table, "-o", closed / "r.json"))
    closed.chmod(0o700)
    (closed / "r.json").chmod(0o400)
    refusal(run("rank", table, "-o", closed / "r.json"))


def test_a_new_file_has_the_usual_mode(run, table, tmp_path):
    path = tmp_path / "r.json"
    before = os.umask(0o027)
    try:
        assert run("check", table, "-o", path).status == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_an_old_file_keeps_its_mode_and_is_replaced_at_once(run, table, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old")
    path.chmod(0o604)
    with path.open() as opened:
        assert run("check", table, "-o", path).status == 0
        assert opened.read() == "old"  # a process that has the old file open can still read all of it
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.read_text().startswith('{\n  "schema"')
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["r.json", "scores.csv"]


@pytest.mark.parametrize("other", ["r.json", "./r.json", "link.json", "hard.json"])
def test_two_results_in_the_same_file_are_refused(refused, table, tmp_path, other, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text("old")
    (tmp_path / "hard.json").hardlink_to("r.json")
    (tmp_path / "link.json").symlink_to("r.json")
    assert "different files" in refused("check", table, "-o", "r.json", "-o", other)[0]
    assert (tmp_path / "r.json").read_text() == "old"


@pytest.mark.parametrize("place", ["target.json", "elsewhere/target.json", "no/target.json"])
def test_a_link_is_replaced_and_its_target_is_not(run, table, tmp_path, place):
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / place
    if target.parent.exists():
        target.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(place)
    assert run("check", table, "-o", link).status == 0
    assert not link.is_symlink()
    assert link.read_text().startswith("{")
    assert not target.exists() or target.read_text() == "old"


def test_nothing_that_runs_is_written(run, table, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("#!/bin/sh")
    path.chmod(0o755)
    assert run("check", table, "-o", path).status == 0
    assert stat.S_IMODE(path.stat().st_mode) & 0o111 == 0


def test_a_failed_command_leaves_the_old_file(run, write, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old")
    assert run("rank", write("bad.csv", "model,sample,metric,score\n"), "-o", path).status == 2
    assert path.read_text() == "old"


def test_a_failed_write_leaves_the_old_file(run, table, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    path = tmp_path / "r.json"
    path.write_text("old")
    lines = refusal(run("check", table, "-o", path))
    assert lines[1] == "found: No space left on device"
    assert path.read_text() == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["r.json", "scores.csv"]


@pytest.mark.parametrize(
    "words", [("s.csv", "--format", "json"), ("s.csv", "--typo"), ("s.csv", "--alpha", "x"), ()]
)
@pytest.mark.parametrize("name", ["riskrank.toml", "s.csv", "notes.txt", "notes.json"])
def test_a_refused_gate_changes_no_file(run, write, tmp_path, monkeypatch, words, name):
    """The output may be named by a configuration, or be an input or any file of the user."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{model},{at},acc,{at % 2}\n" for model in "ab" for at in range(30))
    write("s.csv", "model,sample,metric,score\n" + rows)
    for file_name in ("notes.txt", "notes.json"):
        write(file_name, "{}")
    write("riskrank.toml", "alpha = 0.05\n")
    before = (tmp_path / name).read_bytes()
    assert run("gate", *words, "--better", "a:zzz", "--higher", "acc", "-o", name).status == 2
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("rank file://HERE/s.csv", "s.csv"),
        ("rank a=b=s.csv", "s.csv"),
        ("rank x=s.csv", "s.csv"),
        ("rank w.sqlite --format csv", "w.sqlite-wal"),
        ("rank link.sqlite --format csv", "w.sqlite-wal"),
        ("rank s.csv --sql @read_csv('t.csv')", "t.csv"),
        ("rank --from lm-eval lm/samples_arc_DAY1.jsonl lm/samples_arc_DAY2.jsonl", "lm/results_DAY1.json"),
        ("trend s.csv t.csv --anchor acc=anc*.csv", "anchor.csv"),
        ("trend s.csv t.csv --anchor acc=below", "below/anchor.csv"),
        ("trend s.csv t.csv --anchor acc=a=anchor.csv", "anchor.csv"),
        ("trend s.csv t.csv --baseline below", "below/anchor.csv"),
        ("gate s.csv --not-worse a:baseline --margin .3 --baseline file://HERE/t.csv", "t.csv"),
        ("gate s.csv --not-worse a:b --margin .3 --anytime --continues look.md", "look.md"),
    ],
)
def test_no_result_replaces_an_input_under_any_name(run, write, tmp_path, monkeypatch, words, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lm").mkdir()
    (tmp_path / "below").mkdir()
    rows = "".join(f"{model},{at},acc,{at % 2}\n" for model in "ab" for at in range(30))
    for name in ("s.csv", "t.csv", "anchor.csv", "below/anchor.csv", "w.sqlite", "w.sqlite-wal", "look.md"):
        write(name, "model,sample,metric,score\n" + rows)
    day = "2024-05-01T10-00-0"
    for number, model in enumerate("ab", start=1):
        scored = [{"doc_id": at, "acc": at % 2, "metrics": ["acc"]} for at in range(30)]
        write(f"lm/samples_arc_{day}{number}.jsonl", "\n".join(map(json.dumps, scored)))
        write(f"lm/results_{day}{number}.json", json.dumps({"results": {"arc": {}}, "model_name": model}))
    words, output = (text.replace("HERE", str(tmp_path)).replace("DAY", day) for text in (words, output))
    (tmp_path / "link.sqlite").symlink_to("w.sqlite")
    before = (tmp_path / output).read_bytes()
    command, *arguments = [word.replace("@", "SELECT * FROM ") for word in words.split()]
    higher = () if "lm-eval" in arguments else ("--higher", "acc")
    outcome = run(command, *arguments, *higher, "-o", output)
    assert outcome.stderr.splitlines()[0] == f"error: --output {output} would overwrite an input"
    assert (outcome.status, (tmp_path / output).read_bytes()) == (2, before)


def test_texts_in_queries_are_not_taken_for_files(run, table, monkeypatch):
    """Only what a query reads from is an input that an output must not replace."""
    monkeypatch.setattr("riskrank.scores.files.paths.find_tables", lambda folder: pytest.fail(folder))
    assert run("rank", table, "--where", "sample <> '/'", "--no-test").status == 0


def test_shared_memory_holds_files(run, table):
    """Only open file descriptors are written in place; other files in /dev are replaced atomically."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "r.json"
        for _ in range(2):
            assert run("check", table, "--format", "json", "-o", path).status == 0
        json.loads(path.read_text())


def test_scores_that_name_claims_or_runs_are_no_answers(run, write):
    for name, line in {
        "f.jsonl": '{"claim": "the sky is blue", "label": 1}\n',
        "r.jsonl": '{"run": "1", "acc": 1}\n',
    }.items():
        path = write(name, line)
        assert run("gate", "--better", "a:b", "-o", path).status == 2
        assert path.exists()
