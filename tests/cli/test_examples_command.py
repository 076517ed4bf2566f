"""``riskrank examples`` writes the complete sample data to a new folder, or nothing."""

import filecmp
import os
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from riskrank.cli import commands
from riskrank.errors import UsageError

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("named", [(), ("trial",)])
def test_it_writes_the_sample_data_that_ranks(run, tmp_path, monkeypatch, named):
    monkeypatch.chdir(tmp_path)
    outcome = run("examples", *named)
    assert (outcome.status, outcome.stderr) == (0, "")
    (folder,) = tmp_path.iterdir()  # nothing else is left
    assert folder.name == (named[0] if named else "riskrank-examples")
    files = {file for file in below(SAMPLES) if not file.endswith((".py", ".pyc"))}
    assert below(folder / "sample_data") == files
    assert not filecmp.cmpfiles(SAMPLES, folder / "sample_data", files, shallow=False)[1]
    # What it says to begin with does work there.
    monkeypatch.chdir(folder)
    line = outcome.stdout.splitlines()[-1].split()
    assert line[:2] == ["riskrank", "rank"]
    assert run(*line[1:], "--no-test").status == 0


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_is_overwritten(run, tmp_path, kind):
    target = tmp_path / "there"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    outcome = run("examples", target)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: {target} already exists\nfound: ")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert kind != "file" or target.read_text() == "mine"


@pytest.mark.parametrize(
    ("named", "message"),
    [(("no/such",), "cannot write to no/such"), (("a", "b"), "examples needs one folder")],
)
def test_an_unwritable_folder_is_refused(run, tmp_path, monkeypatch, named, message):
    monkeypatch.chdir(tmp_path)
    outcome = run("examples", *named)
    assert outcome.status == 2
    assert outcome.stderr.startswith(f"error: {message}\nfound: ")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_fails_leaves_nothing(run, tmp_path, monkeypatch):
    def full(_source, target):
        Path(target).write_text("half")
        raise OSError(28, os.strerror(28), str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    monkeypatch.chdir(tmp_path)
    assert run("examples").status == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_cannot_be_reported_is_removed(tmp_path, monkeypatch, there):
    """If the reader closes the pipe, the folder stays."""
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer if there else "/dev/full", "w") as stdout:  # noqa: PTH123
        call = SimpleNamespace(scores=["ex"], context=SimpleNamespace(obj=SimpleNamespace(stdout=stdout)))
        with nullcontext() if there else pytest.raises(UsageError, match="cannot write to standard output"):
            commands.run_examples(call)
    assert [path.name for path in tmp_path.iterdir()] == (["ex"] if there else [])


def test_missing_sample_data_is_reported(run, tmp_path, monkeypatch):
    monkeypatch.setattr(commands.riskrank, "__file__", str(tmp_path / "riskrank" / "__init__.py"))
    monkeypatch.setattr(commands.sysconfig, "get_path", lambda *_: str(tmp_path))
    outcome = run("examples", tmp_path / "new")
    assert outcome.status == 2
    assert outcome.stderr.startswith("error: the sample data was not installed\nfound: no sample_data in")
    assert list(tmp_path.iterdir()) == []


def test_sample_data_of_a_package_installed_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(commands.riskrank, "__file__", str(tmp_path / "riskrank" / "__init__.py"))
    place = tmp_path / "share" / "riskrank" / "sample_data"
    place.mkdir(parents=True)
    (place / "diamonds.parquet").touch()
    monkeypatch.setattr(commands.sysconfig, "get_path", lambda *_: str(tmp_path / "nowhere"))
    assert commands.sample_data_folder() == place
