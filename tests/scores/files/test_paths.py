"""LABEL=PATH names the models of a file; an existing file with that name takes precedence."""

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import labelled_paths
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
