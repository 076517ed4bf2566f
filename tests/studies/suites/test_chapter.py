"""Suites in the documents of rank and dominance: what they say of tasks, and what they leave to others."""

import io
import json
from dataclasses import replace

import jsonschema
import numpy as np
import polars as pl
import pytest
from scipy.stats import sem
from scipy.stats import t as student

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.render.formats.data import to_csv, to_json
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.schema import json_schema
from riskrank.render.screens import first_screen
from riskrank.render.sections import sections_with_parameters
from riskrank.render.view import Line, Table, cell_text
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.scores.table.suite import NO_SUITE, Suite
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.study import dominance
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import mrm
from riskrank.studies.portfolio.options import FoldingSettings
from riskrank.studies.portfolio.study import portfolio
from riskrank.studies.rank.leader import firsts
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank
from riskrank.studies.suites.column import suite_column
from riskrank.studies.suites.figures.pictures import arrange_task_forest, arrange_task_map
from riskrank.studies.suites.screen import MARKS, marks_table
from riskrank.studies.suites.section import First, SuiteOutline
from riskrank.studies.suites.sentences import other_scope_answer
from tests.tables import long_table

NAMES = ("arc", "boolq", "gsm8k", "hellaswag", "ifeval", "mmlu", "piqa", "winogrande")


