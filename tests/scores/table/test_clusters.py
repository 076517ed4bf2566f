"""The cluster column and its effect on the table."""

import numpy as np

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,doc,metric,score\n"
ROWS = "A,q1,z,m,1\nA,q2,x,m,2\nA,q3,z,m,3\nA,q4,x,m,4\nB,q4,x,m,8\nB,q3,z,m,7\nB,q2,x,m,6\nB,q1,z,m,5\n"


def read(write, rows=ROWS, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**options))


def test_row_order_does_not_matter(write):
    lines = ROWS.splitlines(keepends=True)
    plain, shuffled = read(write, cluster="doc"), read(write, "".join(lines[::-1]), cluster="doc")
    assert all(map(np.array_equal, plain.clusters, shuffled.clusters))
    assert all(map(np.array_equal, plain.values, shuffled.values))


def test_the_report_counts_clusters(write):
    path = write("t.csv", HEAD + ROWS)
    assert inspect_scores([path], ReadOptions(cluster="doc")).clusters == 2
    assert inspect_scores([path]).clusters is None
    path = write("t.csv", HEAD + ROWS.replace("B,q1,z", "B,q1,x"))
    problems = inspect_scores([path], ReadOptions(cluster="doc")).problems
    assert any("two clusters" in problem.what for problem in problems)


def test_named_clusters_are_kept_in_groups_tasks_and_unpaired_tables(write):
    head = "model,sample,metric,score,doc,lang\n"
    rows = [
        (model, f"{model if unpaired else ''}q{at}", "m", (at * 7 + len(model)) % 11, f"d{at // 3}", at // 30)
        for unpaired in (False, True)
        for model in ("A", "BB")
        for at in range(60)
    ]
    texts = [",".join(map(str, row)) + "\n" for row in rows]
    paired, unpaired = "".join(texts[:120]), "".join(texts[120:])
    tests = {"tests": True, "weighs_tasks": True, "higher": ("m",)}
    for text, options in (
        (paired, {}),
        (paired, {"group_by": "lang"}),
        (paired, {"task": "lang"}),
        (unpaired, {"unpaired": True}),
    ):
        table = read(write, text, head, **tests | options)
        assert len(table.cluster_names or ()) == 20, options
        assert any("each doc is a cluster" in line for line in table.warnings)
    assert read(write, paired, head, cluster="none", **tests).cluster_names is None
