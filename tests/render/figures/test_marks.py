"""Each kind of picture marks the parts of a model by its index, never by its name."""

from collections import Counter
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

import riskrank as rr
from riskrank.render.figures.catalogue import pictures
from riskrank.render.figures.picture import renumber_pictures
from riskrank.render.figures.text import escape_missing_glyphs, marked_models

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