def suite_table(means, *, sizes=(40, 30, 60, 200, 50, 300, 30, 60), weights=None, seed=0, metrics=1):
    """Models m1, m2, ... with a mean a task in units of the spread, on tasks of such sizes."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(len(sizes)), sizes)
    base = rng.normal(size=task.size)
    rows = []
    for model, of_task in enumerate(means, 1):
        for metric in range(metrics):
            score = base + 0.5 * rng.normal(size=task.size) + np.broadcast_to(of_task, len(sizes))[task]
            rows.append(long_table({f"m{model}": score}, f"x{metric}", lambda at: f"{NAMES[task[at]]}/{at}"))
    table = read_scores([FrameSource(pl.concat(rows))], ReadOptions(weighs_tasks=True))
    of_sample = np.array([NAMES.index(sample.partition("/")[0]) for sample in table.samples])
    share = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=float)
    told = {"weights": share / share.sum(), "weighed": weights is not None}
    suite = Suite(names=NAMES[: len(sizes)], of_sample=of_sample, **told)
    return replace(table, suite=suite)


def ranked(means, resamples=1000, **how):
    settings = {name: how.pop(name) for name in [*how] if name in ASKED}
    return rank(suite_table(means, **how), RankSettings(resamples=resamples, **settings))


ASKED = ("no_test", "per_task", "per_metric", "tasks")
CLEAR = [np.array([0.5, 0.5, -0.6, 0.5, 0.5, 0.5, 0.5, 0.5]), 0.0]


def test_the_verdict_names_tasks_on_either_side_and_answers_both_questions():
    said = ranked(CLEAR).verdict
    assert said.startswith(
        "Ship m1: significantly better than m2 on x0 on these 8 tasks. Against m2: macro mean "
    )
    assert "better on 7, worse on 1 (gsm8k); no single task decides." in said
    assert (
        "Whether m1 is better than m2 on tasks like these: not shown (t test over the tasks, p = 0.23)"
        in said
    )
    assert len(said.split()) <= 70


def test_five_tasks_say_nothing_of_others():
    document = ranked([0.5, 0.0], sizes=(30, 40, 50, 60, 70))
    assert "tasks like these" not in document.verdict
    assert "better on every task" in document.verdict
    assert document.meta()["suite"]["pairs"][0]["p_like_these"] is None


def test_a_task_that_decides_is_named():
    """Ahead on mmlu alone, by so much that the macro mean follows."""
    means = [np.where(np.arange(8) == 5, 3.0, 0.0), np.where(np.arange(8) == 5, 0.0, 0.2)]
    document = ranked(means)
    assert "without mmlu m2 comes first" in document.verdict
    assert [row.task for row in _left_out(document) if row.first == "m2"] == ["mmlu"]
    assert [row.task for row in _left_out(document) if row.first_as_ranked == "m2"] == ["mmlu"]


@pytest.mark.parametrize("weights", [None, (1, 1)])
def test_tasks_that_nobody_weighed_make_no_first(weights):
    """Better on one task by more than worse on the other: who is first is what they weigh."""
    document = ranked([np.array([0.8, -0.4]), 0.0, -1.0], sizes=(110, 240), weights=weights)
    depends = "m1 or m2: which is better depends on the task; m1 beats m3 on these 2 tasks."
    assert document.verdict.startswith("Ship m1" if weights else depends)
    assert "without arc m2 comes first" in document.verdict
    assert document.lead.shipped == ((0,) if weights else ())
    alone = ranked([np.array([0.8, -0.1]), 0.0], sizes=(110, 240))
    assert "better on 1 (arc), open on 1; without arc m2 comes first" in alone.verdict
    assert alone.lead.shipped == (0,)


def _left_out(document):
    return [type("Row", (), row) for row in document.meta()["suite"]["left_out"]]


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4, 5, 6, 7, 8], [1, 0, 1, 1, 1, 1, 1, 1]])
def test_means_are_macro_means(weights):
    table = suite_table([0.3, 0.0, 0.1], weights=weights)
    document = rank(table, RankSettings(resamples=100))
    task, share = table.suite.of_sample[table.row_samples[0]], table.suite.weights
    for model in range(3):
        score = table.values[model][:, 0]
        expected = sum(share[t] * score[task == t].mean() for t in range(8))
        assert document.means[0].mean[model] == pytest.approx(expected, abs=1e-12)
        assert document.suite.columns["x0"].scores.macro[model] == pytest.approx(expected, abs=1e-12)
        entry = document.meta()["suite"]["macro_means"][model]
        assert entry["mean"] == pytest.approx(expected, abs=1e-12)
        assert entry["low"] < expected < entry["high"]
        row = next(row for row in document.rows if row.model == f"m{model + 1}" and row.method == "R-SSD@x0")
        assert row.mean == pytest.approx(expected, abs=1e-12)


def test_less_is_better_turns_means_around_and_leaves_marks():
    table = suite_table(CLEAR)
    turned = replace(
        table,
        values=tuple(-value for value in table.values),
        metrics=(replace(table.metrics[0], direction="lower", declared=True),),
    )
    up, down = (rank(one, RankSettings(resamples=500)).meta()["suite"] for one in (table, turned))
    # The models change places: m2 leads, and m1 is worse where it was better.
    assert {row["leader"] for row in up["task_means"]} == {"m1"}
    assert {row["leader"] for row in down["task_means"]} == {"m2"}
    for one, other in zip(up["task_means"], down["task_means"], strict=True):
        assert one["mean"] == other["mean"]
    better = {row["task"] for row in down["task_means"] if row["model"] == "m1" and row["mark"] == "better"}
    assert better == {"gsm8k"}


@pytest.mark.parametrize("name", ["rank", "dominance"])
def test_the_document_fits_its_schema(name):
    table = suite_table([0.3, 0.0, 0.1], metrics=2)
    document = (
        rank(table, RankSettings(resamples=100))
        if name == "rank"
        else dominance(table, DominanceSettings(resamples=100))
    )
    schema = json_schema(name)
    assert schema["properties"]["meta"]["properties"]["suite"]["required"]
    jsonschema.Draft202012Validator(schema).validate(json.loads(to_json(document)))


def test_a_table_without_tasks_has_no_suite():
    table = replace(suite_table(CLEAR), suite=NO_SUITE)
    document = rank(table, RankSettings(resamples=100))
    assert document.suite is None
    assert "suite" not in document.meta()
    assert "task" not in document.verdict


def strips_of(document):
    shown = first_screen(sections_with_parameters(document, flags=True))
    return next(
        s for s in shown if isinstance(s, Table) and any("+ better than" in one.head for one in s.columns)
    )


def test_strips_say_what_the_marks_are():
    document = ranked([*CLEAR, 0.1])
    strips = strips_of(document)
    one = document.suite.columns["x0"]
    assert [row[0] for row in strips.rows] == ["m3", "m2"]
    for row, model in zip(strips.rows, (2, 1), strict=True):
        assert cell_text(row[1]) == "".join(MARKS[mark] for mark in one.marks[model, 0].tolist())
        assert int(cell_text(row[-1])) == cell_text(row[1]).count(".")
    assert cell_text(strips.rows[1][2]) == "1: gsm8k"
    with pytest.raises(StopIteration):  # of several metrics each its ranks, and no strips
        strips_of(ranked(CLEAR, resamples=100, metrics=2, per_metric=True))


def screen(document):
    out = io.StringIO()
    to_terminal(first_screen(sections_with_parameters(document, flags=True)), out, width=None, color=False)
    return out.getvalue()


def test_strips_are_against_the_model_that_the_verdict_says_to_look_at():
    document = ranked(CLEAR)
    (name, one), chapter = next(iter(document.leading.items())), document.suite
    assert one.recommendation is not None
    beaten = replace(one.recommendation.leader, ahead=(1,))
    instead = replace(one, recommendation=replace(one.recommendation, leader=beaten, choice=1))
    assert firsts({name: one}, "ratio")[name] == First(0, 2, (0, 1))
    assert firsts({name: instead}, "ratio")[name] == First(0, 2, (1, 0))
    table, inference, first = suite_table(CLEAR), document.inference, First(0, 2, (1, 0))
    column = suite_column(name, table.column(0), table, first, inference, chapter.scope)
    assert (column.first.model, column.reference) == (0, 1)
    strip = marks_table(chapter, column, [0, 1])
    assert "+ better than m2 on" in [column.head for column in strip.columns]
    assert [cell_text(row[0]) for row in strip.rows] == ["m1"]
    assert cell_text(strip.rows[0][1]) == "++-+++++"
    # Pictures and documents hold the others against the same model, with the same sign.
    worse = np.array([1, 1, -1, 1, 1, 1, 1, 1])
    assert arrange_task_map(chapter, column).marks.tolist() == [[0] * 8, worse.tolist()]
    forest = arrange_task_forest(chapter, column)
    assert forest.rivals == (0,)
    assert sorted(forest.marks[0, : -forest.overall_rows].tolist()) == sorted((-worse).tolist())
    document = replace(document, suite=replace(chapter, columns={name: column}))
    assert {row["leader"] for row in document.meta()["suite"]["task_means"]} == {"m2"}


def test_five_models_on_twelve_tasks_fit_a_screen(monkeypatch):
    names = [f"task_{letter}" for letter in "abcdefghijkl"]
    monkeypatch.setattr(f"{__name__}.NAMES", names)
    shown = screen(ranked([0.4, 0.3, 0.2, 0.1, 0.0], sizes=(30,) * 12, metrics=2))
    lines = shown.rstrip().splitlines()
    assert lines[0].strip() == "Suite: 12 tasks, weighed alike, 30 samples each."
    assert len(lines) <= 25


def test_the_table_of_tasks_is_for_who_asks():
    hidden, seen = (screen(ranked(CLEAR, per_task=asked)) for asked in (False, True))
    assert "Means of x0 by task" not in hidden
    assert "--per-task" in hidden
    assert "Means of x0 by task" in seen
    assert "--per-task" not in seen


def test_the_table_of_tasks_is_the_csv_of_who_asks():
    document = ranked(CLEAR, per_task=True)
    found = pl.read_csv(io.StringIO(to_csv(document)))
    assert found.columns == ["model", "task", "metric", "mean", "low", "high", "mark"]
    entries = document.meta()["suite"]["task_means"]
    for name in ("model", "task", "mean", "mark"):
        assert found[name].to_list() == [entry[name] for entry in entries]
    table = suite_table(CLEAR)
    task = table.suite.of_sample[table.row_samples[1]]
    on_mmlu = table.values[1][task == NAMES.index("mmlu"), 0]
    expected = student(on_mmlu.size - 1, on_mmlu.mean(), sem(on_mmlu)).interval(0.95)
    row = found.filter(model="m2", task="mmlu")
    assert (row["low"][0], row["high"][0]) == pytest.approx(expected)
    assert to_csv(ranked(CLEAR)).startswith("method,model,rank,")


def test_without_a_test_there_are_no_marks():
    document = ranked(CLEAR, no_test=True, per_task=True)
    assert "tasks like these" not in document.verdict
    assert not document.suite.columns["x0"].marks.any()
    assert "+ better than" not in screen(document)


def test_dominance_says_it_too():
    document = dominance(suite_table(CLEAR), DominanceSettings(resamples=1000))
    assert "By task, m1 against m2: better on 7, worse on 1 (gsm8k)" in document.verdict
    assert first_screen(sections_with_parameters(document, flags=True))[0].label == "Suite:"
    assert strips_of(document).rows[0][0] == "m2"


def test_tasks_like_these_are_ranked_and_these_are_answered_beside():
    document = ranked(CLEAR, tasks="random")
    assert "on tasks like these 8" in document.verdict
    assert "on these 8 tasks themselves: shown (p < 0.001)." in document.verdict
    assert document.meta()["suite"]["scope"] == "random"
    assert not any("only 7 tasks" in warning for warning in document.provenance.warnings)


@pytest.mark.parametrize(
    ("scope", "ahead", "p", "said"),
    [
        ("fixed", True, 0.01, ["on tasks like these: shown (t test over the tasks, p = 0.01)."]),
        ("fixed", False, 0.01, ["on tasks like these: not shown."]),
        ("fixed", False, 0.3, ["on tasks like these: not shown (t test over the tasks, p = 0.3)."]),
        ("random", True, 0.3, []),
        ("random", False, 0.01, ["on these 8 tasks themselves: shown (p = 0.01)."]),
    ],
)
def test_the_other_question_is_answered_without_contradiction(scope, ahead, p, said):
    """Nothing is shown of tasks like these that the ranking does not show of these."""
    chapter = ranked(CLEAR, tasks=scope, resamples=50).suite
    column = chapter.columns["x0"]
    answers = {name: replace(one, p_adjusted=np.full((2, 2), p)) for name, one in column.scopes.items()}
    first = replace(column.first, ahead=np.array([[False, ahead], [False, False]]))
    told = [*other_scope_answer(chapter, replace(column, scopes=answers, first=first), 0, 1)]
    assert told == [(p, f"Whether m1 is better than m2 {one}") for one in said]


def test_what_is_shipped_for_tasks_like_these_is_better_by_their_means(monkeypatch):
    """Twelve tasks: resamples alone would say more than Student's test of the macro means."""
    monkeypatch.setattr(f"{__name__}.NAMES", [f"task_{letter}" for letter in "abcdefghijkl"])
    document = ranked([np.where(np.arange(12) == 5, 8.0, 0.3), 0.0], tasks="random", sizes=(30,) * 12)
    (pair,) = document.meta()["suite"]["pairs"]
    (tests,) = (one.found.tests_of(one.method) for one in document.leading.values())
    assert tests.of_means == "beside"
    assert pair["p_like_these"] > 0.05
    assert "Ship" not in document.verdict
    challenged = document.leading["x0"].recommendation.leader
    assert challenged.ahead == challenged.behind == ()


