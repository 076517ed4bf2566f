"""Templates with names in braces: parts of paths become columns."""

import os
import sys
from pathlib import Path

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import candidate_files, differing_parts, infer_template
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


def test_template_names_are_columns(runs):
    for template in ("{model}/{task}.csv", "{model}/{task}.*", "{model}/**/{task}.csv", "{model}/{task}.c?v"):
        table = read_scores([f"{runs}/{template}"], OPTIONS)
        assert (table.models, table.samples) == (("b[1]", "gpt-3.5"), ("x+1", "x+2", "y+1", "y+2"))
        assert table.column(0)[1].tolist() == [0.0, 0.5, 1.0, 1.5]
    assert {file.path for file in table.inputs} == {
        f"{runs}/{model}/{task}.csv" for model in ("gpt-3.5", "b[1]") for task in "xy"
    }


def test_labels_combine_with_templates(runs):
    paths = [f"new={runs}/gpt-3.5/{{task}}.csv", f"old={runs}/b[1]/{{task}}.csv"]
    table = read_scores(paths, OPTIONS)
    assert (table.models, len(table.samples)) == (("new", "old"), 4)


def test_files_of_a_template_are_inputs(runs):
    assert f"{runs}/b[1]/x.csv" in candidate_files([f"{runs}/{{model}}/{{task}}.csv"])


def test_existing_file_with_braces_is_not_a_template(tmp_path):
    for name in ("{model}.csv", "other.csv"):
        (tmp_path / name).write_text(ROWS.format(1, 2))
    table = read_scores(
        [f"a={tmp_path}/{{model}}.csv", f"b={tmp_path}/other.csv"], ReadOptions(allow_constant=True)
    )
    assert table.models == ("a", "b")


@pytest.mark.parametrize(
    ("template", "kind", "message"),
    [
        ("{model}/{model}.csv", UsageError, "a name occurs twice"),
        ("{model}/{task}.tsv", InputError, "no file matches the pattern"),
        ("{model}{task}/x.csv", InputError, "matches in two ways"),
    ],
)
def test_invalid_templates_are_refused(runs, template, kind, message):
    with pytest.raises(kind, match=message):
        read_scores([f"{runs}/{template}"], OPTIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
def test_templates_refuse_pipes_and_devices(runs):
    """Opening a pipe would block."""
    place = Path(runs) / "b[1]" / "z.csv"
    os.mkfifo(place)
    for cause in ("a pipe, socket or device", "a broken link", "a pipe, socket or device"):
        with pytest.raises(InputError, match="this entry of the pattern is not a file") as caught:
            read_scores([f"{runs}/{{model}}/{{task}}.csv"], OPTIONS)
        assert caught.value.found == cause
        place.unlink()
        place.symlink_to("/dev/zero" if cause == "a broken link" else "nowhere")


def test_inferred_template_matches_only_its_files(runs):
    files = [f"{runs}/{model}/{task}.csv" for model in ("b[1]", "gpt-3.5") for task in "xy"]
    assert infer_template(files, ["{model}", "{task}"]) == f"{runs}/{{model}}/{{task}}.csv"
    assert infer_template(files, ["{model}"]) is None
    assert infer_template(files[:3], ["{model}", "{task}"]) is None
    assert differing_parts([*files, f"{runs}/z.csv"]) == []
    assert differing_parts(["a.csv.gz", "b.csv.gz"]) == [("a", "b")]
