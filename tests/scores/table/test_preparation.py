"""Nested folders of models and tasks: path parts become columns, and a warning reports it."""

import pytest

from riskrank.errors import spell
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores

SIZES = {"arc": 3, "gsm": 2, "mmlu": 5}


@pytest.fixture
def folder(tmp_path):
    """Write a file for every model and task, with paths from a template."""

    def writing(template, sizes=SIZES, header="sample,metric,score", cell="{sample},acc,{score}"):
        for number, model in enumerate("AB"):
            for at, (task, size) in enumerate(sizes.items()):
                path = tmp_path / "runs" / template.format(model=model, task=task)
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = [
                    cell.format(sample=sample, score=at + sample / 10 + number / 100, model=model)
                    for sample in range(size)
                ]
                path.write_text("\n".join([header, *lines, ""]))
        return str(tmp_path / "runs")

    return writing


@pytest.mark.parametrize("template", ["{model}/{task}.csv", "{task}/{model}.csv", "x/{task}/y/{model}.csv"])
def test_model_and_task_folders_are_recognised_by_row_counts(folder, template):
    place = folder(template)
    table, expected = read_scores([place], ReadOptions()), read_scores([f"{place}/{template}"], ReadOptions())
    assert (table.models, table.samples) == (("A", "B"), expected.samples)
    assert table.suite.names == tuple(SIZES)
    assert [part.tolist() for part in table.values] == [part.tolist() for part in expected.values]
    warning, folders = table.warnings[0], template.partition("/{")[2]
    assert f"folders name the {'models' if template.startswith('{model}') else 'tasks'}" in warning
    assert f"/{template}'" in spell(warning, flags=True)
    assert folders


def test_folders_of_equal_sizes_are_models_with_a_note(folder):
    place = folder("{model}/{task}.csv", sizes=dict.fromkeys("xyz", 2))
    table = read_scores([place], ReadOptions())
    assert (table.models, table.suite.names) == (("A", "B"), ("x", "y", "z"))
    assert "if it is the reverse: " in table.warnings[0]
    assert "{task}/{model}.csv" in table.warnings[0]


def test_path_columns_can_be_filtered_and_pooled(folder):
    place = folder("{model}/{task}.csv")
    selected = read_scores([place], ReadOptions(where="task <> 'mmlu'", models=("A", "B")))
    assert selected.suite.names == ("arc", "gsm")
    pooled = read_scores([place], ReadOptions(task="none"))
    assert (bool(pooled.suite), len(pooled.samples)) == (False, 10)


@pytest.mark.parametrize(
    ("head", "cell", "options"),
    [
        ("model,sample,metric,score", "{model},{sample},acc,{score}", {"repeats": "mean"}),
        (
            "system,sample,metric,score",
            "{model},{sample},acc,{score}",
            {"columns": "model=system", "repeats": "mean"},
        ),
    ],
)
def test_model_columns_override_folders(folder, head, cell, options):
    place = folder("{task}/{model}.csv", header=head, cell=cell)
    table = read_scores([place], ReadOptions(**options))
    assert (table.models, bool(table.suite), table.warnings) == (("A", "B"), False, ())


def test_paths_with_a_single_varying_part_name_models(folder):
    place = folder("{model}.csv", sizes={"arc": 3})
    assert read_scores([place], ReadOptions()).models == ("A", "B")
