"""Suites in the documents of rank and dominance."""

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
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.scores.table.suite import NO_SUITE, Suite
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.study import dominance
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import mrm
from riskrank.studies.portfolio.options import CombinationSettings
from riskrank.studies.portfolio.study import portfolio
from riskrank.studies.rank.leader import decide, top_models
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank
from riskrank.studies.suites.column import suite_column
from riskrank.studies.suites.figures import arrange_task_forest
from riskrank.studies.suites.screen import MARKS, marks_table
from riskrank.studies.suites.section import SuiteOutline, TopModel, other_scope_answer
from tests.tables import long_table

NAMES = ("arc", "boolq", "gsm8k", "hellaswag", "ifeval", "mmlu", "piqa", "winogrande")


def suite_table(means, *, sizes=(40, 30, 60, 200, 50, 300, 30, 60), weights=None, seed=0, metrics=1):
    """Models m1, m2, ... with the given task means in units of the spread, and task sizes."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(len(sizes)), sizes)
    base = rng.normal(size=task.size)
    rows = []
    for model, task_means in enumerate(means, 1):
        for metric in range(metrics):
            score = base + 0.5 * rng.normal(size=task.size) + np.broadcast_to(task_means, len(sizes))[task]
            rows.append(long_table({f"m{model}": score}, f"x{metric}", lambda at: f"{NAMES[task[at]]}/{at}"))
    table = read_scores([FrameSource(pl.concat(rows))], ReadOptions(weighs_tasks=True))
    task_codes = np.array([NAMES.index(sample.partition("/")[0]) for sample in table.samples])
    share = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=float)
    weighting = {"weights": share / share.sum(), "weighted": weights is not None}
    suite = Suite(names=NAMES[: len(sizes)], task_codes=task_codes, **weighting)
    return replace(table, suite=suite)


def ranked(means, resamples=1000, **options):
    settings = {name: options.pop(name) for name in [*options] if name in SETTINGS}
    return rank(suite_table(means, **options), RankSettings(resamples=resamples, **settings))


SETTINGS = ("no_test", "per_task", "per_metric", "tasks")
CLEAR = [np.array([0.5, 0.5, -0.6, 0.5, 0.5, 0.5, 0.5, 0.5]), 0.0]


@pytest.fixture(scope="module")
def clear():
    """A ranking in which m1 leads on seven of eight tasks."""
    return ranked(CLEAR)


@pytest.fixture(scope="module")
def clear_by_task():
    return ranked(CLEAR, per_task=True)


@pytest.fixture(scope="module")
def in_scope():
    """Rankings of few resamples over fixed and over random tasks."""
    return {scope: ranked(CLEAR, tasks=scope, resamples=50) for scope in ("fixed", "random")}


def test_verdict_names_tasks_and_covers_both_scopes():
    verdict = ranked(CLEAR).verdict
    assert verdict.startswith(
        "Ship m1: significantly better than m2 on x0 on these 8 tasks. Compared with m2: macro mean "
    )
    assert "better on 7, worse on 1 (gsm8k); no single task decides." in verdict
    assert (
        "On tasks like these, m1 is not significantly better than m2 (test over the tasks, p = 0.53)"
        in verdict
    )
    assert len(verdict.split()) <= 70


def test_five_tasks_do_not_generalise():
    document = ranked([0.5, 0.0], sizes=(30, 40, 50, 60, 70))
    assert "tasks like these" not in document.verdict
    assert "better on every task" in document.verdict
    assert document.meta()["suite"]["pairs"][0]["p_like_these"] is None


def test_decisive_task_is_named():
    """Model m1 leads on mmlu only, by enough to lead on the macro mean."""
    means = [np.where(np.arange(8) == 5, 3.0, 0.0), np.where(np.arange(8) == 5, 0.0, 0.2)]
    document = ranked(means)
    assert "without mmlu, m2 comes first" in document.verdict
    assert [row.task for row in _rows_without_a_task(document) if row.first == "m2"] == ["mmlu"]
    assert [row.task for row in _rows_without_a_task(document) if row.first_as_ranked == "m2"] == ["mmlu"]


@pytest.mark.parametrize("weights", [None, (1, 1)])
def test_tasks_without_weights_leave_no_leader(weights):
    """The models lead on one task each, so that the task weights decide."""
    document = ranked([np.array([0.8, -0.4]), 0.0, -1.0], sizes=(110, 240), weights=weights)
    depends = "m1 or m2: which is better depends on the task; m1 beats m3 on these 2 tasks."
    assert document.verdict.startswith("Ship m1" if weights else depends)
    assert "without arc, m2 comes first" in document.verdict
    assert document.leader.recommended_leader == ((0,) if weights else ())
    alone = ranked([np.array([0.8, -0.1]), 0.0], sizes=(110, 240))
    assert "better on 1 (arc), undecided on 1; without arc, m2 comes first" in alone.verdict
    assert alone.leader.recommended_leader == (0,)


def _rows_without_a_task(document):
    return [type("Row", (), row) for row in document.meta()["suite"]["left_out"]]


@pytest.mark.parametrize("weights", [None, [1, 0, 3, 4, 5, 6, 7, 8]])
def test_means_are_macro_means(weights):
    table = suite_table([0.3, 0.0, 0.1], weights=weights)
    document = rank(table, RankSettings(resamples=100))
    task, share = table.suite.task_codes[table.row_samples[0]], table.suite.weights
    for model in range(3):
        score = table.values[model][:, 0]
        expected = sum(share[t] * score[task == t].mean() for t in range(8))
        assert document.means[0].mean[model] == pytest.approx(expected, abs=1e-12)
        assert document.suite.columns["x0"].scores.macro_means[model] == pytest.approx(expected, abs=1e-12)
        entry = document.meta()["suite"]["macro_means"][model]
        assert entry["mean"] == pytest.approx(expected, abs=1e-12)
        assert entry["low"] < expected < entry["high"]
        row = next(row for row in document.rows if row.model == f"m{model + 1}" and row.method == "R-SSD@x0")
        assert row.mean == pytest.approx(expected, abs=1e-12)


def test_negated_scores_swap_leaders_and_keep_means():
    table = suite_table(CLEAR)
    reversed_table = replace(
        table,
        values=tuple(-value for value in table.values),
        metrics=(replace(table.metrics[0], direction="lower", declared=True),),
    )
    up, down = (rank(plain, RankSettings(resamples=500)).meta()["suite"] for plain in (table, reversed_table))
    # The models change places: m2 leads, and m1 is worse where it was better.
    assert {row["leader"] for row in up["task_means"]} == {"m1"}
    assert {row["leader"] for row in down["task_means"]} == {"m2"}
    for plain, negated in zip(up["task_means"], down["task_means"], strict=True):
        assert plain["mean"] == negated["mean"]
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


def marks_of(document):
    sections = first_screen(sections_with_parameters(document, flags=True))
    return next(
        s
        for s in sections
        if isinstance(s, Table) and any("+ better than" in column.head for column in s.columns)
    )


@pytest.mark.slow
def test_marks_match_the_suite():
    document = ranked([*CLEAR, 0.1])
    marks = marks_of(document)
    column = document.suite.columns["x0"]
    assert [row[0] for row in marks.rows] == ["m3", "m2"]
    for row, model in zip(marks.rows, (2, 1), strict=True):
        assert cell_text(row[1]) == "".join(MARKS[mark] for mark in column.marks[model, 0].tolist())
        assert int(cell_text(row[-1])) == cell_text(row[1]).count(".")
    assert cell_text(marks.rows[1][2]) == "1: gsm8k"
    with pytest.raises(StopIteration):  # no marks for several ranked metrics
        marks_of(ranked(CLEAR, resamples=100, metrics=2, per_metric=True))


def screen(document):
    return to_terminal(first_screen(sections_with_parameters(document, flags=True)), width=None, color=False)


def test_marks_compare_with_the_recommended_model(clear):
    (name, leader), section = next(iter(clear.leaders.items())), clear.suite
    assert leader.recommendation is not None
    beaten = replace(leader.recommendation.leader, ahead=(1,))
    advice = replace(leader.recommendation, leader=beaten, choice=1)
    alternative = decide(replace(leader, recommendation=advice))
    assert top_models({name: leader}, "ratio")[name] == TopModel(0, 2, (0, 1))
    assert top_models({name: alternative}, "ratio")[name] == TopModel(0, 2, (1, 0))
    table, inference, first = suite_table(CLEAR), clear.inference, TopModel(0, 2, (1, 0))
    column = suite_column(name, table.column(0), table, first, inference, section.scope)
    assert (column.first.model, column.reference) == (0, 1)
    marks = marks_table(section, column, [0, 1])
    assert "+ better than m2 on" in [column.head for column in marks.columns]
    assert [cell_text(row[0]) for row in marks.rows] == ["m1"]
    assert cell_text(marks.rows[0][1]) == "++-+++++"
    # Pictures and documents compare with the same model, with the same sign.
    worse = np.array([1, 1, -1, 1, 1, 1, 1, 1])
    forest = arrange_task_forest(section, column)
    assert forest.rivals == (0,)
    assert sorted(forest.marks[0, : -forest.overall_rows].tolist()) == sorted((-worse).tolist())
    document = replace(clear, suite=replace(section, columns={name: column}))
    assert {row["leader"] for row in document.meta()["suite"]["task_means"]} == {"m2"}


def test_five_models_on_twelve_tasks_fit_a_screen(monkeypatch):
    names = [f"task_{letter}" for letter in "abcdefghijkl"]
    monkeypatch.setattr(f"{__name__}.NAMES", names)
    output = screen(ranked([0.4, 0.3, 0.2, 0.1, 0.0], sizes=(30,) * 12, metrics=2))
    lines = output.rstrip().splitlines()
    assert lines[0].strip() == "Suite: 12 tasks, weighted equally, 30 samples each."
    assert len(lines) <= 25


def test_task_table_is_optional(clear, clear_by_task):
    hidden, seen = screen(clear), screen(clear_by_task)
    assert "Means of x0 by task" not in hidden
    assert "--per-task" in hidden
    assert "Means of x0 by task" in seen
    assert "--per-task" not in seen


def test_task_table_is_the_csv(clear, clear_by_task):
    frame = pl.read_csv(io.StringIO(to_csv(clear_by_task)))
    assert frame.columns == ["model", "task", "metric", "mean", "low", "high", "mark"]
    entries = clear_by_task.meta()["suite"]["task_means"]
    for name in ("model", "task", "mean", "mark"):
        assert frame[name].to_list() == [entry[name] for entry in entries]
    table = suite_table(CLEAR)
    task = table.suite.task_codes[table.row_samples[1]]
    on_mmlu = table.values[1][task == NAMES.index("mmlu"), 0]
    expected = student(on_mmlu.size - 1, on_mmlu.mean(), sem(on_mmlu)).interval(0.95)
    row = frame.filter(model="m2", task="mmlu")
    assert (row["low"][0], row["high"][0]) == pytest.approx(expected)
    assert to_csv(clear).startswith("method,model,rank,")


def test_without_a_test_there_are_no_marks():
    document = ranked(CLEAR, no_test=True, per_task=True)
    assert "tasks like these" not in document.verdict
    assert not document.suite.columns["x0"].marks.any()
    assert "+ better than" not in screen(document)


def test_dominance_reports_tasks():
    document = dominance(suite_table(CLEAR), DominanceSettings(resamples=1000))
    assert "By task, m1 against m2: better on 7, worse on 1 (gsm8k)" in document.verdict
    assert first_screen(sections_with_parameters(document, flags=True))[0].label == "Suite:"
    assert marks_of(document).rows[0][0] == "m2"


def test_random_tasks_also_answer_for_fixed_tasks():
    document = ranked(CLEAR, tasks="random")
    assert "on tasks like these 8" in document.verdict
    assert "On these 8 tasks themselves, m1 is significantly better than m2 (p < 0.001)." in document.verdict
    assert document.meta()["suite"]["scope"] == "random"
    assert not any("only 7 tasks" in warning for warning in document.provenance.warnings)


@pytest.mark.parametrize(
    ("scope", "ahead", "p", "texts"),
    [
        ("fixed", True, 0.01, ["tasks like these", "is", " (test over the tasks, p = 0.01)"]),
        ("fixed", False, 0.01, ["tasks like these", "is not", ""]),
        ("fixed", False, 0.3, ["tasks like these", "is not", " (test over the tasks, p = 0.3)"]),
        ("random", True, 0.3, []),
        ("random", False, 0.01, ["these 8 tasks themselves", "is", " (p = 0.01)"]),
    ],
)
def test_answers_for_both_scopes_are_consistent(in_scope, scope, ahead, p, texts):
    """Random tasks show nothing that the ranking does not show on fixed tasks."""
    section = in_scope[scope].suite
    column = section.columns["x0"]
    answers = {name: replace(scores, p_adjusted=np.full((2, 2), p)) for name, scores in column.scopes.items()}
    first = replace(column.first, ahead=np.array([[False, ahead], [False, False]]))
    sentences = [*other_scope_answer(section, replace(column, scopes=answers, first=first), 0, 1)]
    expected = [(p, "On {}, m1 {} significantly better than m2{}.".format(*texts))] if texts else []
    assert sentences == expected


def test_shipped_model_has_better_means_over_random_tasks(monkeypatch):
    """Twelve tasks: resamples alone would claim more than Student's t test of macro means."""
    monkeypatch.setattr(f"{__name__}.NAMES", [f"task_{letter}" for letter in "abcdefghijkl"])
    document = ranked([np.where(np.arange(12) == 5, 8.0, 0.3), 0.0], tasks="random", sizes=(30,) * 12)
    (pair,) = document.meta()["suite"]["pairs"]
    (tests,) = (leader.study.tests_for(leader.method) for leader in document.leaders.values())
    assert tests.mean_test == "alongside"
    assert pair["p_like_these"] > 0.05
    assert "Ship" not in document.verdict
    challenged = document.leaders["x0"].recommendation.leader
    assert challenged.ahead == challenged.behind == ()


