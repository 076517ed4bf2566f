"""Patterns with names in braces: what paths say becomes columns."""

import os
import sys
from pathlib import Path

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import differing, named_files, template_of
from riskrank.scores.table.score_table import read_scores

OPTIONS = ReadOptions(columns="sample=task+sample")
ROWS = "sample,metric,score\n1,acc,{}\n2,acc,{}\n"


@pytest.fixture
def runs(tmp_path):
    for at, (model, task) in enumerate((model, task) for model in ("gpt-3.5", "b[1]") for task in "xy"):
        (tmp_path / model).mkdir(exist_ok=True)
        (tmp_path / model / f"{task}.csv").write_text(ROWS.format(at, at + 0.5))
        (tmp_path / model / "notes.md").write_text("no table")
    return str(tmp_path)


def test_names_are_columns(runs):
    for template in ("{model}/{task}.csv", "{model}/{task}.*", "{model}/**/{task}.csv", "{model}/{task}.c?v"):
        table = read_scores([f"{runs}/{template}"], OPTIONS)
        assert (table.models, table.samples) == (("b[1]", "gpt-3.5"), ("x+1", "x+2", "y+1", "y+2"))
        assert table.column(0)[1].tolist() == [0.0, 0.5, 1.0, 1.5]
    assert {file.path for file in table.inputs} == {
        f"{runs}/{model}/{task}.csv" for model in ("gpt-3.5", "b[1]") for task in "xy"
    }


def test_a_label_goes_before_a_template(runs):
    given = [f"new={runs}/gpt-3.5/{{task}}.csv", f"old={runs}/b[1]/{{task}}.csv"]
    table = read_scores(given, OPTIONS)
    assert (table.models, len(table.samples)) == (("new", "old"), 4)


def test_files_behind_a_template_are_inputs(runs):
    assert f"{runs}/b[1]/x.csv" in named_files([f"{runs}/{{model}}/{{task}}.csv"])


def test_a_file_whose_name_has_braces_is_that_file(tmp_path):
    for name in ("{model}.csv", "other.csv"):
        (tmp_path / name).write_text(ROWS.format(1, 2))
    table = read_scores(
        [f"a={tmp_path}/{{model}}.csv", f"b={tmp_path}/other.csv"], ReadOptions(allow_constant=True)
    )
    assert table.models == ("a", "b")


@pytest.mark.parametrize(
    ("template", "kind", "what"),
    [
        ("{model}/{model}.csv", UsageError, "one name is there twice"),
        ("{model}/{task}.tsv", InputError, "no file matches the pattern"),
        ("{model}{task}/x.csv", InputError, "can be read in two ways"),
    ],
)
def test_what_no_path_tells_is_refused(runs, template, kind, what):
    with pytest.raises(kind, match=what):
        read_scores([f"{runs}/{template}"], OPTIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
def test_a_template_meets_no_pipe(runs):
    """It would be waited for, and might be anybody's."""
    place = Path(runs) / "b[1]" / "z.csv"
    os.mkfifo(place)
    for found in ("a pipe, socket or device", "a link to nothing", "a pipe, socket or device"):
        with pytest.raises(InputError, match="this part of the pattern is no file") as caught:
            read_scores([f"{runs}/{{model}}/{{task}}.csv"], OPTIONS)
        assert caught.value.found == found
        place.unlink()
        place.symlink_to("/dev/zero" if found == "a link to nothing" else "nowhere")


def test_the_template_of_files_matches_no_others(runs):
    files = [f"{runs}/{model}/{task}.csv" for model in ("b[1]", "gpt-3.5") for task in "xy"]
    assert template_of(files, ["{model}", "{task}"]) == f"{runs}/{{model}}/{{task}}.csv"
    assert template_of(files, ["{model}"]) is None
    assert template_of(files[:3], ["{model}", "{task}"]) is None
    assert differing([*files, f"{runs}/z.csv"]) == []
    assert differing(["a.csv.gz", "b.csv.gz"]) == [("a", "b")]
