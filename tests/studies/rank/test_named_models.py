"""The models that a verdict names are highlighted consistently in tables and pictures."""

import numpy as np
import polars as pl
import pytest

from riskrank.api import dominance, rank, read, report
from riskrank.render.figures.catalogue import pictures
from riskrank.render.figures.legend import by_importance
from riskrank.render.figures.text import marked_models
from riskrank.render.view import Table
from riskrank.studies.rank.screen import build_sections
from tests.tables import long_table

B = "#d55e00"


def table(columns):
    return read(long_table(columns), higher="*")


def crowd():
    """A ranks first among clones, but B beats it head to head and has the better mean."""
    rng = np.random.default_rng(0)
    models = {"A": rng.normal(0.1, 1, 1500), "B": rng.normal(0.65, 2, 1500)}
    return table(models | {f"c{i}": rng.normal(0, 1, 1500) for i in range(8)})


def shifted(*shifts, n=200):
    rng = np.random.default_rng(0)
    common = rng.normal(size=n)
    return table({f"m{at}": common + shift + rng.normal(0, 0.3, n) for at, shift in enumerate(shifts)})


def twins():
    scores = np.random.default_rng(0).normal(size=200)
    return table({"one": scores, "other": scores[::-1], "third": scores - 2})


CASES = {
    "clear": (lambda: shifted(1.0, 0.5, 0.0), ["m0"], "Ship m0"),
    "disagreement": (crowd, ["B"], "Consider B instead"),
    "tied": (lambda: shifted(1.0, 1.0, 0.0), [], "no test separates them"),
    "too few samples": (lambda: shifted(0.0, 0.0, n=20), [], "20 samples are too few to exclude"),
    "several": (twins, ["one", "other"], "Ship one or other"),
}


@pytest.fixture(scope="module")
def documents():
    return {name: rank(make(), resamples=400, jobs=1).document for name, (make, *_) in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_table_marks_exactly_the_named_models(documents, case):
    (_, names, text), document = CASES[case], documents[case]
    assert text in document.verdict
    models = document.provenance.models
    assert [models[i] for i in document.named] == names
    first_table = next(section for section in build_sections(document) if isinstance(section, Table))
    bold = [cell.text for row in first_table.rows for cell in row if getattr(cell, "style", "") == "bold"]
    assert sorted(bold) == sorted(names)
    # The detailed table marks the same models.
    detail = next(
        part
        for part in build_sections(document)
        if isinstance(part, Table) and part.title.startswith("Ranking")
    )
    bold_in_detail = [
        cell.text for row in detail.rows for cell in row if getattr(cell, "style", "") == "bold"
    ]
    assert sorted(bold_in_detail) == sorted(names)


@pytest.mark.parametrize("case", CASES)
def test_key_figures_compare_the_models_of_the_verdict(documents, case):
    (_, names, _), document = CASES[case], documents[case]
    mean, means = document.quotes[0], document.means[0]
    models = document.provenance.models
    first, second = next(iter(document.leaders.values())).pair
    assert mean.figure == means.format_comparison(first, second)
    assert mean.words.startswith(f"q, mean of {models[first]} and {models[second]}")
    assert document.quotes[-1].words.startswith("other models not significantly behind ") == (not names)


def test_no_model_is_named_without_a_test():
    assert rank(shifted(1.0, 0.0), no_test=True).document.named == ()


def test_columns_with_a_common_leader_name_it():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 2))
    rows = [
        (model, f"s{s}", metric, float(noise[s, m] + shift[m] + rng.normal(0, 0.1)))
        for model, shift in {"a": (1.0, 1.0), "b": (0.0, 0.0)}.items()
        for s in range(200)
        for m, metric in enumerate("pq")
    ]
    data = read(pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row"), higher="*")
    document = rank(data, per_metric=True, resamples=400, jobs=1).document
    assert document.named == (0,)


def colors(plot):
    """Return the marks of the lines in the colour of B."""
    from matplotlib.colors import to_hex

    lines = [line for axes in plot.axes for line in axes.lines]
    return {line.get_gid() for line in lines if to_hex(line.get_color()) == B and line.get_gid()}


@pytest.mark.slow
def test_named_model_has_a_distinct_colour_in_report():
    document = report(crowd(), resamples=100, jobs=1).document
    (named,) = document.ranking.named
    assert document.provenance.models[named] == "B"
    assert {part.named for part in document.parts.values()} == {(named,)}
    plots = {
        picture.kind: picture.draw()
        for part in (document.ranking, document.pairs, document.risks)
        for picture in pictures(part)
        if picture.kind in ("forest", "quantiles", "tvar", "risks", "pair")
    }
    assert len(plots) == 5
    for kind, plot in plots.items():
        assert {model for mark in colors(plot) for model in marked_models(mark)} == {named}, kind
    assert plots["pair"].title.startswith("B against A ")


@pytest.mark.slow
def test_pair_picture_shows_the_leading_pair():
    document = dominance(crowd(), resamples=400, jobs=1).document
    pair = next(picture for picture in pictures(document) if picture.kind == "pair")
    i, j = document.by_column[0].study.leading_pair
    models = document.provenance.models
    assert pair.draw().title.startswith(f"{models[i]} against {models[j]} ")


def test_named_models_come_first():
    assert by_importance((2,), [0, 1, 2]) == [2, 0, 1]
    assert by_importance((), [1, 0]) == [1, 0]
