"""Samples that belong together: the column of clusters, and what the table makes of it."""

import numpy as np
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,doc,metric,score\n"
ROWS = "A,q1,z,m,1\nA,q2,x,m,2\nA,q3,z,m,3\nA,q4,x,m,4\nB,q4,x,m,8\nB,q3,z,m,7\nB,q2,x,m,6\nB,q1,z,m,5\n"


def read(write, rows=ROWS, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**options))


@pytest.mark.parametrize(
    "how", [{"cluster": "doc"}, {"columns": "cluster=doc"}, {"cluster": "doc", "columns": "cluster=doc"}]
)
def test_a_named_column_groups_the_samples(write, how):
    table = read(write, **how)
    assert table.cluster_names == ("x", "z")
    for model in range(2):
        assert [table.samples[at] for at in table.row_samples[model]] == ["q1", "q2", "q3", "q4"]
        assert [table.cluster_names[at] for at in table.clusters[model]] == ["z", "x", "z", "x"]
    assert table.values[0].ravel().tolist() == [1, 2, 3, 4]


def test_without_a_column_samples_are_drawn_one_by_one(write):
    table = read(write)
    assert table.cluster_names is None
    assert all(map(np.array_equal, table.clusters, table.row_samples))


def test_a_column_that_happens_to_be_called_cluster_is_ignored(write):
    assert read(write, head=HEAD.replace("doc", "cluster")).cluster_names is None
    assert read(write, head=HEAD.replace("doc", "cluster"), cluster="cluster").cluster_names == ("x", "z")


def test_a_wide_table_does_not_take_a_numbered_cluster_for_a_metric(write):
    rows = "A,1,7,0.5\nA,2,7,0.25\nB,1,7,1\nB,2,7,0\n"
    table = read(write, rows, "model,sample,passage,m\n", wide=True, cluster="passage")
    assert [spec.name for spec in table.metrics] == ["m"]
    assert table.cluster_names == ("7",)


def test_a_matrix_has_a_column_of_clusters_if_it_is_named(write):
    rows = "q1,z,1,5\nq2,x,2,6\nq3,z,3,7\nq4,x,4,8\n"
    options = {"matrix": "m", "columns": "sample=name"}
    table = read(write, rows, "name,doc,A,B\n", cluster="doc", **options)
    expected = read(write, cluster="doc")
    assert table.cluster_names == expected.cluster_names
    assert all(map(np.array_equal, table.clusters, expected.clusters))
    assert all(map(np.array_equal, table.values, expected.values))
    assert read(write, rows, "name,cluster,A,B\n", **options).cluster_names is None


def test_a_column_may_be_both_part_of_a_name_and_the_cluster(write):
    numbered = "A,1,z,m,1\nA,2,z,m,3\nA,1,x,m,2\nA,2,x,m,4\nB,1,z,m,5\nB,2,z,m,7\nB,1,x,m,6\nB,2,x,m,8\n"
    table = read(write, numbered, columns="sample=doc+sample", cluster="doc")
    assert table.samples == ("x+1", "x+2", "z+1", "z+2")
    assert [table.cluster_names[at] for at in table.clusters[0]] == ["x", "x", "z", "z"]


def test_several_columns_name_a_cluster(write):
    assert read(write, cluster="doc+metric").cluster_names == ("x+m", "z+m")


def test_draws_lie_in_the_cluster_of_their_sample(write):
    rows = ROWS + "A,q1,z,m,9\n"
    table = read(write, rows, cluster="doc", repeats="draws")
    assert table.row_samples[0].tolist() == [0, 0, 1, 2, 3]
    assert table.clusters[0].tolist() == [1, 1, 0, 1, 0]


def test_clusters_of_dropped_samples_go(write):
    rows = ROWS + "A,q5,y,m,1\n"
    table = read(write, rows, cluster="doc", missing="drop")
    assert table.cluster_names == ("x", "z")
    assert len(table.samples) == 4


def test_a_selection_keeps_clusters(write):
    rows = ROWS + "C,q1,z,m,1\nC,q2,x,m,2\nC,q3,z,m,3\nC,q4,x,m,4\n"
    table = read(write, rows, cluster="doc", models=("B", "C"))
    assert [table.cluster_names[at] for at in table.clusters[1]] == ["z", "x", "z", "x"]


def test_the_order_of_the_rows_does_not_matter(write):
    lines = ROWS.splitlines(keepends=True)
    plain, shuffled = read(write, cluster="doc"), read(write, "".join(lines[::-1]), cluster="doc")
    assert all(map(np.array_equal, plain.clusters, shuffled.clusters))
    assert all(map(np.array_equal, plain.values, shuffled.values))


@pytest.mark.parametrize("unpaired", [False, True])
def test_a_sample_in_two_clusters_is_refused(write, unpaired):
    rows = "A,q1,z,m,1\nA,q2,x,m,2\nA,q1,x,n,3\nA,q2,x,n,3\nB,q1,z,m,5\nB,q2,x,m,6\nB,q1,z,n,5\nB,q2,x,n,6\n"
    with pytest.raises(InputError) as raised:
        read(write, rows, cluster="doc", unpaired=unpaired)
    what, found, _ = raised.value.lines()
    assert "row 4" in what
    assert "'q1' lies in two clusters" in what
    assert found == "found: 'x' here and 'z' in row 2"
    report = inspect_scores([write("t.csv", HEAD + rows)], ReadOptions(cluster="doc", unpaired=unpaired))
    assert any("two clusters" in problem.what for problem in report.problems)


def test_models_have_to_agree_unless_their_samples_are_their_own(write):
    rows = ROWS.replace("B,q1,z", "B,q1,x")
    with pytest.raises(InputError, match="two clusters"):
        read(write, rows, cluster="doc")
    table = read(write, rows, cluster="doc", unpaired=True)
    assert [table.cluster_names[at] for at in table.clusters[1]] == ["x", "x", "z", "x"]
    assert [table.cluster_names[at] for at in table.clusters[0]] == ["z", "x", "z", "x"]


def test_the_report_counts_clusters(write):
    path = write("t.csv", HEAD + ROWS)
    assert inspect_scores([path], ReadOptions(cluster="doc")).clusters == 2
    assert inspect_scores([path]).clusters is None