def test_few_random_tasks_are_ranked_by_means():
    """Five models on six tasks: no number of resamples could show dominance (method §8)."""
    up = np.array([2.0, 2.0, 2.0, 2.0, 2.1, 3.0])
    document = ranked([up, 0.0, 0.1, 0.2, 0.3], resamples="auto", sizes=(30,) * 6, tasks="random")
    assert "Ship m1: significantly better than all 4 others" in document.verdict
    assert any("Student's t tests of means" in warning for warning in document.provenance.warnings)


def test_random_tasks_need_six_tasks():
    with pytest.raises(InputError, match="at least 6 tasks"):
        ranked([0.5, 0.0], sizes=(30, 40, 50, 60, 70), tasks="random")
    table = replace(suite_table(CLEAR), suite=NO_SUITE)
    for study, settings in ((rank, RankSettings), (dominance, DominanceSettings)):
        with pytest.raises(UsageError, match="needs a suite of tasks"):
            study(table, settings(tasks="random"))
        with pytest.raises(UsageError, match="needs a suite of tasks"):
            study(table, settings(per_task=True))


def test_task_with_zero_weight_is_not_counted():
    weights = np.array([0.0, 1, 1, 1, 1, 1, 1, 1]) / 7
    table = suite_table(CLEAR)
    assert table.suite
    document = rank(replace(table, suite=replace(table.suite, weights=weights)), RankSettings(resamples=50))
    assert "on 7 of these 8 tasks" in document.verdict
    assert "on these 8 tasks" not in document.verdict


