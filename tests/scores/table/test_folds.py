"""Folds of cross-validation are recognised by column names and values."""

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError


def table(columns, rows):
    """Return one score per row and model, for two models."""
    records = [
        (model, *row, 0.5 + number / 100 + (model == "b") * number % 3)
        for model in "ab"
        for number, row in enumerate(rows)
    ]
    return pl.DataFrame(records, schema=["model", *columns, "acc"], orient="row")


def folds_of(frame, **options):
    folds = rr.read(frame, wide=True, higher="acc", **options).table(weighs_tasks=True, tests=True).folds
    return None if folds is None else [(entry.count, entry.per_repeat) for entry in folds.folds]


REPEATED = [(repeat, fold) for repeat in range(3) for fold in range(4)]


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (["fold"], [(n,) for n in range(10)], [(10, 10)]),
        (["cv_fold"], [(f"fold {n}",) for n in range(10)], [(10, 10)]),
        (["repeat", "fold"], REPEATED, [(12, 4)]),
        (["fold", "rep"], [row[::-1] for row in REPEATED], [(12, 4)]),
        (["resample"], [(n,) for n in range(25)], [(25, None)]),
        (["sample", "repeat", "fold"], [(f"r{r}f{n}", r, n) for r, n in REPEATED], [(12, 4)]),
        (["sample", "repeat", "fold"], [(f"f{n}", r, n) for r, n in REPEATED], [(12, 4)]),
        (["dataset", "sample", "fold"], [(d, f"f{n}", n) for d in "xyz" for n in range(4)], [(4, 4)] * 3),
        (["dataset", "fold"], [(d, n) for d in "xyz" for n in range(4)], [(4, 4)] * 3),
        (["sample"], [(f"split{n}",) for n in range(10)], [(10, None)]),
        (["sample"], [(f"Fold{n:02}.Rep{r}",) for r in (1, 2) for n in range(5)], [(10, 5)]),
        (["sample"], [(f"fold_{n}",) for n in range(40)], [(40, None)]),
    ],
)
def test_folds_are_recognised(columns, rows, expected):
    assert folds_of(table(columns, rows)) == expected


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["sample"], [(f"q{n}",) for n in range(10)]),
        (["sample", "fold"], [(f"q{n}", n % 2) for n in range(10)]),
        (["sample", "split"], [(f"q{n}", "train") for n in range(10)]),
        (["sample"], [(f"split decision {n}",) for n in range(10)]),
    ],
)
def test_other_samples_are_not_folds(columns, rows):
    assert folds_of(table(columns, rows)) is None


def test_sample_in_several_folds_is_refused():
    with pytest.raises(InputError, match="a second score"):
        folds_of(table(["sample", "fold"], [("iris", n) for n in range(10)]))


def test_plus_in_a_column_name_joins_no_columns():
    for column in ("cv+fold", "repeat+fold"):
        frame = table([column], [(n,) for n in range(10)])
        assert folds_of(frame, columns={"sample": column}, folds=10) == [(10, 10)]


def test_number_of_folds_can_be_set():
    frame = table(["sample"], [(f"split{n}",) for n in range(20)])
    assert folds_of(frame, folds=5) == [(20, 5)]
    assert folds_of(table(["sample"], [(f"q{n}",) for n in range(20)]), folds=10) == [(20, 10)]
    with pytest.raises(UsageError, match="not a multiple of"):
        folds_of(frame, folds=7)


@pytest.mark.parametrize("ask", [rr.dominance, rr.mrm, rr.power, rr.report, rr.portfolio])
def test_distributions_of_folds_are_refused(ask):
    with pytest.raises(UsageError, match="folds allow only comparisons of means"):
        ask(table(["fold"], [(n,) for n in range(12)]), wide=True, higher="acc")


def test_choice_by_means_reports_no_certainty():
    result = rr.copa(table(["fold"], [(n,) for n in range(12)]), wide=True, higher="acc")
    assert "folds of cross-validation share their training rows" in result.verdict
