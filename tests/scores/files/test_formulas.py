"""Names that a spreadsheet would execute are escaped in CSV and restored when read."""

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import riskrank as rr
from riskrank.scores.files.parsing import escape_formula, escape_table, unescape_formula, unescape_frame

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+A(3)", "@SUM(1)", " =1", "＝1", "\t=A1", "-[b]s!A1"]
NAMES = ["-1.5", "+2e-3", "-a", "@org/model-7b:free", "- layer norm", "+cot", "-.5", "a=b", "", "1=1", "'a'"]


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_escaped(name):
    assert escape_formula(name) == f"'{name}"
    assert unescape_formula(f"'{name}") == name


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_names_are_unchanged(name):
    assert escape_formula(name) == unescape_formula(name) == name


@given(st.lists(st.text(st.sampled_from("'=+-@ \n\x1c(a1,")), min_size=1))
@example(["'=a", "''=a", "=a", "a"])
def test_names_survive_a_round_trip(names):
    frame = pl.DataFrame({"=name(": names, "": [-1.5] * len(names)})
    written = escape_table(frame)
    assert written.columns == [escape_formula("=name("), ""]
    assert written["'=name("].to_list() == [*map(escape_formula, names)]
    assert escape_table({"=name(": names}) == {escape_formula("=name("): written["'=name("].to_list()}
    assert unescape_frame(written)["'=name("].to_list() == names


def test_tables_survive_a_round_trip(tmp_path):
    names = ["=HYPERLINK(1)", "@org/model"]
    columns = {"model": [name for name in names for _ in range(9)], "sample": [*range(9)] * 2}
    scores = columns | {name: [number / 7 - 1 for number in range(18)] for name in ("=metric", "''=metric")}
    path = tmp_path / "t.csv"
    escape_table(pl.DataFrame(scores)).write_csv(path)
    from_file, from_memory = (rr.rank(source, wide=True, no_test=True) for source in (path, scores))
    assert [*from_file.rows] == [*from_memory.rows]
    assert from_file.document.provenance.models == from_memory.document.provenance.models == tuple(names)
