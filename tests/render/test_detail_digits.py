"""Details have as many digits as their intervals support, and no scientific notation."""

import re

import numpy as np
import pytest

from riskrank.api import gate, read, report
from riskrank.render import numbers
from riskrank.render.sections import sections
from riskrank.render.view import Table, cell_text
from tests.tables import long_table

POWER = re.compile(r"\de[-−+]?\d")


@pytest.fixture(scope="module")
def close():
    """Return two models that hardly differ, and one far behind."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=400)
    columns = {"a": common, "b": common + rng.normal(0, 0.05, 400) - 0.0002, "c": common - 1}
    return read(long_table(columns), higher="*")


def tables(document):
    return [section for section in sections(document) if isinstance(section, Table)]


def column(document, head):
    at = next(at for at, column in enumerate(document.columns) if (column.name or column.head) == head)
    return [cell_text(row[at]) for row in document.rows]


def decimals(text):
    return len(text.partition(".")[2])


def test_nothing_in_a_report_is_a_power_of_ten(close):
    document = report(close, resamples=400, jobs=1).document
    texts = [cell_text(cell) for table in tables(document) for row in table.rows for cell in row]
    assert [text for text in texts if POWER.search(text)] == []


def test_means_and_differences_have_the_digits_of_their_intervals(close):
    document = report(close, resamples=400, jobs=1).document
    pairs = next(table for table in tables(document) if table.title.startswith("Stochastic dominance"))
    intervals = document.pairs.by_column[0].differences
    # A quarter of the usual interval determines the first digit; after a leading 1, the next one, too.
    error = float(np.median((intervals.high - intervals.low)[np.triu_indices(3, 1)])) / 4
    expected = next(digits for digits in range(7) if error * 10**digits >= 2)
    assert {decimals(text) for text in column(pairs, "difference")} == {expected}
    ranking = next(table for table in tables(document) if table.title.startswith("Ranking of"))
    assert len({decimals(text) for text in column(ranking, "mean")}) == 1
    assert len({decimals(text) for text in column(ranking, "worst\n5 %")}) == 1


def test_an_interval_has_digits_to_exclude_zero():
    assert numbers.format_difference_interval(-0.0002, 0.03, 2) == "−0.0002 to 0.03"
    assert numbers.format_difference_interval(0.1, 0.2, 2) == "0.10 to 0.20"


def test_a_gate_calls_its_claims_the_same_in_detail_and_before(close):
    document = gate(close, not_worse="a:c", on=["tvar@0.05", "mean"], margin=0.5).document
    first, detail = tables(document)
    assert column(first, "on") == column(detail, "on") == ["worst 5 % of q", "mean of q"]
    assert column(first, "a − c") == column(detail, "a − c")
    assert column(first, "interval") == column(detail, "interval")
