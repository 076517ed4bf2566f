"""Text of pictures: names fit and stay distinct, labels do not overlap, marks identify models."""

from collections import Counter
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import riskrank as rr
from riskrank.render.figures.catalogue import pictures
from riskrank.render.figures.text import (
    available_characters,
    browser_fonts,
    escape_missing_glyphs,
    fit_names,
    marked_models,
    spread_labels,
    text_width,
)
from riskrank.render.view import renumber_pictures


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abWl-/", min_size=1, max_size=60), min_size=1, max_size=12, unique=True),
    st.sampled_from([60.0, 120.0]),
)
def test_fitted_names_are_different_and_fit(names, width):
    fitted = fit_names(names, width)
    assert len(set(fitted)) == len(names)
    for name, text in zip(names, fitted, strict=True):
        assert text_width(text) <= width
        if text_width(name) <= width:
            assert text == name


def test_a_shortened_name_keeps_its_distinguishing_part():
    fitted = fit_names(["x" * 80 + "1", "x" * 80 + "2", "1" + "x" * 80, "y" + "x" * 80], 100)
    assert [text[-1] for text in fitted[:2]] == ["1", "2"]
    assert [text[0] for text in fitted[2:]] == ["1", "y"]
    assert all("…" in text for text in fitted)
    middle = fit_names(["x" * 50 + "1" + "x" * 50, "x" * 50 + "2" + "x" * 50], 100)
    assert [text[-4:] for text in middle] == [" (1)", " (2)"]


@pytest.mark.parametrize("count", [2, 12, 60])
def test_all_characters_have_glyphs(names, count):
    fitted = fit_names(names(count), 150)
    assert len(set(fitted)) == count
    assert {ord(letter) for text in fitted for letter in text} <= available_characters()


def test_similar_names_are_spelled_out():
    assert fit_names(["e\u0301", "\u00e9", "a\u0301"], 100) == ["e\\u0301", "é", "a\u0301"]


def test_in_a_browser_every_character_is_itself():
    """Names keep their characters for any installed font; combining marks take no additional width."""
    names = ["模型" * 3, "한국어", "हिन्दी", "🤖", "a\u202eb", "a\x1bb"]
    with browser_fonts():
        assert fit_names(names, 100)[:4] == names[:4]
        assert fit_names(names, 100)[4:] == ["a\\u202eb", "a\\x1bb"]
        assert text_width("模型模型模型") >= 6 * 9.0
        assert text_width("🤖") > 9.0
        cut = fit_names(["模" * 40 + "1", "模" * 40 + "2"], 100)
        assert all("…" in text and text_width(text) <= 100 for text in cut)
        assert len(set(cut)) == 2


def test_characters_without_glyph_are_escaped():
    assert escape_missing_glyphs("a\nb\x1b\u202e") == "a\\nb\\x1b\\u202e"
    assert escape_missing_glyphs("модель é ε") == "модель é ε"
    assert escape_missing_glyphs("\ud800") == "\\ud800"
    assert escape_missing_glyphs("\U000e0041") == "\\U000e0041"


places = st.lists(st.floats(-5, 15).map(lambda x: round(x, 2)), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(places, st.sampled_from([0.5, 1.0, 2.0]))
def test_spread_moves_as_little_as_possible(positions, gap):
    spread = spread_labels(positions, gap, 0, 10)
    order = np.argsort(positions, kind="stable")
    gap = min(gap, 10 / max(len(positions) - 1, 1))
    assert np.all(np.diff(spread[order]) >= gap - 1e-9)
    assert spread.min() >= -1e-9
    assert spread.max() <= 10 + 1e-9
    target = np.array(positions)[order]
    steps = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - gap} for i in range(len(positions) - 1)]
    best = minimize(
        lambda x: np.sum((x - target) ** 2),
        np.linspace(0, 10, len(positions)),
        jac=lambda x: 2 * (x - target),
        bounds=[(0, 10)] * len(positions),
        constraints=steps,
        method="SLSQP",
    )
    assert np.sum((spread[order] - target) ** 2) <= best.fun + 1e-5


def test_spread_keeps_labels_without_overlap():
    assert spread_labels([7, 1, 4], 2, 0, 10).tolist() == [7, 1, 4]
    assert spread_labels([], 2, 0, 10).tolist() == []
    assert spread_labels([3, 3], 2, 0, 10).tolist() == [2, 4]


SVG = "{http://www.w3.org/2000/svg}"
LONG = "organisation/one-prefix-of-all-" + "x" * 60
# Names that are also numbers of axes, ranks, words of the pictures, too long, and alike when cut.
NAMES = ["1", "0.2", "rank", "score", "3", f"{LONG}-a", f"{LONG}-b", "<b>", "مودل", "model-1", "e", "last"]


def table(count, samples=24):
    rng = np.random.default_rng(5)
    frame = {"model": [], "sample": [], "metric": [], "group": [], "score": []}
    scores = rng.random((12, 3, 24)) + 0.3 * np.arange(12)[::-1, None, None]
    for model, name in enumerate(NAMES[:count]):
        for metric in range(3):
            for sample in range(samples):
                frame["model"].append(name)
                frame["sample"].append(sample)
                frame["metric"].append(f"m{metric}")
                frame["group"].append("ab"[sample % 2])
                frame["score"].append(float(scores[model, metric, sample]))
    return frame


