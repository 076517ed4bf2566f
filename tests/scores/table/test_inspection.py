"""The report of `riskrank check` against manual counts."""

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.table import inspection
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"


def test_a_clean_table(write, long_frame):
    path = write("t.csv", long_frame)
    report = inspect_scores([path], ReadOptions(lower=("loss",)))
    assert [problem.what for problem in report.problems] == [
        "a test needs at least 10 samples per model; the table has 4"
    ]
    assert report.rows == 24
    assert report.inputs[0].path == path
    assert (report.samples, report.common_samples, report.same_samples) == (4, 4, True)
    assert (report.fewest_repeats, report.most_repeats, report.repeated_cells) == (1, 1, 0)
    assert [(model.model, model.samples, model.only_here) for model in report.models] == [
        ("A", 4, 0),
        ("B", 4, 0),
        ("C", 4, 0),
    ]
    acc = report.metrics[0]
    scores = [row[3] for row in long_frame.rows() if row[2] == "acc"]
    assert (acc.n, acc.minimum, acc.maximum, acc.missing) == (12, min(scores), max(scores), 0)
    assert acc.mean == pytest.approx(sum(scores) / 12)
    assert acc.distinct == len(set(scores))
    assert acc.tied_share == sum(scores.count(x) > 1 for x in scores) / 12
    assert report.metrics[1].direction == "lower"
    assert report.metrics[1].declared
    assert report.metrics[1].minimum > -1  # in the units of the file, not negated


def test_everything_wrong_at_once(write):
    rows = [
        "A,1,acc,0.5", "A,2,acc,0.5", "A,3,acc,", "A,4,acc,1.5", "A,4,acc,0.5", "A,9,acc,1",
        "B,1,acc,bad", "B,2,acc,nan", "B,3,acc,inf", "B,4,acc,-inf",
        *(f"{model},{sample},latency,3" for model in "AB" for sample in "1234"),
    ]  # fmt: skip
    path = write("t.csv", HEAD + "\n".join(rows))
    metrics = write("m.toml", '[acc]\ndirection = "higher"\nbounds = [0, 1]\n')
    report = inspect_scores([path], ReadOptions(metrics_file=metrics))
    errors = [problem for problem in report.problems if problem.severity == "error"]
    for fragment in (
        "row 8, column score: the score is not a number",
        "row 9, column score: the score is NaN",
        "row 10, column score: the score is infinite",
        "row 5, column score: the score is outside the bounds",
        "row 6, column score: a second score",
        "not scored on the same samples",
        "row 4, column score: no score for model 'A', sample '3'",
        "metric 'latency' is constant",
    ):
        assert sum(fragment in problem.what for problem in errors) == 1, fragment
    assert len(errors) == 8
    assert all(problem.found and problem.hint for problem in errors)
    (warning,) = [problem for problem in report.problems if problem.severity == "warning"]
    assert warning.what.startswith("lower latency is better, judging by the name")
    acc, latency = report.metrics
    assert (acc.n, acc.distinct, acc.outside_bounds, acc.constant) == (5, 3, 1, False)
    assert acc.tied_share == 3 / 5
    assert acc.missing == 10 - 4
    assert (latency.missing, latency.constant, latency.tied_share) == (2, True, 1.0)
    assert (report.samples, report.common_samples, report.same_samples) == (5, 4, False)
    assert [(model.samples, model.only_here) for model in report.models] == [(5, 1), (4, 0)]
    assert (report.most_repeats, report.repeated_cells) == (2, 1)


def test_single_model_is_described(write):
    report = inspect_scores([write("t.csv", HEAD + "A,1,m,1\nA,2,m,2\n")])
    assert "at least 2 models" in report.problems[0].what
    assert report.metrics[0].mean == 1.5


def test_no_usable_score_at_all(write):
    report = inspect_scores([write("t.csv", HEAD + "A,1,m,x\nB,1,m,y\n")])
    metric = report.metrics[0]
    assert (metric.n, metric.minimum, metric.mean, metric.distinct, metric.missing) == (0, None, None, 0, 2)
    assert "not a number" in report.problems[0].what


def test_options_resolve_problems(write):
    path = write("t.csv", HEAD + "A,1,m,1\nA,1,m,2\nB,1,m,3\nB,2,m,4\n")
    assert {problem.severity for problem in inspect_scores([path]).problems} == {"error"}
    report = inspect_scores([path], ReadOptions(repeats="draws", missing="drop"))
    assert [problem.severity for problem in report.problems] == ["warning"] * 2
    assert report.problems[0].what.startswith("dropped 1 of 2 samples")
    report = inspect_scores([path], ReadOptions(repeats="mean", unpaired=True))
    assert [problem.severity for problem in report.problems] == ["warning"]


@pytest.mark.parametrize(
    "rows",
    [
        "A,1,m,1\nB,2,m,2\n",
        "A,1,m,1\nA,1,m,1\nB,1,m,2\n",
        "A,1,m,\nB,1,m,2\n",
        "A,1,m,1\nB,1,m,1\n",
        "A,1,m,1\nB,1,m,x\n",
        "A,1,m,1\nA,2,m,2\n",
    ],
)
def test_read_errors_are_reported_as_problems(write, rows):
    path = write("t.csv", HEAD + rows)
    with pytest.raises(InputError) as caught:
        read_scores([path])
    problems = inspect_scores([path]).problems
    assert (caught.value.problem, caught.value.found, caught.value.hint) in [
        (problem.what, problem.found, problem.hint) for problem in problems if problem.severity == "error"
    ]


def test_unusable_input_is_refused(write, tmp_path):
    with pytest.raises(InputError, match="missing columns"):
        inspect_scores([write("t.csv", "a,b\n1,2\n")])
    with pytest.raises(InputError, match="no such file"):
        inspect_scores([str(tmp_path / "none.csv")])
    with pytest.raises(UsageError, match="no metric 'z'"):
        inspect_scores([write("u.csv", HEAD + "A,1,m,1\nB,1,m,2\n")], ReadOptions(lower=("z",)))


def test_undeclared_metrics_of_a_wide_table_are_named(write):
    path = write("t.csv", "model,sample,acc,width\nA,1,0.5,3\nB,1,0.25,4\nA,2,1,5\nB,2,0,7\n")
    report = inspect_scores([path], ReadOptions(wide=True, higher=("acc",)))
    (warning,) = [p.what for p in report.problems if "assumed to be metrics" in p.what]
    assert "width" in warning
    assert "acc" not in warning
    declared = inspect_scores([path], ReadOptions(wide=True, higher=("acc",), lower=("width",)))
    assert not any("assumed to be metrics" in problem.what for problem in declared.problems)


def test_oversized_file_is_read_only_once(write, monkeypatch):
    """Reading it a second time, as a table without samples, would take equally long."""
    calls = []
    read_frame = inspection.read_frame

    def counted(*arguments):
        calls.append(arguments)
        return read_frame(*arguments)

    monkeypatch.setattr(inspection, "read_frame", counted)
    table = write("t.csv", "model,metric,score\na,m,1\nb,m,2\n")
    assert len(inspect_scores([table]).models) == len(calls) == 2
    with pytest.raises(InputError, match="more than 5 bytes"):
        inspect_scores([table], ReadOptions(max_bytes=5))
    assert len(calls) == 3