def test_few_tasks_rank_by_means_and_say_so():
    """Five models on six tasks: no resample could show dominance (method §8)."""
    up = np.array([2.0, 2.0, 2.0, 2.0, 2.1, 3.0])
    document = ranked([up, 0.0, 0.1, 0.2, 0.3], resamples="auto", sizes=(30,) * 6, tasks="random")
    assert "Ship m1: significantly better than all 4 others" in document.verdict
    assert any("Student's, of the macro" in warning for warning in document.provenance.warnings)


def test_tasks_like_these_need_six_tasks_and_tasks_at_all():
    with pytest.raises(InputError, match="at least 6 tasks"):
        ranked([0.5, 0.0], sizes=(30, 40, 50, 60, 70), tasks="random")
    table = replace(suite_table(CLEAR), suite=NO_SUITE)
    for study, settings in ((rank, RankSettings), (dominance, DominanceSettings)):
        with pytest.raises(UsageError, match="about the tasks of a suite"):
            study(table, settings(tasks="random"))
        with pytest.raises(UsageError, match="about the tasks of a suite"):
            study(table, settings(per_task=True))


def test_a_task_that_does_not_count_is_not_spoken_of():
    weights = np.array([0.0, 1, 1, 1, 1, 1, 1, 1]) / 7
    table = suite_table(CLEAR)
    assert table.suite
    document = rank(replace(table, suite=replace(table.suite, weights=weights)), RankSettings(resamples=50))
    assert "on 7 of these 8 tasks" in document.verdict
    assert "on these 8 tasks" not in document.verdict


