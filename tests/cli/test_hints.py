"""Hints lead to the comparison that was meant: what each proposes is run, its models and samples counted."""

import re
import shlex

import pytest

N = 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write files below the current directory."""
    monkeypatch.chdir(tmp_path)

    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return put


def column(seed, n=N):
    """Numbers of a file of its own."""
    return [round((at * 7 + seed * 5) % 11 / 11 + seed / 10, 3) for at in range(n)]


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def hint(run):
    """The hint of a command that is refused."""

    def hint_of(*args):
        outcome = run(*args)
        assert outcome.status == 2, outcome
        return outcome.stderr.splitlines()[2].removeprefix("hint: ")

    return hint_of


@pytest.fixture
def meta(run):
    """Models, samples and metrics of a comparison that a hint proposed."""

    def meta_of(*args):
        outcome = run(*args, "--format", "json")
        assert outcome.status == 0, outcome.stderr
        found = outcome.document["meta"]
        return found["models"], found["samples"], [metric["name"] for metric in found["metrics"]]

    return meta_of


def words(text, start, end=r"$"):
    """The words a shell makes of what a hint proposes between two texts."""
    return shlex.split(re.search(f"{start}(.*?){end}", text)[1])


FOUR = [f"runs/{model}/{task}.csv" for model in "ab" for task in "xy"]


@pytest.mark.parametrize("given", [["runs"], ["runs/*/*.csv"], FOUR])
@pytest.mark.parametrize("wide", [False, True])
def test_a_folder_of_models_and_tasks_keeps_tasks_apart(folder, hint, meta, given, wide):
    for seed, (model, task) in enumerate((m, t) for m in "ab" for t in "xy"):
        rows = [(s, *([] if wide else ["acc"]), v) for s, v in enumerate(column(seed))]
        folder(f"runs/{model}/{task}.csv", lines("sample,acc" if wide else "sample,metric,score", rows))
    text = hint("rank", *given)
    tasks = words(text, "model and task: ", r" \(or")
    assert meta("rank", *tasks, "--no-test") == (["a", "b"], 2 * N, ["acc"])
    other = [words(text, r"\(or ", " with it")[0], *tasks[1:]]
    assert meta("rank", *other, "--no-test") == (["x", "y"], 2 * N, ["acc"])
    assert meta("rank", *words(text, "model and run: "), "--no-test") == (["a", "b"], N, ["acc"])


@pytest.mark.parametrize("many", [False, True])
def test_files_of_a_model_each_are_named(folder, hint, meta, many):
    models = "abcdef" if many else "ab"
    for seed, model in enumerate(models):
        folder(f"{model}.csv", lines("question,score", enumerate(column(seed))))
    for given in ([f"{model}.csv" for model in models], ["."]):
        text = hint("rank", *given)
        assert meta("rank", *words(text, "say so: "), "--no-test") == ([*models], N, ["score"])


def test_a_date_names_no_model(folder, hint, meta):
    rows = [(f"2024-01-0{m}", "abc"[m - 1], s, "acc", v) for m in (1, 2, 3) for s, v in enumerate(column(m))]
    folder("t.csv", lines("submission_date,entry,question,metric,score", rows))
    text = hint("rank", "t.csv")
    assert meta("rank", "t.csv", *words(text, "did you mean ", r"\?"), "--no-test") == ([*"abc"], N, ["acc"])
    folder("u.csv", lines("team,bot,question,metric,score", [(r[1].upper(), *r[1:]) for r in rows]))
    assert "the model may be" not in hint("rank", "u.csv")  # a name people use goes first
    folder("v.csv", lines("who,bot,question,metric,score", [(r[1].upper(), *r[1:]) for r in rows]))
    assert "model=…; the model may be who or bot" in hint("rank", "v.csv")