@pytest.mark.parametrize(("heavy", "shares"), [(9.0, "6.2 % to 56 %"), (1e300, "under 0.01 % to 100 %")])
def test_weights_are_printed_as_shares(heavy, shares):
    weights = np.array([heavy, 1, 1, 1, 1, 1, 1, 1])
    words = SuiteOutline(NAMES, (30,) * 8, tuple(weights / weights.sum()), "none").summary
    assert words == f"8 tasks, weights {shares} ({NAMES[0]}), 30 samples each"


def test_commands_with_task_weights_print_the_suite():
    table = suite_table(CLEAR, metrics=2)
    for document in (mrm(table, MeanRiskSettings(no_test=True)), portfolio(table, CombinationSettings())):
        assert screen(document).startswith(" Suite: 8 tasks, weighted equally, 30 to 300 samples each.")
    ranked_scores = mrm(table_of_task_metrics()[1], MeanRiskSettings(no_test=True))
    text = " ".join(screen(ranked_scores).split())
    assert text.startswith(
        "Suite: 6 tasks, weighted equally, 30 to 60 samples each; scores are ranks within the "
    )


def test_random_tasks_need_six_effective_tasks():
    """Weights that concentrate on one task leave an effective number of one task."""
    table = suite_table([0.5, 0.0], sizes=(30,) * 8)
    assert table.suite
    weights = np.array([1000.0, 1, 1, 1, 1, 1, 1, 1])
    heavy = replace(table, suite=replace(table.suite, weights=weights / weights.sum()))
    with pytest.raises(InputError, match="effective number of at least 6 tasks") as error:
        rank(heavy, RankSettings(tasks="random"))
    assert error.value.found == "8 tasks, effective number 1 by their weights (Kish)"
    light = replace(table, suite=replace(table.suite, weights=np.array([1.0, 1, 1, 1, 1, 1, 1, 2]) / 9))
    assert "on tasks like these 8" in rank(light, RankSettings(tasks="random", resamples=50)).verdict


