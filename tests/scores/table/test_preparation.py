"""A folder of a folder a model and a file a task: what the paths say becomes columns, and is told."""

import pytest

from riskrank.errors import InputError, spell
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores

SIZES = {"arc": 3, "gsm": 2, "mmlu": 5}


@pytest.fixture
def folder(tmp_path):
    """Write a file for every model and task; `where` says the path of each."""

    def writing(where, sizes=SIZES, head="sample,metric,score", cell="{sample},acc,{score}"):
        for number, model in enumerate("AB"):
            for at, (task, size) in enumerate(sizes.items()):
                path = tmp_path / "runs" / where.format(model=model, task=task)
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = [
                    cell.format(sample=sample, score=at + sample / 10 + number / 100, model=model)
                    for sample in range(size)
                ]
                path.write_text("\n".join([head, *lines, ""]))
        return str(tmp_path / "runs")

    return writing


@pytest.mark.parametrize("where", ["{model}/{task}.csv", "{task}/{model}.csv", "x/{task}/y/{model}.csv"])
def test_the_rows_of_files_tell_folders_of_models_from_folders_of_tasks(folder, where):
    place = folder(where)
    table, wanted = read_scores([place], ReadOptions()), read_scores([f"{place}/{where}"], ReadOptions())
    assert (table.models, table.samples) == (("A", "B"), wanted.samples)
    assert table.suite.names == tuple(SIZES)
    assert [part.tolist() for part in table.values] == [part.tolist() for part in wanted.values]
    told, folders = table.warnings[0], where.partition("/{")[2]
    assert f"folders name the {'models' if where.startswith('{model}') else 'tasks'}" in told
    assert f"/{where}'" in spell(told, flags=True)
    assert folders


def test_equal_sizes_are_folders_of_models_and_the_note_says_how_to_turn_them(folder):
    place = folder("{model}/{task}.csv", sizes=dict.fromkeys("xyz", 2))
    table = read_scores([place], ReadOptions())
    assert (table.models, table.suite.names) == (("A", "B"), ("x", "y", "z"))
    assert "if it is the other way round: " in table.warnings[0]
    assert "{task}/{model}.csv" in table.warnings[0]


def test_what_the_paths_say_can_be_chosen_and_pooled(folder):
    place = folder("{model}/{task}.csv")
    kept = read_scores([place], ReadOptions(where="task <> 'mmlu'", models=("A", "B")))
    assert kept.suite.names == ("arc", "gsm")
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
def test_files_that_name_their_models_are_believed(folder, head, cell, options):
    place = folder("{task}/{model}.csv", head=head, cell=cell)
    table = read_scores([place], ReadOptions(**options))
    assert (table.models, bool(table.suite), table.warnings) == (("A", "B"), False, ())


def test_paths_that_differ_in_one_place_only_are_asked_about(folder):
    place = folder("{model}.csv", sizes={"arc": 3})
    with pytest.raises(InputError, match="missing column 'model'"):
        read_scores([place], ReadOptions())
