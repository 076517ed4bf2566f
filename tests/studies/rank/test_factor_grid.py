"""Grids of means by two factors: cells, marks and margins follow the means and tests of the ranking."""

from pathlib import Path

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import RiskrankError
from riskrank.render.view import Line, Table, cell_text
from riskrank.studies.rank.screen import build_sections, mean_sections

PROMPTS = pl.read_csv(Path(__file__).parents[3] / "sample_data" / "prompts.csv")
JOINED = {"columns": "model=model+prompt,sample=case", "higher": "correct"}


def grid(result):
    """Return the first table of the screen as a dictionary by row and column, and the line below it."""
    document = result.document
    sections = (mean_sections if hasattr(document, "rankings") else build_sections)(document)
    at = next(i for i, section in enumerate(sections) if isinstance(section, Table))
    table, *lines = sections[at:]
    assert not table.details
    heads = [column.head for column in table.columns]
    cells = {
        (cell_text(row[0]), head): cell_text(cell)
        for row in table.rows
        for head, cell in zip(heads, row, strict=True)
    }
    return heads, cells, next(line.text for line in lines if isinstance(line, Line))


@pytest.mark.parametrize("options", [{"on": "mean"}, {"resamples": 300}])
def test_cells_are_means_and_marks_are_places(options):
    result = rr.rank(PROMPTS, **JOINED, **options)
    heads, cells, note = grid(result)
    assert heads[0] == "model"
    assert heads[-1] == "best prompt"
    assert "may be the best of all 9" in note
    for row in [row for row in result.rows if row.method == result.rows[0].method]:
        text = cells[tuple(row.model.split("+"))]
        assert float(text.strip("* %")) == pytest.approx(100 * row.mean, abs=0.51)
        assert text.startswith("*") == (row.rank_low == 1)


def test_margins_are_levels_that_no_other_one_beats():
    result = rr.rank(PROMPTS, **JOINED, on="mean")
    _, cells, _ = grid(result)
    names, wins = result.document.model_names, result.document.rankings[0].wins
    beaten = {(a, b) for i, a in enumerate(names) for j, b in enumerate(names) if wins[i, j]}
    prompts = ["plain", "examples", "reasoning"]
    for model in ("large", "medium", "small"):
        best = [p for p in prompts if not any((f"{model}+{q}", f"{model}+{p}") in beaten for q in prompts)]
        text = cells[model, "best prompt"]
        assert set(prompts if text == "any" else text.split(" and ")) == set(best)
    assert cells["medium", "best prompt"] == "reasoning"
    assert cells["best model", "reasoning"] == "medium and large"


def test_plus_signs_in_levels_do_not_split_them():
    frame = PROMPTS.with_columns(model=pl.col("model") + "+v2")
    heads, cells, _ = grid(rr.rank(frame, **JOINED, on="mean"))
    assert ("large\\+v2", "plain") in cells
    assert heads[0] == "model"


def test_models_without_two_factors_have_no_grid():
    frame = PROMPTS.filter(pl.col("prompt") == "plain").drop("prompt")
    heads, _, _ = grid(rr.rank(frame, columns="sample=case", higher="correct", on="mean"))
    assert heads[0] == "place"
    diagonal = pl.concat(
        [
            PROMPTS.filter(pl.col("model") == m, pl.col("prompt") == p)
            for m, p in zip(("large", "medium", "small"), ("plain", "examples", "reasoning"), strict=True)
        ]
    )
    heads, _, _ = grid(rr.rank(diagonal, **JOINED, on="mean"))
    assert heads[0] == "place"


def test_untested_grids_have_no_margins():
    _, cells, _ = grid(rr.rank(PROMPTS, **JOINED, no_test=True))
    assert cells["large", "best prompt"] == "not tested"
    assert "*" not in cells["medium", "reasoning"]


def test_samples_joined_with_a_prompt_form_groups_of_prompts():
    options = {"columns": "sample=case+prompt", "cluster": "case", "higher": "correct", "resamples": 300}
    result = rr.rank(PROMPTS, **options, group_by="prompt")
    assert [part.name for part in result.document.groups.parts] == ["examples", "plain", "reasoning"]
    assert {part.samples for part in result.document.groups.parts} == {240}


def test_named_settings_of_duplicates_are_offered_as_models():
    with pytest.raises(RiskrankError, match="for separate models use") as error:
        rr.rank(PROMPTS, columns="sample=case", higher="correct")
    assert "model=model+prompt" in str(error.value)