def table_of_task_metrics():
    """Two models on six tasks, each with a different metric; the loss is minimised."""
    rng = np.random.default_rng(4)
    frames = []
    for at, (task, size, sign) in enumerate(
        [("bleu", 40, 1), ("f1", 30, 1), ("loss", 50, -1), ("acc", 60, 1), ("rouge", 30, 1), ("em", 45, 1)]
    ):
        base = rng.normal(size=size)
        for model, up in (("a", 0.0), ("b", 0.6)):
            score = 10.0**at * (5 + sign * (base + up + 0.5 * rng.normal(size=size)))
            task_scores = long_table({model: score}, f"the {task}", int)
            frames.append(task_scores.with_columns(task=pl.lit(task)))
    frame = pl.concat(frames)
    higher = tuple(f"the {task}" for task in ("bleu", "f1", "acc", "rouge", "em"))
    options = ReadOptions(lower=("the loss",), higher=higher, weighs_tasks=True)
    return frame, read_scores([FrameSource(frame)], options)


def test_unscaled_task_metrics_are_warned_of():
    _, table = table_of_task_metrics()
    document = rank(table, RankSettings(task_scale="none", resamples=50))
    (warning,) = (text for text in document.provenance.warnings if "without rescaling" in text)
    assert " … and 2 more without rescaling: " in warning
    assert "; metrics of different tasks are averaged without rescaling." in " ".join(
        screen(document).split()
    )
    assert table.suite
    assert table.suite.specs
    unequal_specs = [
        replace(spec, bounds=(0.0, 100.0 if at else 1.0)) for at, spec in enumerate(table.suite.specs)
    ]
    declared = replace(table, suite=replace(table.suite, specs=tuple(unequal_specs)))
    with pytest.raises(UsageError, match="averages scores with different units") as caught:
        rank(declared, RankSettings(task_scale="none", resamples=50))
    assert "from 0 to 1; " in caught.value.found
    unit_specs = [replace(spec, bounds=(0.0, 1.0)) for spec in table.suite.specs]
    unit_bounds = replace(table, suite=replace(table.suite, specs=tuple(unit_specs)))
    quiet = rank(unit_bounds, RankSettings(task_scale="none", resamples=50))
    assert not any("as they are" in text for text in quiet.provenance.warnings)