@pytest.mark.parametrize(("heavy", "said"), [(9.0, "6.2 % to 56 %"), (1e300, "under 0.01 % to 100 %")])
def test_weights_of_any_size_are_read_as_shares(heavy, said):
    weights = np.array([heavy, 1, 1, 1, 1, 1, 1, 1])
    words = SuiteOutline(NAMES, (30,) * 8, tuple(weights / weights.sum()), "none").summary
    assert words == f"8 tasks, weights {said} ({NAMES[0]}), 30 samples each"


def test_every_command_that_weighs_tasks_begins_with_them():
    table = suite_table(CLEAR, metrics=2)
    for found in (mrm(table, MeanRiskSettings(no_test=True)), portfolio(table, FoldingSettings())):
        assert screen(found).startswith(" Suite: 8 tasks, weighed alike, 30 to 300 samples each.")
    one = mrm(own_metrics()[1], MeanRiskSettings(no_test=True))
    said = " ".join(screen(one).split())
    assert said.startswith(
        "Suite: 6 tasks, weighed alike, 30 to 60 samples each; scores are ranks within the "
    )


def test_tasks_like_these_need_weights_worth_six_tasks():
    """One task of nearly all the weight is a single one: an interval of 10^153 was the answer."""
    table = suite_table([0.5, 0.0], sizes=(30,) * 8)
    assert table.suite
    weights = np.array([1000.0, 1, 1, 1, 1, 1, 1, 1])
    heavy = replace(table, suite=replace(table.suite, weights=weights / weights.sum()))
    with pytest.raises(InputError, match="worth at least 6 equal tasks") as error:
        rank(heavy, RankSettings(tasks="random"))
    assert error.value.found == "8 tasks, weighed as if they were 1 (Kish's number)"
    light = replace(table, suite=replace(table.suite, weights=np.array([1.0, 1, 1, 1, 1, 1, 1, 2]) / 9))
    assert "on tasks like these 8" in rank(light, RankSettings(tasks="random", resamples=50)).verdict


