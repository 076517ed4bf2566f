"""Tables that could be misread, or that expand to a large size."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_a_duplicate_name_under_an_escape_is_refused(run, refused, write):
    line = '{{"model": "{}", "sample": "{}", "metric": "a", "score": {}, {}}}\n'
    for more, fine in (('"sc\\u006fre": -1', False), ('"note": "caf\\u00e9\\": 1"', True)):
        path = write("t.jsonl", "".join(line.format(m, s, s, more) for m in "AB" for s in range(12)))
        command = ("rank", path, "--higher", "a", "--no-test")
        assert run(*command).status == 0 if fine else "score" in refused(*command)[0]


def test_a_small_parquet_file_of_many_rows_is_bounded(run, refused, tmp_path):
    path = tmp_path / "t.parquet"
    n = 200_000
    repeat = {"model": "A", "sample": "s", "metric": "a", "score": 1.0}
    pl.DataFrame({name: pl.repeat(value, n, eager=True) for name, value in repeat.items()}).write_parquet(
        path
    )
    assert path.stat().st_size < 100_000
    assert "more than 1,000,000 bytes" in refused("check", path, "--set", "max-bytes=1000000")[0]


def test_the_look_for_groups_is_linear_in_the_columns(tmp_path):
    """With twice the columns, the search takes twice as many steps, not four times."""
    from dataclasses import replace

    from riskrank.options.reading import ReadOptions
    from riskrank.scores.files.source import FrameSource
    from riskrank.scores.table.columns import Roles
    from riskrank.scores.table.reading import read_frame
    from riskrank.scores.table.scores import FileRead
    from riskrank.scores.table.unassigned_columns import dividing_columns

    compared = []

    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            compared.append(1)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    for count in (1000, 2000):
        names = tuple(Name(f"c{at}") for at in range(count))
        scores = read_frame(
            [FrameSource({"model": ["A"], "sample": ["s"], "x": [1]})], ReadOptions(wide=True)
        )
        source = scores.notes.files[0].source
        source.columns = ("model", "sample", *names)
        roles = Roles(model="model", sample="sample", metric=None, score=None, draw=None, values=names)
        notes = replace(scores.notes, files=(FileRead(source, roles, 0),))
        assert dividing_columns(replace(scores, notes=notes)) == ()
    assert len(compared) < 10_000


@pytest.mark.slow
@pytest.mark.parametrize("words", [["rank", "--help"], ["--help"], ["--version"]])
def test_help_into_a_closed_pipe_is_no_gate(words):
    script = f"{sys.executable} -m riskrank {' '.join(words)} | true; echo ${{PIPESTATUS[0]}}"
    for _ in range(3):
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout == "0\n", done.stderr


def test_an_error_in_writing_stays_three_lines(refused, make_scores, write):
    path = write("t.csv", make_scores(models=("a", "b")))
    refused("rank", path, "--higher", "*", "--resamples", "60", "-o", "/dev/full", "--format", "json")


def test_invisible_characters_are_escaped(run, make_scores, write):
    path = write("t.csv", make_scores(models=("gpt", "gpt\u200b")))
    output = run("rank", path, "--higher", "*", "--no-test").stdout
    assert "gpt\\u200b" in output
    assert "\u200b" not in output


def test_means_beyond_the_sum_of_all_numbers_give_no_warning(run, tmp_path):
    path = tmp_path / "t.csv"
    rows = [
        f"{m},{s},{k},{(-1) ** (s // 3) * (1 + s + at) * 7e306}"
        for at, m in enumerate("abc")
        for s in range(20)
        for k in "xy"
    ]
    path.write_text("\n".join(["model,sample,metric,score", *rows]))
    done = run("rank", path, "--higher", "*", "--no-test")
    assert (done.status, done.stderr) == (0, "")
