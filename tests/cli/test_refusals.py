"""Refusals by other libraries have three lines and exit status 2."""

import gzip
import json
from datetime import date, timedelta
from decimal import Decimal

import pytest
import zstandard

from riskrank.scores.files.parsing import build_column
from tests.cli.test_bad_input import GOOD

NESTED = {
    "models": ({"a": {"acc": [1, 2, 3]}, "b": {"acc": [2, 3, 4]}}, "needs at least "),
    "rows": ([{"x": {"q": 1}, "y": [1, 2]}] * 3, "missing columns"),
    "names": (
        [{"name": name, "scores": {"acc": 0.1, "f1": 0.2}} for name in "abc"],
        "one row per model has no samples",
    ),
}
PACKED = {"t.json.gz": gzip.compress, "t.json.zst": zstandard.compress, "t.json": gzip.compress}


@pytest.mark.parametrize("command", ["rank", "gate"])
@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("nested", NESTED)
def test_compressed_documents_that_nest_their_scores(refused, write, nested, name, command):
    document, problem = NESTED[nested]
    path = write(name, PACKED[name](json.dumps(document).encode()))
    lines = refused(command, path, *(["--better", "a:b"] if command == "gate" else []))
    assert problem in lines[0]
    assert "json.load" not in lines[2]  # which would have to unpack it


@pytest.mark.parametrize("option", ["--higher", "--lower", "--models", "--task-scale"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_names_with_line_breaks(refused, write, option, end):
    lines = refused("rank", write("t.csv", GOOD), option, f"a{end}b")
    if option != "--task-scale":
        assert lines[0] == f"error: {option} has a name that cannot be parsed"
        assert lines[2].endswith("put a name with a line break or a comma in double quotes")


def test_a_name_with_a_line_end_in_double_quotes_is_that_name(run, write):
    rows = [
        {"model": m, "sample": s, "metric": "a\nb", "score": s + (m == "x")} for m in "xy" for s in range(9)
    ]
    path = write("t.json", json.dumps(rows))
    outcome = run("rank", path, "--no-test", "--higher", '"a\nb"', "--models", "x,y", "--format", "json")
    assert outcome.status == 0, outcome
    assert outcome.document["meta"]["metrics"][0]["name"] == "a\nb"


def test_a_quote_is_closed_within_its_option(run, write):
    outcome = run("rank", write("t.csv", GOOD), "--no-test", "--models", '"A', "--models", "B")
    assert outcome.status == 0, outcome


@pytest.mark.parametrize("condition", ["least()", "greatest()", "coalesce()"])
@pytest.mark.parametrize("option", ["--where", "--sql"])
def test_a_panic_of_polars_has_three_lines(refused, write, capfd, condition, option):
    condition_text = (
        condition if option == "--where" else f"SELECT *, {condition} AS z FROM scores WHERE {condition}"
    )
    lines = refused("rank", write("t.csv", GOOD), option, condition_text)
    assert "fails" in lines[0]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("tail", ["||'a'", " + 1", " OR 1 = 1", " IS NULL"])
def test_a_query_of_too_many_steps(run, refused, write, tail):
    """Polars nests the steps of a query, and thousands of them would overflow its stack and crash."""
    path = write("t.csv", GOOD)
    for words in (
        ["--where", f"score{tail * 20_000}"],
        ["--sql", f"SELECT score{tail * 20_000} FROM scores"],
    ):
        assert "is too long" in refused("rank", path, *words)[0]
    listed = ", ".join(map(str, range(5_000)))
    assert run("rank", path, "--no-test", "--where", f"score IN ({listed}) OR score > -1").status == 0


@pytest.mark.parametrize(
    "condition", ["not (" * 30 + "score > 0" + ")" * 30, "score between 0 and 1" + " between 0 and 1" * 20]
)
def test_a_query_that_polars_never_finishes(run, refused, write, condition):
    path = write("t.csv", GOOD)
    assert "is nested too deeply" in refused("rank", path, "--where", condition)[0]
    plain = "(score between -9 and 9) and score between -9 and 9 or score between -9 and 9"
    assert run("rank", path, "--no-test", "--where", plain).status == 0


@pytest.mark.slow
def test_no_suggestion_repeats_the_call(refused, write):
    path = write("t.csv", f"model,{','.join(f'c{at}' for at in range(5_000))}\na{',0.5' * 5_000}\n")
    lines = refused("rank", path, "--matrix", "acc")
    assert "5,001 columns" in lines[0]


def test_repeats_without_a_number(run, write):
    rows = "".join(f"{model},1,x,high\n" for model in "AABB")
    path = write("t.csv", f"model,sample,metric,score\n{rows}")
    assert "the score is not a number" in run("check", path).stderr


def test_lists_of_anything_are_text():
    cells = [[date(2020, 1, 2)], {"a": Decimal("1.5")}, {date(2020, 1, 2): 1}, [b"a", timedelta(1)], [1.0]]
    assert build_column("x", cells).to_list() == [
        '["2020-01-02"]',
        '{"a": "1.5"}',
        "{datetime.date(2020, 1, 2): 1}",
        """["b'a'", "1 day, 0:00:00"]""",
        "[1.0]",
    ]