def own_metrics():
    """Two models on six tasks, each with a metric of its own; of a loss less is better."""
    rng = np.random.default_rng(4)
    frames = []
    for at, (task, size, sign) in enumerate(
        [("bleu", 40, 1), ("f1", 30, 1), ("loss", 50, -1), ("acc", 60, 1), ("rouge", 30, 1), ("em", 45, 1)]
    ):
        base = rng.normal(size=size)
        for model, up in (("a", 0.0), ("b", 0.6)):
            score = 10.0**at * (5 + sign * (base + up + 0.5 * rng.normal(size=size)))
            of_task = long_table({model: score}, f"the {task}", int)
            frames.append(of_task.with_columns(task=pl.lit(task)))
    frame = pl.concat(frames)
    higher = tuple(f"the {task}" for task in ("bleu", "f1", "acc", "rouge", "em"))
    asked = ReadOptions(lower=("the loss",), higher=higher, weighs_tasks=True)
    return frame, read_scores([FrameSource(frame)], asked)


def test_metrics_of_their_own_are_added_as_they_are_only_aloud():
    _, table = own_metrics()
    document = rank(table, RankSettings(task_scale="none", resamples=50))
    (said,) = (text for text in document.provenance.warnings if "as they are" in text)
    assert " … and 2 more as they are: " in said
    assert "; metrics of different tasks added as they are." in " ".join(screen(document).split())
    assert table.suite
    assert table.suite.specs
    wide = [replace(spec, bounds=(0.0, 100.0 if at else 1.0)) for at, spec in enumerate(table.suite.specs)]
    declared = replace(table, suite=replace(table.suite, specs=tuple(wide)))
    with pytest.raises(UsageError, match="adds scores of different units") as caught:
        rank(declared, RankSettings(task_scale="none", resamples=50))
    assert "from 0 to 1; " in caught.value.found
    alike = [replace(spec, bounds=(0.0, 1.0)) for spec in table.suite.specs]
    same = replace(table, suite=replace(table.suite, specs=tuple(alike)))
    quiet = rank(same, RankSettings(task_scale="none", resamples=50))
    assert not any("as they are" in text for text in quiet.provenance.warnings)


