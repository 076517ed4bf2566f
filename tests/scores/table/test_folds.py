"""Folds of cross-validation are recognised by columns and names, and nothing else is."""

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError


def table(columns, rows):
    """A model's score a row, of two models."""
    made = [
        (model, *row, 0.5 + number / 100 + (model == "b") * number % 3)
        for model in "ab"
        for number, row in enumerate(rows)
    ]
    return pl.DataFrame(made, schema=["model", *columns, "acc"], orient="row")


def folds_of(frame, **options):
    found = rr.read(frame, wide=True, higher="acc", **options).table(weighs_tasks=True, tests=True).folds
    return None if found is None else [(one.count, one.known) for one in found.folds]


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
def test_other_samples_are_none(columns, rows):
    assert folds_of(table(columns, rows)) is None


def test_a_sample_of_several_folds_is_no_fold():
    with pytest.raises(InputError, match="a second score"):
        folds_of(table(["sample", "fold"], [("iris", n) for n in range(10)]))


def test_a_plus_in_the_name_of_a_column_joins_none():
    for column in ("cv+fold", "repeat+fold"):
        frame = table([column], [(n,) for n in range(10)])
        assert folds_of(frame, columns={"sample": column}, folds=10) == [(10, 10)]


def test_how_many_there_are_can_be_said():
    frame = table(["sample"], [(f"split{n}",) for n in range(20)])
    assert folds_of(frame, folds=5) == [(20, 5)]
    assert folds_of(table(["sample"], [(f"q{n}",) for n in range(20)]), folds=10) == [(20, 10)]
    with pytest.raises(UsageError, match="no whole repeats"):
        folds_of(frame, folds=7)


@pytest.mark.parametrize("ask", [rr.dominance, rr.mrm, rr.power, rr.report, rr.portfolio])
def test_distributions_of_folds_are_refused(ask):
    with pytest.raises(UsageError, match="fold's score is a mean"):
        ask(table(["fold"], [(n,) for n in range(12)]), wide=True, higher="acc")


def test_a_choice_by_means_says_nothing_of_how_sure_it_is():
    found = rr.copa(table(["fold"], [(n,) for n in range(12)]), wide=True, higher="acc")
    assert "folds of cross-validation share their training rows" in found.verdict
