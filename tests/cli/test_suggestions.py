"""What `check` says can be done with a table can be copied as it stands."""

import shlex

import polars as pl
import pytest
import typer

from riskrank.cli.main import app

COMMANDS = typer.main.get_command(app).commands
EXTRA = {"rank": ("--no-test",), "gsd": ("--no-test",)}


@pytest.fixture
def commands(run, monkeypatch, tmp_path):
    """Commands a check proposes for a file in the current directory."""
    monkeypatch.chdir(tmp_path)

    def proposed(*args):
        outcome = run("check", *args, "--format", "json")
        assert outcome.status == 0, outcome.stderr
        page = run("check", *args, "--explain", tty=True, variables={"COLUMNS": "60"})
        lines = [one["command"] for one in outcome.document["meta"]["suggestions"]]
        assert all(f"   {line}\n" in page.stdout for line in lines), "a command was wrapped"
        assert all(
            f"```\n{line}\n```" in run("check", *args, "--format", "markdown").stdout for line in lines
        )
        return [shlex.split(line)[1:] for line in lines]

    return proposed


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"metrics": ("acc", "top 1, it's")}, ()),
        ({"models": ("A", "B")}, ("--columns", "sample=sample", "--where", "model <> 'C'")),
        ({"metrics": ("acc", "cost", "f1")}, ("--lower", "cost", "--models", "A,C")),
        ({"n": 5}, ("--unpaired",)),
    ],
)
def test_every_proposed_command_runs(run, commands, write, options, flags):
    write("a table.csv", **options)
    proposed = commands("a table.csv", *flags)
    assert len(proposed) > 2
    for command, *rest in proposed:
        COMMANDS[command].make_context(command, list(rest))
        if command != "power":
            extra = [flag for flag in EXTRA.get(command, ()) if flag not in rest]
            assert run(command, *rest, *extra).status == 0, (command, rest)


def test_one_row_a_model_goes_to_copa(run, commands, write):
    write("t.csv", "model,acc,latency\nA,1,3\nB,2,4\nC,3,9\n")
    proposed = commands("t.csv", "--wide")
    assert [line[0] for line in proposed] == ["check", "copa"]
    assert [run(*line).status for line in proposed] == [0, 0]


def test_repeats_are_split_on_the_page_and_by_power(run, write):
    rows = [
        f"{m},{s},acc,{d},{(s * 7 + d * 3) % 11 + (m == 'A')}"
        for m in "AB"
        for s in range(20)
        for d in range(3)
    ]
    path = write("t.csv", "model,sample,metric,draw,score\n" + "\n".join(rows))
    page = run("check", path, "--repeats", "draws", "--explain").stdout
    assert "Variance of a model's mean" in page
    quick = ("--sizes", "20", "--simulations", "2", "--resamples", "40", "--pair", "A:B")
    outcome = run("power", path, "--repeats", "draws", *quick, "--explain")
    assert "Repeats: " in outcome.stdout
    assert "of the variance of a model's mean acc comes from its runs" in " ".join(outcome.stdout.split())
    found = run("power", path, "--repeats", "draws", *quick, "--format", "json").document["meta"]["variance"]
    assert found == run("check", path, "--repeats", "draws", "--format", "json").document["meta"]["variance"]


def test_check_counts_flaky_samples(run, write):
    runs = {"s1": [1, 1, 1, 1], "s2": [1, 0, 1, 1], "s3": [0, 0, 0, 0]}
    rows = [
        (model, sample, draw, "acc", passed)
        for model in ("a", "b")
        for sample, passes in runs.items()
        for draw, passed in enumerate(passes)
    ]
    path = write(
        "runs.csv", pl.DataFrame(rows, schema=["model", "sample", "draw", "metric", "score"], orient="row")
    )
    outcome = run("check", path, "--repeats", "draws", "--format", "json")
    first = outcome.document["meta"]["passes"][0]
    assert (first["always"], first["flaky"], first["never"]) == (1, 1, 1)
    assert [point["pass"] for point in first["curve"]] == pytest.approx([1.75 / 3, 0.5, 1.25 / 3, 1 / 3])
    text = " ".join(run("check", path, "--repeats", "draws").stdout.split())
    assert "1 of 3 samples of a pass in some runs and fail in others" in text
    assert "pass^4" in run("check", path, "--repeats", "draws", "--explain").stdout
