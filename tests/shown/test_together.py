"""A number is not parted from its sign, label or unit at any width, and what is read holds blanks."""

import io
import re
from pathlib import Path

import pytest

import riskrank as rr
from riskrank.shown.escapes import JOINT, apart, together, visible
from riskrank.shown.formats.terminal import to_terminal
from riskrank.shown.render import to_text
from riskrank.shown.view import Column, Line, Table

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"


@pytest.mark.parametrize(
    "kept",
    [
        *("90 %", "p = 0.12", "p < 1e-6", "n = 300", "4 ± 0.5", "1 ± 2 points", "α 0.05", "order 2", "10 ms"),
        *("δ = 0", "1.5 × 2", "x ≤ −3", "seed 0", "p = ∞", "3 percentage points", "1 +- .5", "latency <= 5"),
    ],
)
def test_what_belongs_together(kept):
    assert " " not in together(kept).replace("percentage points", "")
    assert apart(together(f"of {kept}, which")) == f"of {kept}, which"
    assert together(f"of {kept}, which").startswith("of ")


@pytest.mark.parametrize(
    "text", ["is 3 of 4", "a = b", "step 2", "on 3 metrics", "gpt 4", "2 pointed", "lines of up 3", "x-p 3"]
)
def test_other_words_may_part(text):
    assert together(text) == text


def test_a_name_cannot_pretend_to_be_a_joint():
    assert visible(f"a{JOINT}b") == "a\\ufdd0b"


def _results():
    data = rr.read(SAMPLE / "diamonds.parquet", metrics_file=str(SAMPLE / "diamonds.toml"))
    quick = {"resamples": 60, "jobs": 1}
    yield rr.rank(data, **quick)
    yield rr.gate(data, not_worse="boosting_log:boosting_squared", margin=5, on="mean:error_usd", **quick)
    yield rr.diff(data, pair="boosting_squared:boosting_absolute", metric="error_usd")
    yield rr.copa(data)


PARTED = re.compile(
    r"[=<>≤≥±×]\n\s*[-−]?\.?\d|[\w.]\n\s*[=<>≤≥±×] [-−]?\.?\d|\d\n\s*(%|points)|\b(α|p|n)\n\s*\d"
)


@pytest.mark.slow
def test_no_page_parts_a_number_from_its_unit():
    for result in _results():
        pages = [to_text(result.document, width=width, explain=True) for width in (60, 77, 100)]
        assert [found[0] for page in pages for found in PARTED.finditer(page)] == []
        assert not any(JOINT in page or "\xa0" in page for page in pages)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_words_and_cells_wrap_around_it(encoding):
    text = "far more than that: p = 0.125 and 90 % ± 3.5 points, α 0.05, of a few. " * 5
    table = Table("", (Column("name", "left"), Column("why", "left")), (("a", text), ("b", "short")), stub=1)
    for width in range(60, 201):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        to_terminal([Line(text), table], stream, width=width, color=False)
        stream.seek(0)
        words = stream.read()
        assert not re.search(r"(p|=|[\d.]|±|\+-|α|alpha) *\n +(= 0|0\.|%|±|\+-|3\.5|points)", words), width
        assert JOINT not in words