@pytest.mark.parametrize("name", ["rank", "dominance"])
def test_tasks_with_metrics_of_their_own_are_shown_as_the_file_has_them(name):
    frame, table = own_metrics()
    study, asked = (rank, RankSettings) if name == "rank" else (dominance, DominanceSettings)
    document = study(table, asked(resamples=200, per_task=True))
    of = frame.group_by("task", "model").agg(pl.col("score").mean())
    means = {(task, model): mean for task, model, mean in of.iter_rows()}
    found = document.meta()["suite"]["task_means"]
    assert len(found) == 12
    for row in found:
        assert row["mean"] == pytest.approx(means[row["task"], row["model"]])
    assert {row["mark"] for row in found if row["model"] == "a"} == {"worse"}
    assert "macro mean, as compared" in screen(document)
    assert {row["metric"] for row in document.meta()["suite"]["tasks"]} == set(frame["metric"])
    # The scale of the comparison is ranks within a task.
    assert all(0 < row["mean"] < 1 for row in document.meta()["suite"]["macro_means"])


def test_what_is_combined_is_said_of_a_suite():
    table = suite_table(CLEAR, metrics=2)
    for document in (
        rank(table, RankSettings(resamples=100)),
        dominance(table, DominanceSettings(resamples=100)),
        mrm(table, MeanRiskSettings(resamples=100)),
    ):
        lines = [
            one.text
            for one in first_screen(sections_with_parameters(document, flags=True))
            if isinstance(one, Line)
        ]
        assert sum(line.startswith("share of scores of the task no better, ") for line in lines) == 1


@pytest.mark.parametrize("metrics", [1, 2])
def test_what_the_first_gains_by_metric_is_told_of_a_combined_score_only(metrics):
    """Of one metric its macro means say it; of several each says what it is better on."""
    document = rank(suite_table([1.5, 0.0], metrics=metrics), RankSettings(resamples=200))
    said = " ".join((document.verdict, *document.more))
    assert "Against m2: " in said
    assert ("Against m2, m1 is better on" in said) == (metrics == 2)
    assert ("macro mean" in said) == (metrics == 1)
    (column,) = document.suite.columns.values()
    heads = [one.name for one in marks_table(document.suite, column, [0, 1]).columns]
    assert ("+ better than m1 on (combined score)" in heads) == (metrics == 2)
    # The other question names what it is about.
    assert "m1 is better than m2 on the combined score of tasks like" in said or metrics == 1


@pytest.mark.parametrize("spread", [0.0, 0.1, 2.0])
def test_what_lies_between_tasks_is_the_variance_that_their_samples_leave(spread):
    means = spread * np.random.default_rng(5).normal(size=8)
    table, column = suite_table([means, 0.0]), ranked([means, 0.0], resamples=100).suite.columns["x0"]
    apart = np.subtract(*table.column(0))
    tasks = [apart[table.suite.of_sample == task] for task in range(8)]
    within = sum(sem(one) ** 2 for one in tasks) / 64
    expected = max(1 - within / sem([one.mean() for one in tasks]) ** 2, 0.0)
    assert column.task_variance_share((0, 1)) == pytest.approx(expected, rel=1e-9)
    assert column.task_variance_share((1, 0)) == pytest.approx(expected, rel=1e-9)