@pytest.mark.parametrize("name", ["rank", "dominance"])
def test_task_metrics_keep_units_of_the_file(name):
    frame, table = table_of_task_metrics()
    study, settings = (rank, RankSettings) if name == "rank" else (dominance, DominanceSettings)
    document = study(table, settings(resamples=200, per_task=True))
    grouped = frame.group_by("task", "model").agg(pl.col("score").mean())
    means = {(task, model): mean for task, model, mean in grouped.iter_rows()}
    task_means = document.meta()["suite"]["task_means"]
    assert len(task_means) == 12
    for row in task_means:
        assert row["mean"] == pytest.approx(means[row["task"], row["model"]])
    assert {row["mark"] for row in task_means if row["model"] == "a"} == {"worse"}
    assert "macro mean, rescaled" in screen(document)
    assert {row["metric"] for row in document.meta()["suite"]["tasks"]} == set(frame["metric"])
    # Models are compared by ranks within tasks.
    assert all(0 < row["mean"] < 1 for row in document.meta()["suite"]["macro_means"])


def test_combined_score_of_a_suite_is_explained():
    table = suite_table(CLEAR, metrics=2)
    for document in (
        rank(table, RankSettings(resamples=100)),
        dominance(table, DominanceSettings(resamples=100)),
        mrm(table, MeanRiskSettings(resamples=100)),
    ):
        lines = [
            section.text
            for section in first_screen(sections_with_parameters(document, flags=True))
            if isinstance(section, Line)
        ]
        assert sum(line.startswith("share of scores of the task no better, ") for line in lines) == 1


@pytest.mark.parametrize("metrics", [1, 2])
def test_gains_by_metric_need_a_combined_score(metrics):
    """Macro means describe the gain on a single metric; several metrics are listed by name."""
    document = rank(suite_table([1.5, 0.0], metrics=metrics), RankSettings(resamples=200))
    text = " ".join((document.verdict, *document.more))
    assert "Compared with m2: " in text
    assert ("Compared with m2, m1 is better on" in text) == (metrics == 2)
    assert ("macro mean" in text) == (metrics == 1)
    (column,) = document.suite.columns.values()
    heads = [heading.name for heading in marks_table(document.suite, column, [0, 1]).columns]
    assert ("+ better than m1 on (combined score)" in heads) == (metrics == 2)
    # The answer for random tasks names its score.
    assert "significantly better than m2 on the combined score (" in text or metrics == 1
