"""Input paths: model labels, patterns like those of the standard library, and templates with names."""

import glob
import os
import sys
from pathlib import Path

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import (
    candidate_files,
    differing_parts,
    expand_glob,
    infer_template,
    labelled_paths,
)
from riskrank.scores.layouts.preferences import read_votes
from riskrank.scores.table.score_table import read_scores


def test_labels_and_names_with_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "lr=0.1.csv", "b=c=d.csv"):
        (tmp_path / name).write_text("x")
    assert labelled_paths("a.csv") == [(None, "a.csv")]
    assert labelled_paths("new=a.csv") == [("new", "a.csv")]
    assert labelled_paths("org/new =a.csv") == [("org/new", "a.csv")]
    assert labelled_paths("lr=0.1.csv") == [(None, "lr=0.1.csv")]
    assert labelled_paths("new=lr=0.1.csv") == [("new", "lr=0.1.csv")]
    assert labelled_paths("x=y=b=c=d.csv") == [("x=y", "b=c=d.csv")]
    assert labelled_paths("lr=*.csv") == [(None, "lr=0.1.csv")]
    assert labelled_paths("new=lr*.csv") == [("new", "lr=0.1.csv")]
    assert labelled_paths("-") == [(None, "-")]
    assert labelled_paths("new=-") == [("new", "-")]
    assert labelled_paths("new=none.csv") == [(None, "none.csv")]
    assert labelled_paths("runs/lr=1/none.csv") == [(None, "runs/lr=1/none.csv")]
    with pytest.raises(InputError, match=r"^error: z\*\.csv: no file matches"):
        labelled_paths("new=z*.csv")


def test_label_renames_a_model_or_prefixes_several(write, long_frame):
    first = write("one.csv", long_frame.filter(model="A"))
    second = write("two.csv", long_frame.filter(pl.col("model") != "A"))
    table = read_scores([f"new={first}", f"old={second}"])
    assert table.models == ("new", "old/B", "old/C")
    assert [entry.path for entry in table.inputs] == [first, second]
    plain = read_scores([first, second])
    assert [v.tobytes() for v in table.values] == [v.tobytes() for v in plain.values]


@pytest.mark.parametrize("wide", [False, True])
def test_a_labelled_file_needs_no_model_column(write, long_frame, wide):
    def file(name):
        frame = long_frame.filter(model=name).drop("model")
        return write(f"{name}.csv", frame.pivot("metric", index="sample", values="score") if wide else frame)

    table = read_scores([f"new={file('A')}", f"old={file('B')}"], ReadOptions(wide=wide))
    expected = read_scores([write("t.csv", long_frame.filter(pl.col("model") != "C"))])
    assert table.models == ("new", "old")
    assert [v.tobytes() for v in table.values] == [v.tobytes() for v in expected.values]
    with pytest.raises(InputError, match="missing column 'model'"):
        read_scores([file("A"), f"old={file('B')}"], ReadOptions(wide=wide))


def test_repeated_label_merges_files(write, long_frame):
    parts = [write(f"{m}.csv", long_frame.filter(model="A", metric=m)) for m in ("acc", "loss")]
    table = read_scores([*(f"new={part}" for part in parts), write("rest.csv", long_frame.filter(model="B"))])
    assert table.models == ("B", "new")


def test_labels_of_votes_are_refused(write):
    path = write("v.csv", "sample,model_a,model_b,verdict\n1,A,B,a\n")
    with pytest.raises(UsageError, match="cannot belong to one model"):
        read_votes([f"new={path}"])


TREE = (
    "a/x.csv",
    "a/sub/x.csv",
    "a/sub/y.csv",
    "a/sub/sub/x.csv",
    "b/x.csv",
    "b/deep/sub/x.csv",
    "b/[odd]/x.csv",
    "b/.hidden/x.csv",
    "x.csv",
)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "*.csv",
        "**/*.csv",
        "**/x.csv",
        "**/sub/x.csv",
        "**/sub/**/x.csv",
        "a/**/sub/*.csv",
        "*/**/y.csv",
        "b/**",
        "b/**/[[]odd]/x.csv",
        "nothing/**/x.csv",
        "**/sub",
    ],
)
def test_patterns_match_the_standard_library(tree, pattern):
    def plain(text):
        matches = glob.glob(text, recursive=True)
        return sorted({os.path.normpath(name) for name in matches if name})

    for text in (pattern, os.path.join(glob.escape(str(tree)), pattern)):
        result = [name for name in expand_glob(text) if os.path.normpath(name) != os.path.normpath("b")]
        expected = [name for name in plain(text) if name != "b"]
        if pattern.endswith("**"):  # the folder itself is no file below it
            expected = [name for name in expected if name != os.path.normpath(os.path.join(tree, "b"))]
            result = [name for name in result if os.path.normpath(name) != os.path.join(tree, "b")]
        assert sorted({os.path.normpath(name) for name in result}) == expected


def test_circular_links_terminate(tree):
    (tree / "a" / "sub" / "round").symlink_to(tree / "a")
    (tree / "b" / "link").symlink_to(tree / "a" / "sub")
    matches = expand_glob("**/y.csv")
    assert "a/sub/y.csv" in matches
    assert "b/link/y.csv" in matches
    assert len(matches) == len(set(matches))


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
        ("{model}/{model}.csv", UsageError, "occurs twice"),
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