OPTIONS = {"higher": "*", "resamples": 60, "jobs": 1}
METHODS = ["R-SSD@P(IC)", "MWR@P(IC)"]
RESULTS = {
    "rank": lambda frame: rr.rank(frame, method=METHODS, group_by="group", stability=[12], **OPTIONS),
    "dominance": lambda frame: rr.dominance(frame, group_by="group", **OPTIONS),
    "portfolio": lambda frame: rr.portfolio(frame, higher="*"),
    "mrm": lambda frame: rr.mrm(frame, group_by="group", no_test=True, higher="*"),
    "gsd": lambda frame: rr.gsd(frame, baselines=True, contamination=True, resamples=30, higher="*", jobs=1),
    "copa": lambda frame: rr.copa(frame, higher="*"),
    "against": lambda frame: rr.copa(frame, higher="*", against=["average", "saw"]),
    "gate": lambda frame: rr.gate(
        frame, better=["1:0.2", "rank:0.2"], not_worse=["3:1"], on=["mean", "ssd"], **OPTIONS
    ),
}


def marks(plot):
    """Return each drawn element: tag, text, model, and whether it is part of an axis."""
    counts = []

    def walk(element, about, axis):
        tag = element.tag.removeprefix(SVG)
        if tag in ("defs", "metadata", "style") or element.get("class") == "heading":
            return
        axis = axis or (element.get("id") or "").startswith("matplotlib.axis")
        about = about or tuple(marked_models(element.get("class") or ""))
        if tag in ("path", "use", "text", "image"):
            counts.append((tag, (element.text or "").strip(), about, axis))
        for child in element:
            walk(child, about, axis)

    walk(ElementTree.fromstring(plot.to_bytes("svg", text_as_text=True)), (), False)
    return counts


# Kinds of pictures that are slow or drawn by other tests.
LATER = {"against", "copa", "dominance", "gsd", "mrm", "portfolio"}
STUDIES = [pytest.param(name, marks=pytest.mark.slow) if name in LATER else name for name in RESULTS]


@pytest.fixture(scope="module", params=STUDIES)
def results(request):
    """Return a study of a few models, and one with more models than colours."""
    # Linear programs are slow.
    sizes = [(4, 12), (5, 12)] if request.param == "gsd" else [(10, 24), (11, 24)]
    return [RESULTS[request.param](table(*size)) for size in sizes]


@pytest.fixture(scope="module")
def picture_marks(results):
    """Return the marks of all pictures, drawn once."""
    return cache(lambda number, name: marks(results[number].plot(name)))


# One code draws all pictures of a kind: they are looked at in the first study that has them.
LOOKED_AT = {}


def first_of_kind(result):
    kinds = {}
    for name in result.pictures:
        kind = name.partition("@")[0]
        if LOOKED_AT.setdefault(kind, result.document.schema) == result.document.schema:
            kinds.setdefault(kind, name)
    return kinds


@pytest.mark.slow
def test_unmarked_parts_do_not_grow_with_the_models(results, picture_marks):
    for kind, name in first_of_kind(results[0]).items():
        # Of chosen pairs; of methods; with a mark a place.
        if kind in ("null", "contamination", "intervals", "stability", "ranks", "trade"):
            continue
        free = []
        for number in range(2):
            first = first_of_kind(results[number])[kind]
            free.append(
                Counter(tag for tag, _, about, axis in picture_marks(number, first) if not about and not axis)
            )
        assert free[0] == free[1], name


@pytest.mark.slow
def test_every_model_has_marks_and_names_are_marked_by_number(results, picture_marks):
    result = results[0]
    models = list(result.document.provenance.models)
    for kind, name in first_of_kind(result).items():
        counts = picture_marks(0, name)
        assert all(not about for _, _, about, axis in counts if axis), name  # no number of an axis is a name
        if kind in ("stability", "cdf", "tvar"):
            continue
        about_any = {model for _, _, about, _ in counts for model in about}
        pairs = kind in ("pair", "null", "contamination", "intervals", "trade")
        assert about_any <= set(range(len(models)))
        assert len(about_any) >= 2 if pairs else about_any == set(range(len(models))), name
        for _, text, about, axis in counts:
            # These names are nothing else in any picture.
            for unlike in ("last", "مودل", "<b>", "model-1"):
                if text == escape_missing_glyphs(unlike) and not axis:
                    assert about == (models.index(unlike),), (name, text)
            assert "…" not in text or about or axis, (name, text)  # a name cut is still a name


def test_a_pair_belongs_to_both():
    result = rr.dominance(table(4), **OPTIONS)
    counts = marks(result.plot("heatmap"))
    cells = Counter(about for tag, _, about, _ in counts if tag == "path" and len(about) == 2)
    assert {frozenset(about) for about in cells} == {frozenset((i, j)) for i in range(4) for j in range(i)}
    assert all(cells[pair] == 1 for pair in cells)
    pair = marks(result.plot("pair"))
    i, j = result.document.by_column[0].study.leading_pair
    assert {about for _, _, about, _ in pair if about} == {(i,), (j,), (i, j)}


@pytest.mark.slow
def test_copa_numbers_models_of_the_full_table():
    """A model without scores leaves the population, but a page of the complete table still includes it."""
    frame = table(6)
    rows = [
        at for at in range(len(frame["model"])) if (frame["model"][at], frame["metric"][at]) != ("0.2", "m1")
    ]
    frame = {name: [values[at] for at in rows] for name, values in frame.items()}
    result = rr.copa(frame, higher="*", missing="drop")
    models = list(result.document.provenance.models)
    assert "0.2" not in models
    for name in ("boxes", "parallel"):
        counts = marks(result.plot(name))
        about = {text: about for tag, text, about, axis in counts if tag == "text" and not axis and about}
        assert about["score"] == (models.index("score"),)
    names = list(dict.fromkeys(frame["model"]))
    (picture, *_) = renumber_pictures(pictures(result.document), models, names)
    about = {text: about for _, text, about, axis in marks(picture.draw()) if about and not axis}
    assert about["score"] == (names.index("score"),)
